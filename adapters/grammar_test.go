package adapters

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"toolnorm/adapters/internal/declaration"
	"toolnorm/adapters/internal/grammar"
	"toolnorm/adapters/internal/scan"
	"toolnorm/chat"
	"toolnorm/chat/schema"
	"toolnorm/engine/valid"
	"toolnorm/internal/test/heavy"
	"toolnorm/internal/test/must"
)

// grammarTools are tools whose schemas a grammar can say, and the test tools.
func grammarTools(t testing.TB) []chat.Tool {
	t.Helper()
	src := `[
{"name":"report","parameters":{"type":"object","properties":{"kind":{"enum":["sales","stock, all","it's"]},"year":{"type":"integer","minimum":1990,"maximum":2031},
  "share":{"type":"number","minimum":0,"maximum":100},"note":{"type":["string","null"],"maxLength":12},"draft":{"type":"boolean"}},"required":["kind","year"],"additionalProperties":false}},
{"name":"find_people","parameters":{"type":"object","properties":{"tags":{"type":"array","items":{"type":"string","minLength":1,"maxLength":8},"minItems":1,"maxItems":3},
  "who":{"anyOf":[{"type":"object","properties":{"id":{"type":"integer","minimum":0}},"required":["id"],"additionalProperties":false},{"type":"object","properties":{"name":{"type":"string"}},"required":["name"],"additionalProperties":false}]}},"required":["who"]}},
{"name":"walk_tree","parameters":{"type":"object","properties":{"root":{"$ref":"#/$defs/node"}},"required":["root"],"$defs":{"node":{"type":"object",
  "properties":{"label":{"type":"string"},"left":{"$ref":"#/$defs/node"},"size":{"type":"integer","maximum":-3}},"required":["label"],"additionalProperties":false}}}},
{"name":"book","parameters":{"type":"object","properties":{"on":{"type":"string","format":"date"},"code":{"type":"string","pattern":"^[A-Z]{2}[0-9]{2,3}$"},
  "seats":{"type":"array","prefixItems":[{"type":"integer"},{"type":"string","enum":["A","B"]}],"items":false,"minItems":2},"mode":{"const":"fast"}},"required":["on","code"]}},
{"name":"noop","parameters":{"type":"object","properties":{}}}]`
	tools, err := chat.ParseTools([]byte(src))
	must.OK(t, err)
	return append(tools, testTools(t)...)
}

// printing is the format as it prints when its example with a mark comes first.
func printing(f *Format) *Format {
	p := grammar.Opening(f.Family)
	if p == nil || len(f.Sections) > 0 || f.Header != nil {
		return f
	}
	others := slices.DeleteFunc(slices.Clone(f.Calls), func(q *declaration.Pattern) bool { return q == p })
	family := *f.Family
	family.Calls = append([]*declaration.Pattern{p}, others...)
	return &Format{Family: &family}
}

// marked are the formats that have a grammar.
func marked(t *testing.T, tools []chat.Tool, check func(t *testing.T, f *Format)) {
	n := 0
	for _, f := range All() {
		if f.Grammar(tools, false).Text == "" {
			continue
		}
		n++
		t.Run(f.Name, func(t *testing.T) { check(t, f) })
	}
	if n < 50 {
		t.Errorf("only %d families have a grammar", n)
	}
}

func mustParse(t *testing.T, g Grammar) *gbnf {
	t.Helper()
	parsed, err := parseGBNF(g.Text)
	if err != nil {
		t.Fatalf("%v\n%s", err, g.Text)
	}
	return parsed
}

// TestWhatAppendPrintsIsInTheGrammar prints random valid calls, alone and several, and reads them
// with the grammar.
func TestWhatAppendPrintsIsInTheGrammar(t *testing.T) {
	tools := testTools(t)
	marked(t, tools, func(t *testing.T, f *Format) {
		t.Parallel()
		g := mustParse(t, f.Grammar(tools, false))
		r := rand.New(rand.NewSource(5))
		for range 40 {
			var calls []chat.Call
			for range 1 + r.Intn(3) {
				if c := inSchemaOrder(randomCall(r), tools); canPrint(f, c) {
					calls = append(calls, c)
				}
			}
			text := string(printing(f).Append(nil, calls...))
			if f.Header != nil {
				text = text[strings.Index(text, grammar.Recipient(f.Family)):]
			}
			if text = strings.TrimLeft(text, "\n"); len(calls) == 0 {
				continue
			}
			if ok, far := g.accepts(text); !ok {
				t.Fatalf("not accepted from byte %d on: %q >>> %q\n%s", far, text[:far], text[far:], clip(f.Grammar(tools, false).Text))
			}
		}
	})
}

func clip(s string) string { return s[:min(len(s), 6000)] }

