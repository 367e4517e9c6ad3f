package lexical

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"maps"
	"slices"
)

// Segment is an index of some texts that is kept in a database and does not change any more. Its
// texts are numbered from 0 in the order in which they were added. Of a search, only the lists of
// the query's tokens and the streams of the best texts are read.
type Segment struct {
	Tokens  []string // sorted
	Lists   [][]byte // of each token, sealed: see List
	Streams [][]byte // of each text, sealed: its tokens in their order
	Lengths []int    // of each text, in tokens
}

// Builder makes a segment.
type Builder struct {
	numbers map[string]uint32
	lists   []building
	counts  []int // by token, of the text that is added
	classes []int // by text
	most    int   // classes
	s       Segment
}

// building is the list of a token.
type building struct {
	texts, next int // how many texts have it; the number behind the last of them
	postings    []byte
}

// Add adds a text of one or more fields. Long lists count the texts of each class, so that a search
// that counts those of some classes alone need not read them.
func (b *Builder) Add(class int, fields ...string) {
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
	b.classes, b.most = append(b.classes, class), max(b.most, class+1)
	b.s.Streams, b.s.Lengths = append(b.s.Streams, Seal(stream)), append(b.s.Lengths, length)
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
		list = b.countClasses(list, &b.lists[n])
		b.s.Lists[i] = Seal(append(list, b.lists[n].postings...))
	}
	return &b.s
}

// longList is how many texts a list has that counts classes. For each class it has to have as many
// as longClass: with more classes their counts would take more room than the texts.
const longList, longClass = 64, 4

// countClasses appends how many texts of a list are of each class, or nothing.
func (b *Builder) countClasses(to []byte, l *building) []byte {
	if l.texts < longList {
		return to
	}
	if l.texts < longClass*b.most {
		return binary.AppendUvarint(to, 0)
	}
	read, counts := List{Texts: l.texts, postings: l.postings}, make([]uint64, b.most)
	all, _ := read.Read(nil, len(b.classes)) // it was just written
	for _, p := range all {
		counts[b.classes[p.Text]]++
	}
	to = binary.AppendUvarint(to, uint64(b.most))
	for _, n := range counts {
		to = binary.AppendUvarint(to, n)
	}
	return to
}

// List returns the list of a token, or nil if no text has it.
func (s *Segment) List(token string) []byte {
	if i, found := slices.BinarySearch(s.Tokens, token); found {
		return s.Lists[i]
	}
	return nil
}

// ErrDamaged is the error of bytes that are not as a Builder made them.
var ErrDamaged = errors.New("the index of words is damaged")

// castagnoli is the polynomial that processors have an instruction for.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Seal returns bytes with a checksum in front: a byte that changed in the database would otherwise
// be another passage, or none.
func Seal(data []byte) []byte {
	return append(binary.LittleEndian.AppendUint32(nil, crc32.Checksum(data, castagnoli)), data...)
}

// Unseal returns the bytes that were sealed, or ErrDamaged.
func Unseal(sealed []byte) ([]byte, error) {
	if len(sealed) < 4 ||
		binary.LittleEndian.Uint32(sealed) != crc32.Checksum(sealed[4:], castagnoli) {
		return nil, ErrDamaged
	}
	return sealed[4:], nil
}

// List is which texts of a segment have a token, and how often each.
type List struct {
	Number uint32 // of the token, in streams
	Texts  int    // how many have it
	Counts []int  // how many of each class; nil: that is not known

	postings []byte
}

// Posting is a text of a list, with how often it has the token.
type Posting struct{ Text, Count uint32 }

// ReadList reads a list as Builder wrote it.
func ReadList(sealed []byte) (l List, err error) {
	data, err := Unseal(sealed)
	if err != nil {
		return l, err
	}
	number, n := binary.Uvarint(data)
	if n <= 0 || number > 1<<32-1 {
		return l, ErrDamaged
	}
	texts, m := binary.Uvarint(data[n:])
	if m <= 0 || texts > uint64(len(data)-n-m) {
		return l, ErrDamaged
	}
	l = List{Number: uint32(number), Texts: int(texts), postings: data[n+m:]}
	if l.Texts >= longList {
		l.Counts, l.postings, err = readCounts(l.postings, l.Texts)
	}
	return l, err
}

// readCounts reads what countClasses wrote.
func readCounts(data []byte, texts int) (counts []int, rest []byte, err error) {
	n, data, ok := number(data)
	if !ok {
		return nil, nil, ErrDamaged
	}
	for range n {
		v, k := binary.Uvarint(data)
		if k <= 0 || v > uint64(texts) {
			return nil, nil, ErrDamaged
		}
		counts, data, texts = append(counts, int(v)), data[k:], texts-int(v)
	}
	if n > 0 && texts > 0 {
		return nil, nil, ErrDamaged
	}
	return counts, data, nil
}

// Read returns the postings in the order of the texts, of which the segment has so many. They stand
// in the place of what was in into.
func (l *List) Read(into []Posting, texts int) ([]Posting, error) {
	into = slices.Grow(into[:0], l.Texts)[:l.Texts]
	at, p, i := 0, l.postings, 0
	for k := range into {
		if i >= len(p) {
			return nil, ErrDamaged
		}
		step, count := uint64(p[i]), uint64(1)
		if i++; step >= 0x80 {
			long, n := binary.Uvarint(p[i-1:])
			if n <= 0 {
				return nil, ErrDamaged
			}
			step, i = long, i-1+n
		}
		if step&1 == 1 { // more than once
			more, n := binary.Uvarint(p[i:])
			if n <= 0 || more > 1<<31 {
				return nil, ErrDamaged
			}
			count, i = more+2, i+n
		}
		if step >>= 1; step >= uint64(texts-at) {
			return nil, ErrDamaged
		}
		at += int(step)
		into[k] = Posting{uint32(at), uint32(count)}
		at++
	}
	if i != len(p) {
		return nil, ErrDamaged
	}
	return into, nil
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
func (s *Scale) Score(list []Posting, weight float64, scores []float64, lengths []uint32) {
	for _, p := range list {
		if length := lengths[p.Text]; p.Count == 1 && int(length) < len(s.once) {
			scores[p.Text] += weight * s.once[length]
		} else {
			scores[p.Text] += weight * saturated(float64(p.Count), float64(length), s.average)
		}
	}
}

// ReadStream returns the tokens of a text, field by field, by their numbers in the segment.
func ReadStream(sealed []byte) ([][]uint32, error) {
	data, err := Unseal(sealed)
	if err != nil {
		return nil, err
	}
	n, data, ok := number(data)
	if !ok {
		return nil, ErrDamaged
	}
	fields := make([][]uint32, n)
	for i := range fields {
		if n, data, ok = number(data); !ok {
			return nil, ErrDamaged
		}
		fields[i] = make([]uint32, n)
		for j := range fields[i] {
			v, k := binary.Uvarint(data)
			if k <= 0 || v > 1<<32-1 {
				return nil, ErrDamaged
			}
			fields[i][j], data = uint32(v), data[k:]
		}
	}
	if len(data) > 0 {
		return nil, ErrDamaged
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
