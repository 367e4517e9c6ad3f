package adapters

import (
	"encoding/json"
	"testing"

	"toolnorm/chat"
	"toolnorm/internal/golden"
)

// TestEveryFamilyWritesEveryName prints a call of tools with names that are words of some family, or that hold signs, and
// reads it back.
func TestEveryFamilyWritesEveryName(t *testing.T) {
	for _, name := range []string{"get_time", "get-time", "repo.search", "repo/search", "ns:tool", "find_2", "final", "thought", "analysis", "python", "x", "name", "function", "123go", "list"} {
		tools := []chat.Tool{{Name: name, Schema: json.RawMessage(`{"type":"object","properties":{"tz":{"type":"string"}}}`)}}
		for _, f := range All() {
			text := string(f.Append(nil, chat.Call{ID: "abcdefghi", Name: name, Args: json.RawMessage(`{"tz":"UTC"}`)}))
			found := ""
			for ev, err := range f.Decode(golden.Source([]string{text}, chat.Stop), Options{Tools: tools}) {
				if err != nil {
					t.Fatal(err)
				}
				if ev.Kind == chat.CallStart {
					found = ev.Text
				}
			}
			if found != name {
				t.Errorf("%s: %q is read as a call of %q", f.Name, text, found)
			}
		}
	}
}