// inSchemaOrder sorts the members of a large object as its schema has them.
func inSchemaOrder(c chat.Call, tools []chat.Tool) chat.Call {
	i := slices.IndexFunc(tools, func(t chat.Tool) bool { return t.Name == c.Name })
	var s struct{ Properties json.RawMessage }
	if json.Unmarshal(tools[i].Schema, &s) != nil {
		return c
	}
	var out []string
	args := scan.Fields(string(c.Args))
	for _, p := range scan.Fields(string(s.Properties)) {
		for _, m := range args {
			if m.Key == p.Key {
				out = append(out, schema.Quote(m.Key)+":"+m.Value)
			}
		}
	}
	c.Args = json.RawMessage("{" + strings.Join(out, ",") + "}")
	return c
}

// TestWhatTheGrammarMakesIsAValidCall reads random texts of the grammar: each must come out as
// calls of offered tools whose arguments fit their schemas, whole, and nothing beside them.
func TestWhatTheGrammarMakesIsAValidCall(t *testing.T) {
	tools := grammarTools(t)
	for _, single := range []bool{true, false} {
		marked(t, tools, func(t *testing.T, f *Format) {
			t.Parallel()
			written := f.Grammar(tools, single)
			g := mustParse(t, written)
			r := rand.New(rand.NewSource(9))
			n := 25
			if testing.Short() {
				n = 12
			}
			for range n {
				text := g.random(r)
				checkGenerated(t, f, tools, text, single)
				if ok, far := g.accepts(text); !ok {
					t.Fatalf("the grammar does not accept its own text %q from %d on", text, far)
				}
			}
		})
	}
}

// checkGenerated reads a text that a grammar made.
func checkGenerated(t *testing.T, f *Format, tools []chat.Tool, text string, single bool) {
	t.Helper()
	calls := decodeCalls(t, f, []string{text}, Options{Tools: tools})
	if len(calls) == 0 || single && len(calls) > 1 {
		got, _ := transcript(f, []string{text}, chat.Stop, Options{Tools: tools})
		t.Fatalf("%d calls in %q\n%s", len(calls), text, got)
	}
	for _, c := range calls {
		i := slices.IndexFunc(tools, func(t chat.Tool) bool { return t.Name == c.Name })
		if i < 0 {
			t.Fatalf("%q: no tool %q", text, c.Name)
		}
		v, err := validators.Get(tools[i].Schema)
		must.OK(t, err)
		if problems := v.Check(c.Args); len(problems) > 0 {
			t.Fatalf("%q\n%s %s: %v", text, c.Name, c.Args, problems)
		}
	}
}

var validators valid.Cache

// TestSchemasThatGrowHaveNoGrammar has references whose expansion doubles at every step.
func TestSchemasThatGrowHaveNoGrammar(t *testing.T) {
	for _, kind := range []string{"allOf", "anyOf"} {
		defs := make([]string, 60)
		for i := range defs {
			next := fmt.Sprintf(`{"$ref":"#/$defs/d%d"}`, i+1)
			defs[i] = fmt.Sprintf(`"d%d":{%q:[%s,%s]}`, i, kind, next, next)
		}
		schema := `{"type":"object","properties":{"a":{"$ref":"#/$defs/d0"}},"$defs":{` + strings.Join(defs, ",") + `,"d60":{"type":"integer"}}}`
		for _, name := range []string{"hermes", "qwen3-coder"} {
			g := Named(name).Grammar([]chat.Tool{{Name: "f", Schema: json.RawMessage(schema)}}, false)
			if g.Text != "" && len(g.Text) > 1<<20 || len(g.Dropped) == 0 {
				t.Errorf("%s, %s: a grammar of %d bytes, dropped %q", kind, name, len(g.Text), g.Dropped)
			}
		}
	}
}

func BenchmarkGrammar(b *testing.B) {
	tools := grammarTools(b)
	for _, name := range []string{"hermes", "qwen3-coder"} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				b.ReportMetric(float64(len(Named(name).Grammar(tools, false).Text)), "bytes")
			}
		})
	}
}

