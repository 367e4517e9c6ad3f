package kbstore

import (
	"context"
	"database/sql"
	"errors"

	"toolnorm/internal/store"
)

// ErrUnranked is the error of asking a store to compare vectors that cannot: one without pgvector.
var ErrUnranked = errors.New("the store does not compare vectors")

// Serves reports whether the store is a server's. What such a store can do for many programs is not
// held in the memory of each.
func (s *Store) Serves() bool { return s.db.Kind == store.Postgres }

// Candidate is a passage that the database found, with the values that later stages need.
type Candidate struct {
	Chunk
	Collection string // its id
	Title      string // the document's
	Score      float64
}

// candidates are selected with a score after the columns of a chunk.
const candidates = "SELECT k.id, k.document_id, k.chunk_index, k.heading, k.text, k.model, d.collection_id, d.title, %s AS score" + of + "JOIN chunks k ON k.document_id = d.id "

// Vectors returns the vectors of passages, by their ids. An index that keeps vectors as bytes
// compares the best ones again with these.
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

// readCandidates reads the rows of a statement within a transaction. The first of its arguments is
// the base.
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
