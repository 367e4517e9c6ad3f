package kbstore

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
	"strings"

	"toolnorm/internal/store"
)

// oldest is the first pgvector that goes on searching when a filter leaves too few of what its
// graph gave (hnsw.iterative_scan). An older one would lose passages by the filter, and most of
// them for a reader who may see little.
const oldest = "0.8"

// mostIndexed is how many dimensions pgvector's index takes. Longer vectors are compared one by
// one.
const mostIndexed = 2000

// Compares reports whether Dense works here: in a PostgreSQL with pgvector. It is a question about
// the store and not its kind: the same PostgreSQL may get pgvector with its next update.
func (s *Store) Compares() bool { return s.vectors }

// findVector reports whether pgvector is in the database, in a version that will do. It creates the
// extension if the server has it installed and this role may; otherwise vectors are compared in
// memory, which needs no right.
func findVector(ctx context.Context, db *store.DB) (bool, error) {
	const query = "SELECT COALESCE((SELECT extversion FROM pg_extension WHERE extname = 'vector'), ''), (SELECT count(*) FROM pg_available_extensions WHERE name = 'vector')"
	var version string
	var available int
	if err := db.QueryRowContext(ctx, query).Scan(&version, &available); err != nil {
		return false, err
	}
	if version == "" && available > 0 {
		// In public, which the search path has: the schema of the knowledge bases may be dropped,
		// and the type with it.
		if _, err := db.ExecContext(ctx,
			"CREATE EXTENSION IF NOT EXISTS vector SCHEMA public"); err != nil {
			return false, nil
		}
		if err := db.QueryRowContext(ctx, query).Scan(&version, &available); err != nil {
			return false, err
		}
	}
	return newer(version), nil
}

// newer reports whether a version of pgvector is 0.8 or later. Versions are compared by their
// numbers: as text 0.10 would be older than 0.8.
func newer(version string) bool {
	part := func(text string, i int) int {
		parts := strings.Split(text, ".")
		if i >= len(parts) {
			return 0
		}
		n, _ := strconv.Atoi(parts[i])
		return n
	}
	if version == "" {
		return false
	}
	major, least := part(version, 0), part(oldest, 0)
	return major > least || major == least && part(version, 1) >= part(oldest, 1)
}

// prepareVectors adds the column that pgvector compares, and fills it from the bytes: those are the
// truth, and were all there was while the extension was missing. A program without it leaves the
// column empty, so it is looked at in every start.
func prepareVectors(ctx context.Context, db *store.DB) error {
	return db.Alone(ctx, func(tx *store.Tx) error {
		if _, err := tx.ExecContext(ctx,
			"ALTER TABLE chunks ADD COLUMN IF NOT EXISTS embedding vector"); err != nil {
			return err
		}
		type vectorRow struct {
			id     string
			vector []float32
		}
		all, err := store.Read(ctx, tx.Tx, nil, func(r *store.Row) (v vectorRow, err error) {
			err = r.Scan(store.Needed(&v.id), vectorOf(r, &v.vector))
			return v, err
		}, "SELECT id, vector FROM chunks WHERE vector IS NOT NULL AND embedding IS NULL")
		if err != nil {
			return err
		}
		for _, r := range all {
			if r.vector == nil { // odd
				continue
			}
			if _, err := tx.ExecContext(ctx,
				"UPDATE chunks SET embedding = $1::text::vector WHERE id = $2", literal(r.vector),
				r.id); err != nil {
				return err
			}
			if err := indexVectors(ctx, tx, len(r.vector)); err != nil {
				return err
			}
		}
		return nil
	})
}

// literal formats a vector as pgvector reads it: [0.1,0.2]. Each number is the shortest that reads
// as the same float32, since database/sql can pass only a text for this type.
func literal(v []float32) string {
	b := []byte{'['}
	for i, x := range v {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendFloat(b, float64(x), 'g', -1, 32)
	}
	return string(append(b, ']'))
}

