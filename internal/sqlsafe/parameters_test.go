package sqlsafe

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"toolnorm/internal/test/must"

	"github.com/jackc/pgx/v5/pgconn"
)

// hostileValues are texts that would change a statement if they were ever written into it.
func hostileValues(t testing.TB) (all []string) {
	t.Helper()
	text := must.Read(t, "testdata/values.txt")
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSuffix(line, "\n"); line != "" && line[0] != '#' || strings.HasPrefix(line, "#{") {
			all = append(all, strings.ReplaceAll(line, "⏎", "\n"))
		}
	}
	all = append(all, "", "a\tb", strings.Repeat("'", 1000), strings.Repeat("hong' or 1=1 -- ", 1000), "ho\u200bng", "\u202e'gnoh")
	if len(all) < 80 {
		t.Fatalf("%d values", len(all))
	}
	return all
}

// database is one of the two.
type database interface {
	Ask(ctx context.Context, q Statement) (*Table, error)
	Describe(ctx context.Context, q Statement) (*Table, error)
}

// hold tries every hostile value on a database with the tables of the corpora.
func hold(t *testing.T, db database, text string) {
	t.Helper()
	for _, v := range hostileValues(t) {
		for query, want := range map[string]func(*Table) bool{
			"SELECT username FROM users WHERE username = :v":                       func(t *Table) bool { return len(t.Records) == 0 },
			"SELECT username FROM users WHERE username = :v AND user_id = 1 -- :v": func(t *Table) bool { return len(t.Records) == 0 },
			"SELECT username FROM users WHERE username IN (:v, 'x') OR user_id=-1": func(t *Table) bool { return len(t.Records) == 0 },
			"SELECT " + text + " AS v": func(t *Table) bool {
				var row struct{ V string }
				return len(t.Records) == 1 && json.Unmarshal(t.Records[0], &row) == nil && row.V == v
			},
		} {
			table, err := db.Ask(t.Context(), Statement{SQL: query, Values: []sql.NamedArg{sql.Named("v", v)}, Limits: Limits{Cell: 1 << 20}})
			if err != nil || !want(table) {
				t.Errorf("%s with %.60q: %v, %v", query, v, table, err)
			}
		}
	}
}

func TestSQLiteValuesStayValues(t *testing.T) {
	hold(t, openFile(t, newFile(t), func(c *SQLiteConfig) { c.Limits.Time = 0 }), ":v")
}

func TestPostgresValuesStayValues(t *testing.T) {
	s := newServer(t)
	before := s.state(t)
	hold(t, s.open(t, func(c *PostgresConfig) { c.Limits.Time = 0 }), ":v")
	s.unchanged(t, before)
}

func TestParameters(t *testing.T) {
	for _, tt := range []struct{ sql, sqlite, postgres string }{
		{"SELECT :a, :b, :a", "a@7 b@11 a@15", "a@7 b@11 a@15"},
		{"SELECT ':a', \":b\" -- :c\n/* :d */, :e", "e@34", "e@34"},
		{"SELECT /* /* :a */ :b */ :c", "b@19 c@25", "c@25"},
		{"SELECT `:a`, [:b]", "", "a@8 b@14"},
		{"SELECT 'a''b:c' || :d", "d@19", "d@19"},
		{`SELECT E'\':a' || :b`, `a@11`, `b@18`},
		{"SELECT $$:a$$ || $x$:b$x$ || :c", "! $$", "c@29"},
		{"SELECT now()::date, :a::text", `! SQLite has no :: behind a parameter; write CAST(:a AS …) (line 1, column 23)`, "a@20"},
		{"SELECT a[1:2], a[b:c], a[:2], a[f(x):n], :d", `d@41`, "d@41"},
		{"SELECT x FROM t LIMIT :n", "n@22", "n@22"},
		{"SELECT $1", "! $1 is not how", "! $1 is not how parameters are written here; write a colon and the name, as :user_name (line 1, column 8)"},
		{"SELECT ?", "! ? is not how", ""},
		{"SELECT @a", "! @a is not how", ""},
		{"SELECT a ? 'b', a @> b, @ -5", "! ? is not how", ""},
		{"SELECT :1", `! a parameter cannot be called "1"`, ""},
		{"SELECT :이름", `! a parameter cannot be called "이름"`, `! a parameter cannot be called "이름"; letters`},
		{"SELECT :a(1)", "! SQLite has no ( behind", "a@7"},
		{"SELECT 1 : a", "", ""},
		{"SELECT \xff", "! the statement is not valid UTF-8", "! the statement"},
	} {
		for kind, want := range map[Kind]string{SQLite: tt.sqlite, PostgreSQL: tt.postgres} {
			found, err := kind.Parameters(tt.sql)
			var words []string
			for _, p := range found {
				words = append(words, fmt.Sprintf("%s@%d", p.Name, p.At))
			}
			got := strings.Join(words, " ")
			if err != nil {
				got = "! " + err.Error()
			}
			if wrong, ok := strings.CutPrefix(want, "! "); ok && (err == nil || !strings.Contains(err.Error(), strings.Trim(wrong, "$"))) || !ok && got != want {
				t.Errorf("%v %q: %s, want %s", kind, tt.sql, got, want)
			}
		}
	}
}

