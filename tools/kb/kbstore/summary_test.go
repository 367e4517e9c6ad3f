package kbstore_test

import (
	"errors"
	"testing"

	"toolnorm/internal/auth"
	"toolnorm/tools/kb/kbstore"
)

// TestASummaryCountsWhatMayBeSeen holds the one statement on both kinds of database: a document of
// several departments counts once, and one that is hidden does not count.
func TestASummaryCountsWhatMayBeSeen(t *testing.T) {
	databases.Each(t, func(t *testing.T, where string) {
		s := open(t, where)
		b, first := base(t, s, "acme")
		second, err := s.Collect(t.Context(), b.ID, "empty")
		if err != nil || second == first {
			t.Fatal(err)
		}
		other, others := base(t, s, "acme")
		put(t, s, other.ID, others, "x.md", "another base")
		put(t, s, b.ID, first, "a.md", "one", "two")
		put(t, s, b.ID, first, "b.md", "three")
		for _, d := range []kbstore.Document{
			{Source: "hr.md", Access: kbstore.Access{Tenant: "acme", Departments: []string{"hr", "legal", "board"}}},
			{Source: "secret.md", Access: kbstore.Access{Tenant: "acme", Public: true, Clearance: 5}},
			{Source: "foreign.md", Access: kbstore.Access{Tenant: "other", Public: true}},
		} {
			d.Collection, d.Title, d.Hash = first, d.Source, d.Source
			if err := s.Put(t.Context(), b.ID, &d, []kbstore.Chunk{{Text: "a"}, {Text: "b"}, {Text: "c"}}); err != nil {
				t.Fatal(err)
			}
		}
		for _, row := range []struct {
			who               *auth.Principal
			documents, chunks int
		}{
			{auth.Local(), 5, 12},
			{&auth.Principal{Tenant: "acme"}, 2, 3},
			{&auth.Principal{Tenant: "acme", Departments: []string{"hr", "board"}}, 3, 6},
			{&auth.Principal{Tenant: "acme", Departments: []string{"hr"}, Clearance: 9}, 4, 9},
			{nil, 0, 0},
		} {
			want := kbstore.Summary{Name: "Handbook", Description: "rules", Collections: 2, Documents: row.documents, Chunks: row.chunks}
			if got, err := s.Summary(t.Context(), b.ID, kbstore.FilterOf(row.who)); err != nil || got != want {
				t.Errorf("%+v: %+v, %v; want %+v", row.who, got, err, want)
			}
		}
		if _, err := s.Summary(t.Context(), "cf23c222-b024-4533-81aa-52e4f673281e", kbstore.FilterOf(auth.Local())); !errors.Is(err, kbstore.ErrNotFound) {
			t.Errorf("no such base: %v", err)
		}
	})
}
