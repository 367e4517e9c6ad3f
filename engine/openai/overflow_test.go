package openai

import (
	"errors"
	"net/http"
	"testing"

	"toolnorm/engine/upstream"
)

// TestOverflowIsReadFromWhatServersSay has the words of Ollama 0.17 to 0.34, llama-server, vLLM and
// OpenAI.
func TestOverflowIsReadFromWhatServersSay(t *testing.T) {
	for _, row := range []struct {
		body string
		want upstream.Overflow
	}{
		{`{"error":"the input length exceeds the context length"}`, upstream.Overflow{}},
		{`{"error":"{\"error\":{\"code\":400,\"message\":\"request (15005 tokens) exceeds the available context size (4096 tokens), try increasing it\",\"type\":\"exceed_context_size_error\",\"n_prompt_tokens\":15005,\"n_ctx\":4096}}"}`, upstream.Overflow{Tokens: 15005, Window: 4096}},
		{`{"error":{"message":"This model's maximum context length is 4097 tokens. However, your messages resulted in 9000 tokens. Please reduce the length of the messages.","code":"context_length_exceeded"}}`, upstream.Overflow{Tokens: 9000, Window: 4097}},
		{`{"error":{"message":"This model's maximum context length is 2048 tokens. However, you requested 3000 tokens (2000 in the messages, 1000 in the completion).","code":400}}`, upstream.Overflow{Tokens: 2000, Window: 2048}},
		{`{"error":{"message":"'max_tokens' is too large: 2000. This model's maximum context length is 2048 tokens and your request has 1500 input tokens"}}`, upstream.Overflow{Tokens: 1500, Window: 2048}},
	} {
		e := New("http://127.0.0.1:1/v1", "", nil).explain(http.StatusBadRequest, []byte(row.body))
		var got *upstream.Overflow
		if !errors.As(e, &got) || *got != row.want || e.OpenAICode() != "context_length_exceeded" {
			t.Errorf("%s: %+v, code %s, want %+v", row.body, got, e.OpenAICode(), row.want)
		}
	}
	if e := upstream.Explain(http.StatusBadRequest, "no such thing"); e.Cause != nil {
		t.Errorf("another refusal has the cause %v", e.Cause)
	}
}
