package lexical

import (
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"toolnorm/internal/test/must"
)

// searched gives the scores of a query in segments of some texts, and the features of each text.
func searched(t *testing.T, all []*Segment, whole Statistics, query string) (scores []float64, features []Features) {
	t.Helper()
	x := &Index{Whole: &whole}
	scale, look := x.Scale(), x.Look(query, 1, 2)
	for _, s := range all {
		part, lengths, place := make([]float64, len(s.Lengths)), make([]uint32, len(s.Lengths)), map[uint32]int{}
		for i, n := range s.Lengths {
			lengths[i] = uint32(n)
		}
		for i, term := range x.Terms(query) {
			data := s.List(term.Token)
			if data == nil {
				continue
			}
			list, err := ReadList(data)
			must.OK(t, err)
			place[list.Number] = i
			postings, err := list.Read(nil, len(part))
			must.OK(t, err)
			scale.Score(postings, term.Weight, part, lengths)
		}
		for _, stream := range s.Streams {
			fields, err := ReadStream(stream)
			must.OK(t, err)
			features = append(features, look.Of(fields, place))
		}
		scores = append(scores, part...)
	}
	return scores, features
}

// TestSegmentsScoreLikeAnIndex divides texts among segments by chance: every text has the score and
// the features that an index in memory gives it, to the last bit.
func TestSegmentsScoreLikeAnIndex(t *testing.T) {
	r, hits := rand.New(rand.NewPCG(3, 37)), 0
	for range 200 {
		x, builders := new(Index), []*Builder{new(Builder)}
		for range r.IntN(40) {
			if r.IntN(5) == 0 {
				builders = append(builders, new(Builder))
			}
			text := strings.Repeat(randomText(r)+" ", 1+r.IntN(3)*r.IntN(80))
			x.Add("", text[:len(text)/2], text)
			builders[len(builders)-1].Add(0, text[:len(text)/2], text)
		}
		var all []*Segment
		for _, b := range builders {
			all = append(all, b.Segment())
		}
		query := randomText(r)
		scores, features := searched(t, all, x.Statistics(query), query)
		want := make([]float64, len(scores))
		for _, hit := range x.Search(query, len(scores), nil) {
			want[hit.Row], hits = hit.Score, hits+1
		}
		if !slices.Equal(scores, want) {
			t.Fatalf("%q scores %v, in memory %v", query, scores, want)
		}
		look := x.Look(query, 1, 2)
		for row, f := range features {
			if f != look.Features(row) {
				t.Fatalf("%q in text %d has %v, in memory %v", query, row, f, look.Features(row))
			}
		}
	}
	if hits < 1000 {
		t.Errorf("%d hits say nothing", hits)
	}
}

// FuzzSegment reads back what was written of texts, and reads bytes that nothing wrote: these are an
// error or texts of the segment. One bit of what was written is changed: that is always an error.
func FuzzSegment(f *testing.F) {
	f.Add("副業の許可\n副業 副業", []byte{1, 2, 3}, uint(7))
	f.Add("employees apply\n\nusers.created_at", []byte{0x80, 0x80}, uint(99))
	f.Add("", []byte{}, uint(0))
	f.Add(strings.Repeat("副業 許可\n", 200), []byte{1, 70, 2, 30, 40}, uint(0))
	f.Fuzz(func(t *testing.T, texts string, data []byte, bit uint) {
		b, want := new(Builder), map[string]map[int]int{}
		split := strings.Split(texts, "\n")
		for i, text := range split {
			b.Add(i%3, text)
			for _, token := range Tokens(text) {
				if want[token] == nil {
					want[token] = map[int]int{}
				}
				want[token][i]++
			}
		}
		s := b.Segment()
		if !slices.Equal(s.Tokens, slices.Sorted(maps.Keys(want))) {
			t.Fatalf("tokens %q", s.Tokens)
		}
		damage := func(sealed []byte) []byte {
			damaged := slices.Clone(sealed)
			damaged[bit/8%uint(len(damaged))] ^= 1 << (bit % 8)
			return damaged
		}
		names := map[uint32]string{}
		for i, token := range s.Tokens {
			list, err := ReadList(s.Lists[i])
			got := map[int]int{}
			postings, other := list.Read(nil, len(split))
			for _, p := range postings {
				got[int(p.Text)] = int(p.Count)
			}
			for class, n := range list.Counts {
				for text := range got {
					if text%3 == class {
						n--
					}
				}
				if n != 0 {
					t.Fatalf("%q: %v of the classes of %v", token, list.Counts, got)
				}
			}
			if err != nil || other != nil || !reflect.DeepEqual(got, want[token]) || list.Texts != len(got) {
				t.Fatalf("%q is in %v, want %v: %v, %v", token, got, want[token], err, other)
			}
			names[list.Number] = token
			if _, err := ReadList(damage(s.Lists[i])); err == nil {
				t.Fatalf("another bit in the list of %q is not noticed", token)
			}
		}
		for i, stream := range s.Streams {
			fields, err := ReadStream(stream)
			if err != nil || len(fields) != 1 || s.Lengths[i] != len(fields[0]) {
				t.Fatalf("text %d: %v, %v", i, fields, err)
			}
			for j, token := range Tokens(split[i]) {
				if names[fields[0][j]] != token {
					t.Fatalf("token %d of %q is %q", j, split[i], names[fields[0][j]])
				}
			}
			if _, err := ReadStream(damage(stream)); err == nil {
				t.Fatalf("another bit in text %d is not noticed", i)
			}
		}
		readAnything(t, data)
		readAnything(t, Seal(data))
	})
}

// readAnything reads bytes as a list and as a stream.
func readAnything(t *testing.T, data []byte) {
	t.Helper()
	_, _ = ReadStream(data)
	list, err := ReadList(data)
	if err != nil {
		return
	}
	postings, err := list.Read(nil, 5)
	if err == nil && len(postings) != list.Texts {
		t.Fatalf("%d postings of %d", len(postings), list.Texts)
	}
	last := -1
	for _, p := range postings {
		if int(p.Text) <= last || p.Text >= 5 || p.Count < 1 {
			t.Fatalf("text %d behind %d, %d times", p.Text, last, p.Count)
		}
		last = int(p.Text)
	}
	new(Index).Scale().Score(postings, 1, make([]float64, 5), make([]uint32, 5))
}
