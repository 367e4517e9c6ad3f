package kbstore_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"toolnorm/internal/auth"
	"toolnorm/tools/kb/kbstore"
)

// words are tenants and departments. Some are one another's beginnings, and one would end a quoted text.
var words = []string{"a", "ab", "hr", "HR", "it's", "営業", "", "%"}

// some are up to n of words, without the empty one.
func some(r *rand.Rand, n int) (all []string) {
	for range r.IntN(n + 1) {
		if w := words[r.IntN(len(words))]; w != "" {
			all = append(all, w)
		}
	}
	return all
}

// allowed is the rule in its plainest words, for comparison.
func allowed(p *auth.Principal, a kbstore.Access) bool {
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

// principal is a random one; now and then nobody, or an administrator.
func principal(r *rand.Rand) *auth.Principal {
	switch r.IntN(50) {
	case 0:
		return nil
	case 1:
		return auth.Local()
	}
	p := &auth.Principal{Tenant: words[r.IntN(3)], Departments: some(r, 3), Clearance: r.IntN(5) - 1}
	if r.IntN(10) == 0 {
		p.Departments = append(p.Departments, "") // a claim that must not open what is kept from all
	}
	return p
}

// corpus fills a new base with documents of random rights, and gives them by their ids.
func corpus(t *testing.T, s *kbstore.Store, r *rand.Rand, n int) (kbstore.Base, map[string]kbstore.Access) {
	t.Helper()
	b, collection := base(t, s, words[r.IntN(3)])
	rights := map[string]kbstore.Access{}
	for i := range n {
		d := kbstore.Document{Collection: collection, Source: fmt.Sprint(i), Access: kbstore.Access{
			Tenant: words[r.IntN(3)], Public: r.IntN(3) == 0, Departments: some(r, 2), Clearance: r.IntN(4),
		}}
		if err := s.Put(t.Context(), b.ID, &d, []kbstore.Chunk{{Text: "the same text"}}); err != nil {
			t.Fatal(err)
		}
		if d.Public {
			d.Departments = nil
		}
		rights[d.ID] = d.Access
	}
	return b, rights
}

// TestNoForeignDocument holds 10,000 random pairs of principal and corpus against the plainest form of the rule: the
// filter in Go, which the index in memory asks, and the one in SQL, which the database does.
func TestNoForeignDocument(t *testing.T) {
	databases.Each(t, func(t *testing.T, where string) {
		s := open(t, where)
		r := rand.New(rand.NewPCG(1, 2))
		shown := 0
		for range 10 {
			b, rights := corpus(t, s, r, 30)
			all, err := s.Changes(t.Context(), b.ID, 0)
			if err != nil || len(all.Documents) != len(rights) {
				t.Fatalf("%d documents, %v", len(all.Documents), err)
			}
			for range 1000 {
				p := principal(r)
				f := kbstore.FilterOf(p)
				for i := range all.Documents {
					d := &all.Documents[i]
					if got, want := f.Allows(&d.Access), allowed(p, rights[d.ID]); got != want {
						t.Fatalf("Allows = %v for %+v and %+v", got, p, d.Access)
					}
				}
				seen, err := s.Documents(t.Context(), b.ID, f)
				if err != nil {
					t.Fatal(err)
				}
				for id, a := range rights {
					got := slices.ContainsFunc(seen, func(d kbstore.Document) bool { return d.ID == id })
					if got != allowed(p, a) {
						t.Fatalf("Documents shows it: %v, to %+v: %+v", got, p, a)
					}
				}
				shown += len(seen)
				if !s.Ranks() {
					continue
				}
				found, err := s.Sparse(t.Context(), b.ID, f, "same", len(rights))
				if err != nil || len(found) != len(seen) {
					t.Fatalf("Sparse gives %d, and %d documents may be seen: %v", len(found), len(seen), err)
				}
				for _, c := range found {
					if !allowed(p, rights[c.Document]) {
						t.Fatalf("Sparse shows %+v to %+v", rights[c.Document], p)
					}
				}
			}
		}
		if shown < 10_000 {
			t.Errorf("only %d documents were shown in all: the test asks too little", shown)
		}
	})
}

// TestWithoutRightsNobodySees holds the two zero values, which are what a forgotten assignment leaves.
func TestWithoutRightsNobodySees(t *testing.T) {
	var a kbstore.Access
	if kbstore.FilterOf(&auth.Principal{Clearance: 9, Departments: []string{"", "a"}}).Allows(&a) {
		t.Error("the zero value of Access is seen")
	}
	if (kbstore.Filter{}).Allows(&kbstore.Access{Public: true}) {
		t.Error("the zero value of Filter shows something")
	}
}
