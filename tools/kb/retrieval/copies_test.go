package retrieval

import (
	"fmt"
	"iter"
	"regexp"
	"slices"
	"testing"

	"toolnorm/internal/lexical"
	"toolnorm/tools/kb/kbstore"
)

// copied is what stands behind the name of a copy.
var copied = regexp.MustCompile(`-\d+#`)

// TestCopiesHideNoAnswer asks for what stands in five documents, as a folder with copies and
// versions has it: nearly all questions that find it where it is there once find it then as well (a
// base of five times as many passages gives words that it does not have a little more weight), and
// no others find more.
func TestCopiesHideNoAnswer(t *testing.T) {
	for _, language := range languages {
		var found, misled [2]int
		documents := sample(t, language)
		for i, copies := range []int{1, 5} {
			store := openStore(t)
			all := map[string][]kbstore.Chunk{}
			for source, chunks := range documents {
				for n := range copies {
					all[fmt.Sprint(source, "-", n)] = chunks
				}
			}
			base := fill(t, store, all)
			names := sources(t, store, base)
			for _, q := range readQuestions(t) {
				if q.Language != language || q.Kind != "fact" && q.Kind != "none" {
					continue
				}
				r, err := (&Local{Store: store}).Search(t.Context(), Query{Text: q.Text, Base: base.ID, Threshold: DefaultThreshold, Max: MostResults, Principal: someone})
				if err != nil {
					t.Fatal(err)
				}
				if q.Kind == "none" && r.Count > 0 {
					misled[i]++
				}
				if slices.ContainsFunc(r.Results, func(f Found) bool { return q.Right[copied.ReplaceAllString(names[f.Metadata.Chunk], "#")] }) {
					found[i]++
				}
			}
		}
		t.Logf("%s: %d found, %d misled; with copies %d and %d", language, found[0], misled[0], found[1], misled[1])
		if found[0] == 0 || 5*found[1] < 4*found[0] || misled[1] > misled[0] {
			t.Errorf("%s: copies change what is found", language)
		}
	}
}

func TestCopies(t *testing.T) {
	text := "The office is open from eight to six on weekdays. Visitors sign the book at the entrance, and somebody of the staff takes them round."
	x := lexical.New([]string{text})
	w := wordsOf(x.Body(0))
	for other, want := range map[string]bool{
		text:                          true,
		text[:50] + "\n" + text[50:]:  true,
		text[:len(text)-1] + " once.": true,
		"The office is open.":         false,
		"The canteen is open from noon to two on weekdays. Guests pay at the desk for themselves, and members of the staff show a card there.": false,
		"": false,
	} {
		o := wordsOf(x.Body(x.Add("", other)))
		if got := w.alike(&o); got != want {
			t.Errorf("%q: got %v", other, got)
		}
	}
}

// TestOthersAreReadNoFurtherThanNeeded compares a passage with another one of as many words, none of
// which is in it: a tenth of them say so.
func TestOthersAreReadNoFurtherThanNeeded(t *testing.T) {
	var mine, others []uint32
	for i := range uint32(100) {
		mine, others = append(mine, i), append(others, 100+i)
	}
	w, o, read := wordsOf(mine), wordsOf(others), 0
	o.all = func() iter.Seq[uint32] {
		return func(yield func(uint32) bool) {
			for _, word := range others {
				if read++; !yield(word) {
					return
				}
			}
		}
	}
	if w.alike(&o) || read > 12 {
		t.Errorf("%d of %d words are read", read, len(others))
	}
}

// TestCopiesAreNoBackground holds that a cosine stands out as far with copies of the nearest
// passage as without, that the copies stand out as far themselves, and that others are behind.
func TestCopiesAreNoBackground(t *testing.T) {
	cosines := func(copies int) (near []*passage) {
		for range copies {
			near = append(near, &passage{Metadata: Metadata{Dense: value(.9)}, words: wordsOf([]uint32{1, 2, 3})})
		}
		for i := range uint32(60) {
			near = append(near, &passage{Metadata: Metadata{Dense: value(.8 - float64(i)/500)}, words: wordsOf([]uint32{i, i + 100, i + 200})})
		}
		return near
	}
	once, often := cosines(1), cosines(8)
	alone, among := backgroundOf(once), backgroundOf(often)
	above, ahead := alone.above(once[0])
	if above < 1 || ahead < 1 {
		t.Errorf("the nearest is %v above and %v ahead", above, ahead)
	}
	if copyAbove, copyAhead := among.above(often[7]); copyAbove != above || copyAhead != ahead {
		t.Errorf("a copy is %v above and %v ahead, one alone %v and %v", copyAbove, copyAhead, above, ahead)
	}
	if _, ahead := alone.above(once[1]); ahead >= 0 {
		t.Errorf("the second is %v ahead", ahead)
	}
	if above, ahead := alone.above(new(passage)); above != 0 || ahead != 0 {
		t.Errorf("one without a vector is %v above and %v ahead", above, ahead)
	}
}
