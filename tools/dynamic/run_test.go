package dynamic

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"toolnorm/internal/test/must"
	"toolnorm/internal/test/storetest"
)

// trial runs a draft with arguments.
func trial(t *testing.T, s *Set, d Draft, args string) Trial {
	t.Helper()
	return s.Test(t.Context(), d, json.RawMessage(args))
}

func TestHowResultsLook(t *testing.T) {
	s := ownSet(t)
	const users = "SELECT uid, user_nm FROM h_user WHERE dept = :d ORDER BY uid"
	for _, tt := range []struct {
		options     Options
		query, dept string
		want        string
	}{
		{Options{}, users, "HR", `{"uid":1,"user_nm":"hong"}`},
		{Options{}, users, "IT", `[{"uid":2,"user_nm":"kim"},{"uid":3,"user_nm":"lee"}]`},
		{Options{}, users, "none", `[]`},
		{Options{Result: "rows"}, users, "HR", `[{"uid":1,"user_nm":"hong"}]`},
		{Options{Result: "one"}, users, "IT", `{"uid":2,"user_nm":"kim"}`},
		{Options{Result: "one"}, users, "none", `null`},
		{Options{Result: "value"}, users, "IT", `2`},
		{Options{Result: "value"}, users, "none", `null`},
		{Options{MaxRows: 1}, users, "IT", `{"rows":[{"uid":2,"user_nm":"kim"}],"truncated":true}`},
		{Options{Format: "text"}, users, "IT", "uid\tuser_nm\n2\tkim\n3\tlee"},
		{Options{Format: "text", MaxRows: 1}, users, "IT", "uid\tuser_nm\n2\tkim\n(truncated after 1 rows)"},
		{Options{Format: "text", Result: "one"}, users, "IT", "uid\tuser_nm\n2\tkim"},
		{Options{Format: "text", Result: "value"}, "SELECT user_nm FROM h_user WHERE dept = :d", "HR", "hong"},
		{Options{Format: "text"}, "SELECT user_nm FROM h_user WHERE dept = :d", "HR", "hong"},
		{Options{Format: "text"}, "SELECT 'a' || char(9) || 'b' || char(10) || 'c' AS x, NULL AS y, :d AS d", "HR", "x\ty\td\na b c\t\tHR"},
		{Options{}, "SELECT 1 AS a, 2 AS a, :d AS d", "x", `{"a":1,"a_2":2,"d":"x"}`},
		{Options{Result: "value"}, "SELECT 9007199254740993 + (:d = 'x')", "y", `"9007199254740993"`},
		{Options{}, "```sql\nSELECT uid, user_nm FROM h_user WHERE dept = {{d}}\n```", "HR", `{"uid":1,"user_nm":"hong"}`},
	} {
		d := draft(typeSQL, tt.query, "d STRING")
		d.Options = tt.options
		got := trial(t, s, d, `{"d":"`+tt.dept+`"}`)
		if !got.OK || got.Result.Text() != tt.want {
			t.Errorf("%+v: %+v %v, want %s", tt.options, got.Problems, got.Result, tt.want)
		}
		if structured := tt.options.Format != "text"; structured != (got.Result.Structured != nil) || structured && !json.Valid(got.Result.Structured) {
			t.Errorf("%+v: structure %s", tt.options, got.Result.Structured)
		}
	}
}

