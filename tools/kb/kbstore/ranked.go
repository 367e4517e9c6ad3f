package kbstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"toolnorm/internal/lexical"
	"toolnorm/internal/store"
)

// ErrUnranked is the error of asking a store to rank that cannot: a SQLite file, whose passages are
// ranked in memory.
var ErrUnranked = errors.New("the store does not rank")

// Ranks reports whether Sparse works here.
func (s *Store) Ranks() bool { return s.db.Kind == store.Postgres }

// Candidate is a passage that the database found, with the values that later stages need.
type Candidate struct {
	Chunk
	Collection string // its id
	Title      string // the document's
	Score      float64
}

// candidates are selected with a score after the columns of a chunk.
const candidates = "SELECT k.id, k.document_id, k.chunk_index, k.heading, k.text, k.model, d.collection_id, d.title, %s AS score" + of + "JOIN chunks k ON k.document_id = d.id "

// Sparse returns the n passages of a base that have tokens of a query, by ts_rank, among those that
// a filter allows. The filter is a condition of the same statement, so that the n are the best of
// those that may be seen. ts_rank has no IDF: the order is good enough to choose 500 by, and is
// made anew from Statistics. ts_rank_cd chose badly (.62 of the right ones first, ts_rank .89).
func (s *Store) Sparse(ctx context.Context, base string, f Filter, query string, n int) (
	[]Candidate, error) {
	if !s.Ranks() {
		return nil, ErrUnranked
	}
	args := []any{base, lexical.Query(query)}
	// 1: divided by the logarithm of the length, or long passages would always win.
	text := fmt.Sprintf(candidates, "ts_rank(k.words, $2::tsquery, 1)") +
		"WHERE c.knowledge_base_id = $1 AND k.words @@ $2::tsquery AND " +
		f.where(&args) + fmt.Sprintf(" ORDER BY score DESC, k.id LIMIT %d", n)
	return s.candidates(ctx, text, args)
}

// Chunks returns passages by their ids, in no order, and leaves out those that the filter does not
// allow, no matter where the ids come from. This is the last check of the rights before text leaves
// the store, so it does not rely on an earlier one.
func (s *Store) Chunks(ctx context.Context, base string, f Filter, ids []string) (
	[]Candidate, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	text, args := chunksByID(base, f, ids)
	return s.candidates(ctx, text, args)
}

// chunksByID returns the statement of Chunks.
func chunksByID(base string, f Filter, ids []string) (text string, args []any) {
	args = []any{base}
	text = fmt.Sprintf(candidates, "0.0") + "WHERE c.knowledge_base_id = $1 AND " +
		f.where(&args) + " AND k.id IN (" + places(&args, ids) + ")"
	return text, args
}

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

// candidates reads the rows of a statement.
func (s *Store) candidates(ctx context.Context, text string, args []any) (
	all []Candidate, err error) {
	err = s.snapshot(ctx, func(tx *sql.Tx) error {
		all, err = s.readCandidates(ctx, tx, text, args)
		return err
	})
	return all, err
}

// readCandidates reads the rows of a statement within a transaction. The first of its arguments is
// the base.
func (s *Store) readCandidates(ctx context.Context, tx *sql.Tx, text string, args []any) (
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

// Statistics returns what BM25 has to know of the passages that a filter allows to score a few of
// them: their number, their tokens, and how many have each token of a query. What may not be seen
// is not counted: a score would reveal whether a word is in it. One statement reads everything, so
// that all is of one moment and takes one round trip.
func (s *Store) Statistics(ctx context.Context, base string, f Filter, query string) (
	lexical.Statistics, error) {
	st := lexical.Statistics{Frequency: map[string]int{}}
	if !s.Ranks() {
		return st, ErrUnranked
	}
	args := []any{base}
	within := of + "JOIN chunks k ON k.document_id = d.id WHERE c.knowledge_base_id = $1 AND " +
		f.where(&args)
	args = append(args, lexical.Distinct(query))
	text := "SELECT '', count(*), COALESCE(sum(k.tokens), 0)" + within + fmt.Sprintf(` UNION ALL
		SELECT w.token, (SELECT count(*)%s AND k.words @@ ('''' || w.token || '''')::tsquery), 0 FROM unnest($%d::text[]) AS w(token)`, within, len(args))
	rows, err := s.db.QueryContext(ctx, text, args...)
	if err != nil {
		return st, err
	}
	defer rows.Close()
	for rows.Next() {
		var token string
		var texts, tokens int
		if err := rows.Scan(&token, &texts, &tokens); err != nil {
			return st, err
		}
		if token == "" {
			st.Texts, st.Tokens = texts, tokens
		} else {
			st.Frequency[token] = texts
		}
	}
	return st, rows.Err()
}

// CountDocuments returns how many documents of a base a filter allows, and how many there are.
func (s *Store) CountDocuments(ctx context.Context, base string, f Filter) (
	allowed, all int, err error) {
	args := []any{base}
	text := "SELECT count(*) FILTER (WHERE " + f.where(&args) + "), count(*)" + of +
		"WHERE c.knowledge_base_id = $1"
	err = s.db.QueryRowContext(ctx, text, args...).Scan(&allowed, &all)
	return allowed, all, err
}
