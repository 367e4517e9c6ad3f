package kbstore_test

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"toolnorm/internal/auth"
	"toolnorm/internal/store"
	"toolnorm/internal/test/odd"
	"toolnorm/tools/kb/kbstore"
)

// rowsOf are the tables of a knowledge base with their columns.
var rowsOf = map[string][]string{
	"knowledge_bases":      {"id", "name", "description", "tenant", "version", "created", "updated"},
	"collections":          {"id", "knowledge_base_id", "name", "summary", "model", "vector"},
	"documents":            {"id", "collection_id", "chunk_count", "tenant", "clearance", "title", "source", "hash", "summary", "model", "vector", "version", "imported"},
	"document_departments": {"document_id", "department"},
	"chunks":               {"id", "document_id", "chunk_index", "heading", "text", "model", "vector"},
	"removed_documents":    {"knowledge_base_id", "document_id", "version"},
}

// TestAnOddRowHidesNoOther writes generated odd rows into every table among good ones: every good
// document is listed, found and shown to the same people, and nothing odd is told twice. The last
// seed is held out.
func TestAnOddRowHidesNoOther(t *testing.T) {
	for _, seed := range []uint64{4, 1127, 1_000_003} {
		databases.Each(t, func(t *testing.T, where string) { oddRows(t, where, odd.New(seed)) })
	}
}

// oddRows is the test on one database.
func oddRows(t *testing.T, where string, r *rand.Rand) {
	s := open(t, where)
	b, collection := base(t, s, "acme")
	rights := map[string]kbstore.Access{}
	for i := range 12 {
		d := kbstore.Document{Collection: collection, Title: "T", Source: fmt.Sprintf("good-%d.md", i), Access: kbstore.Access{Tenant: "acme", Public: i%3 == 0, Departments: []string{"hr"}, Clearance: i % 2}}
		chunks := []kbstore.Chunk{{Heading: "H", Text: fmt.Sprint("good passage ", i), Embedding: kbstore.Embedding{Model: "m", Vector: []float32{1, float32(i)}}}}
		if err := s.Put(t.Context(), b.ID, &d, chunks); err != nil {
			t.Fatal(err)
		}
		rights[d.Source] = d.Access
	}
	written, refused := writeOdd(t, where, r)
	t.Logf("%d odd rows, %d refused by the database", written, refused)
	if written < 20 {
		t.Error("too few to say anything")
	}
	s = open(t, where) // a start with odd rows makes what is found by
	told := map[string]int{}
	s.Tell(func(o kbstore.Odd) { told[o.String()]++ })
	for range 2 {
		goodRows(t, s, b.ID, rights)
	}
	for text, n := range told {
		if n > 1 {
			t.Errorf("told %d times: %s", n, text)
		}
	}
	t.Logf("%d rows are told of", len(told))
	if len(told) == 0 || len(s.LeftOut(b.ID))+len(s.LeftOut("")) == 0 {
		t.Error("nothing odd is told of")
	}
	// The same source again takes the place of whatever row is there.
	for i := range 3 {
		d := kbstore.Document{Collection: collection, Source: fmt.Sprintf("odd-%d.md", i), Access: kbstore.Access{Tenant: "acme", Public: true}}
		if err := s.Put(t.Context(), b.ID, &d, []kbstore.Chunk{{Text: "mended"}}); err != nil {
			t.Errorf("over an odd row: %v", err)
		}
	}
	goodRows(t, s, b.ID, rights)
}

// goodRows checks that every good document is there, for those who may see it.
func goodRows(t *testing.T, s *kbstore.Store, base string, rights map[string]kbstore.Access) {
	t.Helper()
	bases, err := s.Bases(t.Context(), auth.Local())
	if err != nil || !slices.ContainsFunc(bases, func(b kbstore.Base) bool { return b.ID == base }) {
		t.Fatalf("the base is not among %d: %v", len(bases), err)
	}
	if _, err := s.Readable(t.Context(), auth.Local(), base); err != nil {
		t.Error(err)
	}
	if _, err := s.Collections(t.Context(), base); err != nil {
		t.Error(err)
	}
	changes, err := s.Changes(t.Context(), base, 0)
	if err != nil {
		t.Fatal(err)
	}
	there := map[string]bool{}
	for _, d := range changes.Documents {
		if want, good := rights[d.Source]; good {
			there[d.Source] = d.Public == want.Public && (want.Public || slices.Equal(d.Departments, want.Departments)) && d.Clearance == want.Clearance && d.Tenant == want.Tenant
		}
	}
	texts := ""
	for _, k := range changes.Chunks {
		texts += k.Text + "\n"
	}
	for source := range rights {
		n := strings.TrimSuffix(strings.TrimPrefix(source, "good-"), ".md")
		if !there[source] || !strings.Contains(texts, "good passage "+n+"\n") {
			t.Errorf("%s is not there as it was", source)
		}
	}
	for _, p := range []*auth.Principal{auth.Local(), {Tenant: "acme", Departments: []string{"hr"}, Clearance: 1}, {Tenant: "acme"}, {Tenant: "x", Departments: []string{"hr"}, Clearance: 9}} {
		f := kbstore.FilterOf(p)
		seen, err := s.Documents(t.Context(), base, f)
		if err != nil {
			t.Fatal(err)
		}
		for source, a := range rights {
			if got := slices.ContainsFunc(seen, func(d kbstore.Document) bool { return d.Source == source }); got != f.Allows(&a) {
				t.Errorf("%s is shown: %v, to %+v", source, got, p)
			}
		}
		if sum, err := s.Summary(t.Context(), base, f); err != nil || p.Admin && sum.Documents < len(rights) {
			t.Errorf("summary %+v, %v", sum, err)
		}
	}
}

