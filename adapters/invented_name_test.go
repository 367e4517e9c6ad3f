package adapters

import (
	"testing"

	"toolnorm/chat"
	"toolnorm/internal/golden"
	"toolnorm/internal/test/must"
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
		var got chat.Collector
		for e, err := range Named("hermes").Decode(golden.Source([]string{raw}, chat.Stop), Options{Tools: tools}) {
			must.OK(t, err)
			got.Add(e)
		}
		called := ""
		if len(got.Calls) > 0 {
			called = got.Calls[0].Name
		}
		if called != want {
			t.Errorf("%s calls %q, want %q", name, called, want)
		}
	}
}