// indexVectors makes the index for vectors of a length, once. An index is of one length, and the
// models of a store may differ in it.
func indexVectors(ctx context.Context, tx *store.Tx, dimensions int) error {
	if dimensions == 0 || dimensions > mostIndexed {
		return nil
	}
	_, err := tx.ExecContext(ctx, fmt.Sprintf(
		"CREATE INDEX IF NOT EXISTS chunks_hnsw_%d ON chunks USING hnsw ((embedding::vector(%[1]d)) vector_cosine_ops) WHERE vector_dims(embedding) = %[1]d", dimensions))
	return err
}

// embeddings writes what pgvector compares of a document's passages. It runs in the transaction of
// the passages themselves, so that no search sees a passage that only one of two ways can find.
func embeddings(ctx context.Context, tx *store.Tx, chunks []Chunk) error {
	for i := range chunks {
		if len(chunks[i].Vector) == 0 {
			continue
		}
		if err := indexVectors(ctx, tx, len(chunks[i].Vector)); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx,
			"UPDATE chunks SET embedding = $1::text::vector WHERE id = $2",
			literal(chunks[i].Vector), chunks[i].ID); err != nil {
			return err
		}
	}
	return nil
}

// Dense returns the n passages of a base whose vectors are nearest to one of the same model, among
// those that a filter allows; their scores are cosines. It returns ErrUnranked if the store has no
// pgvector. The filter is a condition of the same statement, and the scan of the index goes on
// until n have passed it, so the n are the nearest of those that may be seen.
func (s *Store) Dense(ctx context.Context, base string, f Filter, e Embedding, n int) (
	all []Candidate, err error) {
	return (&Reader{words: s.Words, base: base}).Dense(ctx, f, e, n)
}

// Dense does what the store's does, in the reader's transaction if it has begun one: a search that
// needed two connections could wait for itself.
func (r *Reader) Dense(ctx context.Context, f Filter, e Embedding, n int) (
	all []Candidate, err error) {
	s := r.words.store
	if !s.vectors {
		return nil, ErrUnranked
	}
	text, near, args := s.compared(r.base, f, e)
	text += fmt.Sprintf(" ORDER BY %s LIMIT %d", near, n)
	err = r.within(ctx, func(tx *sql.Tx) error {
		// ef_search is how many rows the graph returns at once, by default 40. Without the last
		// setting a scan ends after 20,000 rows, however few of them the filter let through.
		for _, setting := range []string{fmt.Sprintf("ef_search = %d", min(max(n, 40), 1000)),
			"iterative_scan = strict_order", "max_scan_tuples = 2147483647"} {
			if _, err := tx.ExecContext(ctx, "SET LOCAL hnsw."+setting); err != nil {
				return err
			}
		}
		all, err = s.readCandidates(ctx, tx, text, args)
		return err
	})
	return all, err
}

// Cosines compares one vector with those of passages, given by their ids, as Dense does. Passages
// without a vector of the model are left out.
func (r *Reader) Cosines(ctx context.Context, f Filter, e Embedding, ids []string) (
	map[string]float64, error) {
	s := r.words.store
	if !s.vectors {
		return nil, ErrUnranked
	}
	cosines := map[string]float64{}
	if len(ids) == 0 {
		return cosines, nil
	}
	text, _, args := s.compared(r.base, f, e)
	text += " AND k.id IN (" + places(&args, ids) + ")"
	err := r.within(ctx, func(tx *sql.Tx) error {
		all, err := s.readCandidates(ctx, tx, text, args)
		for _, c := range all {
			cosines[c.ID] = c.Score
		}
		return err
	})
	return cosines, err
}

// compared builds the statement of both: the passages with a vector of the same model and length,
// which a filter allows, and how far each is. Its form is that of the index, which is not used for
// any other.
func (s *Store) compared(base string, f Filter, e Embedding) (text, near string, args []any) {
	args = []any{base, literal(e.Vector), e.Model}
	near = "k.embedding <=> $2::text::vector"
	if d := len(e.Vector); d <= mostIndexed {
		near = fmt.Sprintf("k.embedding::vector(%d) <=> $2::text::vector(%[1]d)", d)
	}
	text = fmt.Sprintf(candidates, "1 - ("+near+")") +
		"WHERE c.knowledge_base_id = $1 AND k.model = $3 AND " +
		fmt.Sprintf("vector_dims(k.embedding) = %d AND ", len(e.Vector)) + f.where(&args)
	return text, near, args
}
