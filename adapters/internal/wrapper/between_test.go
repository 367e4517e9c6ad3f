package wrapper

import "testing"

// TestOneWordAroundJSONIsAMark holds what stands between two marks that are one word, damaged or in
// each other's place.
func TestOneWordAroundJSONIsAMark(t *testing.T) {
	for text, want := range map[string]string{
		"<tool_calls[1]</tool_calls>":    "[1]",
		"< tool_call>{}</tool_call>":     "{}",
		"</tool_calls>[1]<tool_calls>":   "[1]",
		"<|tool_ call|>\n{}</tool_call>": "{}",
		"<tool_call>{}</tool_call>":      "",
		"<code>{}</code>":                "",
		"</example>{}<example>":          "",
		"<tool_calls>[1]</tool_results>": "",
	} {
		if got := between(text); got != want {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
}
