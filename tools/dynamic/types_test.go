package dynamic

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"toolnorm/internal/auth"
	"toolnorm/internal/test/must"
	"toolnorm/internal/test/storetest"
)

// typed is a parameter with what is said of it.
func param(name, kind string, d Details) Param {
	return Param{Name: name, Type: kind, Required: true, Details: d}
}

func TestTypesAreReadInAnySpelling(t *testing.T) {
	for text, want := range map[string]string{
		"string": "STRING", " Integer ": "INTEGER", "list<String>": "LIST<STRING>", "LIST OF date": "LIST<DATE>",
		"uuid[]": "LIST<UUID>", "List[List[number]]": "LIST<LIST<NUMBER>>", "array(enum)": "LIST<ENUM>", "text": "STRING",
		"float": "NUMBER", "map": "OBJECT", "timestamp": "TIMESTAMP",
	} {
		if k, ok := kindOf(text); !ok || k.String() != want {
			t.Errorf("%q is %s, %t; want %s", text, k, ok, want)
		}
	}
	for _, text := range []string{"", "LIST", "LIST<>", "LIST<STRING", "MONEY", "STRING<LIST>", "[]", "LIST<LIST<LIST<LIST<STRING>>>>"} {
		if k, ok := kindOf(text); ok {
			t.Errorf("%q is %s", text, k)
		}
	}
}

func TestDetailsThatCannotBeMeant(t *testing.T) {
	s := ownSet(t)
	for _, tt := range []struct {
		kind, details, field, want string
	}{
		{"STRING", `{"choices":["a"]}`, "choices", "choices is for ENUM, and v is a STRING"},
		{"STRING", `{"minimum":1}`, "minimum", "minimum is for INTEGER, NUMBER, DATE, TIMESTAMP"},
		{"STRING", `{"max_items":1}`, "max_items", "write LIST<STRING>"},
		{"STRING", `{"min_length":3,"max_length":2}`, "max_length", "cannot be 2 where the least is 3"},
		{"STRING", `{"min_length":-1}`, "min_length", "min_length cannot be -1, which is less than 0"},
		{"LIST<STRING>", `{"max_items":-2}`, "max_items", "max_items cannot be -2, which is less than 0"},
		{"STRING", `{"pattern":"("}`, "pattern", "missing closing )"},
		{"STRING", `{"pattern":"(?=a)"}`, "pattern", "look-around"},
		{"STRING", `{"format":"date"}`, "format", "DATE, TIMESTAMP and UUID are types"},
		{"STRING", `{"default":5}`, "default", "default: want a text, got 5"},
		{"ENUM", `{}`, "choices", "an ENUM needs its choices"},
		{"ENUM", `{"choices":["a","a"]}`, "choices", "is there twice"},
		{"ENUM", `{"choices":[{}]}`, "choices", "a choice is a text or a number"},
		{"ENUM", `{"choices":["a"],"default":"b"}`, "default", `want one of "a", got "b"`},
		{"ENUM", `{"choices":[1],"default":"abc"}`, "default", `want one of 1, got "abc"`},
		{"ENUM", `{"choices":[1],"default":""}`, "default", `want one of 1, got ""`},
		{"ENUM", `{"choices_sql":"SELECT :a"}`, "choices_sql", "has no parameters"},
		{"ENUM", `{"choices_sql":"SELECT nope FROM h_user"}`, "choices_sql", "nope"},
		{"ENUM", `{"choices_sql":"DELETE FROM h_user"}`, "choices_sql", "only SELECT"},
		{"INTEGER", `{"minimum":5,"maximum":4}`, "maximum", "less than the minimum"},
		{"INTEGER", `{"minimum":1.5}`, "minimum", "want a whole number, got 1.5"},
		{"DATE", `{"minimum":"x"}`, "minimum", "want a date, as 2024-01-31, got \"x\""},
		{"OBJECT", `{"schema":[]}`, "schema", "no JSON object"},
		{"OBJECT", `{"schema":{"type":"array"}}`, "schema", `its type has to be "object"`},
		{"OBJECT", `{"schema":{"properties":{"a":{"$ref":"#/x"}}}}`, "schema", "references"},
		{"LIST<INTEGER>", `{"maximum":3,"examples":[[1,4]]}`, "examples", "examples[1]: want a whole number of at most 3, got 4"},
	} {
		var d Details
		must.OK(t, json.Unmarshal([]byte(tt.details), &d))
		one := draft(typePython, "v")
		one.Params = []Param{param("v", tt.kind, d)}
		report := s.Validate(t.Context(), one)
		if report.Valid || report.Problems[0].Field != "params[0]."+tt.field || !strings.Contains(report.Problems[0].Message, tt.want) {
			t.Errorf("%s %s: %+v, want %s", tt.kind, tt.details, report.Problems, tt.want)
		}
	}
}