func TestArgumentsAreReadByTheirTypes(t *testing.T) {
	s := ownSet(t)
	for _, tt := range []struct {
		kind, definition, params, args, want string
	}{
		{typePython, "a", "a NUMBER", `{"a":5}`, "5"},
		{typePython, "a", "a NUMBER", `{"a":"5"}`, "5"},
		{typePython, "a / 2", "a NUMBER", `{"a":5}`, "2.5"},
		{typePython, "a", "a NUMBER", `{"a":5.0}`, "5.0"},
		{typePython, "a * 10", "a NUMBER", `{"a":123456789012345678901234567890}`, "1234567890123456789012345678900"},
		{typePython, "not a", "a BOOLEAN", `{"a":"true"}`, "false"},
		{typePython, "not a", "a BOOLEAN", `{"a":"Y"}`, "false"},
		{typePython, "not a", "a BOOLEAN", `{"a":"no"}`, "true"},
		{typePython, "a is None", "a STRING?", `{}`, "true"},
		{typePython, "a is None", "a STRING?", `{"a":null}`, "true"},
		{typePython, "a.upper()", "a STRING", `{"a":"hong"}`, `"HONG"`},
		{typePython, "a", "a STRING", `{}`, "! a"},
		{typePython, "a", "a NUMBER", `{"a":"five"}`, "! a"},
		{typePython, "a", "a NUMBER", `{"a":1e999}`, "! a"},
		{typePython, "a", "a NUMBER", `{"a":"NaN"}`, "! a"},
		{typePython, "a", "a NUMBER", `{"a":1,"b":2}`, "! b"},
		{typePython, "1 / a", "a NUMBER", `{"a":0}`, "! ZeroDivisionError: division by zero (line 1, column 3)"},
		{typeSQL, "SELECT typeof(:a) AS t", "a NUMBER", `{"a":5}`, `{"t":"integer"}`},
		{typeSQL, "SELECT typeof(:a) AS t", "a NUMBER", `{"a":5.5}`, `{"t":"real"}`},
		{typeSQL, "SELECT typeof(:a) AS t", "a STRING?", `{}`, `{"t":"null"}`},
		{typeSQL, "SELECT typeof(:a) AS t", "a STRING", `{"a":"5"}`, `{"t":"text"}`},
		{typeSQL, "SELECT :a AS t", "a BOOLEAN", `{"a":true}`, `{"t":1}`},
		{typeSQL, "SELECT :a AS t", "a NUMBER", `{"a":9223372036854775807}`, `{"t":"9223372036854775807"}`},
		{typeSQL, "SELECT :a AS t", "a NUMBER", `{"a":9223372036854775808}`, "! too large a number for SQLite"},
	} {
		got := trial(t, s, draft(tt.kind, tt.definition, tt.params), tt.args)
		wrong, fails := strings.CutPrefix(tt.want, "! ")
		if got.Result == nil {
			t.Errorf("%s: %+v", tt.definition, got.Problems)
			continue
		}
		text := got.Result.Text()
		if fails && (got.OK || !strings.Contains(text, wrong)) || !fails && (text != tt.want || !got.OK) {
			t.Errorf("%s with %s %s: %s %+v, want %s", tt.definition, tt.params, tt.args, text, got.Problems, tt.want)
		}
		if fails && (len(got.Problems) == 0 || got.Problems[0].Message == "") {
			t.Errorf("%s with %s: nobody says what was wrong", tt.definition, tt.args)
		}
	}
}

func TestATestRunSaysWhichLimitItHit(t *testing.T) {
	s := ownSet(t)
	const endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT "
	for _, tt := range []struct {
		d    Draft
		hit  string
		ok   bool
		rows int
	}{
		{draft(typeSQL, endless+"i FROM n LIMIT 5000"), "rows", true, 1000},
		{draft(typeSQL, endless+"printf('%.*c', 10000, 'x') FROM n LIMIT 100"), "bytes", true, 39},
		{draft(typeSQL, "SELECT printf('%.*c', 100000, 'x') AS x"), "cell", true, 1},
		{func() Draft {
			d := draft(typeSQL, endless+"count(*) FROM n")
			d.Options.Timeout = 50
			return d
		}(), "time", false, 0},
		{draft(typeSQL, "SELECT replace(printf('%.*c', 600000, 'x'), 'x', 'yy') AS x"), "cell", false, 0},
		{draft(typePython, "sum([i for i in range(10 ** 9)])"), "budget", false, 0},
	} {
		got := trial(t, s, tt.d, "{}")
		if strings.Join(got.Hit, " ") != tt.hit || got.OK != tt.ok || got.Rows != tt.rows || got.Truncated != tt.ok || got.Millis <= 0 {
			t.Errorf("%s: %+v", tt.d.Definition, got)
		}
		if !tt.ok && got.Problems[len(got.Problems)-1].Rule != "limit" {
			t.Errorf("%s: %+v", tt.d.Definition, got.Problems)
		}
	}
	if got := trial(t, s, draft(typeSQL, "SELECT nope"), "{}"); got.OK || got.Result != nil || got.Problems[0].Column != 8 {
		t.Errorf("a draft that is wrong: %+v", got)
	}
	if all, err := s.List(t.Context()); err != nil || len(all) != 0 {
		t.Errorf("a test run saved %+v, %v", all, err)
	}
}

