package retrieval

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"toolnorm/internal/auth"
	"toolnorm/tools/kb/kbstore"
)

// answerByWords is what a search gives without the reports of vectors: of a Local in memory, whose model is
// broken, they say so.
func answerByWords(t *testing.T, l *Local, q Query) string {
	t.Helper()
	r, err := l.Search(t.Context(), q)
	if err != nil {
		return err.Error()
	}
	for i := range r.Stages {
		r.Stages[i].MS = 0
		if r.Stages[i].Number == "3B" {
			r.Stages[i] = Report{}
		}
	}
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestTheIndexOnDiskFindsWhatTheOneInMemoryFinds puts documents in, changes them and takes them out,
// with segments of a few passages, and compares each answer with that of the index in memory: byte
// for byte the same, scores, order, counts and hints, whoever asks. The last seeds are held out.
func TestTheIndexOnDiskFindsWhatTheOneInMemoryFinds(t *testing.T) {
	worlds := uint64(12)
	if testing.Short() {
		worlds = 4
	}
	compared, segments, differ := 0, 0, 0
	for seed := range worlds {
		if seed >= worlds*2/3 {
			seed += 1_000_003
		}
		r := rand.New(rand.NewPCG(seed, 37))
		store := openStore(t)
		fresh := 1 + r.IntN(30)
		store.Words.Sizes = kbstore.Sizes{Fresh: fresh, Small: 4 * fresh, Many: 2 + r.IntN(12), Large: 8 * fresh}
		w := newWorld(t, store, r, []int{1, 8, 60, 120}[r.IntN(4)])
		disk, memory := &Local{Store: store}, &Local{Store: store, Embedder: &meaning{err: errors.New("broken")}, Model: "m"}
		for range 25 {
			for range r.IntN(4) {
				w.hide(t, r, &auth.Principal{Tenant: tenants[r.IntN(2)], Clearance: r.IntN(3)})
			}
			if all, err := store.Documents(t.Context(), w.base.ID, kbstore.FilterOf(claims(r))); err != nil {
				t.Fatal(err)
			} else if len(all) > 0 {
				if err := store.Remove(t.Context(), w.base.ID, all[r.IntN(len(all))].ID); err != nil {
					t.Fatal(err)
				}
			}
			p := claims(r)
			for range 6 {
				q := Query{Text: scrap(r), Base: w.base.ID, Threshold: []float64{0, 0, .3, .6}[r.IntN(4)], Max: MostResults, Principal: p}
				if a, b := answerByWords(t, disk, q), answerByWords(t, memory, q); a != b {
					if differ++; differ < 4 {
						t.Errorf("seed %d: %q by %+v gives\n%s\nand in memory\n%s", seed, q.Text, p, a, b)
					}
				}
				compared++
			}
			if p := disk.states.get(w.base.ID); p != nil {
				segments = max(segments, len(p.at.Segments))
			}
		}
	}
	t.Logf("%d answers compared, %d differ; up to %d segments", compared, differ, segments)
	if segments < 2 {
		t.Error("nothing was in segments")
	}
}

// TestIndexingGoesOnWhereItStopped interrupts the indexing of a base that has no index yet, as a file
// of an older version has none, after each segment: what is done stays done, and a search in between
// finds what it finds at the end.
func TestIndexingGoesOnWhereItStopped(t *testing.T) {
	store, r := openStore(t), rand.New(rand.NewPCG(2, 37))
	w := newWorld(t, store, r, 60)
	store.Words.Sizes = kbstore.Sizes{Fresh: 5, Small: 10, Many: 3, Large: 20}
	q := Query{Text: "副業 許可 employees", Base: w.base.ID, Max: MostResults, Principal: auth.Local()}
	want := answerByWords(t, &Local{Store: store, Embedder: &meaning{err: errors.New("broken")}, Model: "m"}, q)
	steps := 0
	for {
		ctx, cancel := context.WithCancel(t.Context())
		told := 0
		err := store.Words.Index(ctx, w.base.ID, func(done, all int) {
			if told++; done <= 0 || done > all {
				t.Errorf("%d of %d passages", done, all)
			}
			cancel()
		})
		cancel()
		if told == 0 && err == nil {
			break
		}
		if steps++; steps > 100 {
			t.Fatalf("it never ends: %v", err)
		}
	}
	if got := answerByWords(t, &Local{Store: store}, q); got != want {
		t.Errorf("found\n%s\nwant\n%s", got, want)
	}
	if steps < 3 {
		t.Errorf("%d interruptions", steps)
	}
}

// TestASearchIndexesWhatIsFresh searches a base without an index: the search makes it, and tells how
// far it is; one whose time is over says so.
func TestASearchIndexesWhatIsFresh(t *testing.T) {
	store, r := openStore(t), rand.New(rand.NewPCG(4, 37))
	// as many documents as the first stage lets through, which chooses by their ids among equals
	w := newWorld(t, store, r, 50)
	store.Words.Sizes = kbstore.Sizes{Fresh: 5, Small: 10, Many: 3, Large: 20}
	told := 0
	local := &Local{Store: store, Progress: func(b kbstore.Base, done, all int) {
		if told++; b.ID != w.base.ID || done > all {
			t.Errorf("%q: %d of %d", b.Name, done, all)
		}
	}}
	if got := answerByWords(t, local, Query{Text: "副業", Base: w.base.ID, Max: 9, Principal: auth.Local()}); !strings.Contains(got, `"count":9`) {
		t.Error(got)
	}
	if told < 2 {
		t.Errorf("told %d times", told)
	}
	if p := local.states.get(w.base.ID); len(p.at.Segments) == 0 || len(p.at.Fresh) > store.Words.FreshLimit() {
		t.Errorf("%d segments, %d fresh", len(p.at.Segments), len(p.at.Fresh))
	}
}

// TestAMovedDocumentIsFoundInItsNewBase moves documents that are in segments.
func TestAMovedDocumentIsFoundInItsNewBase(t *testing.T) {
	store, r := openStore(t), rand.New(rand.NewPCG(5, 37))
	store.Words.Sizes = kbstore.Sizes{Fresh: 5, Small: 10, Many: 3, Large: 20}
	from, to := newWorld(t, store, r, 30), newWorld(t, store, r, 8)
	disk, memory := &Local{Store: store}, &Local{Store: store, Embedder: &meaning{err: errors.New("broken")}, Model: "m"}
	same := func() {
		for _, base := range []string{from.base.ID, to.base.ID} {
			q := Query{Text: scrap(r), Base: base, Max: MostResults, Principal: auth.Local()}
			if a, b := answerByWords(t, disk, q), answerByWords(t, memory, q); a != b {
				t.Fatalf("%q: on disk\n%s\nin memory\n%s", q.Text, a, b)
			}
		}
	}
	all, err := store.Documents(t.Context(), from.base.ID, kbstore.FilterOf(auth.Local()))
	if err != nil {
		t.Fatal(err)
	}
	moved := 0
	for i := range all {
		same()
		if err := store.Move(t.Context(), from.base, to.base, &all[i], nil); err == nil {
			moved++
		}
	}
	same()
	if moved < 10 {
		t.Errorf("%d moved", moved)
	}
}
