package engine

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ollama/ollama/types/model"

	"toolnorm/chat"
)

// listener writes down all that it hears, generation by generation.
func listener() (*strings.Builder, *chat.Observer) {
	var b strings.Builder
	return &b, &chat.Observer{OnGeneration: func(generation string) func(chat.Event) {
		fmt.Fprintf(&b, "[%s]", generation)
		return func(ev chat.Event) {
			if ev.Kind == chat.Finish {
				b.WriteString("[finish]")
			}
			b.WriteString(strings.TrimPrefix(ev.Text, chat.Stop))
		}
	}}
}

func TestAListenerHearsWhatTheModelWroteAsItWroteIt(t *testing.T) {
	const wrote = "<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {'city': 'Oslo',}}\n</tool_call>"
	e := (&fakeOllama{caps: []model.Capability{model.CapabilityTools}, prompt: "p", text: wrote}).start(t, Config{})
	r := user("hi")
	r.Tools = []chat.Tool{weather}
	heard, o := listener()
	if _, calls, _, err := collectWith(t, e, r, o); err != nil || len(calls) != 1 {
		t.Fatalf("calls %s, error %v", calls, err)
	}
	if want := "[raw]" + wrote + "[finish]"; heard.String() != want {
		t.Errorf("heard %q, want %q", heard, want)
	}
}

func TestAListenerHearsEachGeneration(t *testing.T) {
	f := &fakeOllama{caps: []model.Capability{model.CapabilityTools}, text: "hello", noTap: true, swallow: true}
	e := f.start(t, Config{NoProbe: true})
	e.servers[0].memory.learn("m", "sha:1", func(l *lessons) { l.avoid(Tap) })
	r := user("hi")
	r.Tools = []chat.Tool{weather}
	heard, o := listener()
	if _, _, _, err := collectWith(t, e, r, o); err != nil {
		t.Fatal(err)
	}
	if want := "[native][finish][prompt]hello[finish]"; heard.String() != want {
		t.Errorf("heard %q, want %q", heard, want)
	}
	e, _ = once(t, 200, `{"response":"on","done":false}`+"\n"+`{"response":"","done":true,"done_reason":"stop"}`)
	r = &chat.Request{Model: "m", Continue: &chat.Continuation{Prompt: "go "}}
	heard, o = listener()
	if _, _, _, err := collectWith(t, e, r, o); err != nil || heard.String() != "[raw]on[finish]" {
		t.Errorf("a text that is written on: heard %q, error %v", heard, err)
	}
}

func TestAListenerHearsHowACallIsMended(t *testing.T) {
	wrong, again, right := tagged("forecast", `{"city": "Rome", "days": 9}`), object("forecast", `{"city":"Rome","days":8}`), tagged("forecast", `{"city":"Rome","days":3}`)
	e, _ := guarding(t, Config{}, wrong, again, right)
	r := user("weather?")
	r.Tools = []chat.Tool{forecast}
	heard, o := listener()
	if _, _, _, err := collectWith(t, e, r, o); err != nil {
		t.Fatal(err)
	}
	if want := "[raw]" + wrong + "[finish][rewritten]" + again + "[finish][reasked]" + right; heard.String() != want {
		t.Errorf("heard %q\nwant  %q", heard, want)
	}
}
