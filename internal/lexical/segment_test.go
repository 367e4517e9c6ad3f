package lexical

import (
	"cmp"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
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
			if err != nil {
				t.Fatal(err)
			}
			place[list.Number] = i
			if err := list.Score(scale, term.Weight, part, lengths); err != nil {
				t.Fatal(err)
			}
		}
		for _, stream := range s.Streams {
			fields, err := ReadStream(stream)
			if err != nil {
				t.Fatal(err)
			}
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
			builders[len(builders)-1].Add(text[:len(text)/2], text)
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
// error or texts of the segment.
func FuzzSegment(f *testing.F) {
	f.Add("副業の許可\n副業 副業", []byte{1, 2, 3})
	f.Add("employees apply\n\nusers.created_at", []byte{0x80, 0x80})
	f.Add("", []byte{})
	f.Fuzz(func(t *testing.T, texts string, data []byte) {
		b, want := new(Builder), map[string]map[int]int{}
		split := strings.Split(texts, "\n")
		for i, text := range split {
			b.Add(text)
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
		names := map[uint32]string{}
		for i, token := range s.Tokens {
			list, err := ReadList(s.Lists[i])
			got := map[int]int{}
			if err == nil {
				err = list.Each(len(split), func(text, count int) { got[text] = count })
			}
			if err != nil || !reflect.DeepEqual(got, want[token]) || list.Texts != len(got) {
				t.Fatalf("%q is in %v, want %v: %v", token, got, want[token], err)
			}
			names[list.Number] = token
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
		}
		if list, err := ReadList(data); err == nil {
			last := -1
			err := list.Each(5, func(text, count int) {
				if text <= last || text >= 5 || count < 1 {
					t.Fatalf("text %d behind %d, %d times", text, last, count)
				}
				last = text
			})
			scores := make([]float64, 5)
			if other := list.Score(new(Index).Scale(), 1, scores, make([]uint32, 5)); err == nil && other != nil {
				t.Fatalf("Each reads it, Score does not: %v", cmp.Or(other, err))
			}
		}
		_, _ = ReadStream(data)
	})
}
