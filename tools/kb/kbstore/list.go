package kbstore

import (
	"context"
	"database/sql"
	"errors"

	"toolnorm/internal/store"
)

// Documents returns the documents of a base that the filter allows, sorted by source. The filter is
// a condition of the statement, so hidden documents are not even read. It returns an error if the
// database fails.
func (s *Store) Documents(ctx context.Context, base string, f Filter) (all []Document, err error) {
	args := []any{base}
	where := "c.knowledge_base_id = $1 AND " + f.where(&args)
	err = s.snapshot(ctx, func(tx *sql.Tx) error {
		all, err = s.documentsOf(ctx, tx, base, where, args[1:]...)
		return err
	})
	return all, err
}

// Collections returns all collections of a base, whoever may see their documents. It returns an
// error if the database fails.
func (s *Store) Collections(ctx context.Context, base string) (all []Collection, err error) {
	err = s.snapshot(ctx, func(tx *sql.Tx) error {
		all, err = s.collectionsOf(ctx, tx, base)
		return err
	})
	return all, err
}

// DocumentChunks returns the chunks of one document of a base. It returns none if there is no such
// document or the filter does not allow it, and an error if the database fails.
func (s *Store) DocumentChunks(ctx context.Context, base, document string, f Filter) (
	all []Chunk, err error) {
	args := []any{base, document}
	where := "c.knowledge_base_id = $1 AND d.id = $2 AND " + f.where(&args)
	err = s.snapshot(ctx, func(tx *sql.Tx) error {
		all, err = s.chunksOf(ctx, tx, base, where, args[1:]...)
		return err
	})
	return all, err
}

// Summary has the counts of what a filter allows to be seen in a knowledge base. Collections
// without documents are counted as well.
type Summary struct {
	Name        string
	Description string
	Collections int
	Documents   int
	Chunks      int
}

// Summary returns the counts of what the filter allows to be seen in a base. On both kinds of
// database it uses the statement that the specification of the tables prescribes. The filter is a
// condition of the join, since in WHERE it would drop the base itself if nothing in it may be seen.
// Departments are checked by EXISTS, since a further join would count a document once for each of
// its departments. Summary returns ErrNotFound if there is no such base, or another error if the
// database fails.
func (s *Store) Summary(ctx context.Context, base string, f Filter) (sum Summary, err error) {
	args := []any{base}
	statement := `SELECT b.name, b.description, COUNT(DISTINCT c.id), COUNT(DISTINCT d.id), COALESCE(SUM(CASE WHEN d.chunk_count BETWEEN 0 AND 2147483647 THEN d.chunk_count END), 0)
		FROM knowledge_bases b LEFT JOIN collections c ON c.knowledge_base_id = b.id LEFT JOIN documents d ON d.collection_id = c.id AND ` + f.where(&args) + `
		WHERE b.id = $1 GROUP BY b.id, b.name, b.description`
	err = s.db.QueryRowContext(ctx, statement, args...).Scan(store.Named(&sum.Name),
		store.Named(&sum.Description), &sum.Collections, &sum.Documents, &sum.Chunks)
	if errors.Is(err, sql.ErrNoRows) {
		err = ErrNotFound
	}
	return sum, err
}
