package adapters

import (
	"testing"

	"toolnorm/chat"
)

// TestRandomPrefixesAreMadeUp has the six characters that Void puts in front of a tool's name, as
// models invent them.
func TestRandomPrefixesAreMadeUp(t *testing.T) {
	tools := []chat.Tool{{Name: "k3j9ab_search_docs"}, {Name: "read_file"}, {Name: "a.b"}}
	for name, want := range map[string]string{
		"k3j9ab_search_docs": "k3j9ab_search_docs", "zzzzzz_search_docs": "k3j9ab_search_docs", "a1b2c3_search_docs": "k3j9ab_search_docs", "search_docs": "k3j9ab_search_docs",
		"zzzzz_search_docs": "", "zzzzzz_read_file": "", "ZZZZZZ_search_docs": "", "zzzzzz_search_doc": "",
	} {
		raw := "<tool_call>\n{\"name\": \"" + name + "\", \"arguments\": {\"query\": \"x\"}}\n</tool_call>"
		called := ""
		for _, c := range decodeCalls(t, Named("hermes"), []string{raw}, Options{Tools: tools}) {
			called += c.Name
		}
		if called != want {
			t.Errorf("%s calls %q, want %q", name, called, want)
		}
	}
}
