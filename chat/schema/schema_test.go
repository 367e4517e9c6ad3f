package schema

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"toolnorm/chat"
)

func TestValuesBecomeTheTypeThatTheSchemaWants(t *testing.T) {
	for _, c := range []struct{ schema, value, want string }{
		{`{"type":"integer"}`, `5`, `5`},
		{`{"type":"integer"}`, `"5"`, `5`},
		{`{"type":"integer"}`, `" 5 "`, `5`},
		{`{"type":"integer"}`, `5.0`, `5`},
		{`{"type":"integer"}`, `"5.0"`, `5`},
		{`{"type":"integer"}`, `"+5"`, `5`},
		{`{"type":"integer"}`, `12345678901234567890`, `12345678901234567890`},
		{`{"type":"integer"}`, `"12345678901234567890"`, `12345678901234567890`},
		{`{"type":"integer"}`, `5.5`, `5.5`},
		{`{"type":"integer"}`, `"5 km"`, `"5 km"`},
		{`{"type":"integer"}`, `"1,000"`, `"1,000"`},
		{`{"type":"number"}`, `"1.50"`, `1.50`},
		{`{"type":"number"}`, `"1e5"`, `1e5`},
		{`{"type":"number"}`, `1.50`, `1.50`},
		{`{"type":"number"}`, `"ten"`, `"ten"`},
		{`{"type":"boolean"}`, `"true"`, `true`},
		{`{"type":"boolean"}`, `"FALSE"`, `false`},
		{`{"type":"boolean"}`, `"yes"`, `true`},
		{`{"type":"boolean"}`, `"Y"`, `true`},
		{`{"type":"boolean"}`, `"n"`, `false`},
		{`{"type":"boolean"}`, `1`, `true`},
		{`{"type":["boolean","string"]}`, `"yes"`, `"yes"`},
		{`{"type":"boolean"}`, `"maybe"`, `"maybe"`},
		{`{"type":"string"}`, `42`, `"42"`},
		{`{"type":"string"}`, `true`, `"true"`},
		{`{"type":"string"}`, `"42"`, `"42"`},
		{`{"type":"string"}`, `null`, `null`},
		{`{"type":["number","null"]}`, `"None"`, `null`},
		{`{"type":["string","null"]}`, `"null"`, `"null"`},
		{`{"enum":["kg","lb"]}`, `"KG"`, `"kg"`},
		{`{"enum":["kg","lb"]}`, `"stone"`, `"stone"`},
		{`{"enum":["a","A"]}`, `"a"`, `"a"`},
		{`{"enum":[1,2]}`, `"2"`, `2`},
		{`{"const":"x"}`, `"X"`, `"x"`},
		{`{"anyOf":[{"type":"integer"},{"type":"null"}]}`, `"7"`, `7`},
		{`{"type":"integer","nullable":true}`, `"null"`, `null`},
		{`{}`, `"5"`, `"5"`},
		{`not JSON`, `"5"`, `"5"`},
	} {
		if got := Compile(json.RawMessage(c.schema)).Fit(c.value); got != c.want {
			t.Errorf("Fit(%s, %s) = %s, want %s", c.schema, c.value, got, c.want)
		}
	}
}

func TestReferencesAndUnionsAreFollowed(t *testing.T) {
	s := Compile(json.RawMessage(`{"$defs":{"p":{"type":"object","properties":{"next":{"$ref":"#/$defs/p"},"n":{"type":"integer"}}}},
		"type":"object","required":["b"],
		"properties":{"b":{"$ref":"#/$defs/p"},"a":{"allOf":[{"type":"string"}]},"c":{"oneOf":[{"type":"array","items":{"type":"boolean"}},{"type":"null"}]}}}`))
	if got := s.Members(); !slices.Equal(got, []string{"b", "a", "c"}) {
		t.Errorf("members %v: the required one first", got)
	}
	deep := s
	for _, step := range []string{"b", "next", "next", "next", "n"} {
		deep = deep.Prop(step)
	}
	if !deep.Only(Integer) {
		t.Errorf("the recursive schema lost its type: %+v", deep)
	}
	if !s.Prop("a").Only(String) || !s.Prop("c").Item().Only(Boolean) || !s.Prop("c").Allows(Null) {
		t.Error("allOf or oneOf lost its type")
	}
	if s.Has("d") || s.Prop("d") != nil {
		t.Error("a member that is not there")
	}
}

func TestQuotingAgreesWithEncodingJSON(t *testing.T) {
	for _, s := range []string{"", "a", "\"\\/\b\f\n\r\t\x00\x1f", "한국어 🙂", "\xff\xfe", "a\xe4\xb8", "\uFFFD", "</script>&", "\u2028"} {
		var back string
		if err := json.Unmarshal([]byte(Quote(s)), &back); err != nil || back != strings.ToValidUTF8(s, "\uFFFD") && !strings.Contains(s, "\xff") && !strings.Contains(s, "\xe4\xb8") {
			t.Errorf("Quote(%q) = %s reads as %q, %v", s, Quote(s), back, err)
		}
	}
}

// FuzzCompile reads any schema and fits any scalar into it: never a panic, always JSON out of JSON.
func FuzzCompile(f *testing.F) {
	f.Add(`{"type":"integer"}`, `"5"`)
	f.Add(`{"properties":{"a":{"$ref":"#"}}}`, `true`)
	f.Add(`{"enum":[1,"a",null]}`, `"A"`)
	f.Fuzz(func(t *testing.T, schema, value string) {
		s := Compile(json.RawMessage(schema))
		for _, name := range s.Members() {
			_ = s.Prop(name).Item()
		}
		if v := strings.TrimSpace(value); json.Valid([]byte(v)) && v[0] != '{' && v[0] != '[' {
			if got := s.Fit(v); !json.Valid([]byte(got)) {
				t.Fatalf("Fit(%s, %s) = %s", schema, v, got)
			}
		}
	})
}

func BenchmarkCompile(b *testing.B) {
	raw := json.RawMessage(`{"type":"object","properties":{"city":{"type":"string","minLength":1},"days":{"type":"integer","minimum":1,"maximum":14},
		"units":{"enum":["metric","imperial"]},"tags":{"type":"array","items":{"type":"string"},"maxItems":5},"at":{"anyOf":[{"type":"object","properties":{"x":{"type":"number"}}},{"type":"null"}]}},"required":["city"],"additionalProperties":false}`)
	for b.Loop() {
		Compile(raw)
	}
}

func BenchmarkConstrain(b *testing.B) {
	tools := []chat.Tool{{Name: "get_weather", Schema: json.RawMessage(`{"type":"object","properties":{"city":{"type":"string","minLength":1},"days":{"type":"integer","minimum":1,"maximum":14},
		"units":{"enum":["metric","imperial"]},"tags":{"type":"array","items":{"type":"string"},"maxItems":5}},"required":["city"],"additionalProperties":false}`)}}
	stands := &Standing{Parts: []Part{{Name: "city", Raw: `"Rome"`}}, More: true}
	for b.Loop() {
		ConstrainCalls(tools, Options{Stands: stands})
	}
}
