package retrieval

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"

	"toolnorm/internal/auth"
	"toolnorm/tools/kb/kbstore"
)

// answer is what a search gives, as JSON without its times.
func answer(t *testing.T, l *Local, q Query) string {
	t.Helper()
	r, err := l.Search(t.Context(), q)
	if err != nil {
		return err.Error()
	}
	for i := range r.Stages {
		r.Stages[i].MS = 0
	}
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestAnswersDoNotTellOfHiddenDocuments searches, puts in, changes and takes out documents that the
// caller may not see, and searches again: the answers are the same byte for byte, whatever stands
// in those documents, copies of what the caller may see among them. The last seeds are held out. In
// SQLite these are more than 10,000 searches.
func TestAnswersDoNotTellOfHiddenDocuments(t *testing.T) {
	databases.Each(t, func(t *testing.T, where string) {
		store := openAt(t, where)
		worlds, callers, queries := uint64(12), 60, 8
		if testing.Short() {
			worlds = 4
		}
		compared, told := 0, 0
		for seed := range worlds {
			if seed >= worlds*2/3 {
				seed += 1_000_003
			}
			r := rand.New(rand.NewPCG(seed, 0))
			w := newWorld(t, store, r, []int{1, 8, 30, 90}[r.IntN(4)])
			locals := []*Local{{Store: store}, {Store: store, Embedder: w.model, Model: "m"}, {Store: store, Embedder: w.model, Model: "other"}}
			for range callers {
				p := claims(r)
				p.Tenant = w.base.Tenant
				if p.Admin {
					continue
				}
				local := locals[r.IntN(len(locals))]
				var asked []Query
				var before []string
				for range queries {
					q := Query{Text: scrap(r), Base: w.base.ID, Threshold: []float64{0, 0, .3, .6}[r.IntN(4)], Max: MostResults, Principal: p}
					asked, before = append(asked, q), append(before, answer(t, local, q))
				}
				hidden := w.hide(t, r, p)
				for i, q := range asked {
					if after := answer(t, local, q); after != before[i] {
						if told++; told < 5 {
							t.Errorf("seed %d: %q by %+v gives\n%s\nand with other documents that are not seen\n%s", seed, q.Text, p, before[i], after)
						}
					}
				}
				compared += len(asked)
				if err := store.Remove(t.Context(), w.base.ID, hidden...); err != nil {
					t.Fatal(err)
				}
			}
		}
		t.Logf("%d answers compared, %d differ", compared, told)
	})
}

// hide puts documents into the base that somebody may not see, and gives their ids.
func (w *world) hide(t *testing.T, r *rand.Rand, p *auth.Principal) (ids []string) {
	t.Helper()
	for n := range 1 + r.IntN(4) {
		d := kbstore.Document{Collection: w.collection, Source: fmt.Sprint("hidden ", n), Title: scrap(r), Summary: scrap(r), Access: access(r)}
		for sees(p, d.Access) {
			d.Access = access(r)
		}
		copied := w.texts[r.IntN(len(w.texts))][0]
		chunks := []kbstore.Chunk{{Heading: scrap(r), Text: scrap(r) + " " + scrap(r), Embedding: w.model.vector(scrap(r))}, {Text: scrap(r)}, {Text: copied, Embedding: w.model.vector(copied)}}
		if err := w.store.Put(t.Context(), w.base.ID, &d, chunks); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, d.ID)
	}
	return ids
}
