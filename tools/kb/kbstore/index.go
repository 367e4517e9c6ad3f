package kbstore

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	"toolnorm/internal/lexical"
	"toolnorm/internal/store"
)

// Sizes says how many passages the segments of an index of words may have. A segment is a part of
// the index that is stored as a whole.
type Sizes struct {
	Fresh int // from how many passages that are in no segment a new segment is made
	Small int // segments with fewer passages are small
	Many  int // from how many small segments on they are merged
	Large int // the largest size of a merged segment
}

// standardSizes limit the fresh passages, which a search indexes for itself, to some tens of
// milliseconds, and a segment to a second or two of writing. A million passages are in about 60
// segments. Each segment costs a search microseconds for each word.
var standardSizes = Sizes{Fresh: 1024, Small: 16 << 10, Many: 32, Large: 32 << 10}

// Words is the index of words of a store.
type Words struct {
	Sizes Sizes

	store    *Store
	indexing sync.Mutex   // one Index call of this program runs at a time
	added    atomic.Int64 // passages that this program has added since it called Index
}

// FreshLimit returns how many fresh passages, those in no segment yet, a search should index for
// itself. If there are more, the search should call Index first.
func (w *Words) FreshLimit() int { return 2 * w.Sizes.Fresh }

// note counts passages that were added, and calls Index when there are many. It returns the error
// of Index.
func (w *Words) note(ctx context.Context, base string, passages int) error {
	if w.added.Add(int64(passages)) < int64(w.Sizes.Fresh) {
		return nil
	}
	w.added.Store(0)
	return w.Index(ctx, base, nil)
}

// Index puts documents of a base that are in no segment into new segments, if there are enough of
// them, and merges small segments. Each segment is one transaction, so an Index that is interrupted
// continues with the next call, and other writers wait for one segment at most. After each segment
// it calls told, unless that is nil, with the number of passages that are done and the number of
// all. It returns an error if the database fails.
func (w *Words) Index(ctx context.Context, base string, told func(done, all int)) error {
	w.indexing.Lock()
	defer w.indexing.Unlock()
	done := 0
	for {
		j, err := w.nextJob(ctx, base)
		if err != nil || j == nil {
			return err
		}
		passages, err := w.indexOnce(ctx, base, j)
		if err != nil || passages == 0 {
			return err
		}
		if done += passages; told != nil && len(j.old) == 0 {
			told(done, done+j.left)
		}
	}
}

// job says which documents are to be put into a new segment, and which old segments this one
// replaces.
type job struct {
	documents []Fresh
	old       []int64
	left      int // fresh passages that remain for other jobs
}

// nextJob returns what to index next, or nil if there is nothing. It returns an error if the
// database fails.
func (w *Words) nextJob(ctx context.Context, base string) (j *job, err error) {
	err = w.store.snapshot(ctx, func(tx *sql.Tx) error {
		fresh, err := freshOf(ctx, tx, base)
		if err != nil {
			return err
		}
		if j = takeFresh(fresh, w.Sizes); j != nil {
			return nil
		}
		j, err = w.takeSmall(ctx, tx, base)
		return err
	})
	return j, err
}

// takeFresh returns a job that puts fresh documents, as many as fit, into a segment. It returns nil
// if there are too few.
func takeFresh(fresh []Fresh, sizes Sizes) *job {
	j, all := &job{}, 0
	for _, f := range fresh {
		all += max(1, f.Chunks)
	}
	if all < sizes.Fresh {
		return nil
	}
	j.left = all
	for taken := 0; len(fresh) > 0; fresh = fresh[1:] {
		if taken += max(1, fresh[0].Chunks); taken > sizes.Large && len(j.documents) > 0 {
			break
		}
		j.documents = append(j.documents, fresh[0])
		j.left -= max(1, fresh[0].Chunks)
	}
	return j
}

