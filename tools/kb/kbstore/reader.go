package kbstore

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"toolnorm/internal/lexical"
	"toolnorm/internal/store"
)

// Indexed is the state of a base's index of words: its segments, and the documents that have
// changed since these were made.
type Indexed struct {
	Version  int64
	Segments []int64
	Gone     map[int64][]int // by segment: the positions of documents that have changed or are gone
	Fresh    []Fresh         // documents that are in no segment yet
}

// Fresh is a document that is in no segment yet.
type Fresh struct {
	ID      string
	Version int64
	Chunks  int
}

// ErrStale is the error for a search that has read what another program was changing, or what is
// damaged. If the search is repeated, it finds the changed or repaired data.
var ErrStale = errors.New("the index of words changed meanwhile")

// Damaged is the error for a segment whose data is not what was written. errors.Is reports it as
// ErrStale.
type Damaged struct{ Segment int64 }

// Error implements error. It names the damaged segment.
func (d *Damaged) Error() string {
	return fmt.Sprintf("the index of words is damaged in segment %d", d.Segment)
}

// Is reports whether target is ErrStale, for errors.Is.
func (d *Damaged) Is(target error) bool { return target == ErrStale }

// Reader reads the index of words of a base, and its texts. After Begin, everything that it reads
// is from one moment. Without Begin, each statement sees the data of its own moment, and data that
// does not fit together results in ErrStale. To work without Begin saves two round trips to
// PostgreSQL.
type Reader struct {
	words *Words
	in    store.Asker
	tx    *sql.Tx // nil: Begin was not called
	base  string
	mu    sync.Mutex // a transaction has one connection
}

// Reader returns a Reader for a base. The caller must Close it. For SQLite it begins a transaction,
// which costs nothing there. It returns an error if that fails.
func (w *Words) Reader(ctx context.Context, base string) (r *Reader, err error) {
	r = &Reader{words: w, in: w.store.db, base: base}
	if w.store.db.Kind == store.SQLite {
		err = r.Begin(ctx)
	}
	return r, err
}

// Begin begins the reader's transaction, if it has none. It returns an error if the database fails.
func (r *Reader) Begin(ctx context.Context) (err error) {
	if r.tx == nil {
		if r.tx, err = r.words.store.begin(ctx); err == nil {
			r.in = r.tx
		}
	}
	return err
}

// Begun reports whether the reader has a transaction.
func (r *Reader) Begun() bool { return r.tx != nil }

// within calls the function do in the reader's transaction, or in a transaction of its own. It
// returns the error of do, or of beginning the transaction.
func (r *Reader) within(ctx context.Context, do func(tx *sql.Tx) error) error {
	if r.tx != nil {
		return do(r.tx)
	}
	return r.words.store.snapshot(ctx, do)
}

// Close ends the reader's transaction, if there is one.
func (r *Reader) Close() {
	if r.tx != nil {
		_ = r.tx.Rollback()
	}
}

// Lists contains, for each token, the encoded lists of where it occurs. A token that was looked for
// and is in no text has an empty element.
type Lists map[string]*ListsOf

// ListsOf contains the encoded lists of where one token occurs. Its index is the kind of text
// (OfPassages or OfSummaries), and each map has a list for each segment, by the segment's id.
type ListsOf [2]map[int64][]byte

