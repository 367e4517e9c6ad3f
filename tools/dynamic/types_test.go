package dynamic

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"toolnorm/internal/store"
)

// typed is a parameter with what is said of it.
func typed(name, kind string, d Details) Param {
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
		{"STRING", `{"pattern":"("}`, "pattern", "missing closing )"},
		{"STRING", `{"pattern":"(?=a)"}`, "pattern", "look-around"},
		{"STRING", `{"format":"date"}`, "format", "DATE, TIMESTAMP and UUID are types"},
		{"STRING", `{"default":5}`, "default", "default: want a text, got 5"},
		{"ENUM", `{}`, "choices", "an ENUM needs its choices"},
		{"ENUM", `{"choices":["a","a"]}`, "choices", "is there twice"},
		{"ENUM", `{"choices":[{}]}`, "choices", "a choice is a text or a number"},
		{"ENUM", `{"choices":["a"],"default":"b"}`, "default", `want one of "a", got "b"`},
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
		if err := json.Unmarshal([]byte(tt.details), &d); err != nil {
			t.Fatal(err)
		}
		one := draft(typePython, "v")
		one.Params = []Param{typed("v", tt.kind, d)}
		report := s.Validate(t.Context(), one)
		if report.Valid || report.Problems[0].Field != "params[0]."+tt.field || !strings.Contains(report.Problems[0].Message, tt.want) {
			t.Errorf("%s %s: %+v, want %s", tt.kind, tt.details, report.Problems, tt.want)
		}
	}
}

// everyType is a tool with a parameter of each type.
func everyType() Draft {
	d := draft(typePython, "[s, i, n, b, d, ts, u, e, l, o, dl]")
	d.Params = []Param{
		typed("s", "STRING", Details{MinLength: 2, MaxLength: 5, Pattern: "^[a-z]+$", Examples: []Value{Value(`"abc"`)}}),
		typed("i", "INTEGER", Details{Minimum: Value("1"), Maximum: Value("9"), Default: Value("7")}),
		typed("n", "NUMBER", Details{}), typed("b", "BOOLEAN", Details{}),
		typed("d", "DATE", Details{Minimum: Value(`"2024-01-01"`)}), typed("ts", "TIMESTAMP", Details{}), typed("u", "UUID", Details{}),
		typed("e", "ENUM", Details{Choices: []Value{Value(`"open"`), Value(`"paid <now>"`)}}),
		typed("l", "LIST<STRING>", Details{MinItems: 1, MaxItems: 3, Unique: true}),
		typed("o", "OBJECT", Details{Schema: Value(`{"properties":{"z":{"type":"number"},"a":{"type":"string"}},"required":["z"]}`)}),
		typed("dl", "LIST<DATE>", Details{}),
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
			if err := json.Unmarshal([]byte("{"+text+"}"), &all); err != nil {
				t.Fatal(err)
			}
		}
		text, err := json.Marshal(all)
		if err != nil {
			t.Fatal(err)
		}
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
		if err := s.config.DB.QueryRow("SELECT p.param_type, t.definition FROM h_custom_tool t JOIN h_custom_tool_param p ON p.tool_id = t.id WHERE p.param_name = 'dl'").Scan(&kind, &definition); err != nil {
			t.Fatal(err)
		}
		if kind != "LIST<DATE>" || !strings.Contains(definition, `"i":{"default":7,"minimum":1,"maximum":9}`) {
			t.Errorf("the tables have %s, %s", kind, definition)
		}
		dir := t.TempDir()
		if _, err := s.Export(t.Context(), dir, false); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(filepath.Join(dir, "t.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"default: 7", `- paid <now>`, "max_items: 3", "properties:\n        z:\n          type: number", `minimum: "2024-01-01"`} {
			if !strings.Contains(string(text), want) {
				t.Errorf("the file lacks %q:\n%s", want, text)
			}
		}
		if done, err := s.Import(t.Context(), "tester", false, dir); err != nil || len(done) != 1 || done[0].Action != "unchanged" {
			t.Errorf("imported again: %+v %v", done, err)
		}
		before, err := s.Get(t.Context(), made.ID)
		if err != nil {
			t.Fatal(err)
		}
		if after, err := s.Restore(t.Context(), "tester", made.ID, 1, made.Version); err != nil || !sameDraft(before.Draft, after.Draft) {
			t.Errorf("restored %+v, %v", after, err)
		}
	})
}

func TestTablesOfTheFirstVersionTakeTheNewTypes(t *testing.T) {
	databases.Each(t, func(t *testing.T, where string) {
		db, err := store.Open(t.Context(), where)
		if err != nil {
			t.Fatal(err)
		}
		if err := db.Migrate(t.Context(), "custom_tools", steps()[:1]...); err != nil {
			t.Fatal(err)
		}
		if _, err := db.Exec("INSERT INTO h_custom_tool (name, description_agent, description_user, tool_type, definition, is_active, reg_dt, created_by) VALUES ('old', 'd', '', 'PYTHON', 'a', 'Y', '', '');" +
			"INSERT INTO h_custom_tool_param (tool_id, param_name, param_type, is_required, description) VALUES (1, 'a', 'NUMBER', 'Y', '')"); err != nil {
			t.Fatal(err)
		}
		db.Close()
		s := newSet(t, where, nil)
		if got := call(s, "old", `{"a":5}`); got != "5" {
			t.Errorf("the tool that was there: %s", got)
		}
		made := save(t, s, everyType())
		if _, err := s.config.DB.Exec("INSERT INTO h_custom_tool_param (tool_id, param_name, param_type, is_required, description) VALUES (1, 'b', 'list of date', 'N', '')"); err != nil {
			t.Fatal(err)
		}
		all, err := s.List(t.Context())
		if err != nil || len(all) != 2 || all[0].Params[1].Type != "LIST<DATE>" || all[1].ID != made.ID {
			t.Errorf("%+v, %v", all, err)
		}
	})
}
