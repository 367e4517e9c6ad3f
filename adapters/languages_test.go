package adapters

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"toolnorm/chat"
)

// TestAnnouncementsInAnyLanguage decodes an unmarked call behind sentences in many languages: an announced call runs, one
// that is only shown stays text. The figures of the languages in held.txt, which the rule was not made with, stand in
// docs/calls.md.
func TestAnnouncementsInAnyLanguage(t *testing.T) {
	tools := []chat.Tool{
		{Name: "get_time", Description: "The current time in a time zone", Schema: json.RawMessage(
			`{"type":"object","properties":{"timezone":{"type":"string"}},"required":["timezone"]}`)},
		{Name: "execute_sql", Schema: json.RawMessage(
			`{"type":"object","properties":{"sql":{"type":"string"}},"required":["sql"]}`)},
	}
	const call = `{"name": "get_time", "arguments": {"timezone": "UTC"}}`
	forms := []string{"\n\n```json\n" + call + "\n```", "\n\n" + call, "\n```\n" + call + "\n```\n", " " + call}
	for name, limit := range map[string]struct{ lost, run int }{"fit": {0, 0}, "held": {0, 0}} {
		src, err := os.ReadFile("testdata/languages/" + name + ".txt")
		if err != nil {
			t.Fatal(err)
		}
		n, lost, run := 0, 0, 0
		for line := range strings.Lines(string(src)) {
			if strings.HasPrefix(line, "#") {
				continue
			}
			lang, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
			kind, text, _ := strings.Cut(rest, " ")
			text = strings.ReplaceAll(text, "{T}", "get_time")
			for _, form := range forms {
				n++
				calls := len(decodeCalls(t, Named("llama3"), []string{text + form}, Options{Tools: tools}))
				switch {
				case kind == "announce" && calls == 0:
					lost++
					t.Logf("%s lost: %q", lang, text+form)
				case kind == "show" && calls > 0:
					run++
					t.Logf("%s run: %q", lang, text+form)
				}
			}
		}
		t.Logf("%s: %d texts, %d announced calls lost, %d shown ones run", name, n, lost, run)
		if lost > limit.lost || run > limit.run {
			t.Errorf("%s: %d lost and %d run, want %d and %d at most", name, lost, run, limit.lost, limit.run)
		}
	}
}