func TestBraces(t *testing.T) {
	for sql, want := range map[string]string{
		"SELECT 1":                                "SELECT 1",
		"WHERE a = {{user_nm}} AND b={{ n }}":     "WHERE a = :user_nm AND b=:n",
		"SELECT{{a}}FROM t":                       "SELECT :a FROM t",
		"a = {{x}} -- {{y}}\n/* {{z}} */ + {{q}}": "a = :x -- {{y}}\n/* {{z}} */ + :q",
		"a = '{{x}}'":                             "! {{…}} stands inside of quotes",
		`a = "it {{x}}"`:                          "! {{…}} stands inside of quotes",
		"a = {{x y}}":                             "! a parameter in braces is {{name}}",
		"a = {{}}":                                "! a parameter in braces",
		"a = {{x}":                                "! a parameter in braces",
		"a = {x}":                                 "a = {x}",
		"a = '{x}' || '{' || '{'":                 "a = '{x}' || '{' || '{'",
		"{{x}}{{y}}":                              ":x:y",
	} {
		for _, kind := range []Kind{SQLite, PostgreSQL} {
			got, err := kind.Braces(sql)
			if wrong, ok := strings.CutPrefix(want, "! "); ok && (err == nil || !strings.Contains(err.Error(), wrong)) || !ok && (err != nil || got != want) {
				t.Errorf("%v %q: %q, %v, want %q", kind, sql, got, err, want)
			}
		}
	}
}

func TestErrorsSpeakOfTheStatementAsItWasWritten(t *testing.T) {
	b, err := bind("SELECT :long_name,\n :b, nope, :long_name")
	if err != nil || b.text != "SELECT $1,\n $2, nope, $1" {
		t.Fatalf("%+v, %v", b, err)
	}
	for at, was := range []int{0, 1, 2, 3, 4, 5, 6, 7, 7, 17, 18, 19, 20, 20, 22, 23, 24} {
		if got := b.was(at); got != was {
			t.Errorf("%d was %d, want %d", at, got, was)
		}
	}
	told := b.told(refuse(b.text, strings.Index(b.text, "nope"), "$2 and nope, not $9"))
	if told.Error() != ":b and nope, not $9 (line 2, column 6)" {
		t.Error(told)
	}
	var said *pgconn.PgError
	if !errors.As(b.told(fmt.Errorf("x: %w", &pgconn.PgError{Message: "type of $1", Position: 17})), &said) || said.Message != "type of :long_name" || said.Position != 25 {
		t.Errorf("%+v", said)
	}
}

