package drive

import (
	"bufio"
	"strings"
	"testing"
	"time"

	"toolnorm/bench/fake"
	"toolnorm/bench/text"
	"toolnorm/internal/test/must"
)

// The script comes whole, in its tokens, at its pace.
func TestScriptIsPlayed(t *testing.T) {
	up := must.Have(fake.Start())(t)
	defer up.Close()
	sc := fake.Script{ID: "a", Bytes: 10 * text.TokenBytes, Rate: 100}
	start := time.Now()
	r := must.Have(Stream(up.URL, sc, false))(t)
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

// A reply that was cut is an error, whatever came of it.
func TestACutReplyIsAnError(t *testing.T) {
	for _, reason := range []string{"length", ""} {
		in := bufio.NewScanner(strings.NewReader(`data: {"choices":[{"delta":{"content":"a"},"finish_reason":"` + reason + "\"}]}\n\ndata: [DONE]\n\n"))
		if _, err := read(in, time.Now(), false); err == nil {
			t.Errorf("a reply that ended with %q is taken for whole", reason)
		}
	}
}

// No part of a script says the same for so long that a model would be stopped for it.
func TestScriptsDoNotRepeatThemselves(t *testing.T) {
	const most = 8192 // the default of the setting max-repeat
	content := text.Prose("hermes", 100<<10)
	if half := content[:most/2]; strings.Count(content, half[:200]) != 1 {
		t.Error("the text repeats itself")
	}
	if _, args := text.Call("hermes", 100<<10); strings.Count(args, args[:200]) != 1 {
		t.Error("the call's argument repeats itself")
	}
}