// Look returns the base's version and the segments of its index, and the lists of the given tokens,
// in one statement. It leaves out the fields Gone and Fresh (see Rest), which only change together
// with the version or the segments. It returns ErrNotFound if there is no such base, or another
// error if the database fails.
func (r *Reader) Look(ctx context.Context, tokens []string) (x Indexed, all Lists, err error) {
	all, byKey := Lists{}, Lists{}
	for _, token := range tokens {
		all[token] = &ListsOf{{}, {}}
		byKey[keyOf(token)] = all[token]
	}
	rows, err := r.in.QueryContext(ctx, `SELECT -2, version, '', CAST(NULL AS BYTEA) FROM knowledge_bases WHERE id = $1
		UNION ALL SELECT -1, id, '', NULL FROM segments WHERE knowledge_base_id = $1
		UNION ALL SELECT p.kind, p.segment, p.token, p.list FROM segments s CROSS JOIN postings p
		WHERE s.knowledge_base_id = $1 AND p.segment = s.id AND p.kind IN (0, 1) AND p.token `+
		among(r.words.store.db.Kind, 2), r.base, listed(slices.Sorted(maps.Keys(byKey))))
	if err != nil {
		return x, all, err
	}
	defer rows.Close()
	there := false
	for rows.Next() {
		var kind int
		var number int64
		var token string
		var list []byte
		if err := rows.Scan(&kind, &number, &token, &list); err != nil {
			return x, all, err
		}
		switch {
		case kind == -2:
			x.Version, there = number, true
		case kind == -1:
			x.Segments = append(x.Segments, number)
		default:
			byKey[token][kind][number] = list
		}
	}
	if err = rows.Err(); err == nil && !there {
		err = ErrNotFound
	}
	slices.Sort(x.Segments)
	return x, all, err
}

// Of returns the encoded list of where a token occurs in a segment, or nil if it does not occur
// there. The parameter kind is OfPassages or OfSummaries.
func (l Lists) Of(kind int, segment int64, token string) []byte {
	if of := l[token]; of != nil {
		return of[kind][segment]
	}
	return nil
}

// longestKey is the length in bytes up to which a token is its own key. PostgreSQL accepts up to a
// third of a page.
const longestKey = 1 << 10

// keyOf returns the key of a token in the table of lists: the token itself, or, if it is too long,
// a hash that no token looks like.
func keyOf(token string) string {
	if len(token) <= longestKey {
		return token
	}
	return fmt.Sprintf("#%x", sha256.Sum256([]byte(token)))
}

// Rest completes the state x of the index: it sets the fields Gone and Fresh, which Look leaves
// out. It returns an error if the database fails.
func (r *Reader) Rest(ctx context.Context, x *Indexed) (err error) {
	x.Gone = map[int64][]int{}
	rows, err := r.in.QueryContext(ctx, "SELECT g.segment, g.place FROM segments s CROSS JOIN gone g WHERE s.knowledge_base_id = $1 AND g.segment = s.id", r.base)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var segment int64
		var place int
		if err := rows.Scan(&segment, &place); err != nil {
			return err
		}
		x.Gone[segment] = append(x.Gone[segment], place)
	}
	if err := rows.Err(); err != nil {
		return err
	}
	x.Fresh, err = freshOf(ctx, r.in, r.base)
	return err
}

// freshOf returns the documents of a base that are in no segment yet. It returns an error if the
// database fails.
func freshOf(ctx context.Context, tx store.Asker, base string) ([]Fresh, error) {
	return store.Read(ctx, tx, nil, func(r *store.Row) (f Fresh, err error) {
		err = r.Scan(store.Needed(&r.ID), store.Whole(&f.Version), store.Count(&f.Chunks, 0))
		f.ID = r.ID
		return f, err
	}, "SELECT d.id, d.version, d.chunk_count FROM fresh f CROSS JOIN documents d JOIN collections c ON c.id = d.collection_id WHERE d.id = f.document AND c.knowledge_base_id = $1 ORDER BY d.source, d.id", base)
}

// Segment returns the segment with the given id. Begin must have been called. Several goroutines
// may call Segment at the same time, so that one decodes a segment while another reads the next. It
// returns a *Damaged if the segment cannot be decoded, or another error if the database fails.
func (r *Reader) Segment(ctx context.Context, id int64) (*Segment, error) {
	var about []byte
	r.mu.Lock()
	err := r.tx.QueryRowContext(ctx, "SELECT about FROM segments WHERE id = $1", id).Scan(&about)
	r.mu.Unlock()
	if err != nil {
		return nil, err
	}
	s, err := unpack(id, about)
	if err != nil {
		return nil, &Damaged{id}
	}
	return s, nil
}

// Made is a segment of one document, in memory, because the document is in no stored segment yet.
type Made struct {
	*Segment
	Passages, Summaries *lexical.Segment
	Chunks              []string // ids of the passages
}

