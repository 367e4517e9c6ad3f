package lenient

import (
	"encoding/json"
	"testing"

	"toolnorm/adapters/internal/repair"
	"toolnorm/chat/schema"
)

var noteType = schema.Compile(json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"},
	"tags":{"type":"array","items":{"type":"string"}},"points":{"type":"array","items":{"type":"array","items":{"type":"number"}}},
	"days":{"type":"integer"},"size":{"type":"number"},"on":{"type":"boolean"},"record":{"type":"object"}}}`))

// TestDecide reads arguments that ran with another value, or were not read. What can mean two
// things has no meaning.
func TestDecide(t *testing.T) {
	for _, c := range []struct{ notation, text, want string }{
		// a comma inside of the quotes
		{"json", `{"path": "a.txt,"  "days": 3}`, `{"path":"a.txt","days":3}`},
		{"python", `path="a.txt,"  days=3)`, `{"path":"a.txt","days":3}`},
		{"json", `{"path": "a.txt,,"  "days": 3}`, ""},
		{"json", `{"path": "a.txt、"  "days": 3}`, ""},
		{"json", `{"path": "SELECT 1;" "days": 3}`, `{"path":"SELECT 1;","days":3}`},
		// signs between named arguments
		{"python", `on=False; path="a")`, `{"on":false,"path":"a"}`},
		{"python", `on=False | path="a")`, `{"on":false,"path":"a"}`},
		{"python", `on==False, path="a")`, `{"on":false,"path":"a"}`},
		{"python", `path"a", days=3)`, `{"path":"a","days":3}`},
		// texts that have swallowed structure
		{"json", `{"tags": ["a".strip(), "b"]}`, ""},
		{"json", `{"path": "a"｝`, `{"path":"a"}`},
		// signs at the border of a text that may be structure, or stand for its quote
		{"json", `{"path": ": "a.txt"}`, ""},
		{"json", `{"path": ´a.txt´}`, ""},
		{"json", `{"path": *a.txt"}`, ""},
		{"json", `{"path": "a.txt*}`, ""},
		{"json", `{"path": &quot;a.txt"}`, ""},
		{"json", `{"path": "a.txt''}`, ""},
		{"json", `{"path": ["a.txt"]}`, ""},
		{"json", `{"path": {"value": "a.txt"}}`, ""},
		{"json", `{"points": [[1, [2]]}`, ""},
		{"json", `{"record": {"n_: true}, "path": "a"}`, ""},
		{"json", `{"path": a, b, c"}"}`, ""},
		{"json", `{"path": "say \"hi\".strip(), "days": 3}`, ""},
		{"json", `{"path": x["a"])}`, ""},
		{"python", `path="the best one, days=59)`, ""},
		// quotes that may be doubled, escaped twice, or of a number
		{"python", `path="say ""hi"", then go")`, ""},
		{"json", `{"path": “f\\"{name}\\"”}`, ""},
		{"json", `{"record": {"n": "48}, "path": "a"}`, ""},
		{"json", `{"path": "two\ words\"}`, ""},
		// containers that nothing asks for, and lists that lost a bracket
		{"python", `record={"on": 42,67, "a": 1}, path="a")`, ""},
		{"python", `size=18,7, path="a")`, ""},
		{"json", `{"points": [[1], ], [2]]}`, ""},
		{"json", `{"points": [[, [2]]}`, `{"points":[[],[2]]}`},
		// a text where an object stands
		{"json", `{"path": {'a': True}}`, ""},
		// two comments in one, and a member that nobody knows
		{"json", "{\"path\": \"a\", # \"on\": true, -- \"x\",\n \"on\": true}", ""},
		{"json", "{\"days\": 3, -- 'note': \"x\",\n \"path\": \"a\"}", `{"days":3,"path":"a"}`},
		{"json", `{"pth": 'a', "days": 3}`, ""},
		// the family's own quotes, damaged
		{"escape", `{path:<escape>a b<esc ape>,days:3}`, `{"path":"a b","days":3}`},
		{"escape", `{path:<escape>a b<escape,days:3}`, `{"path":"a b","days":3}`},
		{"escape", `{path:＜escape＞a b<escape>,days:3}`, `{"path":"a b","days":3}`},
		{"escape", `{path:<escapea b<escape>,days:3}`, ""},
	} {
		g := repair.Args{Type: noteType, Python: c.notation == "python"}
		if c.notation == "escape" {
			g.Quotes = []string{"<escape>"}
		}
		m, ok := Decide(c.text, g, "note", "")
		if ok != (c.want != "") || ok && !SameJSON(m.Args, c.want) {
			t.Errorf("%s %s: %v %s", c.notation, c.text, ok, m.Args)
		}
	}
}

// TestTextsOfTags reads the texts of tags as lists.
func TestTextsOfTags(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"tags", "red", `["red"]`},
		{"tags", "red, blue", `"red, blue"`},
		{"points", "[[42]]", `[[42]]`},
		{"points", "42", `"42"`}, // two brackets would be too much of a guess
	} {
		if got := FromText(c.text, noteType.Prop(c.name)); got != c.want {
			t.Errorf("%s of %q: %s, want %s", c.name, c.text, got, c.want)
		}
	}
}
