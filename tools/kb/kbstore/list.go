package kbstore

import (
	"context"
	"database/sql"
)

// Documents are those of a base that a filter allows, by their sources. The filter is a condition of the statement, so
// what it hides is not even read.
func (s *Store) Documents(ctx context.Context, base string, f Filter) (all []Document, err error) {
	args := []any{base}
	where := "c.knowledge_base_id = $1 AND " + f.where(&args)
	err = s.snapshot(ctx, func(tx *sql.Tx) error {
		all, err = documentsOf(ctx, tx, where, args...)
		return err
	})
	return all, err
}

// Collections are all collections of a base, whoever may see what is in them.
func (s *Store) Collections(ctx context.Context, base string) (all []Collection, err error) {
	err = s.snapshot(ctx, func(tx *sql.Tx) error {
		all, err = collectionsOf(ctx, tx, base)
		return err
	})
	return all, err
}

// DocumentChunks are the chunks of one document of a base, when a filter allows it.
func (s *Store) DocumentChunks(ctx context.Context, base, document string, f Filter) (all []Chunk, err error) {
	args := []any{base, document}
	where := "c.knowledge_base_id = $1 AND d.id = $2 AND " + f.where(&args)
	err = s.snapshot(ctx, func(tx *sql.Tx) error {
		all, err = chunksOf(ctx, tx, where, args...)
		return err
	})
	return all, err
}
