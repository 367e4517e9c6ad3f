package repair

import (
	"encoding/json"
	"testing"

	"toolnorm/chat/schema"
)

var planType = schema.Compile(json.RawMessage(`{"type":"object","properties":{"title":{"type":"string"},"tags":{"type":"array","items":{"type":"string"}},"count":{"type":"integer"},
	"done":{"type":"boolean"},"where":{"type":"object","properties":{"city":{"type":"string"},"zip":{"type":"string"}}},"points":{"type":"array","items":{"type":"array","items":{"type":"number"}}},"record":{"type":"object"}}}`))

// TestReadings reads texts with one slip each. A text with two readings has both.
func TestReadings(t *testing.T) {
	for _, c := range [][]string{
		{`{"title": "a", "count": 3}`, `{"title": "a", "count": 3}`},
		{`{"title": "a, "count": 3}`, `{"title": "a", "count": 3}`},
		{`{"title": a", "when": "b"}`, `{"title": "a", "when": "b"}`},
		{`{"title": "a}`, `{"title": "a"}`},
		{`{"title": "say "hi" now", "count": 3}`, `{"title": "say \"hi\" now", "count": 3}`},
		{`{"tags": "a", "b"], "count": 3}`, `{"tags": ["a", "b"], "count": 3}`},
		{`{"tags": ["a", "b", "count": 3}`, `{"tags": ["a", "b"], "count": 3}`},
		{`{"tags": ["a", "b"}`, `{"tags": ["a", "b"]}`},
		{`{"title", "a", "count": 3}`, `{"title": "a", "count": 3}`},
		{`{"title": "a"; "count": 3}`, `{"title": "a", "count": 3}`},
		{`{"title": "a" "count": 3}`, `{"title": "a" ,"count": 3}`},
		{"{\"title\": \"a\"\n\"count\": 3}", "{\"title\": \"a\"\n,\"count\": 3}"},
		{`{title: "a", count: 3}`, `{"title": "a", "count": 3}`},
		{`{'title': 'it\'s', 'done': True}`, `{"title": "it's", "done": true}`},
		{"{\"count\": 10, // \"end\": 20,\n \"title\": \"a\"}", "{\"count\": 10, \n \"title\": \"a\"}"},
		{`{"count": 10, <!-- note --> "title": "a"}`, `{"count": 10,  "title": "a"}`},
		{`{"title": "\alpha \beta \nu \textbf{x}"}`, `{"title": "\\alpha \\beta \\nu \\textbf{x}"}`},
		{`{"title": "print(\\"hi\\")"}`, `{"title": "print(\"hi\")"}`},
		{`{"record": {"a": "#dev", ""n": 84}}`, `{"record": {"a": "#dev", "n": 84}}`},
		{`{"record": {"l": [{"d", "x"}]}}`, `{"record": {"l": [{"d": "x"}]}}`, `{"record": {"l": [["d", "x"]]}}`},
		{`{"where": {"city": "Rome", "count": 3}`, `{"where": {"city": "Rome"}, "count": 3}`},
		{`{"where": {"city": "Rome"}}, "count": 3}`, `{"where": {"city": "Rome"}, "count": 3}`},
		{`{"title": "a"", "count": 3}`, `{"title": "a", "count": 3}`},
		{`{"title": ""a", "count": 3}`, `{"title": "a", "count": 3}`},
		{`{"title": "C:\temp\new"}`, `{"title": "C:\\temp\\new"}`},
		{`{"title": "a", "tags": ["x"`, `{"title": "a", "tags": ["x"]}`},
		{`{"title": "a`},
	} {
		g := Args{Type: planType}
		got := g.Read(c[0])
		if len(got) != len(c)-1 {
			t.Errorf("%s\n%+v", c[0], got)
			continue
		}
		for i, want := range c[1:] {
			if got[i].Text != want {
				t.Errorf("%s\n%+v", c[0], got)
			}
		}
	}
}
