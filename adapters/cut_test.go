package adapters

import (
	"strings"
	"testing"

	"toolnorm/chat"
	"toolnorm/internal/golden"
)

// TestWhatACutLeavesOutIsKept cuts replies by their length, whole and byte by byte.
func TestWhatACutLeavesOutIsKept(t *testing.T) {
	tools := testTools(t)
	for _, row := range []struct{ raw, want string }{
		{"No call.", ""},
		{"Look.\n<tool_call>", "<tool_call>"},
		{"<tool_call>\n{\"name\": \"get_wea", "<tool_call>\n{\"name\": \"get_wea"},
		{"<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Par", "get_weather {\"city\": \"Par"},
		{"<tool_call>\n{\"name\": \"get_time\", \"arguments\": {}}\n</tool_call>\n<tool_call>\n{\"na", "<tool_call>\n{\"na"},
		{`<tool_call>{"note": "` + strings.Repeat("a", 10<<10), `<tool_call>{"note": "` + strings.Repeat("a", chat.MaxCut-len(`<tool_call>{"note": "`))},
	} {
		for _, pieces := range [][]string{{row.raw}, strings.Split(row.raw, "")} {
			got := "no Finish"
			for e, err := range Named("hermes").Decode(golden.Source(pieces, chat.Length), Options{Tools: tools, Hold: HoldCall}) {
				if err != nil {
					t.Fatal(err)
				}
				if e.Kind == chat.Finish {
					got = e.Meta.Cut
				}
			}
			if got != row.want {
				t.Errorf("%.80q in %d pieces: %.80q, want %.80q", row.raw, len(pieces), got, row.want)
			}
		}
	}
}