func TestValuesAreComparedWhole(t *testing.T) {
	long := strings.Repeat("a", 90)
	unique := param("v", "LIST<STRING>", Details{Unique: true})
	if _, wrong := unique.read([]any{long + "1", long + "2"}, nil); wrong != nil {
		t.Error(wrong)
	}
	if _, wrong := unique.read([]any{long, long}, nil); wrong == nil {
		t.Error("two equal elements fit")
	}
	chosen := param("v", "ENUM", Details{})
	for text, fits := range map[string]bool{"1.0": true, " 1 ": true, "abc": false, "": false, "2": false} {
		if got, wrong := chosen.read(text, []any{json.Number("1")}); (wrong == nil) != fits || fits && got != json.Number("1") {
			t.Errorf("%q is %v, %v", text, got, wrong)
		}
	}
}

// everyType is a tool with a parameter of each type.
func everyType() Draft {
	d := draft(typePython, "[s, i, n, b, d, ts, u, e, l, o, dl]")
	d.Params = []Param{
		param("s", "STRING", Details{MinLength: 2, MaxLength: 5, Pattern: "^[a-z]+$", Examples: []Value{Value(`"abc"`)}}),
		param("i", "INTEGER", Details{Minimum: Value("1"), Maximum: Value("9"), Default: Value("7")}),
		param("n", "NUMBER", Details{}), param("b", "BOOLEAN", Details{}),
		param("d", "DATE", Details{Minimum: Value(`"2024-01-01"`)}), param("ts", "TIMESTAMP", Details{}), param("u", "UUID", Details{}),
		param("e", "ENUM", Details{Choices: []Value{Value(`"open"`), Value(`"paid <now>"`)}}),
		param("l", "LIST<STRING>", Details{MinItems: 1, MaxItems: 3, Unique: true}),
		param("o", "OBJECT", Details{Schema: Value(`{"properties":{"z":{"type":"number"},"a":{"type":"string"}},"required":["z"]}`)}),
		param("dl", "LIST<DATE>", Details{}),
	}
	return d
}

// fine are arguments for everyType.
const fine = `"s":"abc","n":1.5,"b":true,"d":"2024-02-29","ts":"2024-02-29T10:00:00+09:00","u":"A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11","e":"OPEN","l":["x"],"o":{"z":1},"dl":["2024-01-01"]`

