package retrieval

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
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
		store.Resize(kbstore.Sizes{Fresh: fresh, Small: 4 * fresh, Many: 2 + r.IntN(4), Large: 8 * fresh})
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
	t.Log(fmt.Sprintf("%d answers compared, %d differ; up to %d segments", compared, differ, segments))
	if segments < 2 {
		t.Error("nothing was in segments")
	}
}
