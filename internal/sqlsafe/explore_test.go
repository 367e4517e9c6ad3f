package sqlsafe

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"toolnorm/internal/test/must"
)

// shown lists relations in a line.
func shown(all []Relation) string {
	var words []string
	for _, r := range all {
		if r.Error != "" {
			words = append(words, r.Name+": "+r.Error)
			continue
		}
		words = append(words, fmt.Sprint(r.Name, " ", r.Columns[0]))
	}
	return strings.Join(words, ", ")
}

func TestOnlyWhatMayBeReadIsShown(t *testing.T) {
	path := newFile(t)
	db := openFile(t, path, nil)
	if _, err := db.Query(t.Context(), "SELECT 1"); err != nil { // leaves its authorizer on the connection
		t.Fatal(err)
	}
	all, err := db.Relations(t.Context())
	if want := "order_items {order_id INTEGER}, orders {order_id INTEGER}, products {product_id INTEGER}, users {user_id INTEGER}"; err != nil || shown(all) != want {
		t.Errorf("%s, %v", shown(all), err)
	}
	all, err = openFile(t, path, func(c *SQLiteConfig) { c.Tables = nil }).Relations(t.Context())
	if want := "notes {title }, order_items {order_id INTEGER}, orders {order_id INTEGER}, products {product_id INTEGER}, secret {word TEXT}, users {user_id INTEGER}, words {word }"; err != nil || shown(all) != want {
		t.Errorf("%s, %v", shown(all), err)
	}
	if _, err := db.Query(t.Context(), "SELECT * FROM secret"); err == nil {
		t.Error("the listing opened the connection")
	}
}

func TestPostgresShowsWhatTheRoleMayRead(t *testing.T) {
	all, err := newServer(t).open(t, nil).Relations(t.Context())
	if want := "events {event_id bigint}, order_items {order_id bigint}, orders {order_id bigint}, products {product_id integer}, users {user_id integer}"; err != nil || shown(all) != want {
		t.Errorf("%s, %v", shown(all), err)
	}
}

// oddFile is a file with tables that this SQLite cannot read (old is of fts4, gone reads what is
// not there), with some of FTS5, and with one that is only called like theirs.
func oddFile(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "odd.db")
	db := must.Have(sql.Open("sqlite", "file:"+path))(t)
	defer db.Close()
	db.SetMaxOpenConns(1) // writable_schema is the connection's
	must.Have(db.Exec(`CREATE TABLE deals (id INTEGER, title TEXT); INSERT INTO deals VALUES (1, 'one');
		CREATE VIEW open_deals AS SELECT * FROM deals; CREATE VIEW gone AS SELECT * FROM nosuch;
		CREATE VIRTUAL TABLE docs USING fts5(body); INSERT INTO docs VALUES ('hello world'); CREATE TABLE docs_private (word TEXT);
		CREATE VIRTUAL TABLE docs_old USING fts5(body); INSERT INTO docs_old VALUES ('other');
		CREATE VIRTUAL TABLE named USING fts5(title, content='deals', content_rowid='id'); CREATE VIEW opener AS SELECT * FROM open_deals;
		PRAGMA writable_schema = 1; INSERT INTO sqlite_schema VALUES ('table', 'old', 'old', 0, 'CREATE VIRTUAL TABLE old USING fts4(body)')`))(t)
	return path
}

func TestATableThatCannotBeReadHidesNoOther(t *testing.T) {
	db := openFile(t, oddFile(t), func(c *SQLiteConfig) { c.Tables = nil })
	all, err := db.Relations(t.Context())
	if want := "deals {id INTEGER}, docs {body }, docs_old {body }, docs_private {word TEXT}, gone: no such table: main.nosuch, named {title }, old: no such module: fts4, open_deals {id INTEGER}, opener {id INTEGER}"; err != nil || shown(all) != want {
		t.Errorf("%s, %v", shown(all), err)
	}
	if table, err := db.Query(t.Context(), "SELECT title FROM deals"); err != nil || len(table.Records) != 1 {
		t.Errorf("%v", err)
	}
}

func TestAListedVirtualTableIsReadWithItsShadows(t *testing.T) {
	db := openFile(t, oddFile(t), func(c *SQLiteConfig) { c.Tables = []string{"docs", "open_deals", "named"} })
	if table, err := db.Query(t.Context(), "SELECT body FROM docs WHERE docs MATCH 'hello'"); err != nil || len(table.Records) != 1 {
		t.Errorf("%v", err)
	}
	for query, want := range map[string]string{
		"SELECT * FROM docs_private":         "docs_private may not be read (line 1, column 15)",
		"SELECT * FROM docs_old":             "docs_old may not be read (line 1, column 15)",
		"SELECT body FROM docs_old('other')": "docs_old may not be read (line 1, column 18)",
		"SELECT * FROM docs_old_content":     "docs_old_content may not be read (line 1, column 15)",
		"SELECT * FROM named":                "deals may not be read; what the statement asks reads it, so it has to be listed, too",
		"SELECT * FROM opener":               "deals may not be read; the view open_deals reads it, so it has to be listed, too",
		"SELECT * FROM deals":                "deals may not be read (line 1, column 15)",
		"SELECT * FROM open_deals":           "deals may not be read; the view open_deals reads it, so it has to be listed, too",
	} {
		if _, err := db.Query(t.Context(), query); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", query, err, want)
		}
	}
}