func TestAWrongValueIsNamedWithWhatIsWanted(t *testing.T) {
	s := ownSet(t)
	made := save(t, s, everyType())
	if got := call(s, made.Name, "{"+fine+"}"); got != `["abc",7,1.5,true,"2024-02-29","2024-02-29T10:00:00+09:00","a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11","open",["x"],{"z":1},["2024-01-01"]]` {
		t.Fatal(got)
	}
	for args, want := range map[string]string{
		`"s":"A"`:                        `s: want a text of at least 2 characters, got "A"; s: want a text that matches ^[a-z]+$, got "A"`,
		`"i":"ten"`:                      `i: want a whole number, got "ten"`,
		`"i":10`:                         `i: want a whole number of at most 9, got 10`,
		`"n":"many"`:                     `n: want a number, got "many"`,
		`"b":"perhaps"`:                  `b: want true or false, got "perhaps"`,
		`"d":"x"`:                        `d: want a date, as 2024-01-31, got "x"`,
		`"d":"2024-02-30"`:               `d: want a date, as 2024-01-31, got "2024-02-30"`,
		`"d":"2023-12-31"`:               `d: want a date not before 2024-01-01, got "2023-12-31"`,
		`"ts":"2024-02-29 10:00"`:        `ts: want a time with its zone, as 2024-01-31T09:30:00Z or 2024-01-31T18:30:00+09:00, got "2024-02-29 10:00"`,
		`"u":"x"`:                        `u: want a UUID, as 123e4567-e89b-12d3-a456-426614174000, got "x"`,
		`"e":"lost"`:                     `e: want one of "open", "paid <now>", got "lost"`,
		`"l":[]`:                         `l: want at least 1 elements, got 0`,
		`"l":["x","x"]`:                  `l: elements 0 and 1 are equal, want each once`,
		`"o":{"z":"many"}`:               `o.z: want number, got string`,
		`"dl":["2024-01-01","tomorrow"]`: `dl[1]: want a date, as 2024-01-31, got "tomorrow"`,
	} {
		all := map[string]json.RawMessage{}
		for _, text := range []string{fine, args} {
			must.OK(t, json.Unmarshal([]byte("{"+text+"}"), &all))
		}
		text := must.Have(json.Marshal(all))(t)
		if got := call(s, made.Name, string(text)); got != "the arguments of t do not fit: "+want {
			t.Errorf("%s:\n got %s\nwant %s", args, got, want)
		}
	}
}

func TestTypesInFilesAndTables(t *testing.T) {
	databases.Each(t, func(t *testing.T, where string) {
		s := newSet(t, where, nil)
		made := save(t, s, everyType())
		var kind, definition string
		must.OK(t, s.config.DB.QueryRow("SELECT p.param_type, t.definition FROM h_custom_tool t JOIN h_custom_tool_param p ON p.tool_id = t.id WHERE p.param_name = 'dl'").Scan(&kind, &definition))
		if kind != "LIST<DATE>" || !strings.Contains(definition, `"i":{"default":7,"minimum":1,"maximum":9}`) {
			t.Errorf("the tables have %s, %s", kind, definition)
		}
		dir := t.TempDir()
		must.Have(s.Export(t.Context(), dir, false))(t)
		text := must.Read(t, filepath.Join(dir, "t.yaml"))
		for _, want := range []string{"default: 7", `- paid <now>`, "max_items: 3", "properties:\n        z:\n          type: number", `minimum: "2024-01-01"`} {
			if !strings.Contains(string(text), want) {
				t.Errorf("the file lacks %q:\n%s", want, text)
			}
		}
		if done, err := s.Import(t.Context(), "tester", false, dir); err != nil || len(done) != 1 || done[0].Action != "unchanged" {
			t.Errorf("imported again: %+v %v", done, err)
		}
		before := must.Have(s.Get(t.Context(), made.ID))(t)
		if after, err := s.Restore(t.Context(), "tester", made.ID, 1, made.Version); err != nil || !sameDraft(before.Draft, after.Draft) {
			t.Errorf("restored %+v, %v", after, err)
		}
	})
}

func TestTablesOfTheFirstVersionTakeTheNewTypes(t *testing.T) {
	databases.Each(t, func(t *testing.T, where string) {
		db := storetest.Open(t, where)
		must.OK(t, db.Migrate(t.Context(), "custom_tools", steps()[:1]...))
		must.Have(db.Exec("INSERT INTO h_custom_tool (name, description_agent, description_user, tool_type, definition, is_active, reg_dt, created_by) VALUES ('old', 'd', '', 'PYTHON', 'a', 'Y', '', '');" +
			"INSERT INTO h_custom_tool_param (tool_id, param_name, param_type, is_required, description) VALUES (1, 'a', 'NUMBER', 'Y', '')"))(t)
		db.Close()
		s := newSet(t, where, nil)
		if got := call(s, "old", `{"a":5}`); got != "5" {
			t.Errorf("the tool that was there: %s", got)
		}
		made := save(t, s, everyType())
		must.Have(s.config.DB.Exec("INSERT INTO h_custom_tool_param (tool_id, param_name, param_type, is_required, description) VALUES (1, 'b', 'list of date', 'N', '')"))(t)
		all, err := s.List(t.Context())
		if err != nil || len(all) != 2 || all[0].Params[1].Type != "LIST<DATE>" || all[1].ID != made.ID {
			t.Errorf("%+v, %v", all, err)
		}
	})
}

