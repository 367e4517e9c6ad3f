package adapters

import (
	"strings"
	"testing"
)

// TestTokensProveMarks reads the same texts with the marks as control tokens and as ordinary ones,
// wherever they stand.
func TestTokensProveMarks(t *testing.T) {
	const call = "<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Oslo\"}} </tool_call>"
	f := Named("hermes")
	for _, text := range []string{
		call, "Look:\n\n" + call, "The reply was " + call + " and nothing else.", "- " + call, "> " + call, "`" + call + "`", "\"" + call + "\"",
		"Your log ends with\n10:01:07 DEBUG output: " + call + "\n10:01:08 done", "hello" + call + "hi", "| a | " + call + " |", "\t" + call + "\n\nThat is a call.",
	} {
		for _, proven := range []bool{true, false} {
			var pieces []string
			for i, part := range strings.Split(text, "<tool_call>") {
				if i > 0 && proven {
					pieces = append(pieces, "<tool_call>")
				} else if i > 0 {
					pieces = append(pieces, "<tool", "_call>")
				}
				pieces = append(pieces, part)
			}
			got := replyOf(t, f, pieces, Options{Tools: formTools, Control: []string{"<tool_call>"}, Whole: true})
			if ran := len(got.Calls) > 0; ran != proven {
				t.Errorf("control tokens %v: %q comes to calls %v, text %q", proven, text, got.Calls, got.Text.String())
			}
		}
	}
}

// TestSomeTokensProveMarks reads text of a source that need not show tokens: a mark that came as
// its token is one, and for others their place decides, as without tokens.
func TestSomeTokensProveMarks(t *testing.T) {
	const rest = " {\"name\": \"get_weather\", \"arguments\": {\"city\": \"Oslo\"}} </tool_call>"
	for _, row := range []struct {
		pieces []string
		runs   bool
	}{
		{[]string{"Write `", "<tool_call>", rest, "` there."}, true},
		{[]string{"Write `", "<tool", "_call>", rest, "` there."}, false},
		{[]string{"Write `<tool_call>" + rest + "` there."}, false},
		{[]string{"<tool_call>" + rest}, true},
		{[]string{"I look.\n<tool", "_call>", rest}, true},
	} {
		calls := decodeCalls(t, Named("hermes"), row.pieces, Options{Tools: formTools, Control: []string{"<tool_call>"}})
		if (len(calls) > 0) != row.runs {
			t.Errorf("%q: %v", row.pieces, calls)
		}
	}
}
