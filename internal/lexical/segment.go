package lexical

import (
	"encoding/binary"
	"errors"
	"maps"
	"slices"
)

// Segment is an index of some texts that is kept in a database and does not change any more. Its
// texts are numbered from 0 in the order in which they were added. Of a search, only the lists of
// the query's tokens and the streams of the best texts are read.
type Segment struct {
	Tokens  []string // sorted
	Lists   [][]byte // of each token: see List
	Streams [][]byte // of each text: its tokens in their order
	Lengths []int    // of each text, in tokens
}

// Builder makes a segment.
type Builder struct {
	numbers map[string]uint32
	lists   []building
	counts  []int // by token, of the text that is added
	s       Segment
}

// building is the list of a token.
type building struct {
	texts, next int // how many texts have it; the number behind the last of them
	postings    []byte
}

// Add adds a text of one or more fields.
func (b *Builder) Add(fields ...string) {
	if b.numbers == nil {
		b.numbers = map[string]uint32{}
	}
	at, length := len(b.s.Streams), 0
	stream := binary.AppendUvarint(nil, uint64(len(fields)))
	var seen []uint32
	for _, field := range fields {
		tokens := Tokens(field)
		stream = binary.AppendUvarint(stream, uint64(len(tokens)))
		length += len(tokens)
		for _, token := range tokens {
			n, there := b.numbers[token]
			if !there {
				n = uint32(len(b.lists))
				b.numbers[token] = n
				b.lists, b.counts = append(b.lists, building{}), append(b.counts, 0)
			}
			if b.counts[n]++; b.counts[n] == 1 {
				seen = append(seen, n)
			}
			stream = binary.AppendUvarint(stream, uint64(n))
		}
	}
	for _, n := range seen {
		b.lists[n].add(at, b.counts[n])
		b.counts[n] = 0
	}
	b.s.Streams, b.s.Lengths = append(b.s.Streams, stream), append(b.s.Lengths, length)
}

// add adds a text that has the token count times. Most have it once, which takes no byte.
func (l *building) add(text, count int) {
	step := uint64(text-l.next) << 1
	if count == 1 {
		l.postings = binary.AppendUvarint(l.postings, step)
	} else {
		l.postings = binary.AppendUvarint(l.postings, step|1)
		l.postings = binary.AppendUvarint(l.postings, uint64(count-2))
	}
	l.texts, l.next = l.texts+1, text+1
}

// Segment returns the segment of the texts that were added.
func (b *Builder) Segment() *Segment {
	b.s.Tokens = slices.Sorted(maps.Keys(b.numbers))
	b.s.Lists = make([][]byte, len(b.s.Tokens))
	for i, token := range b.s.Tokens {
		n := b.numbers[token]
		list := binary.AppendUvarint(nil, uint64(n))
		list = binary.AppendUvarint(list, uint64(b.lists[n].texts))
		b.s.Lists[i] = append(list, b.lists[n].postings...)
	}
	return &b.s
}

// List returns the list of a token, or nil if no text has it.
func (s *Segment) List(token string) []byte {
	if i, found := slices.BinarySearch(s.Tokens, token); found {
		return s.Lists[i]
	}
	return nil
}

// errDamaged is the error of bytes that no Builder made.
var errDamaged = errors.New("the index of words is damaged")

// List is which texts of a segment have a token, and how often each.
type List struct {
	Number uint32 // of the token, in streams
	Texts  int    // how many have it

	postings []byte
}

// ReadList reads a list as Builder wrote it.
func ReadList(data []byte) (l List, err error) {
	number, n := binary.Uvarint(data)
	if n <= 0 || number > 1<<32-1 {
		return l, errDamaged
	}
	texts, m := binary.Uvarint(data[n:])
	if m <= 0 || texts > uint64(len(data)) {
		return l, errDamaged
	}
	return List{uint32(number), int(texts), data[n+m:]}, nil
}

