package engine

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"toolnorm/adapters"
	"toolnorm/chat"
	"toolnorm/engine/upstream"
)

// TestDemoOfEveryFormat asks each demo model for a short and a long call, and for the answer to a result.
func TestDemoOfEveryFormat(t *testing.T) {
	tools := []chat.Tool{weather, {
		Name: "write_file", Description: "Write text into a file",
		Schema: json.RawMessage(`{"type":"object","properties":{"content":{"type":"string"},"path":{"type":"string"}},"required":["content","path"]}`),
	}}
	for _, strategy := range []string{Raw, Native} {
		e := New(Config{Strategy: map[string]string{"*": strategy}, Demo: upstream.Demo{Delay: -1}})
		for _, f := range adapters.All() {
			t.Run(strategy+"/"+f.Name, func(t *testing.T) {
				r := &chat.Request{Model: "demo/" + f.Name, Tools: tools}
				for ask, want := range map[string]string{
					"What is the weather in Paris for 3 days?": `get_weather {"city":"Paris","days":3}`,
					"Please write a file called notes.txt":     `write_file {"content":"This is line 1`,
				} {
					r.Messages = []chat.Message{{Role: chat.User, Content: ask}}
					text, calls, end, err := collect(t, e, r)
					if err != nil || len(calls) != 1 || end == nil || end.Meta.Format != f.Name || end.Meta.Strategy != strategy {
						t.Fatalf("text %q, calls %s, end %v, error %v", text, calls, end, err)
					}
					var args bytes.Buffer // families write with and without blanks
					if err := json.Compact(&args, calls[0].Args); err != nil {
						t.Errorf("%s: arguments %s: %v", ask, calls[0].Args, err)
					}
					if got := calls[0].Name + " " + args.String(); !strings.HasPrefix(got, want) {
						t.Errorf("%s: %.200s, want %s", ask, got, want)
					}
					if strings.Trim(text, "\n") != "I will use "+calls[0].Name+" for this." {
						t.Errorf("%s: text %q", ask, text)
					}
					r.Messages = append(r.Messages, chat.Message{Role: chat.Assistant, Calls: calls}, chat.Message{Role: chat.ToolRole, CallID: calls[0].ID, Content: "done & dusted"})
					text, calls, _, err = collect(t, e, r)
					if err != nil || len(calls) != 0 || !strings.Contains(text, "done & dusted") {
						t.Errorf("after the result: text %q, calls %v, error %v", text, calls, err)
					}
				}
			})
		}
	}
}

// TestDemoArgumentsComeInPieces is what the demo is for.
func TestDemoArgumentsComeInPieces(t *testing.T) {
	e := New(Config{Demo: upstream.Demo{Delay: -1}})
	r := &chat.Request{Model: "demo/hermes", Messages: []chat.Message{{Role: chat.User, Content: "write"}}, Tools: []chat.Tool{{
		Name: "write", Schema: json.RawMessage(`{"type":"object","properties":{"content":{"type":"string"}},"required":["content"]}`),
	}}}
	pieces := 0
	for ev, err := range e.Stream(t.Context(), r) {
		if err != nil {
			t.Fatal(err)
		}
		if ev.Kind == chat.CallArgs {
			pieces++
		}
	}
	if pieces < 50 {
		t.Errorf("about 1 KiB of arguments came in %d pieces", pieces)
	}
}
