package sqlsafe

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"toolnorm/internal/test/must"
)

// fencedIn are fences around ⋯.
var fencedIn = []string{
	"```sql\n⋯\n```", "```SQL\r\n⋯\r\n```\r\n", "\n ```postgresql\n⋯```", "```\n⋯\n```",
	"~~~sqlite\n⋯\n~~~", "````sql\n⋯\n````  ", "```sql ⋯ ```", "```⋯```", "```sql\n⋯", "``` sql\n⋯;\n```",
}

// fenceless runs statements in fences, and some that are no statement in a fence.
func fenceless(t *testing.T, db database) {
	query, want := "SELECT user_id AS \"n```\"\n FROM users ORDER BY 1 LIMIT 1", "{\"n```\":1}"
	for _, fence := range fencedIn {
		sql := strings.Replace(fence, "⋯", query, 1)
		table, err := db.Ask(t.Context(), Statement{SQL: sql})
		if err != nil || string(table.Records[0]) != want {
			t.Errorf("%q: %v", sql, err)
		}
		// Places are those of the text as it came.
		sql = strings.Replace(fence, "⋯", "SELECT 1,\nnope FROM users", 1)
		_, err = db.Ask(t.Context(), Statement{SQL: sql})
		line, column := placeOf(sql, err)
		if l, c := Place(sql, strings.Index(sql, "nope")+1); line != l || column != c {
			t.Errorf("%q: %v at %d, %d", sql, err, line, column)
		}
	}
	for _, sql := range []string{
		"```python\nprint(1)\n```", "```sql\nDROP TABLE users\n```", "SELECT 1 ```", "```", "",
		"```sql\nSELECT 1\n```\n```sql\nSELECT 2\n```",
	} {
		if _, err := db.Ask(t.Context(), Statement{SQL: sql}); err == nil {
			t.Errorf("%q was taken", sql)
		}
	}
}

// placeOf is the place in a statement of what an error is about.
func placeOf(sql string, err error) (line, column int) {
	var said *pgconn.PgError
	var refused *Refusal
	if errors.As(err, &said) {
		return Place(sql, int(said.Position))
	}
	if errors.As(err, &refused) {
		line, column, _ = refused.Place()
	}
	return line, column
}

func TestAFenceAroundAStatementIsTakenAway(t *testing.T) {
	fenceless(t, openFile(t, newFile(t), nil))
	for _, fence := range fencedIn {
		for _, kind := range []Kind{SQLite, PostgreSQL} {
			found, err := kind.Parameters(strings.Replace(fence, "⋯", "SELECT :a, :b", 1))
			if err != nil || len(found) != 2 {
				t.Errorf("%v %q: %v, %v", kind, fence, found, err)
			}
			text, err := kind.Braces(strings.Replace(fence, "⋯", "SELECT {{a}}, :b", 1))
			if err != nil || strings.TrimRight(strings.TrimSpace(text), ";") != "SELECT :a, :b" {
				t.Errorf("%v %q: %q %v", kind, fence, text, err)
			}
		}
	}
}

// blanks are what stands between words in texts that are pasted, as ⋯.
var blanks = []string{"\u00a0", "\u00a0 \u3000", "\u2003", "\u202f", "\n\u2028", "\ufeff "}

// oddBlanks runs statements with such blanks, which stay in texts, names and comments.
func oddBlanks(t *testing.T, db database) {
	for _, blank := range blanks {
		form := "\ufeffSELECT⋯1⋯AS⋯\"a⋯b\",⋯'c⋯d'⋯AS⋯x⋯/*⋯'*/,⋯upper('é⋯')⋯AS⋯é⋯FROM⋯users⋯LIMIT⋯1⋯;⋯"
		table, err := db.Ask(t.Context(), Statement{SQL: strings.ReplaceAll(form, "⋯", blank)})
		if err != nil || len(table.Columns) != 3 || table.Columns[0] != "a"+blank+"b" || !strings.Contains(string(table.Records[0]), jsonOf(t, "c"+blank+"d")) {
			t.Errorf("%q: %+v, %v", blank, table, err)
		}
		sql := strings.ReplaceAll("SELECT⋯1,⋯nope⋯FROM⋯users", "⋯", "\u00a0")
		_, err = db.Ask(t.Context(), Statement{SQL: sql})
		if _, column := placeOf(sql, err); column != 11 {
			t.Errorf("%v: column %d", err, column)
		}
	}
}

// jsonOf is a text as JSON.
func jsonOf(t *testing.T, s string) string {
	return string(must.Have(json.Marshal(s))(t))
}

func TestOddBlanksAreBlanks(t *testing.T) {
	oddBlanks(t, openFile(t, newFile(t), nil))
	if got := PostgreSQL.plain("select\u00a0e'a\\'b\u00a0c',\u00a0$$\u00a0$$"); got != "select e'a\\'b\u00a0c', $$\u00a0$$" {
		t.Error(got)
	}
	found, err := SQLite.Parameters("SELECT\u00a0:a,\u00a0:b\u00a0")
	if err != nil || len(found) != 2 || found[1].Name != "b" {
		t.Errorf("%v, %v", found, err)
	}
}

func TestRealPostgresTakesOddBlanks(t *testing.T) { oddBlanks(t, newServer(t).open(t, nil)) }

func TestRealPostgresTakesAFence(t *testing.T) { fenceless(t, newServer(t).open(t, nil)) }