func TestATableThatTakesOnlySomeTypesSaysSo(t *testing.T) {
	where := filepath.Join(t.TempDir(), "store.db")
	db := storetest.Open(t, where)
	must.Have(db.Exec(strings.NewReplacer("'STRING', 'NUMBER'", "'NUMBER', 'STRING'", "id IDENTITY", "id INTEGER PRIMARY KEY AUTOINCREMENT").Replace(specifiedTables)))(t)
	s := newSet(t, where, nil)
	if _, err := s.Create(t.Context(), "tester", everyType()); err == nil || !strings.Contains(err.Error(), "h_custom_tool_param does not take the type INTEGER") {
		t.Error(err)
	}
	save(t, s, draft(typePython, "a", "a NUMBER"))
}

// shopTables are PostgreSQL tables as companies have them.
const shopTables = `
CREATE TYPE order_status AS ENUM ('open', 'paid', 'shipped'); CREATE TYPE mood AS ENUM ('good', 'bad', 'so so');
CREATE TABLE orders (id serial PRIMARY KEY, key uuid, status order_status, placed_on date, placed_at timestamptz, total numeric(10,2), tags text[], data jsonb, mood mood);
INSERT INTO orders (key, status, placed_on, placed_at, total, tags, data, mood)
	SELECT ('00000000-0000-0000-0000-' || lpad(i::text, 12, '0'))::uuid, (ARRAY['open', 'paid', 'shipped'])[1 + i % 3]::order_status, date '2024-01-01' + i,
	timestamptz '2024-01-01 00:00Z' + i * interval '1 day', i * 1.5, ARRAY['all', 'b' || i], json_build_object('k', i), (ARRAY['good', 'bad'])[1 + i % 2]::mood FROM generate_series(1, 20) i;
DO $$ BEGIN IF NOT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = 'asker') THEN CREATE ROLE asker LOGIN; END IF; END $$;
GRANT SELECT ON orders TO asker;`

