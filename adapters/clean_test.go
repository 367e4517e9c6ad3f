package adapters

import (
	"encoding/json"
	"math/rand"
	"strings"
	"testing"

	"toolnorm/chat"
	"toolnorm/internal/test/must"
)

// TestCleanArgumentsPassUntouched writes strict JSON whose strings look like the slips that are
// repaired: escaped quotes beside colons and commas, closers, names of members, drives.
func TestCleanArgumentsPassUntouched(t *testing.T) {
	tools := []chat.Tool{{Name: "f", Schema: json.RawMessage(`{"type":"object","properties":{"tags":{"type":"array","items":{"type":"string"}},"when":{"type":"string"},
		"who":{"type":"object","properties":{"name":{"type":"string"},"n":{"type":"integer"}}},"guests":{"type":"array","items":{"type":"object","properties":{"name":{"type":"string"}}}}}}`)}}
	pieces := []string{`"`, `\`, "'", "=", ":", ",", "{", "}", "[", "]", "(", ")", "a", "b", "c", " ", "\n", "<", ">", "`", "-", "#", "/", "한", "+", "0", ".", "guests", "when", "tags", `:"`, `":`, `tags":`, `","`, `"]`, `"}`}
	r := rand.New(rand.NewSource(7))
	text := func() string {
		var b strings.Builder
		for range r.Intn(12) {
			b.WriteString(pieces[r.Intn(len(pieces))])
		}
		return b.String()
	}
	rounds := 3000
	if testing.Short() {
		rounds = 600
	}
	for range rounds {
		args, err := json.Marshal(map[string]any{
			"tags": []string{text(), text()}, "when": text(),
			"who": map[string]any{"name": text(), "n": r.Intn(99)}, "guests": []map[string]string{{"name": text()}},
		})
		must.OK(t, err)
		raw := `<tool_call>` + "\n" + `{"name": "f", "arguments": ` + string(args) + "}\n</tool_call>"
		calls := decodeCalls(t, Named("hermes"), []string{raw}, Options{Tools: tools})
		if len(calls) != 1 || string(calls[0].Args) != string(args) {
			t.Fatalf("%s\nbecame %+v", args, calls)
		}
	}
}
