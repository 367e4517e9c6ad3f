package ollama

import (
	"bytes"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"toolnorm/chat"
)

// TestTokensOfAnAnswerThatIsPassedOn cuts answers into pieces of every length, among them one whose
// text looks like counts.
func TestTokensOfAnAnswerThatIsPassedOn(t *testing.T) {
	full := chat.Counts{Prompt: 90, Cached: 60, Completion: 2}
	for text, want := range map[string]chat.Counts{
		`{"response":"a","done":false}` + "\n" + `{"done":true,"context":[` + strings.Repeat("1,", 2000) + `1],"total_duration":1,"prompt_eval_count":90,"prompt_eval_cached_count": 60,"eval_count":2,"eval_duration":5}` + "\n": full,
		`{"response":"\"prompt_eval_count\":7","done":true}`:                            {},
		`{"embeddings":[[0.5]],"prompt_eval_count":4}`:                                  {Prompt: 4},
		`{"prompt_eval_count":999999999999999999999,"eval_count":-1,"x":"eval_count":x`: {Prompt: 9999999999},
		"": {},
	} {
		for size := 1; size < 700; size += 37 {
			p := &patient{ResponseWriter: httptest.NewRecorder()}
			for rest := []byte(text); len(rest) > 0; rest = rest[min(size, len(rest)):] {
				p.Write(rest[:min(size, len(rest))])
			}
			if got := countsIn(p.tail); got != want || len(p.tail) > tailSize || !bytes.HasSuffix([]byte(text), p.tail) {
				t.Fatalf("%.80s in pieces of %d: %s, %d bytes kept", text, size, fmt.Sprint(got), len(p.tail))
			}
		}
	}
}
