package kbstore

import (
	"encoding/binary"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"toolnorm/internal/lexical"
)

// The kinds of text in an index of words. Passages have the fields title, heading and text.
// Summaries of documents include their titles.
const (
	OfPassages = iota
	OfSummaries
)

// Segment is a part of a base's index of words. It has the words of some documents as they were
// when the segment was made, and never changes. Indexed.Gone says which of them have changed since.
type Segment struct {
	ID        int64
	Rights    []Access
	Documents []Placed
	// by passage, in the order of the documents
	Lengths []uint32 // in tokens
	Owners  []uint32 // index of the passage's document in Documents
	Keys    []uint64 // beginnings of the ids as numbers, which sort as the ids do
}

// Placed says which of the access rights and passages of a segment belong to one document.
type Placed struct {
	ID     string
	Rights int // index of its access rights in the segment's Rights
	First  int // index of its first passage
	Chunks int
	Tokens int // of all its passages
}

// key returns the beginning of a UUID as a number, so that keys have the order of the ids. For an
// id that is not a UUID, it uses the bytes, so that at least equal ids have equal keys.
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
	chunks              []string // ids of the passages
}

// add adds a document with its passages to the segment.
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

// made returns the segment, and two indexes: of the words of its passages and of the words of its
// summaries. It must be called after all documents were added.
func (m *maker) made() (s *Segment, passages, summaries *lexical.Segment) {
	passages, summaries = m.passages.Segment(), m.summaries.Segment()
	for _, n := range passages.Lengths {
		m.Lengths = append(m.Lengths, uint32(n))
	}
	m.place()
	return &m.Segment, passages, summaries
}

// place computes where the passages of each document begin, and how many tokens they have, and sets
// the fields First and Tokens of the documents.
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

// same reports whether two documents may be seen by the same people.
func (a *Access) same(b Access) bool {
	return a.Tenant == b.Tenant && a.Public == b.Public && a.Clearance == b.Clearance &&
		slices.Equal(a.Departments, b.Departments)
}

// pack encodes a segment without its words: its documents, their rights and the lengths of the
// passages. It returns an error if the rights cannot be encoded.
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

// packed decodes what Segment.pack has encoded. The field b has the bytes that are not decoded yet.
// After an error b is empty, and failed is true.
type packed struct {
	b      []byte
	failed bool
}

// number decodes a number. If the number is missing or larger than the parameter most, it returns 0
// and sets failed.
func (p *packed) number(most int) int {
	v, n := binary.Uvarint(p.b)
	if n <= 0 || most < 0 || v > uint64(most) {
		p.b, p.failed = nil, true
		return 0
	}
	p.b = p.b[n:]
	return int(v)
}

// bytes decodes a sequence of bytes, which follows its length. If bytes are missing, it returns nil
// and sets failed.
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

// unpack decodes what pack has encoded. It returns an error if the data is damaged.
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
