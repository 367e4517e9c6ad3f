package engine

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/ollama/ollama/types/model"

	"toolnorm/internal/fault"
)

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
	f.text = "{}"
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
