package lexical

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"maps"
	"slices"
)

// Segment is an index of some texts that is stored in a database and does not change any more. Its
// texts are numbered from 0 in the order of their addition. A search reads only the lists of the
// query's tokens and the streams of the best texts.
type Segment struct {
	Tokens  []string // sorted
	Lists   [][]byte // the list of each token, sealed; see List
	Streams [][]byte // the tokens of each text in their order, sealed
	Lengths []int    // the number of tokens of each text
}

// Builder makes a Segment. The zero value is ready for use.
type Builder struct {
	numbers map[string]uint32
	lists   []building
	counts  []int // by token, for the text that is being added
	classes []int // by text
	most    int   // the number of classes
	s       Segment
}

// building is the list of the texts that contain a token, while texts are still added to it.
type building struct {
	texts, next int // how many texts contain it, and the number after the last of them
	postings    []byte
}

// Add adds a text that has one or more fields and belongs to a class, for example of texts with the
// same access rights. A long list contains the number of texts of each class. So a search that only
// counts the texts of some classes need not read the list's postings.
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

// add adds a text that contains the token count times. The count 1, which is the usual one, takes
// no space in the list.
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

// Segment returns the segment of all added texts.
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

// longList is the length from which a list contains the number of texts of each class. For each
// class it must have longClass texts, because with more classes the numbers would take more space
// than the postings.
const longList, longClass = 64, 4

// countClasses appends to the bytes in to how many texts of the list l belong to each class. If
// there are too many classes, it appends 0, and for a short list nothing.
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

// List returns the encoded list of the texts that contain a token, or nil if there are none.
func (s *Segment) List(token string) []byte {
	if i, found := slices.BinarySearch(s.Tokens, token); found {
		return s.Lists[i]
	}
	return nil
}

// ErrDamaged is the error for bytes that differ from what a Builder made.
var ErrDamaged = errors.New("the index of words is damaged")

// castagnoli is the table of a checksum for which processors have an instruction.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Seal returns data with a checksum before it, for Unseal. Without the checksum, a byte that
// changed in the database would not be noticed, and a search would find a wrong passage or none.
func Seal(data []byte) []byte {
	return append(binary.LittleEndian.AppendUint32(nil, crc32.Checksum(data, castagnoli)), data...)
}

// Unseal returns the data that Seal was given, or ErrDamaged if the checksum does not match.
func Unseal(sealed []byte) ([]byte, error) {
	if len(sealed) < 4 ||
		binary.LittleEndian.Uint32(sealed) != crc32.Checksum(sealed[4:], castagnoli) {
		return nil, ErrDamaged
	}
	return sealed[4:], nil
}

// List is the list of a token: it says which texts of a segment contain the token, and how often.
type List struct {
	Number uint32 // the number of the token in streams
	Texts  int    // how many texts contain the token
	Counts []int  // how many of them each class has; nil: unknown

	postings []byte
}

// Posting says which text of a segment contains a token, by the text's number, and how often.
type Posting struct{ Text, Count uint32 }

// ReadList decodes a list of a Segment. It returns ErrDamaged if the data were changed.
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

// readCounts decodes the numbers of texts of each class, which countClasses wrote at the beginning
// of a list. It returns them and the bytes after them, or ErrDamaged if the data are invalid. The
// parameter texts is the number of all texts in the list.
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

// Read decodes which texts of a segment contain the token, and how often. It returns them in the
// order of the texts, or ErrDamaged if the data are invalid. The parameter texts is the number of
// texts in the segment. The result reuses the memory of the slice into.
func (l *List) Read(into []Posting, texts int) ([]Posting, error) {
	into = slices.Grow(into[:0], l.Texts)[:l.Texts]
	at, p, i := 0, l.postings, 0
	for k := range into {
		var step, count uint64
		if i+1 < len(p) && p[i]|p[i+1] < 0x80 { // no branch depends on the count, as below
			step = uint64(p[i])
			more := step & 1
			count, i = 1+more*(1+uint64(p[i+1])), i+1+int(more)
		} else {
			var n int
			if step, n = binary.Uvarint(p[i:]); n <= 0 {
				return nil, ErrDamaged
			}
			i, count = i+n, 1
			if step&1 == 1 { // more than once
				more, n := binary.Uvarint(p[i:])
				if n <= 0 || more > 1<<31 {
					return nil, ErrDamaged
				}
				count, i = more+2, i+n
			}
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

// Scale computes how much a token adds to the score of a text, for the average text length of a
// collection.
type Scale struct {
	average float64
	// by the length of the text, for a token that occurs once, twice and so on
	known [8][1024]float64
}

// Scale returns a Scale with the average text length of the index.
func (x *Index) Scale() *Scale {
	s := &Scale{average: x.average()}
	for i := range s.known {
		for length := range s.known[i] {
			s.known[i][length] = saturated(float64(i+1), float64(length), s.average)
		}
	}
	return s
}

// Score adds to the score of each text in list what a token with the given weight contributes, as
// Index.Search does. The parameter list says which texts have the token and how often. scores and
// lengths have the score and the length of each text, by its number.
func (s *Scale) Score(list []Posting, weight float64, scores []float64, lengths []uint32) {
	for _, p := range list {
		length, i := lengths[p.Text], p.Count-1
		if i < uint32(len(s.known)) && length < uint32(len(s.known[0])) {
			scores[p.Text] += weight * s.known[i][length]
		} else {
			scores[p.Text] += weight * saturated(float64(p.Count), float64(length), s.average)
		}
	}
}

// ReadStream decodes the tokens of a text, field by field. A token is returned as its number in the
// segment. The parameter sealed is the encoded text with the checksum of Seal before it. ReadStream
// returns ErrDamaged if the data were changed.
func ReadStream(sealed []byte) ([][]uint32, error) {
	data, err := Unseal(sealed)
	if err != nil {
		return nil, err
	}
	n, data, ok := number(data)
	if !ok {
		return nil, ErrDamaged
	}
	fields, all := make([][]uint32, n), make([]uint32, len(data)) // a token has at least a byte
	for i := range fields {
		if n, data, ok = number(data); !ok {
			return nil, ErrDamaged
		}
		fields[i], all = all[:n:n], all[n:]
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

// number decodes a number of items from the beginning of data, and returns it with the bytes after
// it. The items themselves follow in those bytes, at least one byte each. ok is false if data is
// too short for that many.
func number(data []byte) (n int, rest []byte, ok bool) {
	v, k := binary.Uvarint(data)
	if k <= 0 || v > uint64(len(data)-k) {
		return 0, nil, false
	}
	return int(v), data[k:], true
}

// Term is a token of a query with its weight. The weight is the token's IDF, reduced for a token
// that belongs more to the grammar than to the subject.
type Term struct {
	Token  string
	Weight float64
}

// Terms returns the distinct tokens of a query, in order.
func (x *Index) Terms(query string) (all []Term) {
	for _, t := range x.terms(x.asked(query)) {
		all = append(all, Term{t.token, t.idf})
	}
	return all
}

// Words returns the distinct tokens of a text, in order.
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
