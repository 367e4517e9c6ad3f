package engine

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"toolnorm/adapters"
	"toolnorm/chat"
	"toolnorm/engine/demo"
	"toolnorm/engine/valid"
	"toolnorm/internal/test/must"
)

// TestDemoOfEveryFormat asks each demo model for a short and a long call, and for the answer to a
// result.
func TestDemoOfEveryFormat(t *testing.T) {
	tools := []chat.Tool{weather, {
		Name: "write_file", Description: "Write text into a file",
		Schema: json.RawMessage(`{"type":"object","properties":{"content":{"type":"string"},"path":{"type":"string"}},"required":["content","path"]}`),
	}}
	for _, strategy := range []string{Raw, Native} {
		e := New(Config{Strategy: map[string]string{"*": strategy}, Demo: demo.Server{Delay: -1}})
		for _, f := range adapters.All() {
			t.Run(strategy+"/"+f.Name, func(t *testing.T) {
				r := &chat.Request{Model: "demo/" + f.Name, Tools: tools}
				for ask, want := range map[string]string{
					"What is the weather in Paris for 3 days?": `get_weather {"city":"Paris","days":3}`,
					"Please write a file called notes.txt":     `write_file {"content":"This is line 1`,
				} {
					r.Messages = []chat.Message{{Role: chat.User, Content: ask}}
					text, calls, end, err := collect(t, e, r)
					if err != nil || len(calls) != 1 || end == nil || end.Meta.Format != f.Name || end.Meta.Strategy != strategy {
						t.Fatalf("text %q, calls %s, end %v, error %v", text, calls, end, err)
					}
					var args bytes.Buffer // families write with and without blanks
					if err := json.Compact(&args, calls[0].Args); err != nil {
						t.Errorf("%s: arguments %s: %v", ask, calls[0].Args, err)
					}
					if got := calls[0].Name + " " + args.String(); !strings.HasPrefix(got, want) {
						t.Errorf("%s: %.200s, want %s", ask, got, want)
					}
					if strings.Trim(text, "\n") != "I will use "+calls[0].Name+" for this." {
						t.Errorf("%s: text %q", ask, text)
					}
					r.Messages = append(r.Messages, chat.Message{Role: chat.Assistant, Calls: calls}, chat.Message{Role: chat.ToolRole, CallID: calls[0].ID, Content: "done & dusted"})
					text, calls, _, err = collect(t, e, r)
					if err != nil || len(calls) != 0 || !strings.Contains(text, "done & dusted") {
						t.Errorf("after the result: text %q, calls %v, error %v", text, calls, err)
					}
				}
			})
		}
	}
}

// TestDemoArgumentsComeInPieces is what the demo is for.
func TestDemoArgumentsComeInPieces(t *testing.T) {
	e := New(Config{Demo: demo.Server{Delay: -1}})
	r := &chat.Request{Model: "demo/hermes", Messages: []chat.Message{{Role: chat.User, Content: "write"}}, Tools: []chat.Tool{{
		Name: "write", Schema: json.RawMessage(`{"type":"object","properties":{"content":{"type":"string"}},"required":["content"]}`),
	}}}
	pieces := 0
	for ev, err := range e.Stream(t.Context(), r) {
		must.OK(t, err)
		if ev.Kind == chat.CallArgs {
			pieces++
		}
	}
	if pieces < 50 {
		t.Errorf("about 1 KiB of arguments came in %d pieces", pieces)
	}
}

