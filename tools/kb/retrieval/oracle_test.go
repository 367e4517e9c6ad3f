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
// in those documents. The last seeds are held out.
func TestAnswersDoNotTellOfHiddenDocuments(t *testing.T) {
	databases.Each(t, func(t *testing.T, where string) {
		store := openAt(t, where)
		worlds, searches := uint64(12), 60
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
			var queries []Query
			var before []string
			for range searches {
				p := claims(r)
				p.Tenant = w.base.Tenant
				if p.Admin {
					continue
				}
				q := Query{Text: scrap(r), Base: w.base.ID, Threshold: []float64{0, 0, .3, .6}[r.IntN(4)], Max: MostResults, Principal: p}
				queries, before = append(queries, q), append(before, answer(t, locals[(len(queries)+1)%3], q))
			}
			for i := range queries {
				hidden := w.hide(t, r, queries[i].Principal)
				after := answer(t, locals[(i+1)%3], queries[i])
				if compared++; after != before[i] {
					if told++; told < 5 {
						t.Errorf("seed %d: %q by %+v gives\n%s\nand with other documents that are not seen\n%s", seed, queries[i].Text, queries[i].Principal, before[i], after)
					}
				}
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
		chunks := []kbstore.Chunk{{Heading: scrap(r), Text: scrap(r) + " " + scrap(r), Embedding: w.model.vector(scrap(r))}, {Text: scrap(r)}}
		if err := w.store.Put(t.Context(), w.base.ID, &d, chunks); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, d.ID)
	}
	return ids
}
