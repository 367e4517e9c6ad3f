// Package kbstoretest has tests that every store of knowledge bases must pass, whether the database
// is a SQLite file, PostgreSQL, or PostgreSQL with pgvector.
package kbstoretest

import (
	crypto "crypto/rand"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"toolnorm/internal/auth"
	"toolnorm/internal/test/must"
	"toolnorm/internal/vector"
	"toolnorm/tools/kb/kbstore"
)

// words are names of tenants and departments. Some are prefixes of others, and one contains a
// quote.
var words = []string{"a", "ab", "hr", "HR", "it's", "営業", "", "%"}

// some returns up to n random words, none of which is empty. A word can occur twice, as a
// department can in a user's token.
func some(r *rand.Rand, n int) (all []string) {
	for range r.IntN(n + 1) {
		if w := words[r.IntN(len(words))]; w != "" {
			all = append(all, w)
		}
	}
	return all
}

// Allowed reports whether a principal may see a document. It states the rule in the simplest way,
// so that tests can compare the filter in Go and the filter in SQL with it.
func Allowed(p *auth.Principal, a kbstore.Access) bool {
	if p == nil {
		return false
	}
	if p.Admin {
		return true
	}
	department := a.Public
	for _, mine := range p.Departments {
		for _, its := range a.Departments {
			department = department || mine == its && mine != ""
		}
	}
	return p.Tenant == a.Tenant && department && a.Clearance <= p.Clearance
}

// Principal returns a random principal. In two of 50 cases it returns nil or an administrator.
func Principal(r *rand.Rand) *auth.Principal {
	switch r.IntN(50) {
	case 0:
		return nil
	case 1:
		return auth.Local()
	}
	p := &auth.Principal{Tenant: words[r.IntN(3)], Departments: some(r, 3),
		Clearance: r.IntN(5) - 1}
	if r.IntN(10) == 0 {
		// an empty department must not give access to documents that no department may see
		p.Departments = append(p.Departments, "")
	}
	return p
}

// dimensions is the length of the vectors. It is small, so that many passages are near to each
// other.
const dimensions = 8

// Vector returns a random vector. Its numbers are normally distributed, so that all directions are
// equally likely.
func Vector(r *rand.Rand) []float32 {
	v := make([]float32, dimensions)
	for i := range v {
		v[i] = float32(r.NormFloat64())
	}
	return v
}

// Model is the name of the embedding model that the test's vectors have.
const Model = "random"

// Corpus creates a base with n documents that have random access rights, and returns the base and
// the rights by the documents' ids. All passages have the same text, so that a search without a
// filter would find them all. It ends the test if the store fails.
func Corpus(t *testing.T, s *kbstore.Store, r *rand.Rand, n int) (
	kbstore.Base, map[string]kbstore.Access) {
	t.Helper()
	b := must.Have(s.Create(t.Context(), kbstore.Base{Name: "Random " + crypto.Text(),
		Tenant: words[r.IntN(3)]}))(t)
	collection := must.Have(s.Collect(t.Context(), b.ID, "files"))(t)
	rights := map[string]kbstore.Access{}
	for i := range n {
		d := kbstore.Document{Collection: collection, Source: fmt.Sprint(i), Access: kbstore.Access{
			Tenant: words[r.IntN(3)], Public: r.IntN(3) == 0, Departments: some(r, 2),
			Clearance: r.IntN(4),
		}}
		chunks := []kbstore.Chunk{
			{Text: "the same text", Embedding: kbstore.Embedding{Model: Model, Vector: Vector(r)}}}
		must.OK(t, s.Put(t.Context(), b.ID, &d, chunks))
		if d.Public {
			d.Departments = nil
		}
		rights[d.ID] = d.Access
	}
	return b, rights
}

