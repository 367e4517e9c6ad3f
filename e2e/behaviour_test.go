package e2e

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"toolnorm/e2e/script"
	"toolnorm/internal/test/must"
)

// named is the script with that name.
func (l *lane) named(t *testing.T, name string) script.Script {
	t.Helper()
	for _, sc := range l.scripts {
		if sc.Name == name {
			return sc
		}
	}
	t.Fatalf("no script %q", name)
	return script.Script{}
}

// post sends a chat and hands over the body as it comes.
func post(t *testing.T, ctx context.Context, base string, r request) *http.Response {
	t.Helper()
	b := must.Have(json.Marshal(r))(t)
	req := must.Have(http.NewRequestWithContext(ctx, "POST", base+"/v1/chat/completions", bytes.NewReader(b)))(t)
	req.Header.Set("Content-Type", "application/json")
	return must.Have(http.DefaultClient.Do(req))(t)
}

// TestDroppedStreamFreesTheServer leaves an endless reply. Ollama runs one request of a model at a
// time, so the next reply proves that the first has been stopped; else it would wait for ten times
// the context, 80,000 tokens.
func TestDroppedStreamFreesTheServer(t *testing.T) {
	l := open(t)
	base := l.proxied(t, l.newest, "--max-repeat", "0")
	endless := l.ask("hermes", l.named(t, "loop"), true)
	endless.MaxTokens = 0
	ctx, leave := context.WithCancel(t.Context())
	resp := post(t, ctx, base, endless)
	if _, err := bufio.NewReader(resp.Body).ReadString('\n'); err != nil {
		t.Fatalf("the endless reply: %v", err)
	}
	leave()
	resp.Body.Close()
	plain := l.named(t, "plain")
	done := make(chan reply, 1)
	go func() { done <- l.current.chat(base, l.ask("hermes", plain, true)) }() // ends with the chat, by the client's timeout at the latest
	select {
	case got := <-done:
		if f := faults(plain.Reply, got); len(f) > 0 {
			t.Errorf("the next reply: %q", f)
		}
	case <-time.After(time.Minute): // a machine that is busy
		t.Error("a minute after the client left, Ollama has not answered the next request")
	}
}

// TestEndlessRepetitionEndsWithLength: Ollama aborts a model that repeats itself, without an end of
// its own.
func TestEndlessRepetitionEndsWithLength(t *testing.T) {
	l := open(t)
	base := l.proxied(t, l.newest)
	for _, model := range []string{"hermes", "native"} {
		r := l.ask(model, l.named(t, "rep"), true)
		r.MaxTokens = 0
		got := l.current.chat(base, r)
		if got.Error != "" || got.Finish != "length" || !strings.HasPrefix(got.Content, "zzzz") {
			t.Errorf("%s: error %q, finish_reason %q, content %q; want length and the text so far", model, got.Error, got.Finish, got.Content)
		}
		for _, rule := range broken(got, offered) {
			t.Errorf("%s: %s", model, rule)
		}
	}
}

// TestAModelInALoopIsStopped: what this one writes repeats itself, but not token by token, so
// Ollama itself would let it go on.
func TestAModelInALoopIsStopped(t *testing.T) {
	l := open(t)
	base := l.proxied(t, l.newest)
	for _, stream := range []bool{true, false} {
		r := l.ask("hermes", l.named(t, "loop"), stream)
		r.MaxTokens = 0
		got := l.current.chat(base, r)
		if got.Error != "" || got.Finish != "length" || len(got.Content) < 8<<10 || len(got.Content) > 64<<10 {
			t.Errorf("stream %t: error %q, finish_reason %q, %d bytes; want length after some 8 KB", stream, got.Error, got.Finish, len(got.Content))
		}
	}
}

// TestToolLoop lets the model call a tool, answers it, and lets the answer choose what the model
// says next: another call, then text. The client sends back exactly what it got.
func TestToolLoop(t *testing.T) {
	l := open(t)
	base := l.proxied(t, l.newest)
	for _, s := range l.newest.setups {
		r := l.ask(s.name, l.named(t, "hermes_pre"), true)
		for _, next := range []string{"q3c_one", "plain"} {
			got := l.current.chat(base, r)
			if len(got.Calls) != 1 || got.Error != "" {
				t.Fatalf("%s: before %s: calls %+v, error %q, want one call", s.name, next, got.Calls, got.Error)
			}
			call := got.Calls[0]
			result := "The tool of this long conversation says at last: " + l.named(t, next).Model.Selector()
			r.Messages = append(r.Messages,
				message{Role: "assistant", Content: got.Content, ToolCalls: []toolCall{{
					ID: call.ID, Type: "function", Function: function{Name: call.Name, Arguments: call.Arguments},
				}}},
				message{Role: "tool", CallID: call.ID, Content: result})
		}
		if f := faults(l.named(t, "plain").Reply, l.current.chat(base, r)); len(f) > 0 {
			t.Errorf("%s: the last reply: %q", s.name, f)
		}
	}
}

// TestUsageOnRequestOnly: the counts come in a last chunk when asked for, and are those of the
// tokens really written.
func TestUsageOnRequestOnly(t *testing.T) {
	l := open(t)
	base := l.proxied(t, l.newest)
	sc := l.named(t, "hermes")
	asked := l.current.chat(base, l.ask("hermes", sc, true))
	if u := asked.Usage; u == nil || u.Prompt < 100 || u.Completion < 10 || u.Total != u.Prompt+u.Completion {
		t.Errorf("usage %+v, want the tokens of the prompt and the reply", u)
	}
	r := l.ask("hermes", sc, true)
	r.Options = nil
	if got := l.current.chat(base, r); strings.Contains(got.Raw, `"choices":[]`) {
		t.Errorf("a usage chunk that nobody asked for: %s", got.Raw)
	}
}
