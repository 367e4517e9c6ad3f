package kbstore_test

import (
	"errors"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"toolnorm/internal/auth"
	"toolnorm/internal/store"
	"toolnorm/internal/test/storetest"
	"toolnorm/tools/kb/kbstore"
)

// databases are those that the tests of this package use.
var databases storetest.Databases

func TestMain(m *testing.M) { os.Exit(databases.Main(m)) }

// open opens a store until the end of a test.
func open(t *testing.T, where string) *kbstore.Store {
	t.Helper()
	s, err := kbstore.OpenStore(t.Context(), where)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// base makes a knowledge base with one collection.
func base(t *testing.T, s *kbstore.Store, tenant string) (kbstore.Base, string) {
	t.Helper()
	b, err := s.Create(t.Context(), kbstore.Base{Name: "Handbook", Description: "rules", Tenant: tenant})
	if errors.Is(err, kbstore.ErrTaken) {
		b, err = s.Create(t.Context(), kbstore.Base{Name: "Handbook of others", Description: "rules", Tenant: tenant})
	}
	if err != nil {
		t.Fatal(err)
	}
	id, err := s.Collect(t.Context(), b.ID, "files")
	if err != nil {
		t.Fatal(err)
	}
	return b, id
}

// put puts a public document of some chunks in.
func put(t *testing.T, s *kbstore.Store, base, collection, source string, texts ...string) kbstore.Document {
	t.Helper()
	d := kbstore.Document{Collection: collection, Title: source, Source: source, Hash: source, Access: kbstore.Access{Tenant: "acme", Public: true}}
	var chunks []kbstore.Chunk
	for _, text := range texts {
		chunks = append(chunks, kbstore.Chunk{Heading: "H", Text: text, Embedding: kbstore.Embedding{Model: "m", Vector: []float32{1, 2}}})
	}
	if err := s.Put(t.Context(), base, &d, chunks); err != nil {
		t.Fatal(err)
	}
	return d
}

func TestAKnowledgeBaseIsLookedUp(t *testing.T) {
	databases.Each(t, func(t *testing.T, where string) {
		s := open(t, where)
		made, _ := base(t, s, "acme")
		acme := &auth.Principal{Tenant: "acme"}
		for _, c := range []struct {
			who  *auth.Principal
			id   string
			want error
		}{
			{acme, made.ID, nil},
			{auth.Local(), made.ID, nil},
			{&auth.Principal{Tenant: "acme", Bases: []string{made.ID}}, made.ID, nil},
			{&auth.Principal{Tenant: "acme", Bases: []string{strings.ToUpper(made.ID)}}, made.ID, nil},
			{&auth.Principal{Tenant: "acme", Bases: []string{}}, made.ID, kbstore.ErrDenied},
			{&auth.Principal{Tenant: "other"}, made.ID, kbstore.ErrDenied},
			{&auth.Principal{}, made.ID, kbstore.ErrDenied},
			{nil, made.ID, kbstore.ErrDenied},
			{acme, "cf23c222-b024-4533-81aa-52e4f673281e", kbstore.ErrNotFound},
		} {
			got, err := s.Readable(t.Context(), c.who, c.id)
			if !errors.Is(err, c.want) || err == nil && got.Name != "Handbook" || err != nil && got != (kbstore.Base{}) {
				t.Errorf("Readable(%+v) = %+v, %v; want %v", c.who, got, err, c.want)
			}
		}
		for who, n := range map[*auth.Principal]int{acme: 1, {Tenant: "other"}: 0} {
			if all, err := s.Bases(t.Context(), who); err != nil || len(all) != n {
				t.Errorf("Bases = %v, %v; want %d", all, err, n)
			}
		}
		if err := s.Delete(t.Context(), made.ID); err != nil {
			t.Fatal(err)
		}
		if err := s.Delete(t.Context(), made.ID); !errors.Is(err, kbstore.ErrNotFound) {
			t.Errorf("a second Delete: %v", err)
		}
	})
}

func TestChangesAreWhatAnIndexHasToDo(t *testing.T) {
	databases.Each(t, func(t *testing.T, where string) {
		s, other := open(t, where), open(t, where)
		b, collection := base(t, s, "acme")
		first := put(t, s, b.ID, collection, "a.md", "one", "two")
		put(t, s, b.ID, collection, "b.md", "three")
		all, err := other.Changes(t.Context(), b.ID, 0)
		if err != nil || len(all.Documents) != 2 || len(all.Chunks) != 3 || len(all.Collections) != 1 {
			t.Fatalf("Changes = %+v, %v", all, err)
		}
		k := all.Chunks[1]
		if k.Text != "two" || k.Index != 1 || k.Document != first.ID || k.Heading != "H" || k.Model != "m" || !reflect.DeepEqual(k.Vector, []float32{1, 2}) || !kbstore.ValidID(k.ID) {
			t.Errorf("a chunk is %+v", k)
		}
		if v, err := s.Vectors(t.Context(), b.ID, []string{k.ID, "no such"}); err != nil || len(v) != 1 || v[k.ID][1] != 2 {
			t.Errorf("Vectors = %v, %v", v, err)
		}
		if d := all.Documents[0]; d.Chunks != 2 || !d.Public || d.Tenant != "acme" || d.Collection != collection || time.Since(d.Imported) > time.Hour {
			t.Errorf("a document is %+v", d)
		}
		if none, err := other.Changes(t.Context(), b.ID, all.Version); err != nil || none.Version != all.Version || none.Documents != nil || none.Collections != nil {
			t.Errorf("nothing changed, and Changes = %+v, %v", none, err)
		}
		again := put(t, s, b.ID, collection, "a.md", "new")
		if err := s.Remove(t.Context(), b.ID, all.Documents[1].ID, "no such"); err != nil {
			t.Fatal(err)
		}
		next, err := other.Changes(t.Context(), b.ID, all.Version)
		if err != nil || again.ID != first.ID || len(next.Chunks) != 1 || next.Chunks[0].Text != "new" || !reflect.DeepEqual(next.Removed, []string{all.Documents[1].ID}) {
			t.Errorf("Changes = %+v, %v", next, err)
		}
		if _, err := other.Changes(t.Context(), "cf23c222-b024-4533-81aa-52e4f673281e", 0); !errors.Is(err, kbstore.ErrNotFound) {
			t.Errorf("no base: %v", err)
		}
	})
}

func TestOthersHearOfAChange(t *testing.T) {
	databases.Each(t, func(t *testing.T, where string) {
		s, other := open(t, where), open(t, where)
		b, collection := base(t, s, "")
		changed, err := other.Listen(t.Context(), func(err error) { t.Error(err) })
		if err != nil {
			t.Fatal(err)
		}
		put(t, s, b.ID, collection, "a.md", "one")
		select {
		case <-changed:
		case <-time.After(30 * time.Second):
			t.Fatal("nothing was heard")
		}
	})
}

func TestWhatCannotBePut(t *testing.T) {
	s := open(t, t.TempDir()+"/x.db")
	b, collection := base(t, s, "acme")
	strange, _ := base(t, s, "acme")
	if err := s.Put(t.Context(), strange.ID, &kbstore.Document{Collection: collection, Source: "a"}, nil); err == nil {
		t.Error("a collection of another base was taken")
	}
	if err := s.Put(t.Context(), b.ID, &kbstore.Document{Collection: collection, Source: "a", Access: kbstore.Access{Departments: []string{""}}}, nil); err == nil {
		t.Error("a department without a name made the document public")
	}
	if all, err := s.Documents(t.Context(), b.ID, kbstore.FilterOf(auth.Local())); err != nil || len(all) != 0 {
		t.Errorf("what failed is there: %v, %v", all, err)
	}
	for _, wrong := range []kbstore.Base{{Name: "  "}, {Name: "x", ID: "x"}, {Name: " " + b.Name, Tenant: "acme"}, {Name: "x", ID: b.ID}} {
		if _, err := s.Create(t.Context(), wrong); err == nil || errors.Is(err, kbstore.ErrTaken) != (len(wrong.ID) != 1 && wrong.Name != "  ") {
			t.Errorf("%+v was made: %v", wrong, err)
		}
	}
	if _, err := s.Create(t.Context(), kbstore.Base{Name: b.Name, Tenant: "other"}); err != nil {
		t.Error(err)
	}
}

// TestTheSchemaIsItsOwn: a second start finds it made, and the tables in it.
func TestTheSchemaIsItsOwn(t *testing.T) {
	where := databases.Postgres(t)
	s, again := open(t, where), open(t, where)
	b, _ := base(t, s, "")
	if _, err := again.Base(t.Context(), b.ID); err != nil {
		t.Error(err)
	}
}

// TestARoleThatMayMakeNoSchema is told what to do: with one store for all tools a start would else
// end with three words.
func TestARoleThatMayMakeNoSchema(t *testing.T) {
	where := databases.Postgres(t)
	db, err := store.Open(t.Context(), where)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), "CREATE ROLE small LOGIN"); err != nil {
		t.Fatal(err)
	}
	small := strings.Replace(where, "postgres://postgres@", "postgres://small@", 1)
	if _, err := kbstore.OpenStore(t.Context(), small); err == nil || !strings.Contains(err.Error(), "CREATE SCHEMA knowledge AUTHORIZATION") {
		t.Errorf("OpenStore = %v", err)
	}
	if _, err := db.ExecContext(t.Context(), "CREATE SCHEMA knowledge AUTHORIZATION small"); err != nil {
		t.Fatal(err)
	}
	base(t, open(t, small), "")
}
