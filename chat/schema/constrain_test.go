package schema

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"toolnorm/chat"
	"toolnorm/internal/jsontree"
)

// constrained is the arguments' part of a call's constraint, and what was dropped.
func constrained(t *testing.T, schema string, o Options) (args, dropped string) {
	t.Helper()
	c := ConstrainCalls([]chat.Tool{{Name: "f", Schema: json.RawMessage(schema)}}, o)
	if !json.Valid(c.Schema) {
		t.Fatalf("%s\nno JSON: %s", schema, c.Schema)
	}
	rest, ok := strings.CutPrefix(string(c.Schema), `{"type":"object","properties":{"name":{"const":"f"},"arguments":`)
	args, _, ok2 := strings.Cut(rest, `},"required":["name","arguments"],"additionalProperties":false`)
	if !ok || !ok2 {
		t.Fatalf("not the whole call: %s", c.Schema)
	}
	return args, listOf(c.Dropped)
}

// listOf are drops as a log line has them.
func listOf(dropped []Dropped) string { return strings.Trim(fmt.Sprint(dropped), "[]") }

// brief shortens the bounds that are everywhere.
var brief = strings.NewReplacer(`{"$ref":"#/$defs/integer"}`, `{"type":"integer"}`, `,"maxLength":1000`, ``, `{"$ref":"#/$defs/any3"}`, `ANY`, `,"maxItems":64`, ``)

