package engine

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/ollama/ollama/api"
	"github.com/ollama/ollama/types/model"

	"toolnorm/chat"
	"toolnorm/internal/fault"
)

func TestThinkingIsAskedForInTheModelsWords(t *testing.T) {
	on, off := true, false
	type asking struct {
		think  *bool
		effort string
		format string
	}
	yes := facts{thinking: true}
	gptOSS := facts{thinking: true, levels: harmonyLevels, always: true}
	rich := facts{thinking: true, levels: []string{"minimal", "high", "max"}}
	for _, tt := range []struct {
		facts facts
		asking
		want string
	}{
		{facts{}, asking{think: &on, effort: "high"}, ""},
		{yes, asking{}, ""},
		{yes, asking{think: &off}, "false"},
		{yes, asking{think: &on, effort: "low"}, "true"},
		{yes, asking{think: &on, format: `{}`}, "false"},
		{yes, asking{format: `"json"`}, "false"},
		{gptOSS, asking{}, ""},
		{gptOSS, asking{format: `{}`}, ""},
		{gptOSS, asking{think: &on}, "true"},
		{gptOSS, asking{think: &off}, `"low"`},
		{gptOSS, asking{think: &on, effort: "minimal"}, `"low"`},
		{gptOSS, asking{think: &on, effort: "medium"}, `"medium"`},
		{gptOSS, asking{think: &on, effort: "xhigh"}, `"high"`},
		{rich, asking{think: &off}, "false"},
		{rich, asking{think: &on, effort: "low"}, `"minimal"`},
		{rich, asking{think: &on, effort: "medium"}, "true"},
		{rich, asking{think: &on, effort: "xhigh"}, `"max"`},
	} {
		turn := &turn{facts: tt.facts, request: &chat.Request{Think: tt.think, Effort: tt.effort}}
		if tt.format != "" {
			turn.request.Format = json.RawMessage(tt.format)
		}
		if got := string(turn.think()); got != tt.want {
			t.Errorf("%+v of %+v: think %s, want %s", tt.asking, tt.facts, got, tt.want)
		}
	}
}

func TestLevelsAreWhatTheServerSays(t *testing.T) {
	for _, tt := range []struct {
		show   string
		format string
		names  string
		always bool
	}{
		{`{}`, "harmony", "low medium high", true},
		{`{}`, "qwen3", "", false},
		{`{"thinking":{"values":[false,true],"default":true}}`, "harmony", "", false},
		{`{"thinking":{"values":["low","max"],"default":"low"}}`, "x", "low max", true},
		{`{"thinking":{"values":[false,"low"],"default":"low"}}`, "x", "low", false},
	} {
		var show api.ShowResponse
		if err := json.Unmarshal([]byte(tt.show), &show); err != nil {
			t.Fatal(err)
		}
		if names, always := levels(&show, tt.format); strings.Join(names, " ") != tt.names || always != tt.always {
			t.Errorf("%s of %s: %q, %v", tt.show, tt.format, names, always)
		}
	}
}

func TestImagesNeedAModelThatSees(t *testing.T) {
	f := &fakeOllama{caps: []model.Capability{model.CapabilityCompletion}, prompt: "p", text: "x"}
	r := user("look")
	r.Messages[0].Images = [][]byte{{1}}
	_, _, _, err := collect(t, f.start(t, Config{}), r)
	if e := fault.From(err); e.Kind != fault.Invalid || e.Param != "messages[0].content" || !strings.Contains(e.Message, "cannot see") {
		t.Errorf("%+v", e)
	}
	if got := f.paths(); strings.Contains(got, "chat") {
		t.Errorf("asked %s", got)
	}
	old := &fakeOllama{prompt: "p", text: "x"} // a server that knows no capabilities
	if text, _, _, err := collect(t, old.start(t, Config{}), r); text != "x" || err != nil {
		t.Errorf("an old server: %q %v", text, err)
	}
}

func TestWhatTheClientWantsReachesTheServer(t *testing.T) {
	caps := []model.Capability{model.CapabilityCompletion, model.CapabilityThinking}
	f := &fakeOllama{caps: caps, prompt: "p", text: "x"}
	e := f.start(t, Config{})
	r := user("hi")
	r.Keep = json.RawMessage(`"1h"`)
	collect(t, e, r)
	if f.paths(); string(f.chats[1].KeepAlive) != `"1h"` || string(f.generes[0].KeepAlive) != `"1h"` {
		t.Errorf("keep_alive: render %s, generate %s", f.chats[1].KeepAlive, f.generes[0].KeepAlive)
	}
	if o := f.generes[0].Options; len(o) != 1 || string(o["num_ctx"]) != "8192" {
		t.Errorf("options %v, want a context by the size of the request, and nothing that nobody asked for", o)
	}
	r.Format = json.RawMessage(`{"type":"object"}`)
	collect(t, e, r)
	if last := f.chats[len(f.chats)-1]; f.paths() != "chat" || string(last.Format) != `{"type":"object"}` || string(last.Think) != "false" || last.Logprobs {
		t.Errorf("format: asked %+v", last)
	}
	r = user("hi")
	r.Logprobs, r.TopLogprobs = true, 2
	collect(t, e, r)
	if last := f.chats[len(f.chats)-1]; f.paths() != "chat" || !last.Logprobs || last.TopLogprobs != 2 || last.Format != nil {
		t.Errorf("logprobs: asked %+v", last)
	}
}
