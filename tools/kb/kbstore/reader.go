package kbstore

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"toolnorm/internal/lexical"
	"toolnorm/internal/store"
)

// Indexed is the state of a base's index of words.
type Indexed struct {
	Version  int64
	Segments []int64
	Gone     map[int64][]int // of each segment, the documents that changed or went
	Fresh    []Fresh         // documents that are in no segment yet
}

// Fresh is a document that is in no segment yet.
type Fresh struct {
	ID      string
	Version int64
	Chunks  int
}

// Reader reads the index of words of a base, and its texts, as they are at one moment.
type Reader struct {
	words *Words
	tx    *sql.Tx
	base  string
}

// Reader begins to read. It has to be closed.
func (w *Words) Reader(ctx context.Context, base string) (*Reader, error) {
	tx, err := w.store.db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return nil, err
	}
	return &Reader{w, tx, base}, nil
}

// Close ends the reading.
func (r *Reader) Close() { _ = r.tx.Rollback() }

// Version returns the base's version, and the segments of its index: while both stay as they are,
// so does all that Indexed has.
func (r *Reader) Version(ctx context.Context) (x Indexed, err error) {
	err = r.tx.QueryRowContext(ctx, "SELECT version FROM knowledge_bases WHERE id = $1",
		r.base).Scan(store.Whole(&x.Version))
	if errors.Is(err, sql.ErrNoRows) {
		return x, ErrNotFound
	}
	if err == nil {
		x.Segments, err = readColumn[int64](ctx, r.tx,
			"SELECT id FROM segments WHERE knowledge_base_id = $1 ORDER BY id", r.base)
	}
	return x, err
}

// Rest reads what Version leaves out.
func (r *Reader) Rest(ctx context.Context, x *Indexed) (err error) {
	x.Gone = map[int64][]int{}
	for _, id := range x.Segments {
		if x.Gone[id], err = readColumn[int](ctx, r.tx,
			"SELECT place FROM gone WHERE segment = $1", id); err != nil {
			return err
		}
	}
	x.Fresh, err = freshOf(ctx, r.tx, r.base)
	return err
}

// freshOf returns the documents of a base that are in no segment yet.
func freshOf(ctx context.Context, tx *sql.Tx, base string) ([]Fresh, error) {
	return store.Read(ctx, tx, nil, func(r *store.Row) (f Fresh, err error) {
		err = r.Scan(store.Needed(&r.ID), store.Whole(&f.Version), store.Count(&f.Chunks, 0))
		f.ID = r.ID
		return f, err
	}, "SELECT d.id, d.version, d.chunk_count FROM fresh f CROSS JOIN documents d ON d.id = f.document JOIN collections c ON c.id = d.collection_id WHERE c.knowledge_base_id = $1 ORDER BY d.source, d.id", base)
}

// readColumn reads one column of numbers.
func readColumn[T any](ctx context.Context, tx *sql.Tx, query string, args ...any) (
	all []T, err error) {
	rows, err := tx.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var v T
		if err := rows.Scan(&v); err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	return all, rows.Err()
}

// Segment reads a segment.
func (r *Reader) Segment(ctx context.Context, id int64) (*Segment, error) {
	var about []byte
	err := r.tx.QueryRowContext(ctx, "SELECT about FROM segments WHERE id = $1", id).Scan(&about)
	if err != nil {
		return nil, err
	}
	return unpack(id, about)
}

// Made is a segment in memory, of documents that are in no segment of the store yet.
type Made struct {
	*Segment
	Passages, Summaries *lexical.Segment
	Chunks              []string // the ids of the passages
}

// Make makes a segment in memory of each of some documents. Documents that cannot be used are left
// out.
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

// texts reads documents, and their passages by the documents.
func (w *Words) texts(ctx context.Context, tx *sql.Tx, base string, ids []string) (
	[]Document, map[string][]Chunk, error) {
	list, err := json.Marshal(ids)
	if err != nil {
		return nil, nil, err
	}
	// By the + SQLite looks the documents up by their ids, and does not go through all of the base.
	const where = "+c.knowledge_base_id = $1 AND d.id IN (SELECT value FROM json_each($2))"
	documents, err := documentRows(ctx, w.store, tx, base, where, string(list))
	if err != nil {
		return nil, nil, err
	}
	chunks := map[string][]Chunk{}
	all, err := w.store.chunksOf(ctx, tx, base, where, string(list))
	for _, c := range all {
		chunks[c.Document] = append(chunks[c.Document], c)
	}
	return documents, chunks, err
}

// Lists reads the lists of some tokens, by the segment and the token.
func (r *Reader) Lists(ctx context.Context, kind int, segments []int64, tokens []string) (
	map[int64]map[string][]byte, error) {
	all := map[int64]map[string][]byte{}
	if len(segments) == 0 || len(tokens) == 0 {
		return all, nil
	}
	args := []any{kind}
	query := "SELECT segment, token, list FROM postings WHERE kind = $1 AND segment IN (" +
		places(&args, segments) + ") AND token IN (" + places(&args, tokens) + ")"
	rows, err := r.tx.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var segment int64
		var token string
		var list []byte
		if err := rows.Scan(&segment, &token, &list); err != nil {
			return nil, err
		}
		if all[segment] == nil {
			all[segment] = map[string][]byte{}
		}
		all[segment][token] = list
	}
	return all, rows.Err()
}

// Place is where a passage is: a segment of the store, and the passage's number in it.
type Place struct {
	Segment int64
	Passage int
}

// Stream is the words of a passage.
type Stream struct {
	Chunk  string // its id
	Tokens []byte // see lexical.ReadStream
}

// Streams reads the words of passages.
func (r *Reader) Streams(ctx context.Context, all []Place) ([]Stream, error) {
	if len(all) == 0 {
		return nil, nil
	}
	read, err := r.tx.PrepareContext(ctx,
		"SELECT chunk, tokens FROM streams WHERE segment = $1 AND passage = $2")
	if err != nil {
		return nil, err
	}
	defer read.Close()
	streams := make([]Stream, len(all))
	for i, at := range all {
		err := read.QueryRowContext(ctx, at.Segment, at.Passage).Scan(&streams[i].Chunk,
			&streams[i].Tokens)
		if err != nil {
			return nil, fmt.Errorf("the words of passage %d: %w", at.Passage, err)
		}
	}
	return streams, nil
}

// Chunks is like Store.Chunks, at the reader's moment.
func (r *Reader) Chunks(ctx context.Context, f Filter, ids []string) ([]Candidate, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	text, args := chunksByID(r.base, f, ids)
	return r.words.store.readCandidates(ctx, r.tx, text, args)
}
