package kbstore

import (
	"context"
	"database/sql"
	"errors"

	"toolnorm/internal/store"
)

// ErrUnranked is the error for a store that cannot compare vectors, because it has no pgvector.
var ErrUnranked = errors.New("the store does not compare vectors")

// Serves reports whether the store is a database server. Programs that share a server leave to it
// what each would otherwise keep in its own memory.
func (s *Store) Serves() bool { return s.db.Kind == store.Postgres }

// Candidate is a passage that the database has found, with the values that later stages of a search
// need.
type Candidate struct {
	Chunk
	Collection string // id of its collection
	Title      string // title of its document
	Score      float64
}

// candidates is the beginning of a statement that selects passages. Its verb %s is the expression
// for the score.
const candidates = "SELECT k.id, k.document_id, k.chunk_index, k.heading, k.text, k.model, d.collection_id, d.title, %s AS score" + of + "JOIN chunks k ON k.document_id = d.id "

// Vectors returns the vectors of passages, by their ids. Passages without a vector are left out. An
// index that stores vectors as bytes uses these exact vectors to compare the best passages again.
// It returns an error if the database fails.
func (s *Store) Vectors(ctx context.Context, base string, ids []string) (
	map[string][]float32, error) {
	all := map[string][]float32{}
	if len(ids) == 0 {
		return all, nil
	}
	args := []any{base}
	text := "SELECT k.id, k.vector" + of +
		"JOIN chunks k ON k.document_id = d.id WHERE c.knowledge_base_id = $1 AND k.vector IS NOT NULL AND k.id IN (" + places(&args, ids) + ")"
	err := s.snapshot(ctx, func(tx *sql.Tx) error {
		_, err := store.Read(ctx, tx, nil, func(r *store.Row) (id string, err error) {
			var v []float32
			if err = r.Scan(store.Needed(&r.ID), vectorOf(r, &v)); v != nil {
				all[r.ID] = v
			}
			return id, err
		}, text, args...)
		return err
	})
	return all, err
}

// readCandidates returns the passages that a statement selects. args[0] must be the id of the base,
// under which rows that cannot be used are reported. It returns an error if the database fails.
func (s *Store) readCandidates(ctx context.Context, tx store.Asker, text string, args []any) (
	[]Candidate, error) {
	base, _ := args[0].(string)
	return store.Read(ctx, tx, s.from(base, tableChunks),
		func(r *store.Row) (c Candidate, err error) {
			err = r.Scan(store.Needed(&r.ID), store.Needed(&r.Of), store.Count(&c.Index, 0),
				store.Named(&c.Heading), store.Text(&c.Text, longestText), store.Named(&c.Model),
				store.Needed(&c.Collection), store.Named(&c.Title), &c.Score)
			c.ID, c.Document = r.ID, r.Of
			return c, err
		}, text, args...)
}
