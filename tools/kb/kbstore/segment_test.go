package kbstore

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
)

// randomSegment is a segment of random documents.
func randomSegment(r *rand.Rand) *Segment {
	m := new(maker)
	for i := range r.IntN(20) {
		d := Document{ID: newID(), Title: fmt.Sprint("title ", i), Access: Access{Tenant: fmt.Sprint("t", r.IntN(3)), Public: r.IntN(2) == 0, Clearance: r.IntN(3), Departments: []string{"hr", "営業"}[:r.IntN(3)]}}
		chunks := make([]Chunk, r.IntN(5))
		for j := range chunks {
			chunks[j] = Chunk{ID: newID(), Text: fmt.Sprint("passage ", j, " of ", i)}
		}
		m.add(&d, chunks)
	}
	s, _, _ := m.made()
	return s
}

// TestASegmentIsReadAsItWasWritten packs random segments and reads them.
func TestASegmentIsReadAsItWasWritten(t *testing.T) {
	for seed := range uint64(200) {
		s := randomSegment(rand.New(rand.NewPCG(seed, 37)))
		b, err := s.pack()
		if err != nil {
			t.Fatal(err)
		}
		got, err := unpack(0, b)
		if err != nil || fmt.Sprint(got.Rights) != fmt.Sprint(s.Rights) || !slices.Equal(got.Lengths, s.Lengths) || !slices.Equal(got.Keys, s.Keys) ||
			!slices.Equal(got.Owners, s.Owners) || len(s.Documents) > 0 && !reflect.DeepEqual(got.Documents, s.Documents) {
			t.Fatalf("seed %d: %+v, want %+v: %v", seed, got, s, err)
		}
		for n := range b {
			if _, err := unpack(0, b[:n]); err == nil {
				t.Fatalf("seed %d: %d of %d bytes are a segment", seed, n, len(b))
			}
		}
	}
}

// FuzzUnpack reads bytes: an error, or a segment whose parts fit each other.
func FuzzUnpack(f *testing.F) {
	for seed := range uint64(4) {
		b, err := randomSegment(rand.New(rand.NewPCG(seed, 1))).pack()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := unpack(1, b)
		if err != nil {
			return
		}
		n := 0
		for i, d := range s.Documents {
			if d.First != n || d.Rights < 0 || d.Rights >= len(s.Rights) {
				t.Fatalf("document %d: %+v", i, d)
			}
			n += d.Chunks
		}
		if n != len(s.Lengths) || n != len(s.Keys) || n != len(s.Owners) {
			t.Fatalf("%d passages, %d lengths, %d keys, %d owners", n, len(s.Lengths), len(s.Keys), len(s.Owners))
		}
	})
}

// TestIDsCompareAsTheirKeys holds that keys order passages as their ids do.
func TestIDsCompareAsTheirKeys(t *testing.T) {
	for range 1000 {
		a, b := newID(), newID()
		if (a < b) != (key(a) < key(b)) {
			t.Fatalf("%s, %s", a, b)
		}
	}
}

// TestADeletedBaseLeavesNoIndex deletes a base whose documents are in segments, fresh and gone.
func TestADeletedBaseLeavesNoIndex(t *testing.T) {
	s, err := OpenStore(t.Context(), filepath.Join(t.TempDir(), "knowledge.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	s.Words.Sizes = Sizes{Fresh: 4, Small: 8, Many: 3, Large: 16}
	b, err := s.Create(t.Context(), Base{Name: "B"})
	if err != nil {
		t.Fatal(err)
	}
	collection, err := s.Collect(t.Context(), b.ID, "c")
	if err != nil {
		t.Fatal(err)
	}
	for i := range 41 {
		d := Document{Collection: collection, Source: fmt.Sprint(i % 30), Title: "T", Summary: "S"}
		if err := s.Put(t.Context(), b.ID, &d, []Chunk{{Text: fmt.Sprint("passage ", i)}}); err != nil {
			t.Fatal(err)
		}
	}
	count := func(table string) (n int) {
		if err := s.db.QueryRowContext(t.Context(), "SELECT count(*) FROM "+table).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	tables := []string{"segments", "postings", "streams", "placed", "gone", "fresh"}
	for _, table := range tables {
		if count(table) == 0 {
			t.Errorf("%s is empty before", table)
		}
	}
	if n := count("placed") + count("fresh"); n != 30 {
		t.Errorf("%d documents are in a segment or fresh, of 30", n)
	}
	if err := s.Delete(t.Context(), b.ID); err != nil {
		t.Fatal(err)
	}
	for _, table := range tables {
		if n := count(table); n != 0 {
			t.Errorf("%s has %d rows of no base", table, n)
		}
	}
}

// TestTokensOfAnotherVersionAreMadeAnew opens a file whose words were cut in another way.
func TestTokensOfAnotherVersionAreMadeAnew(t *testing.T) {
	where := filepath.Join(t.TempDir(), "knowledge.db")
	for i := range 2 {
		s, err := OpenStore(t.Context(), where)
		if err != nil {
			t.Fatal(err)
		}
		var fresh, segments int
		if i == 0 {
			s.Words.Sizes = Sizes{Fresh: 1, Small: 8, Many: 3, Large: 16}
			b, err := s.Create(t.Context(), Base{Name: "B"})
			if err != nil {
				t.Fatal(err)
			}
			collection, err := s.Collect(t.Context(), b.ID, "c")
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Put(t.Context(), b.ID, &Document{Collection: collection, Source: "s"}, []Chunk{{Text: "passage"}}); err != nil {
				t.Fatal(err)
			}
			if _, err := s.db.ExecContext(t.Context(), "UPDATE tokens_version SET version = 1"); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.db.QueryRowContext(t.Context(), "SELECT (SELECT count(*) FROM fresh), (SELECT count(*) FROM segments)").Scan(&fresh, &segments); err != nil {
			t.Fatal(err)
		}
		if fresh != i || segments != 1-i {
			t.Errorf("start %d: %d fresh, %d segments", i, fresh, segments)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