// typed are statements that need their values' types, with values and the record that comes back.
var typed = []struct {
	sql, values, want string
}{
	{"SELECT :a * :b AS n", `{"a":5,"b":3}`, `{"n":15}`},
	{"SELECT username FROM users WHERE user_id = :id", `{"id":2}`, `{"username":"user_2"}`},
	{"SELECT count(*) AS n FROM users WHERE (:c IS NULL OR country = :c)", `{"c":null}`, `{"n":30}`},
	{"SELECT count(*) AS n FROM users WHERE (:c IS NULL OR country = :c)", `{"c":"XX"}`, `{"n":0}`},
	{"SELECT count(*) AS n FROM users WHERE (:d IS NULL OR created_at < :d) AND (:c is not null OR :c IS NULL)", `{"d":"2024-01-05","c":null}`, `{"n":3}`},
	{"SELECT count(*) AS n FROM users WHERE (:d IS NULL OR created_at < :d)", `{"d":null}`, `{"n":30}`},
	{"SELECT substr(username, 1, :n) AS s FROM users WHERE user_id = 1", `{"n":3}`, `{"s":"use"}`},
	{"SELECT user_id FROM users ORDER BY user_id LIMIT :n OFFSET :skip", `{"n":1,"skip":4}`, `{"user_id":5}`},
	{"SELECT count(*) AS n FROM users WHERE username LIKE '%' || :part || '%'", `{"part":"r_3"}`, `{"n":2}`},
	{"SELECT count(*) AS n FROM users WHERE created_at < :day", `{"day":"2024-01-05"}`, `{"n":3}`},
	{"SELECT count(*) AS n FROM products WHERE price > :p", `{"p":38.5}`, `{"n":1}`},
	{"SELECT :n AS n", `{"n":9007199254740993}`, `{"n":"9007199254740993"}`},
}

// valuesOf reads an object as arguments.
func valuesOf(t *testing.T, text string) (all []sql.NamedArg) {
	t.Helper()
	var object map[string]any
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	must.OK(t, d.Decode(&object))
	for name, v := range object {
		if n, ok := v.(json.Number); ok {
			if i, err := n.Int64(); err == nil {
				v = i
			} else if v, err = n.Float64(); err != nil {
				t.Fatal(err)
			}
		}
		all = append(all, sql.Named(name, v))
	}
	return all
}

// bindTyped tries the typed statements.
func bindTyped(t *testing.T, db database) {
	t.Helper()
	for _, tt := range typed {
		q := Statement{SQL: tt.sql, Values: valuesOf(t, tt.values)}
		table, err := db.Ask(t.Context(), q)
		if err != nil || len(table.Records) != 1 || string(table.Records[0]) != tt.want {
			t.Errorf("%s %s: %v, %v", tt.sql, tt.values, table, err)
		}
		if _, err := db.Describe(t.Context(), q); err != nil {
			t.Errorf("%s: Check = %v", tt.sql, err)
		}
	}
	if _, err := db.Ask(t.Context(), Statement{SQL: "SELECT :a"}); err == nil || !strings.Contains(err.Error(), ":a has no value") {
		t.Errorf("a missing value: %v", err)
	}
}

func TestSQLiteBindsByType(t *testing.T) {
	db := openFile(t, newFile(t), nil)
	bindTyped(t, db)
	if _, err := db.Query(t.Context(), "SELECT :n", sql.Named("n", Decimal("123456789012345678901234567890"))); err == nil || !strings.Contains(err.Error(), "too large a number") {
		t.Error(err)
	}
	for query, want := range map[string]string{
		"SELECT nope FROM users":             "no such column: nope (line 1, column 8)",
		"SELECT u.nope\nFROM users u":        "no such column: u.nope (line 1, column 10)",
		"SELECT * FROM users WHERE ,":        `near ",": syntax error (line 1, column 27)`,
		"SELECT * FROM users WHERE":          "incomplete input (line 1, column 26)",
		"SELECT lenght(username) FROM users": "no such function: lenght (line 1, column 8)",
	} {
		if _, err := db.Describe(t.Context(), Statement{SQL: query}); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", query, err, want)
		}
	}
}