// next reads one posting: how many texts are passed over, and how often the next one has the token.
// ok is false if there is none.
func next(p []byte) (step uint64, count uint64, rest []byte, ok bool) {
	if len(p) == 0 {
		return 0, 0, nil, false
	}
	n := 1
	if p[0] < 0x80 {
		step = uint64(p[0])
	} else if step, n = binary.Uvarint(p); n <= 0 {
		return 0, 0, nil, false
	}
	p = p[n:]
	if step&1 == 0 {
		return step >> 1, 1, p, true
	}
	if count, n = binary.Uvarint(p); n <= 0 {
		return 0, 0, nil, false
	}
	return step >> 1, count + 2, p[n:], true
}

// Each calls do for each text of the list with how often it has the token, in the order of the
// texts, of which the segment has so many.
func (l *List) Each(texts int, do func(text, count int)) error {
	at, p := 0, l.postings
	for range l.Texts {
		step, count, rest, ok := next(p)
		if !ok || step >= uint64(texts-at) || count > 1<<31 {
			return errDamaged
		}
		p, at = rest, at+int(step)
		do(at, int(count))
		at++
	}
	return nil
}

// Scale computes what a token adds to the score of a text, in a collection whose texts have a
// certain length on average.
type Scale struct {
	average float64
	once    []float64 // by the text's length, of a token that it has once
}

// Scale returns the scale of a collection.
func (x *Index) Scale() *Scale {
	s := &Scale{average: x.average(), once: make([]float64, 2048)}
	for length := range s.once {
		s.once[length] = saturated(1, float64(length), s.average)
	}
	return s
}

// Score adds what a token of that weight contributes to the scores of the texts of its list, as
// Index.Search does. The lengths are those of the texts.
func (l *List) Score(s *Scale, weight float64, scores []float64, lengths []uint32) error {
	at, p := 0, l.postings
	for range l.Texts {
		step, count, rest, ok := next(p)
		if !ok || step >= uint64(len(scores)-at) {
			return errDamaged
		}
		p, at = rest, at+int(step)
		if length := lengths[at]; count == 1 && int(length) < len(s.once) {
			scores[at] += weight * s.once[length]
		} else {
			scores[at] += weight * saturated(float64(count), float64(length), s.average)
		}
		at++
	}
	return nil
}

// ReadStream returns the tokens of a text, field by field, by their numbers in the segment.
func ReadStream(data []byte) ([][]uint32, error) {
	n, data, ok := number(data)
	if !ok {
		return nil, errDamaged
	}
	fields := make([][]uint32, n)
	for i := range fields {
		if n, data, ok = number(data); !ok {
			return nil, errDamaged
		}
		fields[i] = make([]uint32, n)
		for j := range fields[i] {
			v, k := binary.Uvarint(data)
			if k <= 0 || v > 1<<32-1 {
				return nil, errDamaged
			}
			fields[i][j], data = uint32(v), data[k:]
		}
	}
	return fields, nil
}

// number reads how many of something follow, each of which takes a byte at least.
func number(data []byte) (n int, rest []byte, ok bool) {
	v, k := binary.Uvarint(data)
	if k <= 0 || v > uint64(len(data)-k) {
		return 0, nil, false
	}
	return int(v), data[k:], true
}

// Term is a token of a query, with its weight: its IDF, less where it is grammar.
type Term struct {
	Token  string
	Weight float64
}

// Terms returns the distinct tokens of a query in its order.
func (x *Index) Terms(query string) (all []Term) {
	for _, t := range x.terms(x.asked(query)) {
		all = append(all, Term{t.token, t.idf})
	}
	return all
}

// Words returns the distinct tokens of a text, in its order.
func Words(text string) (all []string) {
	seen := map[string]bool{}
	for _, token := range Tokens(text) {
		if !seen[token] {
			seen[token] = true
			all = append(all, token)
		}
	}
	return all
}
