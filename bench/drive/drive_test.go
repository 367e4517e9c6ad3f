package drive

import (
	"testing"
	"time"

	"toolnorm/bench/fake"
	"toolnorm/bench/text"
)

// The script comes whole, in its tokens, at its pace.
func TestScriptIsPlayed(t *testing.T) {
	up, err := fake.Start()
	if err != nil {
		t.Fatal(err)
	}
	defer up.Close()
	sc := fake.Script{ID: "a", Bytes: 10 * text.TokenBytes, Rate: 100}
	start := time.Now()
	r, err := Stream(up.URL, sc, false)
	if err != nil {
		t.Fatal(err)
	}
	if took := time.Since(start); took < 90*time.Millisecond || !r.Ended || r.First > took/2 {
		t.Errorf("Stream took %v, first token after %v, ended %v; want at least 90ms, an early first token, and an end", took, r.First, r.Ended)
	}
	if up.When("a").IsZero() || !up.When("b").IsZero() {
		t.Error("When does not tell the reply that was played from one that was not")
	}
}

// The fragments of a call's arguments are found in the chunks that toolnorm writes.
func TestArgumentsOfChunk(t *testing.T) {
	chunk := `{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"a\": 1"}}]},"finish_reason":null}]}`
	if got := arguments([]byte(chunk)); got != `{"a": 1` {
		t.Errorf("arguments(%s) = %q", chunk, got)
	}
	if !full([]byte(chunk)) || full([]byte(`{"delta":{"role":"assistant","content":""}}`)) {
		t.Error("full does not tell a chunk with a call from the role chunk")
	}
}