// takeSmall returns a job that merges small segments, as many as fit into a large one, or nil if
// there are few. Only the documents that are still in a segment count for its size, so a segment
// whose documents have mostly changed is small. It returns an error if the database fails.
func (w *Words) takeSmall(ctx context.Context, tx *sql.Tx, base string) (*job, error) {
	type small struct {
		id       int64
		passages int
	}
	all, err := store.Read(ctx, tx, nil, func(r *store.Row) (x small, err error) {
		return x, r.Scan(&x.id, &x.passages)
	}, `SELECT id, there FROM (SELECT s.id, (SELECT COALESCE(sum(d.chunk_count), 0) FROM placed p JOIN documents d ON d.id = p.document WHERE p.segment = s.id) AS there
		FROM segments s WHERE s.knowledge_base_id = $1 AND (s.passages <= $2 OR EXISTS (SELECT 1 FROM gone g WHERE g.segment = s.id))) x WHERE there <= $2 ORDER BY there, id`, base, w.Sizes.Small)
	if err != nil || len(all) < w.Sizes.Many {
		return nil, err
	}
	j, taken := &job{}, 0
	for _, x := range all {
		if taken += x.passages; taken > w.Sizes.Large {
			break
		}
		j.old = append(j.old, x.id)
	}
	args := []any{}
	j.documents, err = store.Read(ctx, tx, nil, func(r *store.Row) (f Fresh, err error) {
		err = r.Scan(store.Needed(&r.ID), store.Whole(&f.Version), store.Count(&f.Chunks, 0))
		f.ID = r.ID
		return f, err
	}, "SELECT d.id, d.version, d.chunk_count FROM placed p JOIN documents d ON d.id = p.document WHERE p.segment IN ("+
		places(&args, j.old)+") ORDER BY d.source, d.id", args...)
	return j, err
}

