package kbstore

import (
	"context"
	"database/sql"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"toolnorm/internal/lexical"
	"toolnorm/internal/store"
)

// The texts that an index of words has of a base: passages, of which each has the fields title,
// heading and text, and summaries of documents with their titles.
const (
	OfPassages = iota
	OfSummaries
)

// Segment is a part of a base's index of words: some documents as they were when it was made. It
// never changes; what became of a document later is in Indexed.Gone.
type Segment struct {
	ID        int64
	Rights    []Access
	Documents []Placed
	// by passage, in the order of the documents
	Lengths []uint32 // in tokens
	Owners  []uint32 // the documents that they are of
	Keys    []uint64 // the beginnings of their ids, which compare as the ids do
}

// Placed is a document in a segment.
type Placed struct {
	ID     string
	Rights int // who may see it, as a place in the segment's Rights
	First  int // its first passage
	Chunks int
	Tokens int // of its passages together
}

// key returns the beginning of an id as a number. Ids that are no UUIDs get the number of their
// bytes, so that at least equal ones stay together.
func key(id string) uint64 {
	digits := strings.ReplaceAll(id, "-", "")
	if n, err := strconv.ParseUint(digits[:min(16, len(digits))], 16, 64); err == nil {
		return n
	}
	var b [8]byte
	copy(b[:], id)
	return binary.BigEndian.Uint64(b[:])
}

// maker makes a segment and the index of its words.
type maker struct {
	Segment
	passages, summaries lexical.Builder
	chunks              []string // ids, by passage
}

// add adds a document with its passages.
func (m *maker) add(d *Document, chunks []Chunk) {
	class := slices.IndexFunc(m.Rights, d.Access.same)
	if class < 0 {
		class = len(m.Rights)
		m.Rights = append(m.Rights, d.Access)
	}
	m.summaries.Add(d.Title + "\n" + d.Summary)
	for i := range chunks {
		m.passages.Add(d.Title, chunks[i].Heading, chunks[i].Text)
		m.chunks, m.Keys = append(m.chunks, chunks[i].ID), append(m.Keys, key(chunks[i].ID))
		m.Owners = append(m.Owners, uint32(len(m.Documents)))
	}
	m.Documents = append(m.Documents, Placed{ID: d.ID, Rights: class, Chunks: len(chunks)})
}

// made returns the segment, when all documents are added, and its words.
func (m *maker) made() (s *Segment, passages, summaries *lexical.Segment) {
	passages, summaries = m.passages.Segment(), m.summaries.Segment()
	for _, n := range passages.Lengths {
		m.Lengths = append(m.Lengths, uint32(n))
	}
	m.place()
	return &m.Segment, passages, summaries
}

// place computes where the passages of each document begin, and how many tokens they have.
func (s *Segment) place() {
	at := 0
	for i := range s.Documents {
		d := &s.Documents[i]
		d.First, d.Tokens = at, 0
		for _, n := range s.Lengths[at : at+d.Chunks] {
			d.Tokens += int(n)
		}
		at += d.Chunks
	}
}

// same reports whether two documents are seen by the same people.
func (a *Access) same(b Access) bool {
	return a.Tenant == b.Tenant && a.Public == b.Public && a.Clearance == b.Clearance &&
		slices.Equal(a.Departments, b.Departments)
}

// pack writes what a search has to know of a segment before it reads any list.
func (s *Segment) pack() ([]byte, error) {
	rights, err := json.Marshal(s.Rights)
	if err != nil {
		return nil, err
	}
	put := binary.AppendUvarint
	b := append(put(nil, uint64(len(rights))), rights...)
	b = put(b, uint64(len(s.Documents)))
	for _, d := range s.Documents {
		b = append(put(b, uint64(len(d.ID))), d.ID...)
		b = put(put(b, uint64(d.Rights)), uint64(d.Chunks))
	}
	for i, n := range s.Lengths {
		b = binary.BigEndian.AppendUint64(put(b, uint64(n)), s.Keys[i])
	}
	return b, nil
}

// errDamaged is the error of a segment that this program did not write.
var errDamaged = errors.New("the index of words is damaged")

// packed is what is left to read of a packed segment. After an error nothing is.
type packed struct {
	b      []byte
	failed bool
}

// number reads a number that may not exceed most.
func (p *packed) number(most int) int {
	v, n := binary.Uvarint(p.b)
	if n <= 0 || most < 0 || v > uint64(most) {
		p.b, p.failed = nil, true
		return 0
	}
	p.b = p.b[n:]
	return int(v)
}

// bytes reads bytes with their number before them.
func (p *packed) bytes() []byte {
	n := p.number(len(p.b))
	if n > len(p.b) {
		p.b, p.failed = nil, true
		return nil
	}
	var b []byte
	b, p.b = p.b[:n], p.b[n:]
	return b
}

// unpack reads what pack wrote.
func unpack(id int64, b []byte) (*Segment, error) {
	s, p := &Segment{ID: id}, &packed{b: b}
	if err := json.Unmarshal(p.bytes(), &s.Rights); err != nil {
		return nil, errDamaged
	}
	s.Documents = make([]Placed, p.number(len(p.b)))
	passages := 0
	for i := range s.Documents {
		s.Documents[i] = Placed{ID: string(p.bytes()), Rights: p.number(len(s.Rights) - 1),
			Chunks: p.number(len(b) - passages)}
		passages += s.Documents[i].Chunks
	}
	if p.failed || passages > len(p.b)/9 {
		return nil, errDamaged
	}
	s.Lengths, s.Keys = make([]uint32, passages), make([]uint64, passages)
	for i := range s.Lengths {
		s.Lengths[i] = uint32(p.number(1<<31 - 1))
		if len(p.b) < 8 {
			return nil, errDamaged
		}
		s.Keys[i], p.b = binary.BigEndian.Uint64(p.b), p.b[8:]
	}
	if len(p.b) > 0 {
		return nil, errDamaged
	}
	s.Owners = make([]uint32, 0, passages)
	for i, d := range s.Documents {
		for range d.Chunks {
			s.Owners = append(s.Owners, uint32(i))
		}
	}
	s.place()
	return s, nil
}

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
	store *Store
	tx    *sql.Tx
	base  string
}

// Words returns whether the store has an index of words by which Reader searches.
func (s *Store) Words() bool { return s.db.Kind == store.SQLite }

// Reader begins to read. It has to be closed.
func (s *Store) Reader(ctx context.Context, base string) (*Reader, error) {
	tx, err := s.db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return nil, err
	}
	return &Reader{s, tx, base}, nil
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
	documents, chunks, err := r.store.texts(ctx, r.tx, r.base, ids)
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
func (s *Store) texts(ctx context.Context, tx *sql.Tx, base string, ids []string) (
	[]Document, map[string][]Chunk, error) {
	list, err := json.Marshal(ids)
	if err != nil {
		return nil, nil, err
	}
	const where = "c.knowledge_base_id = $1 AND d.id IN (SELECT value FROM json_each($2))"
	documents, err := s.documentRows(ctx, tx, base, where, string(list))
	if err != nil {
		return nil, nil, err
	}
	chunks := map[string][]Chunk{}
	all, err := s.chunksOf(ctx, tx, base, where, string(list))
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
	return r.store.readCandidates(ctx, r.tx, text, args)
}
