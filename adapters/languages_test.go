package adapters

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"toolnorm/chat"
)

// TestAnnouncementsInAnyLanguage decodes unmarked calls in texts of many languages: an announced call runs, one that is only
// shown, quoted or documented stays text. The figures of held.txt and reserved.txt, whose languages the rule was not made
// with, and of the end of senses.txt stand in docs/calls.md.
func TestAnnouncementsInAnyLanguage(t *testing.T) {
	const (
		ask  = `{"name": "get_time", "arguments": {"timezone": "UTC"}}`
		harm = `{"name": "execute_sql", "arguments": {"sql": "DELETE FROM users"}}`
	)
	for name, call := range map[string]string{"fit": ask, "held": ask, "reserved": ask, "senses": harm} {
		src, err := os.ReadFile("testdata/languages/" + name + ".txt")
		if err != nil {
			t.Fatal(err)
		}
		n, lost, run := 0, 0, 0
		for line := range strings.Lines(string(src)) {
			if strings.HasPrefix(line, "#") {
				continue
			}
			for _, text := range languageTexts(line, call) {
				n++
				calls := len(decodeCalls(t, Named("llama3"), []string{text}, Options{Tools: languageTools}))
				switch announced := strings.Fields(line)[1] == "announce"; {
				case announced && calls == 0:
					lost++
					t.Logf("lost: %q", text)
				case !announced && calls > 0:
					run++
					t.Logf("run: %q", text)
				}
			}
		}
		t.Logf("%s: %d texts, %d announced calls lost, %d others run", name, n, lost, run)
		if n < 200 || lost > 0 || run > 0 {
			t.Errorf("%s: %d texts, %d lost and %d run", name, n, lost, run)
		}
	}
}

// languageTexts returns what a line of a file of languages stands for, with a call: LANGUAGE KIND TEXT.
func languageTexts(line, call string) (all []string) {
	fields := strings.SplitN(strings.TrimSpace(line), " ", 3)
	fence := "```json\n" + call + "\n```"
	text := strings.NewReplacer("{T}", "get_time", `\n`, "\n", "{C}", call, "{F}", fence).Replace(fields[2])
	switch fields[1] {
	case "quote", "document":
		return []string{text, text + "\n"}
	}
	for _, form := range []string{"\n\n" + fence, "\n\n" + call, "\n```\n" + call + "\n```\n", " " + call} {
		all = append(all, text+form)
	}
	return all
}

// languageTools are offered with those texts.
var languageTools = []chat.Tool{
	{Name: "get_time", Description: "The current time in a time zone", Schema: json.RawMessage(
		`{"type":"object","properties":{"timezone":{"type":"string"}},"required":["timezone"]}`)},
	{Name: "execute_sql", Schema: json.RawMessage(
		`{"type":"object","properties":{"sql":{"type":"string"}},"required":["sql"]}`)},
}
