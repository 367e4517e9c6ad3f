package adapters

import (
	"strings"
	"testing"

	"toolnorm/chat"
)

func TestHoldIsReadInEveryForm(t *testing.T) {
	for s, want := range map[string]int{"short": 512, "none": HoldNone, "call": HoldCall, "64": 64} {
		if got, err := ParseHold(s); err != nil || got != want {
			t.Errorf("hold %q = %d, %v, want %d", s, got, err, want)
		}
	}
	for _, s := range []string{"", "0", "-1", "long", "1.5"} {
		if got, err := ParseHold(s); err == nil {
			t.Errorf("hold %q = %d, want an error", s, got)
		}
	}
}

// TestCallsInReasoning has a call that a model makes without having ended its thought.
func TestCallsInReasoning(t *testing.T) {
	raw := []string{"<think>\nI need the time.\n<tool_call>\n{\"name\": \"get_time\", \"arguments\": {}}\n</tool_call>"}
	for _, quiet := range []bool{false, true} {
		got := replyOf(t, Named("hermes"), raw, Options{Tools: testTools(t), Quiet: quiet})
		thought := got.Reasoning.String()
		if len(got.Complete()) == 0 != quiet || strings.Contains(thought, "get_time") != quiet {
			t.Errorf("quiet %v: %d calls, thought %q", quiet, len(got.Complete()), thought)
		}
	}
}

// TestACallWithAStrangeMemberWaits cuts a brace off two calls of a slow model, of which little
// waits: one that begins with a member that the tool does not have is still whole when the damage
// is seen, and is text.
func TestACallWithAStrangeMemberWaits(t *testing.T) {
	long := strings.Repeat("abcd", 20)
	for args, begun := range map[string]bool{
		`{"country": "` + long + `", "city": "Oslo"}`: false,
		`{"city": "` + long + `", "country": "Oslo"}`: true,
	} {
		raw := "<tool_call>\n{\"name\": \"get_weather\", \"arguments\": " + args + "\n</tool_call>"
		o := Options{Tools: testTools(t), HoldNow: func() int { return 16 }}
		got, err := transcript(Named("hermes"), strings.Split(raw, ""), chat.Stop, o)
		if err != nil || strings.HasPrefix(got, "open 0") != begun || strings.HasPrefix(got, "text") == begun {
			t.Errorf("%s\ngot %s, %v", args, got, err)
		}
	}
}
