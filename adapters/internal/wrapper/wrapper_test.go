package wrapper

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"toolnorm/adapters/internal/toolset"
	"toolnorm/chat"
)

// offered are the tools of these tests.
func offered() *toolset.Set {
	return toolset.New([]chat.Tool{
		{Name: "get_time", Schema: json.RawMessage(`{"type":"object","properties":{"zone":{"type":"string"}}}`)},
		{Name: "list_files", Schema: json.RawMessage(`{"type":"object","properties":{}}`)},
		{Name: "add", Schema: json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"},"to":{"type":"array","items":{"type":"string"}}},"required":["n"]}`)},
	}, nil)
}

// TestTheLawOfWrappers has what is one call, and next to it what differs in a single thing and is
// none.
func TestTheLawOfWrappers(t *testing.T) {
	for text, want := range map[string]string{
		`{"do": "get_time", "with": {"zone": "UTC"}}`:                                   `get_time {"zone": "UTC"}`,
		`{"do": "get_date", "with": {"zone": "UTC"}}`:                                   "",
		`{"do": "get_time", "with": {"place": "UTC"}}`:                                  "",
		`{"do": "get_time", "with": {"zone": "UTC"}, "rest": {}}`:                       "",
		`{"do": "get_time", "with": {"zone": "UTC"}, "id": "c1"}`:                       `get_time {"zone": "UTC"}`,
		`{"do": "get_time", "with": {"zone": "UTC"}, "ms": 3}`:                          "",
		`{"do": "get_time", "or": "add", "with": {"zone": "UTC"}}`:                      "",
		`{"do": "add", "with": {"n": "3"}}`:                                             `add {"n": 3}`,
		`{"do": "add", "with": {"n": {"type": "integer"}}}`:                             "",
		`{"do": "add", "with": {"to": ["a"]}}`:                                          "",
		`{"do": "list_files", "arguments": {}}`:                                         `list_files {}`,
		`{"do": "list_files", "settings": {"depth": 3}}`:                                "",
		`{"add": {"n": 1}}`:                                                             `add {"n": 1}`,
		`{"add": 1, "get_time": 7}`:                                                     "",
		`{"example": {"add": {"n": 1}}}`:                                                "",
		`{"Add": {"n": 1}}`:                                                             "",
		`<add><n>1</n><to><i>a</i><i>b</i></to></add>`:                                  `add {"n":1,"to":["a","b"]}`,
		`<add><n>1</n></add> and so on`:                                                 "",
		`<call:add><n>1</n></call:add>`:                                                 `add {"n":1}`,
		`<call:sum><n>1</n></call:sum>`:                                                 "",
		`<pre><add><n>1</n></add></pre>`:                                                "",
		"<act>\nuse: add\nwith:\n  n: 1\n  to:\n  - a\n  - b\n</act>":                   `add {"n":1,"to":["a","b"]}`,
		"<act>\nuse: add\nwith:\n  n: 1\n  to: [a, b c, 2, \"d, e\"]\n</act>":           `add {"n":1,"to":["a","b c","2","d, e"]}`,
		"<act>\nuse: get_time\nwith:\n  zone: |-\n    # a\n\n    ---\n     b\n\n</act>": `get_time {"zone":"# a\n\n---\n b"}`,
		"<act>\nuse: get_time\n\nwith:\n\n  zone: |\n    a\n</act>":                     `get_time {"zone":"a\n"}`,
		"<act>\nuse: get_time\nwith:\n  zone: |\n    a\n   b\n</act>":                   "",
		"act:\n  use: get_time  # now\n  # soon\n  with:\n    zone: \"UTC\"":            `get_time {"zone":"UTC"}`,
		"act:\n  use: get_time\n  with:\n    zone: \"UTC  # 1\"":                        "",
		`<x-call use="add" n='{"n": 1}'/>`:                                              `add {"n": 1}`,
	} {
		var got []string
		found, _ := Calls(text, offered())
		for _, c := range found {
			got = append(got, c.Tool.Name+" "+c.Args)
		}
		if strings.Join(got, "; ") != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

// TestHostileWrappersCostLittle has texts as long as the longest that is held, nested and repeated.
func TestHostileWrappersCostLittle(t *testing.T) {
	for _, s := range []string{"<a>", "<a></a>", `{"a":`, `[{"a":[`, `{"n":{"zone":`, "<a x=\"", `"{\"a\":`, "a:\n ", "<|a|>", "</a>",
		"add --n 1 ", "add n=1 ", "[a]\n", "a = {n = 1}\n", "(add ", "### add\n", "- n: 1\n", "`add` "} {
		text := strings.Repeat(s, 1<<16/len(s))
		for _, closed := range []string{text, text + strings.Repeat("</a>", strings.Count(text, "<a>"))} {
			from := time.Now()
			ahead := NewAhead(offered())
			for i := range len(closed) {
				ahead.Goes(closed[i])
			}
			Calls(closed, offered())
			if took := time.Since(from); took > 5*time.Second {
				t.Errorf("%q repeated takes %v", s, took)
			}
		}
	}
}
