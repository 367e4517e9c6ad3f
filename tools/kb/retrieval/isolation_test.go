package retrieval

import (
	crypto "crypto/rand"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"toolnorm/internal/auth"
	"toolnorm/internal/lexical"
	"toolnorm/internal/test/storetest"
	"toolnorm/tools/kb/kbstore"
)

// databases are those that the tests of this package use.
var databases storetest.Databases

func TestMain(m *testing.M) { os.Exit(databases.Main(m)) }

// openAt is a store at a place that storetest gave.
func openAt(t testing.TB, where string) *kbstore.Store {
	t.Helper()
	s, err := kbstore.OpenStore(t.Context(), where)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// scraps are words that random texts and queries are made of.
var scraps = strings.Fields("副業 許可 条件 リモートワーク 手当 金額 재택근무 수당 은 얼마 employees applying E-4012 users.created_at 休暇 휴가 の は")

// scrap is a few of them.
func scrap(r *rand.Rand) string {
	var all []string
	for range 1 + r.IntN(5) {
		all = append(all, scraps[r.IntN(len(scraps))])
	}
	return strings.Join(all, " ")
}

// tenants and departments; some begin alike, and one would end a quoted text.
var (
	tenants     = []string{"acme", "acm", "it's", ""}
	departments = []string{"hr", "HR", "h", "営業"}
)

// claims are those of a random caller.
func claims(r *rand.Rand) *auth.Principal {
	if r.IntN(40) == 0 {
		return auth.Local()
	}
	p := &auth.Principal{Subject: "u", Tenant: tenants[r.IntN(2)], Clearance: r.IntN(4) - 1}
	for range r.IntN(3) {
		p.Departments = append(p.Departments, departments[r.IntN(len(departments))])
	}
	return p
}

// access is that of a random document.
func access(r *rand.Rand) kbstore.Access {
	a := kbstore.Access{Tenant: tenants[r.IntN(len(tenants))], Public: r.IntN(3) == 0, Clearance: r.IntN(3)}
	if !a.Public {
		for range r.IntN(3) {
			a.Departments = append(a.Departments, departments[r.IntN(len(departments))])
		}
	}
	return a
}

// sees is the rule in its plainest words.
func sees(p *auth.Principal, a kbstore.Access) bool {
	shared := slices.ContainsFunc(a.Departments, func(d string) bool { return slices.Contains(p.Departments, d) })
	return p.Admin || p.Tenant == a.Tenant && (a.Public || shared) && a.Clearance <= p.Clearance
}

// world is a base with what was put into it, by the passages' texts, each of which is there once.
type world struct {
	store      *kbstore.Store
	base       kbstore.Base
	collection string
	model      *meaning
	documents  []kbstore.Document
	texts      [][]string // by document
	n          int
}

// newWorld makes a base of n documents.
func newWorld(t *testing.T, s *kbstore.Store, r *rand.Rand, n int) *world {
	t.Helper()
	w := &world{store: s, model: &meaning{words: scraps}}
	var err error
	if w.base, err = s.Create(t.Context(), kbstore.Base{Name: "w " + crypto.Text(), Tenant: tenants[r.IntN(2)]}); err != nil {
		t.Fatal(err)
	}
	if w.collection, err = s.Collect(t.Context(), w.base.ID, "all"); err != nil {
		t.Fatal(err)
	}
	for i := range n {
		w.documents, w.texts = append(w.documents, kbstore.Document{Collection: w.collection, Source: fmt.Sprint(i)}), append(w.texts, nil)
		w.put(t, r, i)
	}
	return w
}

// put gives a document new text and new rights.
func (w *world) put(t *testing.T, r *rand.Rand, i int) {
	t.Helper()
	d := &w.documents[i]
	d.Access, d.Summary = access(r), scrap(r)
	var chunks []kbstore.Chunk
	w.texts[i] = nil
	for range 1 + r.IntN(3) {
		w.n++
		text := fmt.Sprintf("%s n%d", scrap(r), w.n)
		w.texts[i] = append(w.texts[i], text)
		chunks = append(chunks, kbstore.Chunk{Text: text, Embedding: w.model.vector(text)})
	}
	if err := w.store.Put(t.Context(), w.base.ID, d, chunks); err != nil {
		t.Fatal(err)
	}
}

// check searches as somebody, and holds what each stage found to what a look at every passage
// finds: nothing that may not be seen, and all that may be and matches.
func (w *world) check(t *testing.T, l *Local, p *auth.Principal, query string) (found int) {
	t.Helper()
	s, err := l.search(t.Context(), Query{Text: query, Base: w.base.ID, Max: MostResults, Principal: p})
	if !w.base.ReadableBy(p) {
		if !errors.Is(err, kbstore.ErrDenied) {
			t.Fatalf("%+v looked into a base of %q: %v", p, w.base.Tenant, err)
		}
		return 0
	}
	if err != nil {
		t.Fatal(err)
	}
	asked := lexical.Tokens(query)
	var matching, visible []string
	for i, texts := range w.texts {
		if !sees(p, w.documents[i].Access) {
			continue
		}
		visible = append(visible, texts...)
		for _, text := range texts {
			if slices.ContainsFunc(lexical.Tokens(text), func(token string) bool { return slices.Contains(asked, token) }) {
				matching = append(matching, text)
			}
		}
	}
	w.same(t, "3A", query, p, s.sparse, matching)
	if l.Embedder != nil {
		w.same(t, "3B", query, p, s.dense, visible)
	}
	for _, p := range s.passages {
		if !slices.Contains(visible, p.text) {
			t.Fatalf("%s shows %q", query, p.text)
		}
	}
	return len(s.passages)
}

// same wants a stage to have found these texts and no others.
func (w *world) same(t *testing.T, stage, query string, p *auth.Principal, found []*passage, want []string) {
	t.Helper()
	var got []string
	for _, f := range found {
		got = append(got, f.text)
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Fatalf("%s of %q, for %+v, found %q, want %q", stage, query, p, got, want)
	}
}

// TestNoForeignPassage searches 10,000 times (with -short 1,000) with random claims, in random
// bases whose texts and rights change in between: by words alone, and with vectors.
func TestNoForeignPassage(t *testing.T) {
	databases.Each(t, func(t *testing.T, where string) {
		r := rand.New(rand.NewPCG(11, 12))
		store := openAt(t, where)
		worlds, searches := 10, 1000
		if testing.Short() {
			searches = 100
		}
		shown := 0
		for range worlds {
			w := newWorld(t, store, r, 30)
			words, both := &Local{Store: store}, &Local{Store: store, Embedder: w.model, Model: "m"}
			for n := range searches {
				if n%100 == 99 {
					w.put(t, r, r.IntN(len(w.documents)))
				}
				if n%100 == 50 {
					i := r.IntN(len(w.documents))
					if err := store.Remove(t.Context(), w.base.ID, w.documents[i].ID); err != nil {
						t.Fatal(err)
					}
					w.texts[i] = nil
				}
				l := words
				if n%2 == 0 {
					l = both
				}
				shown += w.check(t, l, claims(r), scrap(r))
			}
		}
		if shown < searches {
			t.Errorf("only %d passages were shown in all: the test asks too little", shown)
		}
	})
}

// TestTheDatabaseOrdersAsTheMemoryDoes asks the sample's questions of both backends.
func TestTheDatabaseOrdersAsTheMemoryDoes(t *testing.T) {
	inDatabase, inMemory := openAt(t, databases.Postgres(t)), openStore(t)
	for _, language := range languages {
		documents := sample(t, language)
		a, b := fill(t, inDatabase, documents), fill(t, inMemory, documents)
		for _, q := range readQuestions(t) {
			if q.Language != language {
				continue
			}
			scores := func(s *kbstore.Store, base kbstore.Base) (line string) {
				r, _ := find(t, &Local{Store: s}, Query{Text: q.Text, Base: base.ID, Max: 10, Principal: someone})
				for _, f := range r.Results {
					line += fmt.Sprintf("%.3f %.3f %.3f\n", f.Score, *f.Metadata.Sparse, *f.Metadata.BM25)
				}
				return line
			}
			if got, want := scores(inDatabase, a), scores(inMemory, b); got != want {
				t.Errorf("%s: the database\n%s, in memory\n%s", q.Text, got, want)
			}
		}
	}
}

// TestWhatFailsBeforeTheRightsAreKnownEndsTheSearch has a view that cannot say what may be seen.
func TestWhatFailsBeforeTheRightsAreKnownEndsTheSearch(t *testing.T) {
	store := openStore(t)
	base := fill(t, store, sample(t, "en"))
	s := &search{Query: Query{Text: "leave", Base: base.ID, Principal: someone}, local: &Local{Store: store}, reports: map[string]*Report{}}
	_ = store.Close()
	if err := s.run(t.Context(), base, false); err == nil || len(s.passages) > 0 || len(s.reports) > 0 {
		t.Errorf("%v, %d passages, %d stages ran", err, len(s.passages), len(s.reports))
	}
}
