package valid

import (
	"encoding/json"
	"testing"

	"toolnorm/chat"
	"toolnorm/chat/schema"
)

const (
	event   = `{"type":"object","properties":{"title":{"type":"string"},"date":{"type":"string"},"days":{"type":"integer","minimum":1}},"required":["title"],"additionalProperties":false}`
	nested  = `{"type":"object","properties":{"at":{"$ref":"#/$defs/place"},"stops":{"type":"array","items":{"$ref":"#/$defs/place"}}},"additionalProperties":false,"$defs":{"place":{"type":"object","properties":{"x":{"type":"integer"},"y":{"type":"integer"}},"required":["x"],"additionalProperties":false}}}`
	actions = `{"type":"object","properties":{"do":{"anyOf":[
		{"type":"object","properties":{"kind":{"const":"click"},"x":{"type":"integer"}},"required":["kind","x"],"additionalProperties":false},
		{"type":"object","properties":{"kind":{"const":"type"},"text":{"type":"string","maxLength":5}},"required":["kind","text"],"additionalProperties":false}]}},"required":["do"]}`
	either  = `{"anyOf":[{"type":"object","properties":{"a":{"type":"integer"}},"additionalProperties":false},{"type":"object","properties":{"b":{"type":"integer"}},"additionalProperties":false}]}`
	inherit = `{"type":"object","properties":{"own":{"type":"string"}},"allOf":[{"type":"object","properties":{"base":{"type":"string"}},"additionalProperties":false}]}`
)

func TestSurplusMembersAreCutOutByteForByte(t *testing.T) {
	for _, row := range []struct{ schema, args, want string }{ // want is empty where nothing may be cut
		{event, `{"title":"Q4","date":"2026-12-10","time":"14:30","place":"room B7"}`, `{"title":"Q4","date":"2026-12-10"}`},
		{event, `{ "reason" : {"a":[1,"}"]} , "title" : "Q\u00344" , "why": null }`, `{"title" : "Q\u00344"}`},
		{event, `{"reason":"a","title":"x","reason":"b"}`, `{"title":"x"}`},
		{event, `{"title":"x","title":"x"}`, `{"title":"x"}`},
		{event, `{"title":"x","title":"y"}`, ``},
		{event, `{"name":"x"}`, ``},                      // title is missing
		{event, `{"title":"x","dates":"2026"}`, ``},      // date, misspelt
		{event, `{"title":"x","day":2}`, ``},             // days
		{event, `{"title":"x","reason":1,"days":0}`, ``}, // more is wrong
		{`{"type":"object","properties":{},"additionalProperties":false}`, `{"reason":"x"}`, `{}`},
		{`{"type":"object","additionalProperties":false}`, `{"a":1,"b":2}`, `{}`},
		{nested, `{"at":{"x":1,"z":2},"stops":[{"z":0,"x":1},{"x":2,"why":"q"}]}`, `{"at":{"x":1},"stops":[{"x":1},{"x":2}]}`},
		{nested, `{"at":{"z":2}}`, ``},
		{actions, `{"do":{"kind":"click","x":1,"text":"q"}}`, `{"do":{"kind":"click","x":1}}`},
		{either, `{"a":1,"b":2}`, ``},
		{either, `{"a":1,"c":2}`, `{"a":1}`},
		{inherit, `{"base":"x","reason":"y"}`, `{"base":"x"}`},
		{inherit, `{"base":"x","own":"y"}`, ``}, // the schema contradicts itself: nothing is thrown away without a word
		{`{"type":"object","properties":{"a":{}},"patternProperties":{"^x-":{}},"additionalProperties":false}`, `{"a":1,"x-b":2,"reason":3}`, `{"a":1,"x-b":2}`},
		{`{"type":"object","properties":{"env":{"type":"object","patternProperties":{"^[A-Z]+$":{}},"additionalProperties":false}}}`, `{"env":{"path":"x"}}`, ``}, // names are data
		{`{"type":"object","properties":{"a":{}},"propertyNames":{"maxLength":3}}`, `{"a":1,"reason":3}`, `{"a":1}`},
		{`{"type":"object","propertyNames":{"pattern":"^[a-z]+$"}}`, `{"ab":1,"A B":3}`, ``},
		{`{"type":"object","propertyNames":{"enum":["ab"]}}`, `{"ab":1,"cd":3}`, `{"ab":1}`},
		{`{"type":"object","properties":{"a":{},"old":false}}`, `{"a":1,"old":3}`, `{"a":1}`},
		{`{"type":"object","properties":{"a":{}},"unevaluatedProperties":false}`, `{"a":1,"reason":3}`, `{"a":1}`},
		{`{"type":"object","allOf":[{"properties":{"a":{}}},{"properties":{"b":{}}}],"unevaluatedProperties":false}`, `{"a":1,"b":2,"c":3}`, `{"a":1,"b":2}`},
		{`{"type":"object","properties":{"a":{}},"additionalProperties":false,"dependentRequired":{"a":["b"]}}`, `{"a":1,"c":3}`, ``},
	} {
		got, ok := validator(t, row.schema).Trimmed([]byte(row.args))
		if ok != (row.want != "") || ok && string(got) != row.want {
			t.Errorf("%s\n%s: %s, %v, want %s", row.schema, row.args, got, ok, row.want)
		}
	}
}