// injections are values for the parameter of a saved tool; internal/sqlsafe has them.
func injections(t *testing.T) (all []string) {
	t.Helper()
	text := must.Read(t, "../../internal/sqlsafe/testdata/values.txt")
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSuffix(line, "\n"); line != "" && (line[0] != '#' || strings.HasPrefix(line, "#{")) {
			all = append(all, strings.ReplaceAll(line, "⏎", "\n"))
		}
	}
	if len(all) < 60 {
		t.Fatalf("%d values", len(all))
	}
	return all
}

// TestInjectionsFindNobody calls the specification's tool with every hostile value through the
// registry, as all faces do.
func TestInjectionsFindNobody(t *testing.T) {
	s := ownSet(t)
	save(t, s, dailyLimit)
	echo := draft(typeSQL, "SELECT :v AS v", "v STRING")
	echo.Name = "echo"
	save(t, s, echo)
	for _, v := range injections(t) {
		text := must.Have(json.Marshal(v))(t)
		if got := call(s, "get_user_daily_limit", `{"user_name":`+string(text)+`}`); got != "[]" {
			t.Errorf("%q: %s", v, got)
		}
		var row struct{ V string }
		if got := call(s, "echo", `{"v":`+string(text)+`}`); json.Unmarshal([]byte(got), &row) != nil || row.V != v {
			t.Errorf("%q came back as %s", v, got)
		}
	}
	if got := call(s, "get_user_daily_limit", `{"user_name":"hong"}`); got != `{"user_nm":"hong","max_count":50}` {
		t.Errorf("afterwards: %s", got)
	}
}

func TestConnectionsAreThoseOfTheSettings(t *testing.T) {
	dir := t.TempDir()
	where := filepath.Join(dir, "store.db")
	crm := filepath.Join(dir, "crm.db")
	db := storetest.Open(t, crm)
	must.Have(db.Exec("CREATE TABLE deals (id INTEGER, won TEXT); CREATE TABLE secret (word TEXT); INSERT INTO deals VALUES (1, 'Y')"))(t)
	db.Close()
	link := filepath.Join(dir, "link.db")
	must.OK(t, os.Symlink(where, link))
	t.Setenv("CRM_DB", crm)
	s := newSet(t, where, func(c *Config) {
		c.Connections = map[string]string{"crm": "env:CRM_DB", "part": crm + "#deals", "own": where + "#h_custom_tool", "gone": filepath.Join(dir, "gone.db"), "down": "postgres://u:hunter2@127.0.0.1:1/x"}
	})
	for name, tt := range map[string]struct{ connection, query, want string }{
		"a table":              {"crm", "SELECT won FROM deals", `{"won":"Y"}`},
		"another one":          {"crm", "SELECT * FROM secret", "[]"},
		"one that is listed":   {"part", "SELECT won FROM deals", `{"won":"Y"}`},
		"one that is not":      {"part", "SELECT * FROM secret", "! secret may not be read"},
		"the store":            {"own", "SELECT count(*) AS n FROM h_custom_tool", `{"n":0}`},
		"the rest of it":       {"own", "SELECT * FROM h_custom_tool_audit", "! may not be read"},
		"a file that is gone":  {"gone", "SELECT 1", "! its file is not there"},
		"a server that is off": {"down", "SELECT 1", "! cannot be reached"},
	} {
		d := draft(typeSQL, tt.query)
		d.Options.Connection = tt.connection
		got := trial(t, s, d, "{}")
		wrong, fails := strings.CutPrefix(tt.want, "! ")
		if fails && !strings.Contains(said(got.Problems), wrong) || !fails && (got.Result == nil || got.Result.Text() != tt.want) || strings.Contains(said(got.Problems), "hunter2") {
			t.Errorf("%s: %s %v, want %s", name, said(got.Problems), got.Result, tt.want)
		}
	}
	shown, err := json.Marshal(s.Connections(t.Context()))
	for _, want := range []string{`"name":"part","kind":"sqlite","tables":[{"name":"deals","columns":[{"name":"id","type":"INTEGER"},{"name":"won","type":"TEXT"}]}]`, `"name":"sample"`, `"name":"gone","kind":"sqlite","error":`, `"name":"down","kind":"postgres","error":`} {
		if err != nil || !strings.Contains(string(shown), want) {
			t.Errorf("%s lacks %s", shown, want)
		}
	}
	if strings.Contains(string(shown), "hunter2") || strings.Contains(string(shown), dir) {
		t.Errorf("%s tells where a connection leads", shown)
	}
	for setting, want := range map[string]string{"a b=" + crm: "a name is", "x=crm.db": "neither an absolute path", "x=mysql://u:hunter2@h/d": "neither", "x=env:NO_SUCH": "has no NO_SUCH", "x=" + where: "toolnorm's own store", "x=" + link: "own store"} {
		name, value, _ := strings.Cut(setting, "=")
		var told string
		c := newConnections(map[string]string{name: value, "good": crm}, Asks{Warn: func(text string) { told = text }}, where, "")
		if !strings.Contains(told, want) || strings.Contains(told, "hunter2") {
			t.Errorf("%s: %s, want %s", setting, told, want)
		}
		for _, one := range c.all {
			if _, err := one.database(t.Context()); one.Name == "good" && err != nil || one.odd != nil && err != one.odd {
				t.Errorf("%s: the connection %s: %v", setting, one.Name, err)
			}
		}
		c.close()
	}
}