// TestPatternsAndBoundsInAGrammar is what a schema's keywords become: what the grammar accepts,
// what it does not, and what it says it left open.
func TestPatternsAndBoundsInAGrammar(t *testing.T) {
	for _, row := range []struct{ schema, accepts, refuses, dropped string }{
		{`{"type":"string","pattern":"^[a-c\"]+\\d?$"}`, `"a\"b7" "c"`, `"d" "" "77"`, ""},
		{`{"type":"string","pattern":"^(ab|c.e)$"}`, `"ab" "c\"e" "cée"`, `"abc" "ce"`, ""},
		{`{"type":"string","pattern":"b"}`, `"abc" "x"`, `7`, "/properties/v/pattern"},
		{`{"type":"string","pattern":"^(?!a)b$"}`, `"b" "x"`, `7`, "/properties/v/pattern"},
		{`{"type":"string","format":"date"}`, `"2024-02-29" "2023-12-31"`, `"2023-02-29" "2023-04-31" "x"`, ""},
		{`{"type":"string","format":"email"}`, `"a@b" "x"`, `7`, "/properties/v/format"},
		{`{"type":"string","minLength":1,"maxLength":2}`, `"a" "\n\u00e9" "\ud83d\ude00é"`, `"" "abc" "\ud83d"`, ""},
		{`{"type":"string","maxLength":5000}`, `"" "abc"`, `7`, "/properties/v/maxLength"},
		{`{"type":"integer","minimum":-12,"maximum":105}`, `-12 -9 0 7 99 105`, `-13 106 1000 1.5 01`, ""},
		{`{"type":"integer","exclusiveMinimum":0}`, `1 999999999999999999`, `0 -1`, ""},
		{`{"type":"integer","minimum":5,"exclusiveMinimum":true}`, `6 60`, `5 4`, ""},
		{`{"type":"number","minimum":-1,"maximum":2}`, `-1 -0.5 0 1.99 2`, `-1.5 2.5 3`, ""},
		{`{"type":"number","exclusiveMinimum":0}`, `0.5 3`, `-1`, "/properties/v/exclusiveMinimum"},
		{`{"type":"number"}`, `-3 1e+20 2.5e-07 0`, `.5 01 +1 1e999`, ""},
		{`{"enum":["a",3,null,{"x":[1]}]}`, `"a" 3 null {"x": [1]}`, `"b" 4 {}`, ""},
		{`{"type":["boolean","null"]}`, `true false null`, `"true" 0`, ""},
		{`{"type":"integer","nullable":true}`, `4 null`, `"4"`, ""},
		{`{"type":"array","items":{"type":"integer"},"minItems":1,"maxItems":2,"uniqueItems":true}`, `[1] [1, 2]`, `[] [1, 2, 3] ["a"]`, "/properties/v/uniqueItems"},
		{`{"type":"array","items":[{"type":"integer"},{"type":"boolean"}],"additionalItems":false}`, `[1, true]`, `[true, 1]`, ""},
		{`{"type":"object","additionalProperties":{"type":"integer"},"properties":{"ab":{"type":"boolean"}}}`, `{} {"ab": true} {"ab": true, "a": 1, "abc": 2} {"x": 3}`, `{"ab": 1} {"x": true}`, ""},
		{`{"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"integer"}},"required":["b"]}`, `{"b": 1} {"a": 1, "b": 2} {"b": 1, "a": 2}`, `{"a": 1} {} {"b": 1, "c": 2} {"b": 1, "b": 2}`, ""},
		{`{"allOf":[{"type":"object","properties":{"a":{"type":"integer"}},"required":["a"]},{"properties":{"b":{"const":1}},"required":["b"]}]}`, `{"a": 1, "b": 1}`, `{"a": 1} {"b": 1}`, ""},
		{`{"anyOf":[{"type":"integer"},{"$ref":"#/$defs/list"}]}`, `4 [4, [5]]`, `"a" ["a"]`, ""},
		{`{"type":"integer","not":{"const":3}}`, `3 4`, `"a"`, "/properties/v/not"},
		{`true`, `1 "a" [null, {"x": 1}]`, `x`, ""},
	} {
		tool := chat.Tool{Name: "f", Schema: json.RawMessage(`{"type":"object","properties":{"v":` + row.schema +
			`},"required":["v"],"$defs":{"list":{"type":"array","items":{"anyOf":[{"type":"integer"},{"$ref":"#/$defs/list"}]}}}}`)}
		written := Named("mistral").Grammar([]chat.Tool{tool}, true)
		g := mustParse(t, written)
		check := func(values string, want bool) {
			tight := strings.NewReplacer(", ", "\x00", `": `, "\x01").Replace(values) // blanks inside a value
			for _, value := range strings.Fields(tight) {
				value = strings.NewReplacer("\x00", ", ", "\x01", `": `).Replace(value)
				text := `[TOOL_CALLS]f[ARGS]{"v": ` + value + `}`
				if got, far := g.accepts(text); got != want {
					t.Errorf("%s: %s accepted: %v (read to %d)\n%s", row.schema, text, got, far, clip(written.Text))
				}
			}
		}
		check(row.accepts, true)
		check(row.refuses, false)
		if got := strings.Trim(fmt.Sprint(written.Dropped), "[]"); got != row.dropped {
			t.Errorf("%s: dropped %q, want %q", row.schema, got, row.dropped)
		}
	}
}

// TestAGrammarGrowsWithItsSchemas writes the grammar of each heavy schema in two sizes: four times
// as much may take about four times the work, up to the bound of a grammar. Names of rules were
// once tried from the first number on.
func TestAGrammarGrowsWithItsSchemas(t *testing.T) {
	small := map[string]int{"long pattern": 150, "many patterns": 3, "patterns of names": 3, "folded classes": 2, "deep": 15, "deep unions": 15, "shared enum": 60}
	for name, make := range heavy.Schemas {
		n := small[name]
		if n == 0 {
			n = 250
		}
		work := func(n int) uint64 {
			tools := []chat.Tool{{Name: "f", Schema: make(n)}}
			return heavy.Allocated(func() { Named("hermes").Grammar(tools, false) })
		}
		few, many := work(n), work(4*n)
		if many > 8*few+8<<20 {
			t.Errorf("%s: %d bytes are allocated for a size of %d, %d for four times that", name, few, n, many)
		}
	}
}