func TestConstraintsAreInTheWordsOfAServer(t *testing.T) {
	for _, c := range []struct{ schema, want, dropped string }{
		{`{"type":"object","properties":{"b":{"type":"string"},"a":{"type":"integer"}},"required":["a"]}`,
			`{"type":"object","properties":{"b":{"type":"string"},"a":{"type":"integer"}},"required":["a"]}`, ``},
		{`{"type":"object","properties":{},"additionalProperties":false}`, `{"type":"object","properties":{},"additionalProperties":false}`, ``},
		{``, `{"type":"object","additionalProperties":ANY}`, ``},
		{`true`, `{"type":"object","additionalProperties":ANY}`, ``},
		{`not JSON`, `{"type":"object","additionalProperties":ANY}`, ``},
		{`{"properties":{"a":true,"b":false,"c":{"description":"x"}}}`, `{"type":"object","properties":{"a":ANY,"c":ANY}}`, `/properties/b`},
		{`{"properties":{"n":{"type":"integer","minimum":0.5,"exclusiveMaximum":9},"m":{"type":"integer","minimum":3,"exclusiveMinimum":true}}}`,
			`{"type":"object","properties":{"n":{"type":"integer","minimum":1,"maximum":8},"m":{"type":"integer","minimum":4,"maximum":9007199254740991}}}`, ``},
		{`{"properties":{"x":{"type":"number","minimum":1,"multipleOf":2},"l":{"type":"array","items":{"type":"string"},"uniqueItems":true}},"minProperties":1,"not":{}}`,
			`{"type":"object","properties":{"x":{"type":"number"},"l":{"type":"array","items":{"type":"string"}}}}`,
			`/minProperties /not /properties/l/uniqueItems /properties/x/minimum /properties/x/multipleOf`},
		{`{"properties":{"s":{"type":"string","maxLength":5000,"minLength":3},"t":{"maxLength":5},"u":{"type":"string","format":"email"},"v":{"type":"string","format":"date"}}}`,
			`{"type":"object","properties":{"s":{"type":"string","minLength":3},"t":{"type":"string","maxLength":5},"u":{"type":"string"},"v":{"type":"string","format":"date"}}}`, `/properties/u/format`},
		{`{"properties":{"p":{"type":"string","pattern":"^\\d{4}-[a-z]+$"},"q":{"type":"string","pattern":"^(?=x)"},"r":{"type":"string","pattern":"^a\\"}}}`,
			`{"type":"object","properties":{"p":{"type":"string","pattern":"^[0-9]{4}-[a-z]{1,1000}$"},"q":{"type":"string"},"r":{"type":"string"}}}`, `/properties/q/pattern /properties/r/pattern`},
		{`{"properties":{"k":{"type":["string","null"]},"e":{"type":["integer","null"],"enum":[1,"x",null]},"n":{"type":"string","nullable":true}}}`,
			`{"type":"object","properties":{"k":{"anyOf":[{"type":"string"},{"type":"null"}]},"e":{"enum":[1,null]},"n":{"anyOf":[{"type":"string"},{"type":"null"}]}}}`, ``},
		{`{"properties":{"u":{"oneOf":[{"const":"a","title":"A"},{"const":"b"},{"enum":["c","a"]}]}}}`, `{"type":"object","properties":{"u":{"enum":["a","b","c"]}}}`, `/properties/u/oneOf`},
		{`{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"anyOf":[{"required":["b"]},{"properties":{"a":{"const":"q"}}},{"properties":{"a":{"type":"null"}}}]}`,
			`{"anyOf":[{"type":"object","properties":{"a":{"type":"string"},"b":ANY},"required":["a","b"]},{"type":"object","properties":{"a":{"const":"q"}},"required":["a"]}]}`, ``},
		{`{"allOf":[{"properties":{"a":{"type":"integer","minimum":2}}},{"properties":{"a":{"maximum":5.5}}},{"$ref":"#/$defs/c"}],"$defs":{"c":{"required":["a"]}}}`,
			`{"type":"object","properties":{"a":{"type":"integer","minimum":2,"maximum":5}},"required":["a"]}`, ``},
		{`{"properties":{"t":{"type":"array","prefixItems":[{"type":"string"},{"type":"boolean"}]},"u":{"type":"array","prefixItems":[{"type":"null"}],"items":{"type":"boolean"},"minItems":3}}}`,
			`{"type":"object","properties":{"t":{"type":"array","prefixItems":[{"type":"string"},{"type":"boolean"}]},"u":{"type":"array","items":{"anyOf":[{"type":"null"},{"type":"boolean"}]},"minItems":3}}}`, `/properties/u/prefixItems`},
		{`{"additionalProperties":{"type":"integer"}}`, `{"type":"object","additionalProperties":{"type":"integer"}}`, ``},
		{`{"patternProperties":{"^x":{"type":"integer"}}}`, `{"type":"object","additionalProperties":{"type":"integer"}}`, `/patternProperties`},
		{`{"properties":{"$ref":{"type":"string"},"a":{"$ref":"https://x.example/y"}}}`, `{"type":"object","properties":{"a":ANY}}`, `/properties/$ref /properties/a/$ref`},
		{`{"properties":{"a":{"type":"file"}}}`, `{"type":"object","properties":{"a":ANY}}`, `/properties/a/type`},
		{`{"properties":{"a":{"type":"str"},"b":{"type":["dict","none"]}}}`, `{"type":"object","properties":{"a":{"type":"string"},"b":{"anyOf":[{"type":"null"},{"type":"object","additionalProperties":ANY}]}}}`, ``},
		{`{"properties":{"a":{"type":"any"},"b":{"type":null}}}`, `{"type":"object","properties":{"a":ANY,"b":ANY}}`, ``},
	} {
		args, dropped := constrained(t, c.schema, Options{})
		if got := brief.Replace(args); got != c.want || dropped != c.dropped {
			t.Errorf("%s\ngot  %s\nwant %s\ndropped %s\nwant    %s", c.schema, got, c.want, dropped, c.dropped)
		}
	}
}

func TestRecursionStandsUnderDefs(t *testing.T) {
	c := ConstrainCalls([]chat.Tool{{Name: "f", Schema: json.RawMessage(`{"$defs":{"n":{"type":"object","properties":{"next":{"$ref":"#/$defs/n"},"up":{"$ref":"#"}},"additionalProperties":false}},
		"type":"object","properties":{"head":{"$ref":"#/$defs/n"},"e":{"$anchor":"e","anyOf":[{"type":"boolean"},{"$ref":"#e"}]}},"additionalProperties":false}`)}}, Options{})
	want := `,"$defs":{"r0":{"type":"object","properties":{"next":{"$ref":"#/$defs/r0"},"up":{"$ref":"#/$defs/r1"}},"additionalProperties":false},` +
		`"r1":{"type":"object","properties":{"head":{"$ref":"#/$defs/r0"},"e":{"anyOf":[{"type":"boolean"}]}},"additionalProperties":false}}}`
	if !strings.HasSuffix(string(c.Schema), want) || len(c.Dropped) != 1 {
		t.Errorf("got %s, dropped %q", c.Schema, c.Dropped)
	}
}

