package engine

import (
	"strings"
	"testing"

	"toolnorm/chat"
	"toolnorm/engine/window"
)

// TestACounterNoticesThatAPromptWasCut gives a counter what servers count of prompts that they have
// cut, silently.
func TestACounterNoticesThatAPromptWasCut(t *testing.T) {
	for _, row := range []struct {
		name    string
		bytes   int
		context int
		ours    bool
		counted chat.Counts
		want    string
	}{
		{"all that the context holds", 40000, 4096, true, chat.Counts{Prompt: 4096}, "all that its context holds"},
		{"fewer than can be", 40000, 0, false, chat.Counts{Prompt: 1000}, "of at least"},
		{"a power of two", 30000, 0, true, chat.Counts{Prompt: 4096}, "probably cut"},
		{"a reply beyond the context", 4000, 4096, true, chat.Counts{Prompt: 1000, Completion: 3500}, "went on past the context"},
		{"in the server's cache", 40000, 4096, true, chat.Counts{}, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			got := ""
			to := &target{engine: New(Config{}), observer: &chat.Observer{OnNote: func(_, text string) { got = text }}}
			c := counter{to, row.bytes, row.context, row.ours, func() window.Meter { return window.Meter{} }}
			c.learnTokens(row.counted)
			if row.want == "" && got != "" || !strings.Contains(got, row.want) {
				t.Errorf("the client is told %q, want %q", got, row.want)
			}
		})
	}
}
