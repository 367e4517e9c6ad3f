package ollama

import (
	"testing"

	"toolnorm/chat"
	"toolnorm/engine/upstream"
)

// TestAReaderSaysThatRepliesBeginInside asks for the end of prompts of a model whose reader takes what comes first for a thought.
func TestAReaderSaysThatRepliesBeginInside(t *testing.T) {
	no := false
	for _, tt := range []struct {
		prompt string
		think  *bool
		want   string
	}{
		{"assistant\n", nil, "assistant\n<think>\n"},
		{"assistant\n<think>\n", nil, "assistant\n<think>\n"},
		{"assistant\n<think>\n\n</think>\n\n", nil, "assistant\n<think>\n\n</think>\n\n"},
		{"assistant\n", &no, "assistant\n"},
	} {
		o := &upstream.Order{Request: &chat.Request{Think: tt.think}, Facts: upstream.Facts{BeginsInside: "<think>\n"}}
		if got := tail(o, tt.prompt); got != tt.want {
			t.Errorf("%q: %q, want %q", tt.prompt, got, tt.want)
		}
	}
}