func TestAWeakConstraintHasNeitherReferencesNorPatterns(t *testing.T) {
	args, dropped := constrained(t, `{"$defs":{"n":{"type":"object","properties":{"next":{"$ref":"#/$defs/n"},"p":{"pattern":"^a$"}}}},
		"properties":{"n":{"$ref":"#/$defs/n"},"t":{"prefixItems":[{"type":"null"}]},"d":{"type":"string","format":"date"},"i":{"type":"integer","minimum":5}},"required":["n"]}`, Options{Weak: true})
	for _, word := range []string{"$ref", "pattern", "prefixItems", "format"} {
		if strings.Contains(args, word) {
			t.Errorf("%s stands in %s", word, args)
		}
	}
	if want := "/$defs/n/properties/next/$ref /$defs/n/properties/p/pattern /properties/d/format /properties/i/minimum /properties/t/prefixItems"; dropped != want {
		t.Errorf("dropped %s\nwant    %s", dropped, want)
	}
}

// standingOf reads what stands of a call as a JSON text: what holds "?" stands in parts, "?" is to
// be written, and behind "+" others may follow.
func standingOf(v *jsontree.Value) *Standing {
	s := &Standing{Array: kind(v) == Array}
	add := func(name string, v *jsontree.Value) {
		p := Part{Name: name, Raw: v.Raw}
		switch {
		case v.Text == "+" || name == "+":
			s.More = true
			return
		case v.Text == "?":
			p.Raw = ""
		case kind(v)&(Object|Array) != 0 && strings.ContainsAny(v.Raw, "?+"):
			p = Part{Name: name, Open: standingOf(v)}
		}
		s.Parts = append(s.Parts, p)
	}
	for _, m := range v.Members {
		add(m.Name, m.Value)
	}
	for _, one := range v.Items {
		add("", one)
	}
	return s
}

func TestWhatStandsIsHeld(t *testing.T) {
	const schema = `{"type":"object","properties":{"city":{"type":"string"},"days":{"type":"integer"},"tags":{"type":"array","items":{"type":"string"},"maxItems":2},
		"f":{"anyOf":[{"type":"object","properties":{"k":{"const":"a"},"x":{"type":"integer"}},"required":["k","x"]},{"type":"object","properties":{"k":{"const":"b"},"y":{"type":"string"}},"required":["k","y"]}]}},"required":["days"],"additionalProperties":false}`
	for _, c := range []struct{ stands, want string }{
		{`{"+":0}`, `{"type":"object","properties":{"city":{"type":"string"}`},
		{`{"tags": ["x"], "city": "Rome","+":0}`, `{"type":"object","properties":{"tags":{"const":["x"]},"city":{"const":"Rome"},"days":{"type":"integer"},"f":`},
		{`{"days":"?","+":0}`, `{"type":"object","properties":{"days":{"type":"integer"},"city":{"type":"string"},"tags":`},
		{`{"f":{"k":"b","+":0},"+":0}`, `{"type":"object","properties":{"f":{"type":"object","properties":{"k":{"const":"b"},"y":{"type":"string"}},"required":["k","y"]},"city":`},
		{`{"tags":["x","+"],"+":0}`, `{"type":"object","properties":{"tags":{"anyOf":[{"type":"array","prefixItems":[{"const":"x"}]},{"type":"array","prefixItems":[{"const":"x"},{"type":"string"}]}]},"city":`},
		{`{"odd":1,"+":0}`, `{"type":"object","properties":{"odd":{"const":1},"city":`},
		{`{"days":1}`, `{"type":"object","properties":{"days":{"const":1}},"required":["days"],"additionalProperties":false}`},
		{`{"city":"` + strings.Repeat("x", 500) + `","days":"?"}`, `{"type":"object","properties":{"city":{"const":"` + strings.Repeat("x", 400) + `…"},"days":{"type":"integer"}},"required":["city","days"],"additionalProperties":false}`},
	} {
		args, _ := constrained(t, schema, Options{Stands: standingOf(parse([]byte(c.stands)))})
		if got := brief.Replace(args); !strings.HasPrefix(got, c.want) {
			t.Errorf("what stands is %s\ngot  %s\nwant %s…", c.stands, got, c.want)
		}
	}
	args, _ := constrained(t, schema, Options{Stands: standingOf(parse([]byte(`{"tags":["x"],"city":"?","+":0}`)))})
	if !strings.HasSuffix(args, `"required":["tags","city","days"],"additionalProperties":false}`) {
		t.Errorf("what stands is required, and comes first: %s", args)
	}
}

