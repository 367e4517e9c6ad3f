package adapters

import (
	"testing"

	"toolnorm/chat"
)

// TestOwnMarksCountBesideText reads calls in tags with text between, in front and behind.
func TestOwnMarksCountBesideText(t *testing.T) {
	const a = "<tool_call>\n<function=get_weather>\n<parameter=city>\nOslo\n</parameter>\n</function>\n</tool_call>"
	const b = "<tool_call>\n<function=get_time>\n</function>\n</tool_call>"
	const c = "<tool_call>\n<function=get_weather>\n<parameter=city>\nBergen\n</parameter>\n</function>\n</tool_call>"
	for _, tt := range []struct {
		raw   string
		calls int
		text  string
	}{
		{"hello" + a, 1, "hello"}, {"hello" + a + "hi", 1, "hellohi"}, {"hello" + a + "\nhi", 1, "hello\nhi"},
		{a + "hi" + b, 2, "hi"}, {"hello" + a + "hi" + b, 2, "hellohi"}, {"hello" + a + "hi" + c, 2, "hellohi"}, {a + "\n\nThen:\n" + c, 2, "\n\nThen:"},
	} {
		var got chat.Collector
		for ev, err := range Named("qwen3-coder").Decode(&chat.Fixed{{Kind: chat.Text, Text: tt.raw}, {Kind: chat.Finish, Text: chat.Stop}}, Options{Tools: formTools}) {
			if err != nil {
				t.Fatal(err)
			}
			got.Add(ev)
		}
		if len(got.Calls) != tt.calls || got.Text.String() != tt.text {
			t.Errorf("%q: %d calls, text %q", tt.raw, len(got.Calls), got.Text.String())
		}
	}
}
