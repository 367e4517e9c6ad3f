package dynamic

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// said is what is wrong with a draft, in a line.
func said(all []Problem) string {
	var words []string
	for _, p := range all {
		text := p.Field + " " + p.Severity + " " + p.Rule + ": " + p.Message
		if p.Line > 0 {
			text += fmt.Sprintf(" @%d:%d", p.Line, p.Column)
		}
		words = append(words, text)
	}
	return strings.Join(words, "; ")
}

func TestWhatIsWrongWithADraft(t *testing.T) {
	s := ownSet(t)
	sqlOf := func(text string, params ...string) Draft { return draft(typeSQL, text, params...) }
	exprOf := func(text string, params ...string) Draft { return draft(typePython, text, params...) }
	with := func(d Draft, change func(*Draft)) Draft {
		change(&d)
		return d
	}
	for name, tt := range map[string]struct {
		d    Draft
		want string // empty: nothing is wrong
	}{
		"a SELECT":              {sqlOf("SELECT 1"), ""},
		"an expression":         {exprOf("result = a * 2", "a NUMBER"), ""},
		"nothing":               {Draft{}, "name error"},
		"no description":        {with(exprOf("1"), func(d *Draft) { d.DescriptionAgent = " \n" }), "description_agent error description"},
		"another type":          {draft("LUA", "1"), "tool_type error type: tool_type is SQL or PYTHON, not \"LUA\""},
		"no definition":         {exprOf(" "), "definition error syntax: enter a query or an expression"},
		"a long one":            {exprOf(strings.Repeat("1+", 40_000) + "1"), "definition error limit"},
		"a parameter twice":     {exprOf("a", "a NUMBER", "A NUMBER"), "params[1].param_name error parameter: there are two parameters A"},
		"a keyword":             {exprOf("1", "lambda NUMBER"), "params[0].param_name error parameter: lambda is a word"},
		"a function":            {exprOf("max - min", "min NUMBER", "max NUMBER"), ""},
		"an underscore":         {exprOf("1", "_a NUMBER"), "params[0].param_name error"},
		"a dunder":              {exprOf("1", "__class__ NUMBER"), "params[0].param_name error"},
		"a parameter's type":    {exprOf("a", "a MONEY"), `params[0].param_type error parameter: param_type is one of STRING, INTEGER, NUMBER, BOOLEAN, DATE, TIMESTAMP, UUID, ENUM, OBJECT, or a LIST of one, as LIST<STRING>; not "MONEY"`},
		"too many":              {exprOf("1", strings.Split(strings.Repeat("a NUMBER,", 51), ",")...), "params error limit"},
		"an unknown name":       {exprOf("a + bb", "a NUMBER"), "definition error unknown_parameter: NameError: name 'bb' is not defined @1:5"},
		"an expression cut":     {exprOf("a +", "a NUMBER"), "definition error syntax: SyntaxError"},
		"an unknown :name":      {sqlOf("SELECT uid\nFROM h_user WHERE user_nm = :who"), "definition error unknown_parameter: there is no parameter who @2:29"},
		"braces":                {sqlOf("SELECT uid FROM h_user WHERE user_nm = {{who}}", "who STRING"), ""},
		"braces in quotes":      {sqlOf("SELECT uid FROM h_user WHERE user_nm = '{{who}}'", "who STRING"), "definition error placeholder: {{…}} stands inside of quotes"},
		"a name in quotes":      {sqlOf("SELECT uid FROM h_user\nWHERE user_nm LIKE '%:who%'", "who STRING"), "definition error quoted_parameter: :who stands inside of quotes and is not bound; write '…' || :who || '…', or leave the quotes out @2:22"},
		"a name alone in them":  {sqlOf("SELECT uid FROM h_user WHERE user_nm = ':who'", "who STRING"), "definition error quoted_parameter: :who stands inside of quotes and is not bound"},
		"a label":               {sqlOf("SELECT 'of :who' AS label FROM h_user WHERE user_nm = :who", "who STRING"), "definition warning quoted_parameter: :who stands inside of quotes and is not bound"},
		"no name in quotes":     {sqlOf("SELECT 'a::who :whose' FROM h_user WHERE user_nm = :who -- ':who'", "who STRING"), ""},
		"not used":              {sqlOf("SELECT 1", "who STRING"), "params[0].param_name warning unused_parameter: the definition does not use who"},
		"a key of nothing":      {sqlOf("SELECT uid FROM h_user\nORDER BY :col DESC", "col STRING"), "definition warning constant_key: ORDER BY with :col is the same for every row: a value is bound, and names no column; write CASE :col WHEN 'a' THEN a WHEN 'b' THEN b END @2:10"},
		"a change":              {sqlOf("DELETE FROM h_user"), "definition error refused: only SELECT statements are allowed; this is DELETE @1:1"},
		"a change in a WITH":    {sqlOf("WITH x AS (SELECT 1) DELETE FROM h_user"), "definition error refused: only SELECT"},
		"two statements":        {sqlOf("SELECT 1; DROP TABLE h_user"), "definition error refused: only one statement is allowed; a second begins here @1:11"},
		"a function that harms": {sqlOf("SELECT 1,\n  load_extension('x')"), "definition error refused: load_extension is not among the functions that may be called @2:3"},
		"the schema":            {sqlOf("SELECT * FROM sqlite_master"), "definition error refused: sqlite_master may not be read @1:15"},
		"a table that is not":   {sqlOf("SELECT * FROM h_usr"), "definition error syntax: no such table: h_usr @1:15"},
		"a column that is not":  {sqlOf("SELECT u.name FROM h_user u"), "definition error syntax: no such column: u.name @1:10"},
		"PostgreSQL's cast":     {sqlOf("SELECT :a::text", "a STRING"), "definition error refused: SQLite has no :: behind a parameter"},
		"a connection":          {with(sqlOf("SELECT 1"), func(d *Draft) { d.Options.Connection = "erp" }), `options.connection error connection: there is no connection "erp"; there are sample`},
		"a result":              {with(sqlOf("SELECT 1"), func(d *Draft) { d.Options.Result = "many" }), "options.result error"},
		"a format":              {with(sqlOf("SELECT 1"), func(d *Draft) { d.Options.Format = "xml" }), "options.format error"},
		"a time":                {with(sqlOf("SELECT 1"), func(d *Draft) { d.Options.Timeout = 60_001 }), "options.timeout_ms error"},
		"rows":                  {with(sqlOf("SELECT 1"), func(d *Draft) { d.Options.MaxRows = -1 }), "options.max_rows error"},
		"SQL's options":         {with(exprOf("1"), func(d *Draft) { d.Options.MaxRows = 1 }), "options error option"},
		"an object":             {sqlOf(`{"sql": "SELECT :a AS a", "result": "value"}`, "a STRING"), ""},
		"an object's fault":     {sqlOf(`{"sql": "SELECT 1", "reslt": "value"}`), "definition error syntax: the definition is an object"},
		"a dict of Python's":    {exprOf(`{"sql_": a}`, "a STRING"), ""},
	} {
		r := s.Validate(t.Context(), tt.d)
		got := said(r.Problems)
		if tt.want == "" && got != "" || !strings.Contains(got, tt.want) {
			t.Errorf("%s: %s, want %s", name, got, tt.want)
		}
		if r.Valid == strings.Contains(got, " error ") || r.Valid && !json.Valid(r.Tool) {
			t.Errorf("%s: valid %v, %s", name, r.Valid, r.Tool)
		}
		if tt.want == "" || strings.Contains(tt.want, "warning") {
			continue
		}
		if _, err := s.Create(t.Context(), "x", tt.d); err == nil {
			t.Errorf("%s: saved", name)
		}
	}
	if r := s.Validate(t.Context(), sqlOf("SELECT uid FROM h_user WHERE user_nm = {{ who }}", "who STRING")); r.Definition != "SELECT uid FROM h_user WHERE user_nm = :who" {
		t.Errorf("%+v", r)
	}
}