// writeOdd copies rows of every table and makes them odd in one or two columns.
func writeOdd(t *testing.T, where string, r *rand.Rand) (written, refused int) {
	t.Helper()
	db, err := store.Open(t.Context(), where)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	prefix := loosen(t, db, conn)
	n := 0
	for _, table := range []string{"documents", "chunks", "document_departments", "collections", "knowledge_bases", "removed_documents"} {
		columns := rowsOf[table]
		for range 12 {
			row, into := make([]any, len(columns)), make([]any, len(columns))
			for i := range into {
				into[i] = &row[i]
			}
			query := fmt.Sprintf("SELECT %s FROM %s%s ORDER BY %s LIMIT 1 OFFSET %d", strings.Join(columns, ", "), prefix, table, columns[len(columns)-1], r.IntN(3))
			if err := conn.QueryRowContext(t.Context(), query).Scan(into...); err == sql.ErrNoRows && table == "removed_documents" {
				row = []any{"cf23c222-b024-4533-81aa-52e4f673281e", "odd", int64(3)}
			} else if err != nil {
				continue // there are fewer rows
			}
			n++
			for i, column := range columns {
				switch column {
				case "id":
					row[i] = fmt.Sprintf("00000000-0000-4000-8000-%012d", n)
				case "document_id":
					if table == "document_departments" { // of a good one it would say who may see that
						row[i] = fmt.Sprintf("00000000-0000-4000-8000-%012d", r.IntN(12))
					}
				case "source":
					row[i] = fmt.Sprintf("odd-%d.md", n-1)
				case "name", "department", "chunk_index":
					row[i] = map[string]any{"name": fmt.Sprint("odd ", n), "department": fmt.Sprint("odd ", n), "chunk_index": int64(n)}[column]
				}
			}
			for range 1 + r.IntN(2) {
				at := r.IntN(len(columns))
				_, row[at] = odd.Column(r)
			}
			places := ""
			for i := range columns {
				places += fmt.Sprintf(", $%d", i+1)
			}
			if _, err := conn.ExecContext(t.Context(), "INSERT INTO "+prefix+table+" ("+strings.Join(columns, ", ")+") VALUES ("+places[2:]+")", row...); err != nil {
				refused++
			} else {
				written++
			}
		}
	}
	return written, refused
}

// loosen takes the constraints away, as in tables that another program made, and returns what
// stands in front of the tables' names.
func loosen(t *testing.T, db *store.DB, conn *sql.Conn) (prefix string) {
	t.Helper()
	run := func(query string) {
		if _, err := conn.ExecContext(context.WithoutCancel(t.Context()), query); err != nil {
			t.Fatalf("%s: %v", query, err)
		}
	}
	if db.Kind == store.SQLite {
		run("PRAGMA foreign_keys = OFF")
		for table, columns := range rowsOf { // SQLite has no DROP NOT NULL
			run("ALTER TABLE " + table + " RENAME TO old_" + table)
			run("CREATE TABLE " + table + " AS SELECT " + strings.Join(columns, ", ") + " FROM old_" + table)
			run("DROP TABLE old_" + table)
		}
		return ""
	}
	for table, columns := range rowsOf {
		for _, column := range columns {
			run("ALTER TABLE knowledge." + table + " DROP CONSTRAINT IF EXISTS " + table + "_pkey CASCADE")
			run("ALTER TABLE knowledge." + table + " ALTER COLUMN " + column + " DROP NOT NULL")
		}
	}
	return "knowledge."
}