// Make returns, for each of the documents with the given ids, a segment in memory that has only
// this document. Documents that cannot be used are left out. Begin must have been called. It
// returns an error if the database fails.
func (r *Reader) Make(ctx context.Context, ids []string) (map[string]*Made, error) {
	documents, chunks, err := r.words.texts(ctx, r.tx, r.base, ids)
	if err != nil {
		return nil, err
	}
	all := map[string]*Made{}
	for i := range documents {
		m := new(maker)
		m.add(&documents[i], chunks[documents[i].ID])
		made := &Made{Chunks: m.chunks}
		made.Segment, made.Passages, made.Summaries = m.made()
		all[documents[i].ID] = made
	}
	return all, nil
}

// texts returns documents by their ids, and their passages by document. It returns an error if the
// database fails.
func (w *Words) texts(ctx context.Context, tx *sql.Tx, base string, ids []string) (
	[]Document, map[string][]Chunk, error) {
	where, list := byIDs(w.store.db.Kind, 2), listed(ids)
	documents, err := documentRows(ctx, w.store, tx, base, where, list)
	if err != nil {
		return nil, nil, err
	}
	chunks := map[string][]Chunk{}
	all, err := w.store.chunksOf(ctx, tx, base, where, list)
	for _, c := range all {
		chunks[c.Document] = append(chunks[c.Document], c)
	}
	return documents, chunks, err
}

// Place is the position of a passage as one number: a stored segment, and in the lower 32 bits the
// passage's number in it.
type Place int64

// PlaceOf returns the place of a passage, given the segment and the passage's number in it.
func PlaceOf(segment int64, passage int) Place { return Place(segment<<32 | int64(passage)) }

// segment returns the id of the segment that has the passage.
func (p Place) segment() int64 { return int64(p) >> 32 }

// Stream has the words of a passage.
type Stream struct {
	Chunk  string // id of the passage
	Tokens []byte // see lexical.ReadStream
}

// Streams returns the words of the passages at the given places, in the same order. If a passage is
// missing, the error is a *Damaged if the reader has a transaction, and otherwise ErrStale. It
// returns another error if the database fails.
func (r *Reader) Streams(ctx context.Context, all []Place) ([]Stream, error) {
	if len(all) == 0 {
		return nil, nil
	}
	at := map[Place]int{}
	for i, p := range all {
		at[p] = i
	}
	asked := slices.Sorted(slices.Values(all)) // neighbors are in one page of the database
	rows, err := r.in.QueryContext(ctx, "SELECT t.place, t.chunk, t.tokens FROM "+
		each(r.words.store.db.Kind, 1)+
		" CROSS JOIN streams t WHERE t.place = CAST(CAST(j.value AS TEXT) AS BIGINT)", listed(asked))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	streams, read := make([]Stream, len(all)), 0
	for rows.Next() {
		var p Place
		var s Stream
		if err := rows.Scan(&p, &s.Chunk, &s.Tokens); err != nil {
			return nil, err
		}
		streams[at[p]], read = s, read+1
	}
	if err := rows.Err(); err != nil || read == len(all) {
		return streams, err
	}
	if r.tx == nil {
		return nil, ErrStale
	}
	for i := range streams {
		if streams[i].Tokens == nil {
			return nil, &Damaged{all[i].segment()}
		}
	}
	return streams, nil
}

// Chunks returns passages by their ids, in no order, without those that the filter does not allow.
// This is the last check of the rights before text leaves the store, so it does not rely on an
// earlier one. If passages are missing and the reader has no transaction, it returns the others
// together with ErrStale. It returns another error if the database fails.
func (r *Reader) Chunks(ctx context.Context, f Filter, ids []string) ([]Candidate, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	s, args := r.words.store, []any{r.base, listed(ids)}
	text := fmt.Sprintf(candidates, "0.0") + "WHERE c.knowledge_base_id = $1 AND k.id " +
		among(s.db.Kind, 2) + " AND " + f.where(&args)
	all, err := s.readCandidates(ctx, r.in, text, args)
	if err == nil && r.tx == nil && len(all) < len(ids) {
		err = ErrStale
	}
	return all, err
}