// TestWhatIsCutWhileItIsReadIsCutFromTheWhole holds the reading in pieces against the cutting
// afterwards.
func TestWhatIsCutWhileItIsReadIsCutFromTheWhole(t *testing.T) {
	for _, row := range []struct{ schema, args string }{
		{event, `{"title":"Q4","date":"2026-12-10","time":"14:30","place":"room B7"}`},
		{event, `{"reason":{"a":[1,"}"]} ,"why":null,"title":"Q4" , "x":-1.5e3}`},
		{nested, `{"at":{"x":1,"z":2},"more":[[]],"stops":[{"z":0,"x":1},{"x":2,"why":"q\\"}]}`},
		{`{"type":"object","properties":{},"additionalProperties":false}`, `{"a":1,"b":[],"c":""}`},
	} {
		v := validator(t, row.schema)
		whole, ok := v.Trimmed([]byte(row.args))
		for n := 1; n <= len(row.args); n++ {
			p := read(v, row.args, n)
			if !ok || p.problem != nil || !p.Cut() || !same(p.Text(), whole) || string(p.Written()) != row.args || p.Safe() != len(p.Text()) {
				t.Fatalf("%s in pieces of %d: %s (%v), want %s; written %s", row.args, n, p.Text(), p.problem, whole, p.Written())
			}
		}
	}
}

// TestWhatFitsStands joins what stands with what a model might write anew.
func TestWhatFitsStands(t *testing.T) {
	for _, row := range []struct{ schema, args, again, want string }{
		{event, `{"title":"Q\u00344","days":0}`, `{"title":"Q9","days":3,"date":"x"}`, `{"title":"Q\u00344","days":3}`},
		{event, `{"titel":"Q4","days":2}`, `{"title":"Q4","days":7,"date":"x"}`, `{"days":2,"title":"Q4","date":"x"}`},
		{event, `{"days":2}`, `{"title":"Q4","days":7,"date":"x"}`, `{"days":2,"title":"Q4"}`},
		{event, `{"title":"x","title":"y","days":1}`, `{"title":"y","days":3}`, `{"title":"y","days":1}`},
		{nested, `{"at":{"x":1.50,"y":2},"stops":[{"x":1},{"x":"no","y":4},{"x":3}]}`, `{"at":{"x":7,"y":7},"stops":[{"x":9},{"x":9,"y":9},{"x":9}]}`,
			`{"at":{"x":7,"y":2},"stops":[{"x":1},{"x":9,"y":4},{"x":3}]}`},
		{actions, `{"do":{"kind":"type","text":"too long"}}`, `{"do":{"kind":"click","text":"ok"}}`, `{"do":{"kind":"type","text":"ok"}}`},
		{`{"type":"object","properties":{"n":{"type":"array","minItems":3,"items":{"type":"integer"}}}}`, `{"n":[1,2]}`, `{"n":[7,8,9]}`, `{"n":[1,2,9]}`},
		{`{"type":"object","properties":{"n":{"type":"array","maxItems":1},"m":{}}}`, `{"n":[1,2],"m":1}`, `{"n":[7],"m":2}`, `{"n":[7],"m":1}`},
		{`{"type":"object","properties":{"a":{},"b":{},"c":{}},"anyOf":[{"required":["a"]},{"required":["b"]}]}`, `{"c":1}`, `{"c":2,"a":3}`, `{"c":1,"a":3}`},
		{`{"type":"object","properties":{"a":{},"b":{}},"dependentRequired":{"a":["b"]}}`, `{"a":1}`, `{"a":2,"b":3}`, `{"a":1,"b":3}`},
	} {
		v := validator(t, row.schema)
		s := v.Stands([]byte(row.args))
		if s == nil {
			t.Errorf("%s: nothing stands", row.args)
			continue
		}
		got, ok := s.With([]byte(row.again))
		if !ok || string(got) != row.want || len(v.Check(got)) > 0 {
			t.Errorf("%s and %s: %s (%v), want %s", row.args, row.again, got, ok, row.want)
		}
		call := schema.ConstrainCalls(toolOf(row.schema), schema.Options{Stands: s})
		if check := validator(t, string(call.Schema)).Check([]byte(`{"name":"t","arguments":` + row.want + `}`)); len(check) > 0 {
			t.Errorf("%s: the constraint %s does not let %s in: %v", row.args, call.Schema, row.want, check)
		}
	}
}