func TestTypesOnPostgres(t *testing.T) {
	where := databases.Postgres(t)
	admin := must.Have(pgx.Connect(t.Context(), where))(t)
	defer admin.Close(context.Background())
	must.Have(admin.Exec(t.Context(), shopTables))(t)
	s := newSet(t, where, func(c *Config) {
		c.Connections = map[string]string{"shop": strings.Replace(where, "postgres@", "asker@", 1)}
	})
	const count, optional = "SELECT count(*) AS n FROM orders WHERE ", "(:status IS NULL OR status = :status) AND (:since IS NULL OR placed_on >= :since) AND (:ids IS NULL OR id = ANY(:ids)) AND (:key IS NULL OR key = :key)"
	for _, tt := range []struct{ where, args, want string }{
		{"status = :status", `{"status":"PAID"}`, `{"n":7}`},
		{"status = :status", `{"status":"lost"}`, `! want one of "open", "paid", "shipped", got "lost"`},
		{"id = ANY(:ids) AND placed_on >= :since", `{"ids":[1,2,"3"],"since":"2024-01-03"}`, `{"n":2}`},
		{"id = ANY(:ids)", `{"ids":[]}`, `{"n":0}`},
		{"id = ANY(:ids)", `{"ids":[1,9007199254740993]}`, `{"n":1}`},
		{"tags && :tags", `{"tags":["b1","it's \"{}\\ NULL"]}`, `{"n":1}`},
		{"key = :key", `{"key":"00000000-0000-0000-0000-00000000000A"}`, `{"n":0}`},
		{"key = :key", `{"key":"00000000-0000-0000-0000-000000000010"}`, `{"n":1}`},
		{"placed_at > :at", `{"at":"2024-01-19T00:00:00+09:00"}`, `{"n":3}`},
		{"placed_on + 1 = :since", `{"since":"2024-01-03"}`, `{"n":1}`},
		{"status IN (:many)", `{"many":["open","paid"]}`, `{"n":13}`},
		{"status NOT IN (:many)", `{"many":["open","paid"]}`, `{"n":7}`},
		{"id IN :ids AND placed_on IN (:days)", `{"ids":[1,2,3],"days":["2024-01-02"]}`, `{"n":1}`},
		{"status::text = :tags", `{"tags":["open"]}`, `! :tags is a list and stands where one value does; write = ANY (:tags)`},
		{"status::text LIKE :tags", `{"tags":["open"]}`, `! :tags is a list and stands where one value does`},
		{"tags = :tags", `{"tags":["all","b1"]}`, `{"n":1}`},
		{"mood = :mood AND mood = ANY(:moods)", `{"mood":"good","moods":["good","bad"]}`, `{"n":10}`},
		{"mood IN (:moods)", `{"moods":["so so"]}`, `{"n":0}`},
		{"mood = :mood", `{"mood":"none"}`, `! want one of "good", "bad", "so so", got "none"`},
		{"data @> :data", `{"data":{"k":3}}`, `{"n":1}`},
		{"data->'k' IN (SELECT x->'k' FROM jsonb_array_elements(:list) x)", `{"list":[{"k":3},{"k":4}]}`, `{"n":2}`},
		{":price = 12345678901234567.89", `{"price":12345678901234567.89}`, `{"n":20}`},
		{":price::text = '1.50'", `{"price":1.50}`, `{"n":20}`},
		{optional, `{}`, `{"n":20}`},
		{optional, `{"status":"open","since":"2024-01-10"}`, `{"n":4}`},
		{optional, `{"ids":[1,2],"key":null}`, `{"n":2}`},
		{"placed_on >= :since", `{"since":"x"}`, `! since: want a date, as 2024-01-31, got "x"`},
	} {
		d := draft(typeSQL, count+tt.where)
		for _, p := range []Param{
			param("status", "ENUM", Details{ChoicesSQL: "SELECT DISTINCT status FROM orders ORDER BY 1"}), param("since", "DATE", Details{}), param("ids", "LIST<INTEGER>", Details{}),
			param("tags", "LIST<STRING>", Details{}), param("key", "UUID", Details{}), param("at", "TIMESTAMP", Details{}), param("data", "OBJECT", Details{}), param("list", "LIST<OBJECT>", Details{}),
			param("many", "LIST<ENUM>", Details{Choices: []Value{Value(`"open"`), Value(`"paid"`)}}), param("days", "LIST<DATE>", Details{}),
			param("price", "NUMBER", Details{}),
			param("mood", "ENUM", Details{ChoicesSQL: "SELECT enum_range(NULL::mood)"}), param("moods", "LIST<ENUM>", Details{ChoicesSQL: "SELECT array_agg(m) FROM unnest(enum_range(NULL::mood)) m"}),
		} {
			if p.Required = false; strings.Contains(tt.where, ":"+p.Name) {
				d.Params = append(d.Params, p)
			}
		}
		got := trial(t, s, d, tt.args)
		text := said(got.Problems)
		if got.OK {
			text = got.Result.Text()
		}
		if wrong, fails := strings.CutPrefix(tt.want, "! "); fails && (got.OK || !strings.Contains(text, wrong)) || !fails && text != tt.want {
			t.Errorf("%s with %s: %s, want %s", tt.where, tt.args, text, tt.want)
		}
	}
}

