package sqlsafe

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"toolnorm/internal/test/must"

	_ "modernc.org/sqlite"
)

// newFile makes a SQLite file with the tables of the corpora.
func newFile(t testing.TB) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a b?.db")
	db := ownFile(t, path)
	defer db.Close()
	tables := must.Read(t, "testdata/sqlite_tables.sql")
	must.Have(db.Exec(string(tables)))(t)
	return path
}

// ownFile opens it for everything, as its owner does. A statement that was stopped in time may hold
// its lock for a moment.
func ownFile(t testing.TB, path string) *sql.DB {
	t.Helper()
	return must.Have(sql.Open("sqlite", "file:"+strings.NewReplacer(" ", "%20", "?", "%3f").Replace(path)+"?_pragma=busy_timeout(10000)"))(t)
}

// openFile opens it for reading four of its tables.
func openFile(t testing.TB, path string, change func(*SQLiteConfig)) *SQLiteDB {
	t.Helper()
	c := SQLiteConfig{Path: path, Tables: []string{"users", "products", "Orders", "order_items"}, Limits: Limits{Time: 500 * time.Millisecond}}
	if change != nil {
		change(&c)
	}
	db := must.Have(OpenSQLite(context.Background(), c))(t)
	t.Cleanup(func() { db.Close() })
	return db
}

func TestSQLiteStopsHostileStatements(t *testing.T) {
	path := newFile(t)
	db := openFile(t, path, nil)
	before := must.Read(t, path)
	for _, c := range corpus(t, "sqlite_hostile.txt") {
		c.stopped(t, db.Query, 5*time.Second)
	}
	after, err := os.ReadFile(path)
	if err != nil || sha256.Sum256(after) != sha256.Sum256(before) {
		t.Errorf("the file has changed: %v", err)
	}
	if all, err := filepath.Glob(filepath.Join(filepath.Dir(path), "*")); err != nil || len(all) != 1 {
		t.Errorf("files: %q, %v", all, err)
	}
}

func TestSQLiteRunsLegitimateStatements(t *testing.T) {
	db := openFile(t, newFile(t), nil)
	for _, c := range corpus(t, "sqlite_legitimate.txt") {
		c.runs(t, db.Query)
	}
}

func TestSQLiteWithoutAListReadsAllTables(t *testing.T) {
	db := openFile(t, newFile(t), func(c *SQLiteConfig) { c.Tables = nil })
	for query, want := range map[string]string{
		"SELECT word FROM words":                                      `{"word":"SWORDFISH"}`,
		"SELECT title FROM notes WHERE notes MATCH 'lazy'":            `{"title":"second"}`,
		"SELECT :user_name = 'hong'' or 1=1 --' AS same":              `{"same":1}`,
		"SELECT count(*) AS n FROM users WHERE username = :user_name": `{"n":0}`,
		"SELECT 9e999 AS a, -9e999 AS b, 9e999 - 9e999 AS c":          `{"a":"Infinity","b":"-Infinity","c":null}`,
	} {
		table, err := db.Query(t.Context(), query, sql.Named("user_name", "hong' or 1=1 --"))
		if err != nil || string(table.Records[0]) != want {
			t.Errorf("%s: %v, %v", query, table, err)
		}
	}
	for _, query := range []string{"SELECT * FROM sqlite_master", "SELECT * FROM pragma_table_info('users')", "SELECT load_extension('x')"} {
		var refused *Refusal
		if _, err := db.Query(t.Context(), query); !errors.As(err, &refused) {
			t.Errorf("%s: %v", query, err)
		}
	}
}

func TestSQLiteRefusalSaysWhere(t *testing.T) {
	db := openFile(t, newFile(t), nil)
	for query, want := range map[string]string{
		"SELECT 1,\n  load_extension('x')": "load_extension is not among the functions that may be called (line 2, column 3)",
		"SELECT *\nFROM secret":            "secret may not be read (line 2, column 6)",
		"DROP TABLE x":                     "only SELECT statements are allowed; this is DROP (line 1, column 1)",
	} {
		if _, err := db.Query(t.Context(), query); err == nil || err.Error() != want {
			t.Errorf("%q: %v", query, err)
		}
	}
}

func TestSQLiteIsReadByManyAtOnce(t *testing.T) {
	db := openFile(t, newFile(t), func(c *SQLiteConfig) { c.Limits.Time = 30 * time.Second })
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			for range 5 {
				if _, err := db.Query(context.Background(), "SELECT count(*) FROM orders"); err != nil {
					t.Error(err)
				}
				if _, err := db.Query(context.Background(), "SELECT count(*) FROM secret"); err == nil {
					t.Error("read")
				}
			}
		})
	}
	all.Wait()
}

// FuzzSQLite looks for a panic, and for a statement that passes although a second one, or what may
// not be read, stands in it.
func FuzzSQLite(f *testing.F) {
	for _, name := range []string{"sqlite_hostile.txt", "sqlite_legitimate.txt"} {
		for _, c := range corpus(f, name) {
			if c.says != "bounded" {
				f.Add(c.sql)
			}
		}
	}
	f.Add("SELECT 0/*/")
	db := openFile(f, newFile(f), func(c *SQLiteConfig) { c.Limits.Time = 100 * time.Millisecond })
	f.Fuzz(func(t *testing.T, query string) {
		if _, err := db.Query(context.Background(), query); err != nil {
			return
		}
		if open := strings.LastIndex(query, "/*"); open >= 0 && open+2 > strings.LastIndex(query, "*/") {
			return // SQLite takes a remark that is not closed, and what stands behind is part of it; /*/ is one
		}
		for _, behind := range []string{"\n; DROP TABLE users", "\nUNION ALL SELECT word FROM secret"} {
			if _, err := db.Query(context.Background(), query+behind); err == nil {
				t.Errorf("%q passes", query+behind)
			}
		}
	})
}
