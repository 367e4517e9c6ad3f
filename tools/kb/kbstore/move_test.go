package kbstore_test

import (
	"errors"
	"reflect"
	"testing"

	"toolnorm/internal/auth"
	"toolnorm/tools/kb/kbstore"
)

// TestADocumentMovesWithItsPassages moves one there and back: the indexes of both bases hear of it
// each time.
func TestADocumentMovesWithItsPassages(t *testing.T) {
	databases.Each(t, func(t *testing.T, where string) {
		s, other := open(t, where), open(t, where)
		from, collection := base(t, s, "acme")
		to, err := s.Create(t.Context(), kbstore.Base{Name: "Archive", Tenant: "other"})
		if err != nil {
			t.Fatal(err)
		}
		put(t, s, from.ID, collection, "stays.md", "three")
		d := put(t, s, from.ID, collection, "a.md", "one", "two")
		before, err := other.Changes(t.Context(), from.ID, 0)
		if err != nil {
			t.Fatal(err)
		}
		chunks, err := s.DocumentChunks(t.Context(), from.ID, d.ID, kbstore.FilterOf(auth.Local()))
		if err != nil || len(chunks) != 2 {
			t.Fatal(chunks, err)
		}
		if err := s.Move(t.Context(), from, to, &d, nil); err != nil {
			t.Fatal(err)
		}
		if gone, err := other.Changes(t.Context(), from.ID, before.Version); err != nil || len(gone.Documents) != 0 || !reflect.DeepEqual(gone.Removed, []string{d.ID}) {
			t.Errorf("the old base: %+v, %v", gone, err)
		}
		came, err := other.Changes(t.Context(), to.ID, 1)
		if err != nil || len(came.Documents) != 1 || came.Documents[0].Tenant != "other" || !came.Documents[0].Public || !reflect.DeepEqual(came.Chunks, chunks) ||
			len(came.Collections) != 1 || came.Collections[0].Name != "files" {
			t.Fatalf("the new base: %+v, %v", came, err)
		}
		if sees, err := s.Documents(t.Context(), to.ID, kbstore.FilterOf(&auth.Principal{Tenant: "other"})); err != nil || len(sees) != 1 {
			t.Errorf("a reader of the new base sees %v, %v", sees, err)
		}
		if err := s.Move(t.Context(), to, from, &d, nil); err != nil {
			t.Fatal(err)
		}
		back, err := other.Changes(t.Context(), from.ID, before.Version)
		if err != nil || len(back.Documents) != 1 || len(back.Removed) != 0 || len(back.Chunks) != 2 || back.Documents[0].Tenant != "acme" {
			t.Errorf("back again: %+v, %v", back, err)
		}
		if gone, err := other.Changes(t.Context(), to.ID, came.Version); err != nil || !reflect.DeepEqual(gone.Removed, []string{d.ID}) {
			t.Errorf("the other base, left again: %+v, %v", gone, err)
		}
	})
}

// TestAMoveGivesOtherVectors writes those that were made anew, of the passages that they were made
// of and no others.
func TestAMoveGivesOtherVectors(t *testing.T) {
	databases.Each(t, func(t *testing.T, where string) {
		s := open(t, where)
		from, collection := base(t, s, "")
		to, _ := base(t, s, "")
		d := put(t, s, from.ID, collection, "a.md", "one", "two")
		chunks, err := s.DocumentChunks(t.Context(), from.ID, d.ID, kbstore.FilterOf(auth.Local()))
		if err != nil {
			t.Fatal(err)
		}
		d.Embedding = kbstore.Embedding{Model: "n", Vector: []float32{3}}
		chunks[0].Embedding, chunks[1].Embedding = d.Embedding, kbstore.Embedding{}
		stale := put(t, s, from.ID, collection, "a.md", "one", "two")
		if err := s.Move(t.Context(), from, to, &d, chunks); !errors.Is(err, kbstore.ErrChanged) || stale.ID != d.ID {
			t.Errorf("passages of before: %v", err)
		}
		now, err := s.DocumentChunks(t.Context(), from.ID, d.ID, kbstore.FilterOf(auth.Local()))
		if err != nil || len(now) != 2 || now[0].Model != "m" {
			t.Fatalf("what failed changed something: %+v, %v", now, err)
		}
		now[0].Embedding, now[1].Embedding = d.Embedding, kbstore.Embedding{}
		if err := s.Move(t.Context(), from, to, &d, now); err != nil {
			t.Fatal(err)
		}
		all, err := s.Changes(t.Context(), to.ID, 0)
		if err != nil || !reflect.DeepEqual(all.Chunks, now) || all.Documents[0].Model != "n" || len(all.Documents[0].Vector) != 1 {
			t.Errorf("%+v, %v", all, err)
		}
	})
}

func TestWhatCannotBeMoved(t *testing.T) {
	databases.Each(t, func(t *testing.T, where string) {
		s := open(t, where)
		from, collection := base(t, s, "")
		to, same := base(t, s, "")
		d := put(t, s, from.ID, collection, "a.md", "one")
		put(t, s, to.ID, same, "a.md", "another")
		gone := kbstore.Base{ID: "cf23c222-b024-4533-81aa-52e4f673281e"}
		for _, c := range []struct {
			from, to kbstore.Base
			document string
			want     error
		}{
			{from, to, d.ID, kbstore.ErrThere},
			{from, to, gone.ID, kbstore.ErrNoDocument},
			{to, from, d.ID, kbstore.ErrNoDocument}, // it is in another base
			{from, gone, d.ID, kbstore.ErrNotFound},
			{gone, to, d.ID, kbstore.ErrNotFound},
		} {
			if err := s.Move(t.Context(), c.from, c.to, &kbstore.Document{ID: c.document}, nil); !errors.Is(err, c.want) {
				t.Errorf("Move(%+v) = %v", c, err)
			}
		}
		for b, version := range map[string]int64{from.ID: 3, to.ID: 3} { // as before: made, a collection, a document
			if now, err := s.Base(t.Context(), b); err != nil || now.Version != version {
				t.Errorf("%+v, %v", now, err)
			}
		}
	})
}
