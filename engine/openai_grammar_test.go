package engine

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"toolnorm/chat"
	"toolnorm/internal/test/must"
)

// refusing answers 400 to a completion with a grammar, as a llama-server does that cannot read it.
type refusing struct{ fakeOpenAI }

func (f *refusing) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	if r.URL.Path == "/completion" && bytes.Contains(body, []byte(`"grammar"`)) {
		f.mu.Lock()
		f.asked = append(f.asked, "refused")
		f.mu.Unlock()
		w.WriteHeader(http.StatusBadRequest)
		io.WriteString(w, `{"error":{"code":400,"message":"Failed to parse grammar","type":"invalid_request_error"}}`)
		return
	}
	f.fakeOpenAI.ServeHTTP(w, r)
}

// at is an Engine whose upstream box is the handler.
func at(t *testing.T, h http.Handler, cfg Config) *Engine {
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	cfg.Ollama, cfg.Upstreams = "http://127.0.0.1:1", []Upstream{{Name: "box", URL: s.URL, Kind: "openai"}}
	return New(cfg)
}

// text is the visible text of a reply; an error fails the test.
func text(t *testing.T, e *Engine, r *chat.Request) (all string) {
	t.Helper()
	for ev, err := range e.Stream(t.Context(), r) {
		must.OK(t, err)
		if ev.Kind == chat.Text {
			all += ev.Text
		}
	}
	return all
}

func TestLlamaServerGetsAGrammarOfTheOfferedTools(t *testing.T) {
	single := atBox("hi", weather)
	single.Single = true
	forced := atBox("hi", weather)
	forced.Required = true
	own := atBox("hi", weather)
	own.Extra = map[string]json.RawMessage{"grammar": json.RawMessage(`"root ::= [a-z]*"`)}
	for _, row := range []struct {
		name    string
		cfg     Config
		request *chat.Request
		sent    bool
	}{
		{"tools offered", Config{}, atBox("hi", weather), true},
		{"one call at most", Config{}, single, true},
		{"no tools", Config{}, atBox("hi"), false},
		{"switched off", Config{Checking: Checking{NoGrammar: true}}, atBox("hi", weather), false},
		{"tools in the prompt", Config{Strategy: map[string]string{"*": Prompt}, NoProbe: true}, atBox("hi", weather), false},
		{"a forced call", Config{}, forced, false},
		{"a grammar of the client's", Config{}, own, false},
		{"a family that nobody knows", Config{Format: map[string]string{"*": "generic"}}, atBox("hi", weather), false},
	} {
		f := &fakeOpenAI{template: "p {tools}", text: "hello"}
		if row.cfg.Format == nil {
			row.cfg.Format = map[string]string{"*": "hermes"}
		}
		for range at(t, f, row.cfg).Stream(t.Context(), row.request) {
			continue // whatever comes of it
		}
		var grammar string
		json.Unmarshal(f.last["grammar"], &grammar)
		if sent := string(f.last["grammar_lazy"]) == "true" && strings.Contains(grammar, "get_weather"); sent != row.sent {
			t.Errorf("%s: grammar %s, lazy %s, want one: %v", row.name, f.last["grammar"], f.last["grammar_lazy"], row.sent)
		}
		if row.sent && !strings.Contains(string(f.last["grammar_triggers"]), "tool_call") {
			t.Errorf("%s: triggers %s", row.name, f.last["grammar_triggers"])
		}
		if row.request == single && strings.Contains(grammar, "next-call") {
			t.Errorf("%s: several calls in %s", row.name, grammar)
		}
	}
}

func TestAServerThatRefusesTheGrammarWritesWithoutOne(t *testing.T) {
	f := &refusing{fakeOpenAI{template: "p {tools}", text: "hello"}}
	e := at(t, f, Config{Format: map[string]string{"*": "hermes"}})
	for _, want := range []string{
		"props apply-template apply-template refused completion", // tried once
		"apply-template completion",                              // remembered
	} {
		if got := text(t, e, atBox("hi", weather)); got != "hello" {
			t.Errorf("text %q", got)
		}
		if got := f.paths(); got != want {
			t.Errorf("asked %q, want %q", got, want)
		}
	}
	other := weather
	other.Name = "get_forecast"
	text(t, e, atBox("hi", other))
	if got := f.paths(); got != "apply-template refused completion" {
		t.Errorf("other tools: asked %q", got)
	}
}