// demoSchemas are parameters as clients send them: pydantic's, zod's, and by hand.
var demoSchemas = map[string]string{
	"a tree":                 `{"$defs":{"n":{"type":"object","properties":{"name":{"type":"string"},"children":{"type":"array","items":{"$ref":"#/$defs/n"}}},"required":["name","children"]}},"properties":{"root":{"$ref":"#/$defs/n"}},"required":["root"]}`,
	"a list of its own kind": `{"$defs":{"l":{"type":"object","properties":{"head":{"type":"string"},"tail":{"anyOf":[{"$ref":"#/$defs/l"},{"type":"null"}]}},"required":["head","tail"]}},"properties":{"l":{"$ref":"#/$defs/l"}},"required":["l"]}`,
	"integer":                `{"properties":{"name":{"type":"string"},"population":{"type":"integer"}},"required":["name","population"]}`,
	"references":             `{"$defs":{"Age":{"type":"integer","minimum":18},"P":{"type":"object","properties":{"age":{"$ref":"#/$defs/Age"},"tags":{"type":"array","items":{"$ref":"#/$defs/Tag"}}},"required":["age","tags"]},"Tag":{"enum":["a","b"]}},"properties":{"p":{"$ref":"#/$defs/P"}},"required":["p"]}`,
	"old references":         `{"definitions":{"a/b":{"type":"number"}},"properties":{"x":{"$ref":"#/definitions/a~1b"}},"required":["x"]}`,
	"recursive":              `{"$defs":{"N":{"type":"object","properties":{"v":{"type":"integer"},"next":{"anyOf":[{"$ref":"#/$defs/N"},{"type":"null"}]}},"required":["v","next"]}},"properties":{"n":{"$ref":"#/$defs/N"}},"required":["n"]}`,
	"nullable":               `{"properties":{"a":{"anyOf":[{"type":"null"},{"type":"integer"}]},"b":{"type":["null","number"]},"c":{"type":"null"},"d":{"oneOf":[{"type":"string","maxLength":3},{"type":"null"}]}},"required":["a","b","c","d"]}`,
	"bounds":                 `{"properties":{"a":{"type":"integer","minimum":50,"maximum":60},"b":{"type":"number","exclusiveMinimum":0,"exclusiveMaximum":1},"c":{"type":"integer","multipleOf":7,"minimum":1},"d":{"type":"number","minimum":0,"exclusiveMinimum":2.5},"e":{"type":"integer","maximum":-5}},"required":["a","b","c","d","e"]}`,
	"optional bound":         `{"properties":{"max_results":{"type":"integer","minimum":1,"maximum":2},"min":{"type":"integer","minimum":9}},"required":[]}`,
	"texts":                  `{"properties":{"a":{"type":"string","pattern":"^[A-Z]{2}-\\d{3,}$"},"b":{"type":"string","minLength":30},"c":{"type":"string","maxLength":2},"d":{"type":"string","pattern":"^(foo|bar)+[^a-y]?\\.js$"},"content":{"type":"string","maxLength":100}},"required":["a","b","c","d","content"]}`,
	"formats":                `{"properties":{"a":{"type":"string","format":"date"},"b":{"type":"string","format":"date-time"},"c":{"type":"string","format":"email"},"d":{"type":"string","format":"uuid"},"e":{"type":"string","format":"uri"},"f":{"type":"string","format":"time"},"g":{"type":"string","format":"ipv4"}},"required":["a","b","c","d","e","f","g"]}`,
	"arrays":                 `{"properties":{"a":{"type":"array","items":{"type":"integer","minimum":0},"minItems":3,"maxItems":4},"b":{"type":"array","items":{"type":"string"},"minItems":2,"uniqueItems":true},"c":{"type":"array","prefixItems":[{"type":"string"},{"type":"integer"}],"minItems":2,"maxItems":2},"d":{"type":"array","maxItems":0},"e":{"type":"array"}},"required":["a","b","c","d","e"]}`,
	"choices":                `{"properties":{"a":{"enum":["celsius","fahrenheit"]},"b":{"const":{"x":1}},"c":{"enum":[1,2,3]},"d":{"enum":[null,"in_progress"]}},"required":["a","b","c","d"]}`,
	"all of":                 `{"properties":{"a":{"allOf":[{"type":"object","properties":{"x":{"type":"integer"}},"required":["x"]},{"properties":{"y":{"type":"boolean"}},"required":["y"]}]}},"required":["a"]}`,
	"union of kinds":         `{"properties":{"shape":{"anyOf":[{"type":"object","properties":{"kind":{"const":"circle"},"r":{"type":"number","exclusiveMinimum":0}},"required":["kind","r"],"additionalProperties":false},{"type":"object","properties":{"kind":{"const":"box"},"w":{"type":"number"}},"required":["kind","w"],"additionalProperties":false}]}},"required":["shape"]}`,
	"any members":            `{"properties":{"scores":{"type":"object","additionalProperties":{"type":"integer"},"minProperties":2},"x":true,"y":{}},"required":["scores","x","z"]}`,
	"deep":                   `{"properties":{"a":{"type":"object","properties":{"b":{"type":"object","properties":{"c":{"type":"array","items":{"type":"object","properties":{"d":{"type":"number"}},"required":["d"]},"minItems":1}},"required":["c"]}},"required":["b"]}},"required":["a"]}`,
}

// demoAsks are messages that hold nothing, the wrong, and the right things for them.
var demoAsks = []string{"go", `Use "x y" and 22 or -11, 3.5 with EMP001 on 2026-11-21 in /tmp/a.txt, Celsius, in progress`, `f of "a" with 55 people in 2025`}

// TestDemoCallsFitAnySchema forces each kind of schema, and offers it freely.
func TestDemoCallsFitAnySchema(t *testing.T) {
	e := New(Config{Demo: demo.Server{Delay: -1}})
	for name, schema := range demoSchemas {
		tool := chat.Tool{Name: "f", Schema: json.RawMessage(`{"type":"object",` + schema[1:])}
		check, err := new(valid.Cache).Tool(tool)
		must.OK(t, err)
		for _, family := range []string{"hermes", "mistral", "gemma4", "qwen3-coder", "harmony", "llama3", "deepseek-v3.1"} {
			for _, required := range []bool{true, false} {
				for _, ask := range demoAsks {
					_, calls, end, err := collect(t, e, &chat.Request{Model: "demo/" + family, Required: required, Tools: []chat.Tool{tool}, Messages: []chat.Message{{Role: chat.User, Content: ask}}})
					if err != nil || len(calls) != 1 {
						t.Errorf("%s, %s, required %t, %q: calls %s, error %v", name, family, required, ask, calls, err)
						continue
					}
					if wrong := check.Check(calls[0].Args); len(wrong) > 0 {
						t.Errorf("%s, %s, required %t, %q: %s: %v", name, family, required, ask, calls[0].Args, wrong)
					}
					if !required && len(end.Meta.Repairs) > 0 {
						t.Errorf("%s, %s, %q: %s is mended: %v", name, family, ask, calls[0].Args, end.Meta.Repairs)
					}
				}
			}
		}
	}
}
