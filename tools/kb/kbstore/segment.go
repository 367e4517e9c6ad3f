package kbstore

import (
	"encoding/binary"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"toolnorm/internal/lexical"
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
	m.summaries.Add(class, d.Title+"\n"+d.Summary)
	for i := range chunks {
		m.passages.Add(class, d.Title, chunks[i].Heading, chunks[i].Text)
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
	return lexical.Seal(b), nil
}

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
func unpack(id int64, sealed []byte) (*Segment, error) {
	b, err := lexical.Unseal(sealed)
	if err != nil {
		return nil, err
	}
	s, p := &Segment{ID: id}, &packed{b: b}
	if err := json.Unmarshal(p.bytes(), &s.Rights); err != nil {
		return nil, lexical.ErrDamaged
	}
	s.Documents = make([]Placed, p.number(len(p.b)))
	passages := 0
	for i := range s.Documents {
		s.Documents[i] = Placed{ID: string(p.bytes()), Rights: p.number(len(s.Rights) - 1),
			Chunks: p.number(len(b) - passages)}
		passages += s.Documents[i].Chunks
	}
	if p.failed || passages > len(p.b)/9 {
		return nil, lexical.ErrDamaged
	}
	s.Lengths, s.Keys = make([]uint32, passages), make([]uint64, passages)
	for i := range s.Lengths {
		s.Lengths[i] = uint32(p.number(1<<31 - 1))
		if len(p.b) < 8 {
			return nil, lexical.ErrDamaged
		}
		s.Keys[i], p.b = binary.BigEndian.Uint64(p.b), p.b[8:]
	}
	if len(p.b) > 0 {
		return nil, lexical.ErrDamaged
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
