package kbstore_test

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"testing"

	"toolnorm/internal/auth"
	"toolnorm/internal/lexical"
	"toolnorm/internal/store"
	"toolnorm/tools/kb/kbstore"
)

func TestPostgreSQLFindsByWords(t *testing.T) {
	where := databases.Postgres(t)
	s := open(t, where)
	b, collection := base(t, s, "acme")
	put(t, s, b.ID, collection, "a.md", "副業は許可が要ります", "The error E-4012 is shown", "リモートワーク手当は月 5,000 円")
	put(t, s, b.ID, collection, "b.md", "it's \\ 'quoted' & | ! ( ) :* text")
	all := kbstore.FilterOf(auth.Local())
	for query, want := range map[string]string{
		"副業":      "副業は許可が要ります",
		"E-4012?": "The error E-4012 is shown",
		"リモ-トワ-ク": "リモートワーク手当は月 5,000 円",
		"quoted'": "it's \\ 'quoted' & | ! ( ) :* text",
		"":        "",
		"!&|":     "",
		"unknown": "",
	} {
		found, err := s.Sparse(t.Context(), b.ID, all, query, 10)
		if err != nil {
			t.Errorf("%q: %v", query, err)
		}
		got := ""
		if len(found) > 0 {
			got = found[0].Text
		}
		if got != want {
			t.Errorf("%q finds %q, want %q", query, got, want)
		}
	}
	checkStatistics(t, s, b.ID, all)

	// As an older program would have left it.
	db, err := store.Open(t.Context(), where)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), "UPDATE knowledge.chunks SET words = NULL; UPDATE knowledge.tokens_version SET version = 0"); err != nil {
		t.Fatal(err)
	}
	again := open(t, where)
	if found, err := again.Sparse(t.Context(), b.ID, all, "副業", 10); err != nil || len(found) != 1 {
		t.Errorf("old tokens were left: %v, %v", found, err)
	}
}

// checkStatistics compares them with those of an index in memory, which the other kind of store
// has.
func checkStatistics(t *testing.T, s *kbstore.Store, base string, f kbstore.Filter) {
	t.Helper()
	const query = "副業 E-4012 applying unknown"
	x := new(lexical.Index)
	changes, err := s.Changes(t.Context(), base, 0)
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, k := range changes.Chunks {
		at := slices.IndexFunc(changes.Documents, func(d kbstore.Document) bool { return d.ID == k.Document })
		x.Add(k.ID, changes.Documents[at].Title+"\n"+k.Heading+"\n"+k.Text)
		ids = append(ids, k.ID)
	}
	want := x.Statistics(query)
	got, err := s.Statistics(t.Context(), base, f, query)
	if err != nil || got.Texts != want.Texts || got.Tokens != want.Tokens {
		t.Errorf("Statistics = %+v, %v; want %+v", got, err, want)
	}
	for token, n := range got.Frequency {
		if want.Frequency[token] != n {
			t.Errorf("%q is in %d texts, want %d", token, n, want.Frequency[token])
		}
	}
	found, err := s.Chunks(t.Context(), base, f, ids)
	if err != nil || len(found) != len(ids) || found[0].Title == "" || found[0].Collection == "" {
		t.Errorf("Chunks = %+v, %v", found, err)
	}
	if none, err := s.Chunks(t.Context(), base, kbstore.Filter{}, ids); err != nil || len(none) != 0 {
		t.Errorf("Chunks shows %v, %v to nobody", none, err)
	}
}

func TestAFileDoesNotRank(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "x.db"))
	_, sparse := s.Sparse(context.Background(), "", kbstore.Filter{}, "a", 1)
	_, statistics := s.Statistics(context.Background(), "", kbstore.Filter{}, "a")
	if !errors.Is(sparse, kbstore.ErrUnranked) || !errors.Is(statistics, kbstore.ErrUnranked) {
		t.Errorf("%v, %v", sparse, statistics)
	}
}