// hostileTexts are names and descriptions that break something somewhere.
var hostileTexts = []string{
	"", " ", ".", "..", "a.b", "a b", "a/b", "../../etc/passwd", "a\x00b", "a\nb", "a\r\nSet-Cookie: x", "\x1b[2Jclear", "\u202egnoh", "a\u200bb", "\u2066x\u2069",
	"\U000e0041\U000e0042", "\ufeffa", "a\u2028b", "ㅤ", "\xff\xfe", "\xc0\xaf", "<script>alert(1)</script>", "\"><img src=x onerror=alert(1)>", "{{7*7}}", "${x}", "$(id)", "`id`", "';--",
	"%s%n", "</tool_call>", "<|im_start|>system", "[TOOL_CALLS]", "a\"b", "a\\b", "1abc", "-a", "_a", "이름", "naïve", "а" /* Cyrillic */, "ａ", "constructor/__proto__", "CON:",
	strings.Repeat("a", 65), strings.Repeat("a", 100_000), strings.Repeat("가", 50_000), strings.Repeat("\U0001f600", 30_000),
}

func TestNamesThatCouldBreakAFaceAreRefused(t *testing.T) {
	s := ownSet(t)
	for _, text := range hostileTexts {
		d := draft(typePython, "1")
		if d.Name = text; s.Validate(t.Context(), d).Valid {
			t.Errorf("a tool may be called %.60q", text)
		}
		d = draft(typePython, "1", text+" NUMBER")
		if d.Params[0].Name = text; text != "_a" && s.Validate(t.Context(), d).Valid {
			t.Errorf("a parameter may be called %.60q", text)
		}
	}
	// Letters that other systems keep to themselves are names like others here.
	for _, name := range []string{"constructor", "__proto__", "toString", "NULL", "select", "CON", "a-b_c"} {
		d := draft(typePython, "1")
		if d.Name = name; s.Validate(t.Context(), d).Valid != (name[0] != '_') {
			t.Errorf("a tool called %s: %s", name, said(s.Validate(t.Context(), d).Problems))
		}
	}
}

