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

// Sizes are those of the segments of an index of words, in passages.
type Sizes struct {
	Fresh int // so many that are in no segment make one
	Small int // segments with fewer are put together
	Many  int // when there are so many of them
	Large int // to one of at most so many
}

// standardSizes keep the fresh passages, which a search indexes anew, at some tens of milliseconds,
// and a segment at a second or two of writing. A million passages are in some 60 segments: each
// costs a search microseconds for each of its words.
var standardSizes = Sizes{Fresh: 1024, Small: 16 << 10, Many: 32, Large: 32 << 10}

// Words is the index of words of a store.
type Words struct {
	Sizes Sizes

	store    *Store
	indexing sync.Mutex   // one of this program's Index calls runs at a time
	added    atomic.Int64 // passages that this program put in since it called Index
}

// FreshLimit is how many fresh passages are few enough for a search. Above it the search should
// call Index first.
func (w *Words) FreshLimit() int { return 2 * w.Sizes.Fresh }

// note calls Index from time to time, as passages are put in.
func (w *Words) note(ctx context.Context, base string, passages int) error {
	if w.added.Add(int64(passages)) < int64(w.Sizes.Fresh) {
		return nil
	}
	w.added.Store(0)
	return w.Index(ctx, base, nil)
}

// Index puts documents of a base that are in no segment of its index of words into one, as soon as
// there are enough of them, and small segments together. Each segment is a transaction: an Index
// that is interrupted goes on with the next call, and nobody waits longer than for one. told, if it
// is not nil, is called after each with how many passages were put in, of how many.
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

// job is which documents are to be put into a segment, and which segments it replaces.
type job struct {
	documents []Fresh
	old       []int64
	left      int // fresh passages of others
}

// nextJob decides what to index next; nil: nothing.
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

// takeFresh takes fresh documents, as many as a segment may have, or nil if they are too few.
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

// takeSmall takes small segments to be put together, as many as fit into a large one, or nil if
// they are few. Of a segment counts what is still there: one of whose documents most have changed
// is small.
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

// indexOnce makes one segment, and returns how many passages it has. It cuts the texts before the
// transaction that writes: others have to wait only for the writing.
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

// forget removes a segment. The documents that are still in it are fresh then.
func forget(ctx context.Context, tx *store.Tx, segment int64) error {
	if _, err := tx.ExecContext(ctx,
		"INSERT INTO fresh SELECT document FROM placed WHERE segment = $1 ON CONFLICT DO NOTHING",
		segment); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, "DELETE FROM segments WHERE id = $1", segment)
	return err
}

// Forget removes a damaged segment. Its documents are indexed anew by the next search or Index.
func (w *Words) Forget(ctx context.Context, d *Damaged) error {
	return w.store.db.Alone(ctx, func(tx *store.Tx) error { return forget(ctx, tx, d.Segment) })
}

// write writes a segment with its lists and streams.
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
		streams = append(streams, id, i, m.chunks[i], tokens)
	}
	return id, insertRows(ctx, tx, "streams (segment, passage, chunk, tokens)", streams)
}

// insertRows inserts rows of four values, many with each statement: PostgreSQL would take a round
// trip for each row.
func insertRows(ctx context.Context, tx *store.Tx, into string, values []any) error {
	const columns, most = 4, 4 * 500
	text := func(n int) string {
		var b strings.Builder
		for i := 1; i <= n; i += columns {
			fmt.Fprintf(&b, ", ($%d, $%d, $%d, $%d)", i, i+1, i+2, i+3)
		}
		return "INSERT INTO " + into + " VALUES " + b.String()[2:]
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

// settle notes which segment has the documents now. One that changed since its text was read, or
// that another program put into a segment, is none of this segment: what was written of it is not
// looked at. It returns how many passages are the segment's.
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
