package engine

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/ollama/ollama/types/model"

	"toolnorm/adapters"
	"toolnorm/chat"
	"toolnorm/engine/ollama"
)

// TestTheWordingIsFoundByAProbe has models that understand tools in one wording only, or in none.
func TestTheWordingIsFoundByAProbe(t *testing.T) {
	call := `{"name": "get_weather", "arguments": {"city": "Paris", "days": 3}}`
	for _, row := range []struct {
		name   string
		cfg    Config
		reply  func(system string) string
		chats  int // the first time, of which one is the request itself
		signed bool
		worked bool
	}{
		{"the first one", Config{}, func(string) string { return call }, 2, true, true},
		{"schemas", Config{}, func(s string) string {
			if strings.Contains(s, "def ") {
				return "I cannot do that."
			}
			return call
		}, 3, false, true},
		{"no worked example", Config{}, func(s string) string {
			if strings.Contains(s, "Example.") {
				return `{"name": "get_weather", "arguments": {"city": "Paris", "days": 30}}`
			}
			return call
		}, 4, true, false},
		{"none", Config{}, func(string) string { return "No." }, 5, false, false},
		{"configured", Config{Wording: map[string]string{"m*": "signatures+example"}}, func(string) string { return "No." }, 1, true, true},
		{"not probed", Config{NoProbe: true}, func(string) string { return call }, 1, false, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			f := &fakeOllama{caps: []model.Capability{model.CapabilityCompletion}, reply: row.reply}
			e := f.start(t, row.cfg)
			r := user("hi")
			r.Tools = []chat.Tool{weather}
			r.Options = map[string]json.RawMessage{"num_predict": json.RawMessage("5")} // the client's, too few for a probe
			collect(t, e, r)
			probed := slices.ContainsFunc(f.chats, func(q ollama.ChatRequest) bool { return string(q.Options["num_predict"]) == "120" })
			if last := f.chats[len(f.chats)-1]; probed != (row.chats > 1) || string(last.Options["num_predict"]) != "5" {
				t.Errorf("probed with 120 tokens: %v; the request may have %s", probed, last.Options["num_predict"])
			}
			if got := strings.Count(f.paths(), "chat"); got != row.chats {
				t.Errorf("asked %d times, want %d", got, row.chats)
			}
			system := f.chats[len(f.chats)-1].Messages[0].Content
			if signed, worked := strings.Contains(system, "def get_weather("), strings.Contains(system, "Example."); signed != row.signed || worked != row.worked {
				t.Errorf("the request was worded\n%s", system)
			}
			collect(t, e, r)
			if got := f.paths(); got != "chat" {
				t.Errorf("the second time asked %s", got)
			}
		})
	}
}

// TestAFamilysOwnWordingIsNotProbed has a declaration that says how.
func TestAFamilysOwnWordingIsNotProbed(t *testing.T) {
	own, err := adapters.Builtin().Parse([]byte("format own\nmodels m*\ncall <own>{call}</own>\nwording signatures\n"))
	if err != nil || own.Wording() != adapters.Signatures {
		t.Fatal(own, err)
	}
	j := &job{target: target{engine: New(Config{}), name: "m", format: own}, request: &chat.Request{Tools: []chat.Tool{weather}}}
	if w := j.wordingOf(t.Context()); w != adapters.Signatures {
		t.Errorf("worded %s", w)
	}
}