func TestPostgresBindsByType(t *testing.T) {
	db := newServer(t).open(t, nil)
	bindTyped(t, db)
	for query, want := range map[string]string{
		"SELECT :digits * 2 AS n":                              `{"n":"246913578024691357802469135780"}`,
		"SELECT :flag AND NOT :flag AS no, :digits > 5 AS yes": `{"no":false,"yes":true}`,
	} {
		table, err := db.Query(t.Context(), query, sql.Named("digits", Decimal("123456789012345678901234567890")), sql.Named("flag", true))
		if err != nil || string(table.Records[0]) != want {
			t.Errorf("%s: %v, %v", query, table, err)
		}
	}
	var said *pgconn.PgError
	if _, err := db.Describe(t.Context(), Statement{SQL: "SELECT :long_name, nope FROM users", Values: []sql.NamedArg{sql.Named("long_name", "x")}}); !errors.As(err, &said) || said.Position != 20 {
		t.Errorf("%+v", err)
	}
	if _, err := db.Query(t.Context(), "SELECT :a", sql.Named("a", "x\x00y")); err == nil || !strings.Contains(err.Error(), "NUL") {
		t.Error(err)
	}
	var refused *Refusal
	if _, err := db.Query(t.Context(), "SELECT :a, pg_sleep(1)", sql.Named("a", "x")); !errors.As(err, &refused) || !strings.Contains(err.Error(), "pg_sleep") || !strings.Contains(err.Error(), "column 12") {
		t.Error(err)
	}
}

// FuzzParameters: whatever the text, a statement that is bound differs from what was written in its
// parameters alone, places are found again, and {{name}} never gets into quotes.
func FuzzParameters(f *testing.F) {
	for _, s := range []string{"SELECT :a::text, ':b', $$:c$$", "a {{x}} '{{y}}' [1:2]", "E'\\':a' :b", "/* /* :a */ :b */ {{c}}", ":::a", "\"{{a\"}}"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, kind := range []Kind{SQLite, PostgreSQL} {
			if text, err := kind.Braces(s); err == nil {
				if again, err := kind.Braces(text); err != nil || again != text {
					t.Fatalf("Braces(%q) = %q, then %q, %v", s, text, again, err)
				}
			}
			found, err := kind.Parameters(s)
			for _, p := range found {
				if err != nil || !strings.HasPrefix(s[p.At:], ":"+p.Name) {
					t.Fatalf("%v %q: %+v, %v", kind, s, p, err)
				}
			}
		}
		b, err := bind(s)
		if err != nil {
			return
		}
		if back := b.named(b.text); len(b.names) > 0 && !strings.Contains(s, "$") && back != s {
			t.Fatalf("%q was bound as %q, which is %q", s, b.text, back)
		}
		last := 0
		for at := range len(b.text) + 1 {
			was := b.was(at)
			if was < last || was > len(s) {
				t.Fatalf("%q as %q: %d was %d, after %d", s, b.text, at, was, last)
			}
			last = was
		}
		if again, err := bind(b.text); len(b.names) == 0 && (err != nil || again.text != b.text) {
			t.Fatalf("%q: %v", b.text, err)
		}
	})
}

func TestListsAreWrittenAsTheDatabaseTakesThem(t *testing.T) {
	list := func(name string) bool { return name == "l" }
	for sql, want := range map[string][2]string{
		"SELECT 1 WHERE a IN (:l)":                  {"SELECT 1 WHERE a = ANY (:l)", "SELECT 1 WHERE a IN (SELECT value FROM json_each(:l))"},
		"SELECT 1 WHERE a not /* x */ in ( :l ) OR": {"SELECT 1 WHERE a <> ALL (:l) OR", "SELECT 1 WHERE a not /* x */ IN (SELECT value FROM json_each(:l)) OR"},
		"SELECT 1 WHERE a IN :l AND b IN(:l)":       {"SELECT 1 WHERE a = ANY (:l) AND b = ANY (:l)", "SELECT 1 WHERE a IN (SELECT value FROM json_each(:l)) AND b IN (SELECT value FROM json_each(:l))"},
		"SELECT 'IN (:l)' IN (:o), 1 IN (:l, 2)":    {"SELECT 'IN (:l)' IN (:o), 1 IN (:l, 2)", "SELECT 'IN (:l)' IN (:o), 1 IN (:l, 2)"},
		"SELECT 1 IN (:l":                           {"SELECT 1 IN (:l", "SELECT 1 IN (:l"},
		"SELECT 1 IN":                               {"SELECT 1 IN", "SELECT 1 IN"},
	} {
		for i, kind := range []Kind{PostgreSQL, SQLite} {
			if got := kind.Lists(sql, list); got != want[i] {
				t.Errorf("%q: %q, want %q", sql, got, want[i])
			}
		}
	}
}