func TestNumbersComeWithinTheirBounds(t *testing.T) {
	number := func(words string) string {
		return `{"type":"object","properties":{"n":{` + words + `},"s":{"type":"string","maxLength":2}},"additionalProperties":false}`
	}
	for _, row := range []struct{ words, n, want string }{ // want is empty where no number is near enough
		{`"type":"integer","minimum":1,"maximum":20`, `22`, `20`},
		{`"type":"integer","minimum":1,"maximum":20`, `-11`, `1`},
		{`"type":"integer","exclusiveMinimum":1`, `-3`, `2`},
		{`"type":"integer","exclusiveMaximum":10`, `10`, `9`},
		{`"type":"integer","minimum":0.5,"maximum":9.5`, `12`, `9`},
		{`"type":"integer","minimum":0.5,"maximum":9.5`, `0`, `1`},
		{`"type":"integer","minimum":3,"maximum":20,"multipleOf":8`, `23`, `16`},
		{`"type":"integer","multipleOf":5`, `12`, `10`},
		{`"type":"integer","multipleOf":2.5`, `12`, `10`},
		{`"type":"number","minimum":0,"maximum":1`, `1.7`, `1`},
		{`"type":"number","exclusiveMinimum":0,"exclusiveMaximum":1`, `1`, `0.999999`},
		{`"type":"number","exclusiveMinimum":0`, `-4`, `0.000001`},
		{`"type":"number","multipleOf":0.05,"maximum":1`, `1.04`, `1`},
		{`"type":"number","minimum":-2e3`, `-1e9`, `-2000`},
		{`"type":"integer","minimum":9007199254740993`, `1`, `9007199254740993`},
		{`"type":"integer","exclusiveMinimum":1,"exclusiveMaximum":2`, `5`, ``},
		{`"type":"integer","minimum":4,"maximum":7,"multipleOf":10`, `12`, ``},
		{`"allOf":[{"type":"integer","maximum":20},{"maximum":10}]`, `30`, `10`},
		{`"anyOf":[{"type":"integer","maximum":20},{"type":"null"}]`, `30`, `20`},
	} {
		v := validator(t, number(row.words))
		got, ok := v.Clamped([]byte(`{"n": ` + row.n + `,"reason":"x"}`))
		if want := `{"n": ` + row.want + `}`; ok != (row.want != "") || ok && string(got) != want {
			t.Errorf("%s, %s: %s, %v, want %s", row.words, row.n, got, ok, want)
		}
	}
	v := validator(t, number(`"maximum":3`))
	if got, ok := v.Clamped([]byte(`{"n":9,"s":"long"}`)); ok {
		t.Errorf("a text was cut: %s", got)
	}
	for args, want := range map[string]string{`{"n":9,"s":"long","x":1}`: `{"n":9,"s":"long"}`, `{"n":9,"s":3}`: ``} {
		if got, ok := v.Bounded([]byte(args)); ok != (want != "") || ok && string(got) != want {
			t.Errorf("%s: %s, %v", args, got, ok)
		}
	}
}

// toolOf is a tool with a schema.
func toolOf(s string) []chat.Tool { return []chat.Tool{{Name: "t", Schema: json.RawMessage(s)}} }

// FuzzStands takes arguments apart and joins them with others: nothing panics, what is trimmed fits
// and was written, and what was written anew stands beside what stood.
func FuzzStands(f *testing.F) {
	schemas := []string{event, nested, actions, either, inherit, editor}
	for i, args := range []string{`{"title":"x","y":{"z":[1,{"a":"}"}]},"days":0,"title":"x"}`, `{"at":{"x":1,"z":2},"stops":[{"z":0,"x":1},{"x":"q"}]}`,
		`{"do":{"kind":"click","x":1,"text":"q"}}`, `{"a":1,"b":2}`, `{"base":"x","own":"y"}`, `{"path":"ab","mode":"x","tags":[],"edits":[{"old":1}]}`} {
		f.Add(i, args, `{"title":"n","at":{"x":7},"stops":[{"x":1},{"x":1}],"a":1,"do":{"kind":"type","text":"q"}}`)
	}
	var all []*Validator
	for _, s := range schemas {
		all = append(all, validator(f, s))
	}
	f.Fuzz(func(t *testing.T, i int, args, again string) {
		v := all[max(i, 0)%len(all)]
		if out, ok := v.Trimmed([]byte(args)); ok && (len(v.Check(out)) > 0 || len(out) > len(args)) {
			t.Fatalf("%s: trimmed to %s", args, out)
		}
		if out, ok := v.Clamped([]byte(args)); ok && len(v.Check(out)) > 0 {
			t.Fatalf("%s: clamped to %s", args, out)
		}
		s := v.Stands([]byte(args))
		if s == nil {
			return
		}
		out, ok := s.With(json.RawMessage(again))
		if !ok {
			return
		}
		doc, err := parse(out)
		if err != nil {
			t.Fatalf("%s and %s: %s, %v", args, again, out, err)
		}
		for _, p := range s.Parts {
			raw, err := json.Marshal(doc.value.(map[string]any)[p.Name])
			if p.Raw != "" && (err != nil || !same(raw, []byte(p.Raw))) {
				t.Fatalf("%s and %s: %s has %s in place of %s", args, again, out, raw, p.Raw)
			}
		}
		schema.ConstrainCalls(toolOf(schemas[max(i, 0)%len(all)]), schema.Options{Stands: s})
	})
}