// TestDescriptionsAreRefusedOrPassWhole: whatever a description holds, either it cannot be saved,
// or every client gets exactly that text in valid JSON.
func TestDescriptionsAreRefusedOrPassWhole(t *testing.T) {
	s := ownSet(t)
	passed := 0
	for i, text := range hostileTexts {
		d := draft(typePython, "a", "a NUMBER")
		d.Name, d.DescriptionAgent, d.DescriptionUser, d.Params[0].Description = fmt.Sprintf("t%d", i), "x "+text, text, text
		made, err := s.Create(t.Context(), "x", d)
		if err != nil {
			continue
		}
		passed++
		tool, ok := s.config.Registry.Snapshot().Find(made.Name)
		want := strings.TrimSpace(strings.ReplaceAll("x "+text, "\r\n", "\n"))
		if !ok || tool.Description != want || !json.Valid(tool.Schema) {
			t.Errorf("%.60q became %.60q, %s", text, tool.Description, tool.Schema)
		}
		shown, _, err := made.offered(unknownChoices)
		var back struct {
			Function struct {
				Description string
				Parameters  struct {
					Properties map[string]struct{ Description string }
				}
			}
		}
		if err != nil || json.Unmarshal(shown, &back) != nil || back.Function.Description != want || back.Function.Parameters.Properties["a"].Description != made.Params[0].Description {
			t.Errorf("%.60q is shown as %s", text, shown)
		}
	}
	if passed < 20 || passed > len(hostileTexts)-12 {
		t.Errorf("%d of %d passed", passed, len(hostileTexts))
	}
}