// TestChoicesAreThoseOfNow changes what a SELECT for choices gives, and the columns of the
// statement.
func TestChoicesAreThoseOfNow(t *testing.T) {
	path := filepath.Join(t.TempDir(), "shop.db")
	db := storetest.Open(t, path)
	must.Have(db.Exec("CREATE TABLE orders (id INTEGER, status TEXT, day DATE); INSERT INTO orders VALUES (1, 'open', '2024-01-10'), (2, 'paid', '2024-01-11')"))(t)
	s := newSet(t, filepath.Join(t.TempDir(), "store.db"), func(c *Config) { c.Connections = map[string]string{"shop": path} })
	must.OK(t, s.Follow(t.Context()))
	d := draft(typeSQL, "SELECT * FROM orders WHERE status = :status AND day >= :since")
	d.Params = []Param{param("status", "ENUM", Details{ChoicesSQL: "SELECT DISTINCT status FROM orders ORDER BY 1"}), param("since", "DATE", Details{Default: Value(`"2024-01-01"`)})}
	made := save(t, s, d)
	listed := func() (schema, output string) {
		one, _ := s.config.Registry.Snapshot().Find(made.Name)
		return string(one.For(t.Context()).Schema), string(one.Output)
	}
	schema, output := listed()
	if !strings.Contains(schema, `"enum":["open","paid"]`) || !strings.Contains(schema, `"default":"2024-01-01"`) || !strings.Contains(schema, `"required":["status"]`) {
		t.Error(schema)
	}
	if !strings.Contains(output, `"properties":{"id":{"type":["number","string","null"]},"status":{"type":["string","null"]},"day":`) {
		t.Error(output)
	}
	if got := call(s, made.Name, `{"status":"open"}`); got != `{"id":1,"status":"open","day":"2024-01-10"}` {
		t.Error(got)
	}
	must.Have(db.Exec("INSERT INTO orders VALUES (3, 'lost', '2024-02-01'); ALTER TABLE orders ADD COLUMN note TEXT"))(t)
	// A value that is none of the known choices is looked for after choicesKnown.
	end := time.Now().Add(20 * time.Second)
	for call(s, made.Name, `{"status":"lost"}`) != `{"id":3,"status":"lost","day":"2024-02-01","note":null}` || !strings.Contains(output, `"note"`) {
		if time.Now().After(end) {
			t.Fatalf("%s, %s", call(s, made.Name, `{"status":"lost"}`), output)
		}
		time.Sleep(50 * time.Millisecond)
		_, output = listed()
	}
}

func TestAParameterOfTheCallerIsNobodysToWrite(t *testing.T) {
	s := ownSet(t)
	d := draft(typeSQL, "SELECT :me AS me, :all AS departments, :level AS level, :n AS n")
	d.Params = []Param{param("me", "STRING", Details{Caller: "subject"}), param("n", "INTEGER", Details{}), param("all", "LIST<STRING>", Details{Caller: "departments"}), param("level", "INTEGER", Details{Caller: "clearance"})}
	made := save(t, s, d)
	one, _ := s.config.Registry.Snapshot().Find(made.Name)
	if string(one.Schema) != `{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"],"additionalProperties":false}` {
		t.Error(string(one.Schema))
	}
	as := func(who *auth.Principal, args string) string {
		return s.config.Registry.Call(auth.WithPrincipal(t.Context(), who), made.Name, json.RawMessage(args)).Text()
	}
	kim := &auth.Principal{Subject: "kim", Departments: []string{"IT"}, Clearance: 3}
	if got := as(kim, `{"n":1}`); got != `{"me":"kim","departments":"[\"IT\"]","level":3,"n":1}` {
		t.Error(got)
	}
	for _, args := range []string{`{"n":1,"me":"hong"}`, `{"n":1,"level":9}`, `{"n":1,"all":["HR"]}`} {
		if got := as(kim, args); !strings.Contains(got, "is not a parameter") {
			t.Errorf("%s: %s", args, got)
		}
	}
	if got := as(&auth.Principal{Subject: "lee"}, `{"n":1}`); !strings.Contains(got, "all: it is filled from the caller, who has no departments") {
		t.Error(got)
	}
	d.Params[0].Type = typeInteger
	if got := s.Validate(t.Context(), d); got.Valid || got.Problems[0].Field != "params[0].caller" {
		t.Errorf("%+v", got.Problems)
	}
}