// Isolation checks that random principals see exactly the documents that Allowed permits, in random
// corpora. It checks the filter in Go, the filter in SQL and the store's own searches, and reports
// differences as errors of the test.
func Isolation(t *testing.T, s *kbstore.Store, pairs int) {
	t.Helper()
	const corpora, documents = 10, 30
	r := rand.New(rand.NewPCG(1, 2))
	shown := 0
	for range corpora {
		b, rights := Corpus(t, s, r, documents)
		all, err := s.Changes(t.Context(), b.ID, 0)
		if err != nil || len(all.Documents) != len(rights) {
			t.Fatalf("%d documents, %v", len(all.Documents), err)
		}
		for range pairs / corpora {
			shown += askAs(t, s, r, b.ID, all.Documents, rights)
		}
	}
	if shown < pairs { // a tenth of what there is: a filter that shows nothing would pass all else
		t.Errorf("only %d documents were shown in all", shown)
	}
}

// askAs runs the checks of Isolation for one random principal, and returns how many documents the
// principal sees. It ends the test if a document is shown that must not be, or if one is missing,
// because a store that shows nothing would leak nothing.
func askAs(t *testing.T, s *kbstore.Store, r *rand.Rand, base string,
	documents []kbstore.Document, rights map[string]kbstore.Access) int {
	t.Helper()
	p := Principal(r)
	f := kbstore.FilterOf(p)
	for i := range documents {
		d := &documents[i]
		if got, want := f.Allows(&d.Access), Allowed(p, rights[d.ID]); got != want {
			t.Fatalf("Allows = %v for %+v and %+v", got, p, d.Access)
		}
	}
	seen := must.Have(s.Documents(t.Context(), base, f))(t)
	for id, a := range rights {
		got := slices.ContainsFunc(seen, func(d kbstore.Document) bool { return d.ID == id })
		if got != Allowed(p, a) {
			t.Fatalf("Documents shows it: %v, to %+v: %+v", got, p, a)
		}
	}
	check := func(how string, found []kbstore.Candidate, err error) {
		if err != nil || len(found) != len(seen) {
			t.Fatalf("%s gives %d, and %d documents may be seen: %v", how, len(found), len(seen),
				err)
		}
		for _, c := range found {
			if !Allowed(p, rights[c.Document]) {
				t.Fatalf("%s shows %+v to %+v", how, rights[c.Document], p)
			}
		}
	}
	if s.Compares() {
		found, err := s.Dense(t.Context(), base, f,
			kbstore.Embedding{Model: Model, Vector: Vector(r)}, len(rights))
		check("Dense", found, err)
	}
	return len(seen)
}

// Overlap returns the share of the truly nearest n passages that the store finds, over random
// questions of random principals. A store with an approximate index (HNSW) may miss some. The
// scores of passages that it finds must be exact, or the test fails.
func Overlap(t *testing.T, s *kbstore.Store, documents, questions, n int) float64 {
	t.Helper()
	r := rand.New(rand.NewPCG(3, 4))
	b, rights := Corpus(t, s, r, documents)
	all := must.Have(s.Changes(t.Context(), b.ID, 0))(t)
	vectors := make([][]float32, len(all.Chunks))
	for i, c := range all.Chunks {
		vectors[i] = c.Vector
	}
	exact := vector.New(vectors)
	hit, of := 0, 0
	for range questions {
		p, q := Principal(r), Vector(r)
		found := must.Have(s.Dense(t.Context(), b.ID, kbstore.FilterOf(p),
			kbstore.Embedding{Model: Model, Vector: q}, n))(t)
		for _, want := range exact.Search(q, n, func(row int) bool {
			return Allowed(p, rights[all.Chunks[row].Document])
		}) {
			of++
			at := slices.IndexFunc(found, func(c kbstore.Candidate) bool {
				return c.ID == all.Chunks[want.Row].ID
			})
			if at < 0 {
				continue
			}
			if hit++; math.Abs(found[at].Score-float64(want.Score)) > 1e-4 {
				t.Errorf("a cosine is %v, and here %v", want.Score, found[at].Score)
			}
		}
	}
	if of == 0 {
		t.Fatal("nothing was to be found")
	}
	return float64(hit) / float64(of)
}
