package retrieval

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"toolnorm/internal/auth"
	"toolnorm/internal/store"
	"toolnorm/tools/kb/kbstore"
)

// TestADamagedIndexIsMadeAnew damages what is in the tables of the index, one row and one byte at a
// time: each search answers as before.
func TestADamagedIndexIsMadeAnew(t *testing.T) {
	databases.Each(t, func(t *testing.T, where string) {
		knowledge, r := openAt(t, where), rand.New(rand.NewPCG(6, 37))
		knowledge.Words.Sizes = kbstore.Sizes{Fresh: 5, Small: 10, Many: 3, Large: 40}
		w := newWorld(t, knowledge, r, 60)
		q := Query{Text: "副業 許可 employees", Base: w.base.ID, Max: MostResults, Principal: auth.Local()}
		want := answer(t, &Local{Store: knowledge}, q)
		db, err := store.Open(t.Context(), where)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		prefix := map[store.Kind]string{store.Postgres: "knowledge."}[db.Kind]
		for _, damage := range []string{
			"UPDATE %spostings SET list = $1", "UPDATE %sstreams SET tokens = $1", "UPDATE %ssegments SET about = $1",
			"DELETE FROM %sstreams WHERE $1 <> ''", "DELETE FROM %ssegments WHERE $1 <> ''",
		} {
			for _, value := range [][]byte{{1}, []byte("not what was sealed")} {
				if _, err := db.ExecContext(t.Context(), fmt.Sprintf(strings.ReplaceAll(damage, "$1", "CAST($1 AS BYTEA)"), prefix), value); err != nil {
					t.Fatal(err)
				}
				if strings.Contains(damage, "DELETE FROM %ssegments") { // nobody does so without the documents
					if _, err := db.ExecContext(t.Context(), fmt.Sprintf("INSERT INTO %sfresh SELECT id FROM %[1]sdocuments WHERE TRUE ON CONFLICT DO NOTHING", prefix)); err != nil {
						t.Fatal(err)
					}
				}
				if got := answer(t, &Local{Store: knowledge}, q); got != want {
					t.Errorf("after %s:\n%s, want\n%s", damage, got, want)
				}
				if err := knowledge.Words.Index(t.Context(), w.base.ID, nil); err != nil {
					t.Fatal(err)
				}
			}
		}
	})
}

// TestSearchesFindAllWhileTheIndexChanges searches while documents come and go, and segments with
// them: what stays is found by each search.
func TestSearchesFindAllWhileTheIndexChanges(t *testing.T) {
	databases.Each(t, func(t *testing.T, where string) {
		knowledge, r := openAt(t, where), rand.New(rand.NewPCG(7, 37))
		knowledge.Words.Sizes = kbstore.Sizes{Fresh: 2, Small: 8, Many: 2, Large: 16}
		w := newWorld(t, knowledge, r, 20)
		var stays []string
		for i := range 12 {
			d := kbstore.Document{Collection: w.collection, Source: fmt.Sprint("stays ", i), Title: "T"}
			if err := knowledge.Put(t.Context(), w.base.ID, &d, []kbstore.Chunk{{Text: "permanent " + scrap(r)}}); err != nil {
				t.Fatal(err)
			}
			stays = append(stays, d.ID)
		}
		local, stopped := &Local{Store: knowledge}, make(chan struct{})
		var searching sync.WaitGroup
		searches := make([]int, 2)
		for n := range searches {
			searching.Go(func() {
				for {
					select {
					case <-stopped:
						return
					default:
					}
					found, err := local.Search(t.Context(), Query{Text: "permanent", Base: w.base.ID, Max: MostResults, Principal: auth.Local()})
					if err != nil || found.Count != len(stays) {
						t.Errorf("%v, %d of %d are found", err, found.Count, len(stays))
						return
					}
					searches[n]++
				}
			})
		}
		changes := 40
		if testing.Short() {
			changes = 10
		}
		for range changes {
			w.put(t, r, r.IntN(20))
		}
		close(stopped)
		searching.Wait()
		t.Logf("%v searches", searches)
	})
}