func TestSeveralToolsAreAUnionOfCalls(t *testing.T) {
	c := ConstrainCalls([]chat.Tool{{Name: "a", Schema: json.RawMessage(`{"properties":{},"not":{}}`)}, {Name: "b", Schema: json.RawMessage(`{"properties":{}}`)}}, Options{})
	want := `{"anyOf":[{"type":"object","properties":{"name":{"const":"a"},"arguments":{"type":"object","properties":{}}},"required":["name","arguments"],"additionalProperties":false},` +
		`{"type":"object","properties":{"name":{"const":"b"},"arguments":{"type":"object","properties":{}}},"required":["name","arguments"],"additionalProperties":false}]}`
	if string(c.Schema) != want || listOf(c.Dropped) != "a#/not" {
		t.Errorf("got %s, dropped %q", c.Schema, c.Dropped)
	}
}

func TestPatternsAreSaidInWhatServersRead(t *testing.T) {
	for _, c := range []struct{ pattern, yes, no string }{
		{`^[A-Z]{3}$`, "ABC", "ABCD"},
		{`^\d+\.\d+$`, "1.25", "1,25"},
		{`foo`, "a foo b", "fo o"},
		{`^ab|cd$`, "abx", "bcdx"},
		{`(?i)^yes$`, "YeS", "no"},
		{`^(a|b(c|d))*$`, "abcbd", "abx"},
		{`^a.c$`, "aßc", "a\"c"},
		{`^[^/]+$`, "a b", "a/b"},
		{`^\w+@\w+\.[a-z]{2,}$`, "a@b.de", "a@b"},
		{`^$`, "", "a"},
		{`^\+\-\^\$\[\]\{\}$`, "+-^$[]{}", "+"},
		{`^-?(0|[1-9]\d*)$`, "-12", "012"},
		{`^한국?$`, "한", "국"},
	} {
		got, ok := serverPattern(c.pattern, 50)
		re, err := regexp.Compile(got)
		if !ok || err != nil || !re.MatchString(c.yes) || re.MatchString(c.no) {
			t.Errorf("%s is %s, %v, %v: wants %q and not %q", c.pattern, got, ok, err, c.yes, c.no)
		}
		if strings.ContainsAny(strings.ReplaceAll(got, `\x`, ""), `\"`) || strings.Contains(got, "(?") {
			t.Errorf("%s is %s, which servers do not read", c.pattern, got)
		}
	}
	for _, pattern := range []string{`a\b`, `(?=x)`, `^"$`, `a^b`, `(`, `^\n$`} {
		if got, ok := serverPattern(pattern, 50); ok {
			t.Errorf("%s is %s", pattern, got)
		}
	}
}

// FuzzConstrain rewrites any schema with anything that stands: never a panic, always JSON, and not
// too large.
func FuzzConstrain(f *testing.F) {
	f.Add(`{"properties":{"a":{"$ref":"#"}}}`, `{"a":{"a":"?"}}`)
	f.Add(`{"$defs":{"a":{"anyOf":[{"$ref":"#/$defs/a"},{"allOf":[{"$ref":"#/$defs/b"},{"type":"object"}]}]},"b":{"anyOf":[{"$ref":"#/$defs/a"},{"pattern":"a|b*"}]}},"properties":{"x":{"$ref":"#/$defs/a"}}}`, `{"x":[1,"?"],"+":0}`)
	f.Add(`{"properties":{"a":{"items":[{"enum":[1,2]}],"minimum":1e400,"maxLength":1e99}},"required":["b"]}`, `{"a":[1,"+"]}`)
	f.Fuzz(func(t *testing.T, schema, standing string) {
		if len(schema) > 1<<12 || len(standing) > 1<<12 {
			return
		}
		var stands *Standing
		if v := parse([]byte(standing)); v != nil && kind(v) == Object {
			stands = standingOf(v)
		}
		for _, o := range []Options{{Stands: stands}, {Stands: stands, Weak: true}, {MaxLength: -1, MaxItems: -1}} {
			c := ConstrainCalls([]chat.Tool{{Name: "f", Schema: json.RawMessage(schema)}}, o)
			if !json.Valid(c.Schema) || len(c.Schema) > 2*maxWritten {
				t.Fatalf("%d bytes: %.2000s", len(c.Schema), c.Schema)
			}
		}
	})
}
