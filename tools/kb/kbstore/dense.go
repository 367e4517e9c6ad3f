package kbstore

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
	"strings"

	"toolnorm/internal/store"
)

// oldest is the first version of pgvector that continues searching if a filter leaves too few of
// the rows from its graph (hnsw.iterative_scan). An older one would lose passages to the filter,
// and most of them for a reader who may see little.
const oldest = "0.8"

// mostIndexed is the largest number of dimensions of pgvector's index. Longer vectors are compared
// one by one.
const mostIndexed = 2000

// Compares reports whether the database can compare vectors, as the method Dense needs. PostgreSQL
// with pgvector can. This depends on the server and not only on the kind of database, since the
// same PostgreSQL may get pgvector with its next update.
func (s *Store) Compares() bool { return s.vectors }

// findVector reports whether the database has pgvector in a sufficient version. It creates the
// extension if the extension is installed on the server and this program's role may create it.
// Otherwise vectors are compared in memory, which needs no right. It returns an error if the
// database fails.
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

// newer reports whether a version of pgvector is at least oldest. It compares numbers, since as
// text 0.10 would be less than 0.8. It returns false for "".
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

// prepareVectors adds the column that pgvector compares, and fills it from the bytes in the column
// vector, which are authoritative. It is called at every start, because a program without the
// extension leaves the new column empty. prepareVectors returns an error if the database fails.
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

// literal returns a vector in pgvector's notation: [0.1,0.2]. Each number is the shortest that
// reads as the same float32. It is text because database/sql cannot pass this type in another form.
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

// indexVectors creates the index for vectors of a length, if there is none. Each length has its own
// index, because the models in a store may make vectors of different lengths. It does nothing for
// lengths that pgvector cannot index, and returns an error if the database fails.
func indexVectors(ctx context.Context, tx *store.Tx, dimensions int) error {
	if dimensions == 0 || dimensions > mostIndexed {
		return nil
	}
	_, err := tx.ExecContext(ctx, fmt.Sprintf(
		"CREATE INDEX IF NOT EXISTS chunks_hnsw_%d ON chunks USING hnsw ((embedding::vector(%[1]d)) vector_cosine_ops) WHERE vector_dims(embedding) = %[1]d", dimensions))
	return err
}

// embeddings writes the vectors of a document's passages for pgvector. It must run in the
// transaction that writes the passages, so that no search sees a passage that can be found only by
// its words. It returns an error if the database fails.
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

// Dense returns the n passages of a base whose vectors are nearest to e, among those of the same
// model that the filter allows. Their scores are cosines. The filter is a condition of the same
// statement, and the scan of the index continues until n passages have satisfied it. So no passage
// is lost to the filter. Dense returns ErrUnranked if the store has no pgvector, or another error
// if the database fails.
func (s *Store) Dense(ctx context.Context, base string, f Filter, e Embedding, n int) (
	all []Candidate, err error) {
	return (&Reader{words: s.Words, base: base}).Dense(ctx, f, e, n)
}

// Dense returns the n passages that the filter allows and whose vectors are nearest to e. It uses
// the reader's transaction, since a search that needed two connections could wait for itself. It
// returns ErrUnranked if the store has no pgvector, or another error if the database fails.
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

// Cosines returns the cosines of e and the vectors of passages, by the passages' ids. Passages that
// the filter hides or that have no vector of the model are left out. It returns ErrUnranked if the
// store has no pgvector, or another error if the database fails.
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

// compared returns an SQL statement for Dense and Cosines. The result text is the statement, near
// is its expression for the distance, and args are its arguments. The statement selects the
// passages that the filter allows and that have a vector of the same model and length. The distance
// is written exactly as in the index, which would otherwise not be used.
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