// indexOnce makes one segment, and returns how many passages it has. It splits the texts into words
// before the transaction that writes, so that others wait only for the writing. It returns an error
// if the database fails.
func (w *Words) indexOnce(ctx context.Context, base string, j *job) (int, error) {
	m := new(maker)
	err := w.store.snapshot(ctx, func(tx *sql.Tx) error {
		ids := make([]string, len(j.documents))
		for i := range ids {
			ids[i] = j.documents[i].ID
		}
		documents, chunks, err := w.texts(ctx, tx, base, ids)
		for i := range documents {
			m.add(&documents[i], chunks[documents[i].ID])
		}
		return err
	})
	if err != nil || len(m.Documents) == 0 && len(j.old) == 0 {
		return 0, err
	}
	versions := map[string]int64{}
	for _, f := range j.documents {
		versions[f.ID] = f.Version
	}
	placed := 0
	err = w.store.db.Alone(ctx, func(tx *store.Tx) error {
		id, err := m.write(ctx, tx, base)
		if err != nil {
			return err
		}
		if placed, err = w.settle(ctx, tx, m, id, base, versions, j.old); err != nil {
			return err
		}
		if placed == 0 { // all of it changed, or another program was faster
			if _, err := tx.ExecContext(ctx, "DELETE FROM segments WHERE id = $1", id); err != nil {
				return err
			}
		}
		for _, old := range j.old { // a document that could not be read is in no segment then
			if err := forget(ctx, tx, old); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return 0, fmt.Errorf("write the index of words: %w", err)
	}
	return placed, nil
}

// forget removes a segment. The documents that are still in it will be indexed again. It returns an
// error if the database fails.
func forget(ctx context.Context, tx *store.Tx, segment int64) error {
	if _, err := tx.ExecContext(ctx,
		"INSERT INTO fresh SELECT document FROM placed WHERE segment = $1 ON CONFLICT DO NOTHING",
		segment); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, "DELETE FROM segments WHERE id = $1", segment)
	return err
}

// Forget removes a damaged segment. The next search or Index indexes its documents again. It
// returns an error if the database fails.
func (w *Words) Forget(ctx context.Context, d *Damaged) error {
	return w.store.db.Alone(ctx, func(tx *store.Tx) error { return forget(ctx, tx, d.Segment) })
}

// write inserts a segment into the database, with the lists that say where words occur and with the
// words of each passage. It returns the segment's id, or an error if the database fails.
func (m *maker) write(ctx context.Context, tx *store.Tx, base string) (id int64, err error) {
	s, passages, summaries := m.made()
	about, err := s.pack()
	if err != nil {
		return 0, err
	}
	err = tx.QueryRowContext(ctx,
		"INSERT INTO segments (knowledge_base_id, passages, about) VALUES ($1, $2, $3) RETURNING id",
		base, len(s.Lengths), about).Scan(&id)
	if err != nil {
		return 0, err
	}
	var lists, streams []any
	for kind, x := range []*lexical.Segment{OfPassages: passages, OfSummaries: summaries} {
		for i, token := range x.Tokens {
			lists = append(lists, id, kind, keyOf(token), x.Lists[i])
		}
	}
	if err := insertRows(ctx, tx, "postings (segment, kind, token, list)", lists); err != nil {
		return 0, err
	}
	for i, tokens := range passages.Streams {
		streams = append(streams, int64(PlaceOf(id, i)), m.chunks[i], tokens)
	}
	return id, insertRows(ctx, tx, "streams (place, chunk, tokens)", streams)
}

// insertRows inserts rows into a table. The parameter into has the table's name and columns, as in
// "t (a, b)". It inserts many rows in one statement, because each statement is a round trip to
// PostgreSQL. It returns an error if the database fails.
func insertRows(ctx context.Context, tx *store.Tx, into string, values []any) error {
	columns := strings.Count(into, ",") + 1
	most := columns * 500
	text := func(n int) string {
		var rows []string
		for all := []any{}; len(all) < n; {
			rows = append(rows, "("+places(&all, make([]any, columns))+")")
		}
		return "INSERT INTO " + into + " VALUES " + strings.Join(rows, ", ")
	}
	insert, err := tx.PrepareContext(ctx, text(most))
	if err != nil {
		return err
	}
	defer insert.Close()
	for ; len(values) >= most; values = values[most:] {
		if _, err := insert.ExecContext(ctx, values[:most]...); err != nil {
			return err
		}
	}
	if len(values) > 0 {
		_, err = tx.ExecContext(ctx, text(len(values)), values...)
	}
	return err
}

// settle records which documents are now in the segment with this id, and returns how many passages
// they have. It leaves out a document that has changed since its text was read, or that another
// program has put into a segment; what the segment has about such a document is ignored later. It
// returns an error if the database fails.
func (w *Words) settle(ctx context.Context, tx *store.Tx, m *maker, id int64, base string,
	versions map[string]int64, old []int64) (passages int, err error) {
	ids := make([]string, len(m.Documents))
	for i := range ids {
		ids[i] = m.Documents[i].ID
	}
	args := []any{base, listed(ids)}
	there := "EXISTS (SELECT 1 FROM fresh f WHERE f.document = d.id)"
	if len(old) > 0 {
		there = "EXISTS (SELECT 1 FROM placed p WHERE p.document = d.id AND p.segment IN (" +
			places(&args, old) + "))"
	}
	if tx.Kind == store.Postgres { // somebody who is changing one is waited for, and waits
		there += " FOR SHARE OF d"
	}
	now, err := store.Read(ctx, tx.Tx, nil, func(r *store.Row) (f Fresh, err error) {
		err = r.Scan(store.Needed(&r.ID), store.Whole(&f.Version))
		f.ID = r.ID
		return f, err
	}, "SELECT d.id, d.version"+of+"WHERE "+byIDs(w.store.db.Kind, 2)+" AND "+there, args...)
	if err != nil {
		return 0, err
	}
	same := map[string]bool{}
	for _, f := range now {
		same[f.ID] = f.Version == versions[f.ID]
	}
	var placed, gone [][2]any
	ids = ids[:0]
	for i, d := range m.Documents {
		if !same[d.ID] {
			gone = append(gone, [2]any{id, i})
			continue
		}
		passages += d.Chunks
		placed, ids = append(placed, [2]any{d.ID, i}), append(ids, d.ID)
	}
	if _, err = tx.ExecContext(ctx, "INSERT INTO gone (segment, place) SELECT CAST(j.value ->> 0 AS BIGINT), CAST(j.value ->> 1 AS BIGINT) FROM "+
		each(w.store.db.Kind, 1), listed(gone)); err != nil {
		return 0, err
	}
	if _, err = tx.ExecContext(ctx, "INSERT INTO placed (document, segment, place) SELECT j.value ->> 0, CAST($1 AS BIGINT), CAST(j.value ->> 1 AS BIGINT) FROM "+
		each(w.store.db.Kind, 2)+" WHERE TRUE ON CONFLICT (document) DO UPDATE SET segment = excluded.segment, place = excluded.place", id, listed(placed)); err != nil {
		return 0, err
	}
	_, err = tx.ExecContext(ctx, "DELETE FROM fresh WHERE document "+among(w.store.db.Kind, 1),
		listed(ids))
	return passages, err
}
