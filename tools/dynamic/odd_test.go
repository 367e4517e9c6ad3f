package dynamic

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"toolnorm/internal/store"
	"toolnorm/internal/test/must"
	"toolnorm/internal/test/odd"
	"toolnorm/internal/test/storetest"
)

// specified are the two tables as the specification writes them, without a bound on any column.
const specified = `CREATE TABLE h_custom_tool (id INTEGER, name TEXT, description_agent TEXT, description_user TEXT, tool_type TEXT, definition TEXT, is_active TEXT, reg_dt TEXT, created_by TEXT);
	CREATE TABLE h_custom_tool_param (id INTEGER, tool_id INTEGER, param_name TEXT, param_type TEXT, is_required TEXT, description TEXT);`

// oddWords mean something in these tables, here in the wrong place.
var oddWords = []any{"y", "N", "String", "python", "sql", `{"sql": 1}`, `{"expr": "1", "nope": 2}`, "{{", "SELECT", "good_0", "lambda: 0", "-1", strings.Repeat("x", 600_000)}

// oddColumn is what may stand in a column of another program's table.
func oddColumn(r *rand.Rand) any {
	if r.IntN(2) == 0 {
		return oddWords[r.IntN(len(oddWords))]
	}
	_, value := odd.Column(r)
	return value
}

// TestAnOddRowStopsNoOther writes generated odd rows among good ones: all good tools work, at the
// start and while the program runs.
func TestAnOddRowStopsNoOther(t *testing.T) {
	for _, seed := range []uint64{4, 1127, 1_000_003} {
		databases.Each(t, func(t *testing.T, where string) { oddRows(t, where, odd.New(seed)) })
	}
}

// oddRows is the test on one database.
func oddRows(t *testing.T, where string, r *rand.Rand) {
	db := storetest.Open(t, where)
	write := func(query string, values ...any) {
		must.Have(db.ExecContext(t.Context(), query, values...))(t)
	}
	refused := 0
	try := func(query string, values ...any) {
		if _, err := db.ExecContext(t.Context(), query, values...); err != nil {
			refused++ // not every database takes every value
		}
	}
	write(specified)
	insert := "INSERT INTO h_custom_tool VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)"
	param := "INSERT INTO h_custom_tool_param VALUES ($1, $2, $3, $4, $5, $6)"
	for i := range 40 {
		id := 10 * i
		write(insert, id+1, fmt.Sprint("good_", i), "a good tool", nil, []string{"PYTHON", "python", "Python"}[i%3], "n + 1", []string{"Y", "y"}[i%2], nil, nil)
		write(param, id+1, id+1, "n", []string{"NUMBER", "Number"}[i%2], "y", nil)
		row := []any{id + 2, fmt.Sprint("odd_", i), "an odd tool", "x", "PYTHON", "1", "Y", "now", "me"}
		for range 1 + r.IntN(3) {
			n := r.IntN(len(row))
			row[n] = oddColumn(r)
			if n == 0 {
				row[n] = []any{nil, id + 1, -5, 0}[r.IntN(4)]
			}
		}
		try(insert, row...)
		try(param, id+2, []any{id + 2, nil, 99_999}[r.IntN(3)], oddColumn(r), oddColumn(r), oddColumn(r), oddColumn(r))
	}
	t.Logf("%d odd rows of 80 were refused by the database", refused)
	var failed []string
	s := newSet(t, where, func(c *Config) { c.Failed = func(err error) { failed = append(failed, err.Error()) } })
	all, err := s.List(t.Context())
	if err != nil || len(all) < 80-refused || refused > 60 {
		t.Fatalf("%d tools listed, %v", len(all), err)
	}
	for i := range 40 {
		if got := call(s, fmt.Sprint("good_", i), `{"n": 4}`); got != "5" {
			t.Errorf("good_%d says %.200s", i, got)
		}
	}
	if slices.ContainsFunc(all, func(one Tool) bool { return one.Active && !one.Offered && one.Problem == "" }) {
		t.Error("a tool is not offered and nothing says why")
	}
	if len(failed) > 0 {
		t.Errorf("told: %q", failed)
	}
}

// TestToolsOfSparseTablesAreChanged works on the tables as the specification has them, whose rows
// have next to nothing in the columns that may be empty.
func TestToolsOfSparseTablesAreChanged(t *testing.T) {
	databases.Each(t, func(t *testing.T, where string) {
		db := storetest.Open(t, where)
		key := map[store.Kind]string{store.SQLite: "(id INTEGER PRIMARY KEY", store.Postgres: "(id SERIAL PRIMARY KEY"}[db.Kind]
		tables := strings.ReplaceAll(specified, "(id INTEGER", key)
		must.Have(db.ExecContext(t.Context(), tables+`INSERT INTO h_custom_tool (name, description_agent, tool_type, definition, is_active) VALUES ('sparse', 'x', 'PYTHON', '1', 'Y')`))(t)
		s := newSet(t, where, nil)
		made := save(t, s, draft(typePython, "n * 2", "n Number"))
		if got := call(s, made.Name, `{"n": 4}`); got != "8" {
			t.Errorf("the new tool says %s", got)
		}
		must.Have(s.Toggle(t.Context(), "tester", 1, 0, false))(t)
		if got := call(s, "sparse", "{}"); !strings.Contains(got, "not active") {
			t.Errorf("it says %s", got)
		}
	})
}

// TestTablesThatCannotBeReadStopNothing opens a set whose table lacks a column. When it is there,
// the tools come without a restart.
func TestTablesThatCannotBeReadStopNothing(t *testing.T) {
	databases.Each(t, func(t *testing.T, where string) {
		db := storetest.Open(t, where)
		must.Have(db.ExecContext(t.Context(), strings.Replace(specified, " created_by TEXT", " maker TEXT", 1)))(t)
		told := make(chan error, 100)
		s := newSet(t, where, func(c *Config) { c.Failed = func(err error) { told <- err } })
		if err := <-told; !strings.Contains(err.Error(), "created_by") {
			t.Errorf("told: %v", err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		changed := make(chan bool, 10)
		s.Changed(func() { changed <- true })
		must.OK(t, s.Follow(ctx))
		must.Have(db.ExecContext(t.Context(), `ALTER TABLE h_custom_tool ADD COLUMN created_by TEXT;
			INSERT INTO h_custom_tool (id, name, description_agent, tool_type, definition, is_active) VALUES (1, 'late', 'x', 'PYTHON', '1', 'Y')`))(t)
		<-changed
		if got := call(s, "late", "{}"); got != "1" {
			t.Errorf("it says %s", got)
		}
	})
}
