package engine

import (
	"strings"
	"testing"

	"github.com/ollama/ollama/types/model"

	"toolnorm/chat"
)

// TestAnotherStrategyTakesOver has servers with which the first strategy fails. The reply must come
// all the same, and the next request must not try again what failed.
func TestAnotherStrategyTakesOver(t *testing.T) {
	tools := []model.Capability{model.CapabilityTools}
	for _, row := range []struct {
		name        string
		server      *fakeOllama
		config      map[string]string
		told        string // by OnPlan
		first, then string // asked
		fails       string // the error, if there is no cure
	}{
		{"logprobs refused", &fakeOllama{caps: tools, noTap: true}, nil, "tap native", "tags show render vocabulary version tap chat", "chat", ""},
		{"a parser that fails", &fakeOllama{caps: tools, noTap: true, parser: "EOF"}, nil, "tap native", "tags show render vocabulary version tap chat", "tap chat", "says: EOF"},
		{"a parser that fails at the tap", &fakeOllama{caps: tools, parser: "failed to parse JSON"}, nil, "tap native", "tags show render vocabulary version tap chat", "tap chat", "says: failed to parse JSON"},
		{"nothing wrong", &fakeOllama{caps: tools, prompt: "p"}, nil, "raw", "tags show render vocabulary version render generate", "render generate", ""},
		{"configured", &fakeOllama{caps: tools, noTap: true}, map[string]string{"*": Tap}, "tap", "tags show render vocabulary version tap", "tap", "logprobs is not supported"},
		{"a server fault", &fakeOllama{caps: tools, parser: "out of memory"}, nil, "tap", "tags show render vocabulary version tap", "tap", "out of memory"},
	} {
		t.Run(row.name, func(t *testing.T) {
			row.server.text = "hello"
			e := row.server.start(t, Config{Strategy: row.config})
			r := user("hi")
			r.Tools = []chat.Tool{weather}
			var told []string
			o := &chat.Observer{OnPlan: func(format, strategy string) { told = append(told, strategy) }}
			text, _, end, err := collectWith(t, e, r, o)
			if got := strings.Join(told, " "); got != row.told {
				t.Errorf("told %s, want %s", got, row.told)
			}
			switch {
			case row.fails != "" && (err == nil || !strings.Contains(err.Error(), row.fails)):
				t.Errorf("error %v, want %s", err, row.fails)
			case row.fails == "" && (err != nil || text != "hello" || end.Meta.Strategy != told[len(told)-1]):
				t.Errorf("text %q, end %+v, error %v", text, end, err)
			}
			if got := row.server.paths(); got != row.first {
				t.Errorf("asked %s, want %s", got, row.first)
			}
			collect(t, e, r)
			if got := row.server.paths(); got != row.then {
				t.Errorf("the second time asked %s, want %s", got, row.then)
			}
		})
	}
}

// TestASwallowedReplyIsAskedForAgain has a server whose parser drops what the model wrote.
func TestASwallowedReplyIsAskedForAgain(t *testing.T) {
	f := &fakeOllama{caps: []model.Capability{model.CapabilityTools}, text: `{"name": "get_weather", "arguments": {"city": "Oslo"}}`, noTap: true, swallow: true}
	e := f.start(t, Config{NoProbe: true})
	e.servers[0].memory.learn("m", "sha:1", func(l *lessons) { l.avoid(Tap) })
	r := user("hi")
	r.Tools = []chat.Tool{weather}
	for _, want := range []string{"tags show render vocabulary version chat chat", "chat"} {
		_, calls, end, err := collect(t, e, r)
		if err != nil || len(calls) != 1 || string(calls[0].Args) != `{"city": "Oslo"}` || end.Meta.Strategy != Prompt {
			t.Fatalf("calls %s, end %+v, error %v", calls, end, err)
		}
		if got := f.paths(); got != want {
			t.Errorf("asked %s, want %s", got, want)
		}
	}
}