func TestSQLToolsOnPostgres(t *testing.T) {
	where := databases.Postgres(t)
	admin := must.Have(pgx.Connect(t.Context(), where))(t)
	defer admin.Close(context.Background())
	must.Have(admin.Exec(t.Context(), sampleTables+`
		CREATE ROLE asker LOGIN; GRANT SELECT ON h_user, h_mcp_tool_limit TO asker; CREATE TABLE secret (word text);`))(t)
	asker := strings.Replace(where, "postgres@", "asker@", 1)
	s := newSet(t, where, func(c *Config) { c.Connections = map[string]string{"erp": asker, "super": where} })
	limit := dailyLimit
	limit.Options.Connection = "erp"
	save(t, s, limit)
	if got := call(s, limit.Name, `{"user_name":"hong"}`); got != `{"user_nm":"hong","max_count":50}` {
		t.Errorf("%s = %s", limit.Name, got)
	}
	for _, v := range injections(t) {
		text, _ := json.Marshal(v)
		if got := call(s, limit.Name, `{"user_name":`+string(text)+`}`); got != "[]" {
			t.Errorf("%q: %s", v, got)
		}
	}
	for query, want := range map[string]string{
		"SELECT :a::int + 1 AS n, ':b' AS t":                                `{"n":6,"t":":b"}`,
		"SELECT (ARRAY[1,2,3])[1:2] AS s, $$:b$$ || :a AS t":                `{"s":[1,2],"t":":b5"}`,
		"SELECT count(*) AS n FROM h_user WHERE :a IS NULL OR user_nm = :a": `{"n":0}`,
		"SELECT word FROM secret WHERE word = :a":                           "! secret may not be read",
		"SELECT pg_sleep(1), :a":                                            "! pg_sleep is not among the functions",
		"DELETE FROM h_user WHERE user_nm = :a":                             "! only SELECT statements are allowed",
		"SELECT :a, nope FROM h_user":                                       `! column "nope" does not exist (line 1, column 12)`,
	} {
		d := draft(typeSQL, query, "a STRING")
		d.Options.Connection = "erp"
		got := trial(t, s, d, `{"a":"5"}`)
		text := said(got.Problems)
		if got.Result != nil {
			text += got.Result.Text()
		}
		wrong, fails := strings.CutPrefix(want, "! ")
		wrong, _, _ = strings.Cut(wrong, " (line")
		if fails && (got.OK || !strings.Contains(text, wrong)) || !fails && text != want {
			t.Errorf("%s: %s, want %s", query, text, want)
		}
	}
	// What ran too long says so in the words that a SQLite file has for it.
	slow := draft(typeSQL, "SELECT count(*) AS n FROM generate_series(1, 10000) a, generate_series(1, 10000) b")
	slow.Options.Connection, slow.Options.Timeout = "erp", 50
	if got := trial(t, s, slow, "{}"); got.OK || !strings.HasSuffix(said(got.Problems), "the statement took longer than its 50ms") || strings.Join(got.Hit, " ") != "time" {
		t.Errorf("a statement that takes too long: %+v", got)
	}
	d := draft(typeSQL, "SELECT 1 AS one")
	d.Options.Connection = "super"
	if got := trial(t, s, d, "{}"); got.OK || !strings.Contains(said(got.Problems), "is a superuser") {
		t.Errorf("a superuser's connection: %+v", got)
	}
}
