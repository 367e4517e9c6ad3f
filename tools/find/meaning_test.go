package find

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"toolnorm/tools"
)

// known is an embedder that knows which words mean one thing, a dimension each.
func known(_ context.Context, texts []string) ([][]float32, error) {
	same := [][]string{{"directions", "drive me from"}, {"delete rows", "INSERT, UPDATE"}, {"how far is it", "distance"}}
	out := make([][]float32, len(texts))
	for i, text := range texts {
		out[i] = make([]float32, len(same)+1)
		out[i][len(same)] = 0.1
		for j, words := range same {
			if slices.ContainsFunc(words, func(w string) bool { return strings.Contains(strings.ToLower(text), strings.ToLower(w)) }) {
				out[i][j] = 1
			}
		}
	}
	return out, nil
}

// place is where a search with an embedder finds a tool; -1: not at all.
func place(ctx context.Context, f *Finder, m *Meanings, question, want string) int {
	return slices.IndexFunc(f.Find(ctx, m, question), func(tool tools.Tool) bool { return tool.Name == want })
}

// TestSearchByMeaning holds that an embedder adds what words do not find, and takes nothing away.
func TestSearchByMeaning(t *testing.T) {
	f := New(readTools(t, "tools.txt"))
	failing := func(context.Context, []string) ([][]float32, error) { return nil, errors.New("down") }
	short := func(context.Context, []string) ([][]float32, error) { return nil, nil }
	const question, want = "drive me from Berlin to Hamburg", "maps.maps_directions"
	const words, found = "what time is it in Seoul", "time.get_current_time"
	m := &Meanings{Question: known, Tool: known}
	if n := place(t.Context(), f, m, question, want); n < 0 || n >= few {
		t.Errorf("%s is at %d", want, n)
	}
	if n := place(t.Context(), f, m, words, found); n < 0 || n >= few {
		t.Errorf("%s is at %d with vectors", found, n)
	}
	for _, m := range []*Meanings{nil, {Question: failing, Tool: failing}, {Question: known, Tool: failing}, {Question: failing, Tool: known}, {Question: short, Tool: short}} {
		if n := place(t.Context(), f, m, question, want); n != -1 {
			t.Errorf("without vectors %s is at %d", want, n)
		}
		if n := place(t.Context(), f, m, words, found); n < 0 || n >= few {
			t.Errorf("%s is at %d without vectors", found, n)
		}
	}
}

// TestVectorsAreMadeOnceAndInTheBackground holds that a slow model keeps no search waiting for more
// than patience, that what it makes later is used, and that nothing is made twice.
func TestVectorsAreMadeOnceAndInTheBackground(t *testing.T) {
	f := New(readTools(t, "tools.txt"))
	const question, want = "drive me from Berlin to Hamburg", "maps.maps_directions"
	synctest.Test(t, func(t *testing.T) {
		var made atomic.Int32
		slow := func(ctx context.Context, texts []string) ([][]float32, error) {
			made.Add(int32(len(texts)))
			time.Sleep(3 * time.Second)
			return known(ctx, texts)
		}
		m := &Meanings{Question: known, Tool: slow}
		begin := time.Now()
		if n := place(t.Context(), f, m, question, want); n != -1 || time.Since(begin) != patience {
			t.Errorf("the first search finds it at %d after %s", n, time.Since(begin))
		}
		time.Sleep(time.Minute)
		begin = time.Now()
		if n := place(t.Context(), f, m, question, want); n < 0 || n >= few || time.Since(begin) != 0 {
			t.Errorf("a later search finds it at %d after %s", n, time.Since(begin))
		}
		texts := map[string]bool{}
		for _, tool := range f.list {
			for _, text := range views(tool) {
				texts[text] = true
			}
		}
		if int(made.Load()) != len(texts) {
			t.Errorf("%d vectors were made of %d texts", made.Load(), len(texts))
		}
	})
}

// TestAServerThatFailsIsLeftAlone holds that a search asks it again after a pause only.
func TestAServerThatFailsIsLeftAlone(t *testing.T) {
	f := New(readTools(t, "tools.txt"))
	synctest.Test(t, func(t *testing.T) {
		asked, down := 0, true
		m := &Meanings{Question: known, Tool: func(ctx context.Context, texts []string) ([][]float32, error) {
			if asked++; down {
				return nil, errors.New("down")
			}
			return known(ctx, texts)
		}}
		f.Find(t.Context(), m, "a")
		if before := asked; before > 12 {
			t.Errorf("asked %d times", before)
		}
		asked, down = 0, false
		if f.Find(t.Context(), m, "a"); asked != 0 {
			t.Errorf("asked %d times within the pause", asked)
		}
		time.Sleep(pause)
		if n := place(t.Context(), f, m, "drive me from Berlin to Hamburg", "maps.maps_directions"); n < 0 || n >= few {
			t.Errorf("behind the pause it is at %d", n)
		}
	})
}

// TestLongTextsCostNoOtherItsVector holds that a model that refuses long texts still gets the rest,
// and the beginnings of those.
func TestLongTextsCostNoOtherItsVector(t *testing.T) {
	for _, most := range []int{100, 150, 300, 5000} {
		strict := func(ctx context.Context, texts []string) ([][]float32, error) {
			if slices.ContainsFunc(texts, func(text string) bool { return len(text) > most }) {
				return nil, errors.New("input length exceeds the context length")
			}
			return known(ctx, texts)
		}
		m := &Meanings{Question: strict, Tool: strict}
		question := "drive me from Berlin to Hamburg" + strings.Repeat(", 부탁해요", 30)
		if n := place(t.Context(), New(readTools(t, "tools.txt")), m, question, "maps.maps_directions"); n < 0 || n >= few {
			t.Errorf("where texts have at most %d bytes, it is at %d", most, n)
		}
	}
}

// TestAnotherModelStartsAgain holds that vectors of another length are not compared with those of
// before, and that the search after that is by the new model.
func TestAnotherModelStartsAgain(t *testing.T) {
	f := New(readTools(t, "tools.txt"))
	more := 0
	changing := func(ctx context.Context, texts []string) ([][]float32, error) {
		out, err := known(ctx, texts)
		for i := range out {
			out[i] = append(out[i], make([]float32, more)...)
		}
		return out, err
	}
	m := &Meanings{Question: changing, Tool: changing}
	const question, want = "drive me from Berlin to Hamburg", "maps.maps_directions"
	for _, expect := range []bool{true, false, true} {
		if n := place(t.Context(), f, m, question, want); (n >= 0 && n < few) != expect {
			t.Errorf("it is at %d, want it found: %v", n, expect)
		}
		more = 3
	}
}

// TestCopiesStayLast holds that three copies of one server do not take all places with vectors
// either.
func TestCopiesStayLast(t *testing.T) {
	f := New(readTools(t, "tools.txt"))
	found := f.Find(t.Context(), &Meanings{Question: known, Tool: known}, "read the file")
	seen := map[string]bool{}
	for _, tool := range found[:few] {
		_, name, _ := strings.Cut(tool.Name, ".")
		if seen[name+tool.Description] {
			t.Errorf("%s is there twice", tool.Name)
		}
		seen[name+tool.Description] = true
	}
}
