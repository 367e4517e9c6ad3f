package kbstore_test

import (
	"slices"
	"strings"
	"testing"

	"toolnorm/internal/auth"
	"toolnorm/internal/lexical"
	"toolnorm/internal/store"
	"toolnorm/tools/kb/kbstore"
)

// TestChunksAreThoseThatMayBeSeen reads passages by their ids.
func TestChunksAreThoseThatMayBeSeen(t *testing.T) {
	databases.Each(t, func(t *testing.T, where string) {
		s := open(t, where)
		b, collection := base(t, s, "acme")
		put(t, s, b.ID, collection, "a.md", "one", "two")
		changes, err := s.Changes(t.Context(), b.ID, 0)
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		for _, k := range changes.Chunks {
			ids = append(ids, k.ID)
		}
		r, err := s.Words.Reader(t.Context(), b.ID)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		if err := r.Begin(t.Context()); err != nil { // without, an id that is none is ErrStale
			t.Fatal(err)
		}
		found, err := r.Chunks(t.Context(), kbstore.FilterOf(auth.Local()), append(ids, "none"))
		if err != nil || len(found) != 2 || found[0].Title == "" || found[0].Collection == "" {
			t.Errorf("Chunks = %+v, %v", found, err)
		}
		if none, err := r.Chunks(t.Context(), kbstore.Filter{}, ids); err != nil || len(none) != 0 {
			t.Errorf("Chunks shows %v, %v to nobody", none, err)
		}
	})
}

// TestTheIndexIsInTheStore puts passages into a segment, long and odd words among them, and reads
// their lists; a change by another program counts, and damage has a name.
func TestTheIndexIsInTheStore(t *testing.T) {
	databases.Each(t, func(t *testing.T, where string) {
		s := open(t, where)
		s.Words.Sizes = kbstore.Sizes{Fresh: 1, Small: 8, Many: 9, Large: 16}
		b, collection := base(t, s, "acme")
		long := strings.Repeat("x1", 5000)
		put(t, s, b.ID, collection, "a.md", "副業は許可が要ります", "it's \\ 'quoted' & "+long)
		look := func() (kbstore.Indexed, kbstore.Lists) {
			r, err := s.Words.Reader(t.Context(), b.ID)
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			if err := r.Begin(t.Context()); err != nil {
				t.Fatal(err)
			}
			now, lists, err := r.Look(t.Context(), []string{"副業", lexical.Words(long)[0], "unknown"})
			if err == nil {
				err = r.Rest(t.Context(), &now)
			}
			if err != nil {
				t.Fatal(err)
			}
			return now, lists
		}
		now, lists := look()
		if len(now.Segments) != 1 || len(now.Fresh) != 0 {
			t.Fatalf("%+v", now)
		}
		for word, want := range map[string]int{"副業": 1, lexical.Words(long)[0]: 1, "unknown": 0} {
			data, n := lists.Of(kbstore.OfPassages, now.Segments[0], word), 0
			if list, err := lexical.ReadList(data); err == nil {
				n = list.Texts
			}
			if n != want {
				t.Errorf("%.20q is in %d passages, want %d", word, n, want)
			}
		}
		db, err := store.Open(t.Context(), where)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		prefix := map[store.Kind]string{store.Postgres: "knowledge."}[db.Kind]
		if _, err := db.ExecContext(t.Context(), "UPDATE "+prefix+"documents SET title = 'other'"); err != nil {
			t.Fatal(err)
		}
		if now, _ = look(); len(now.Fresh) != 1 || !slices.Equal(now.Gone[now.Segments[0]], []int{0}) {
			t.Errorf("after a change: %+v", now)
		}
	})
}
