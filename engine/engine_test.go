package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ollama/ollama/types/model"

	"toolnorm/adapters"
	"toolnorm/chat"
	"toolnorm/engine/ollama"
	"toolnorm/engine/wait"
	"toolnorm/internal/fault"
	"toolnorm/internal/test/must"
)

var weather = chat.Tool{
	Name: "get_weather", Description: "Weather for a city",
	Schema: json.RawMessage(`{"type":"object","properties":{"city":{"type":"string","pattern":"^.+$"},"days":{"type":"integer"}},"required":["city"]}`),
}

// TestStrategies is which requests each kind of server and request leads to, the first time.
func TestStrategies(t *testing.T) {
	tools := []model.Capability{model.CapabilityCompletion, model.CapabilityTools}
	plain := tools[:1]
	withTool := func(r *chat.Request) *chat.Request { r.Tools = []chat.Tool{weather}; return r }
	withPicture := func(r *chat.Request) *chat.Request { r.Messages[0].Images = [][]byte{{1}}; return r }
	rows := []struct {
		name     string
		server   fakeOllama
		config   map[string]string
		request  *chat.Request
		strategy string
		asked    string
	}{
		{"a server that renders", fakeOllama{caps: tools, prompt: "p"}, nil, withTool(user("hi")), Raw, "tags show render vocabulary version render generate"},
		{"no tools offered", fakeOllama{caps: plain, prompt: "p"}, nil, user("hi"), Raw, "tags show render vocabulary render generate"},
		{"a server that does not render", fakeOllama{caps: tools}, nil, withTool(user("hi")), Tap, "tags show render vocabulary version tap"},
		{"neither rendering nor tools", fakeOllama{caps: tools}, nil, user("hi"), Native, "tags show render vocabulary version chat"},
		{"tap by configuration", fakeOllama{caps: tools, prompt: "p"}, map[string]string{"*": Tap}, withTool(user("hi")), Tap, "tags show render vocabulary version tap"},
		{"pictures and tools, and tokens without their bytes", fakeOllama{caps: append(tools, model.CapabilityVision), prompt: "p", version: "0.24.0"}, nil, withPicture(withTool(user("hi"))), Native, "tags show render vocabulary version chat"},
		{"pictures and tools", fakeOllama{caps: append(tools, model.CapabilityVision), prompt: "p"}, nil, withPicture(withTool(user("hi"))), Tap, "tags show render vocabulary version tap"},
		{"native by configuration", fakeOllama{caps: tools, prompt: "p"}, map[string]string{"*": Native}, withTool(user("hi")), Native, "tags show render vocabulary version chat"},
		{"pictures", fakeOllama{caps: append(tools, model.CapabilityVision), prompt: "p"}, nil, withPicture(user("hi")), Native, "tags show render vocabulary version chat"},
		{"a model without tools", fakeOllama{caps: plain, prompt: "p"}, nil, withTool(user("hi")), Prompt, "tags show render vocabulary render generate"},
		{"neither tools nor rendering", fakeOllama{caps: plain}, nil, withTool(user("hi")), Prompt, "tags show render vocabulary chat"},
	}
	for i := range rows {
		row := &rows[i]
		t.Run(row.name, func(t *testing.T) {
			row.server.text = "hello"
			e := row.server.start(t, Config{Strategy: row.config, NoProbe: true})
			text, _, end, err := collect(t, e, row.request)
			if text != "hello" || err != nil || end == nil || end.Text != chat.Stop {
				t.Fatalf("text %q, end %v, error %v", text, end, err)
			}
			if end.Meta.Strategy != row.strategy || end.Meta.Format == "" {
				t.Errorf("Finish says %+v, want strategy %s and a format", end.Meta, row.strategy)
			}
			if got := row.server.paths(); got != row.asked {
				t.Errorf("asked %s, want %s", got, row.asked)
			}
			for _, c := range row.server.chats[1:] {
				if offered := len(c.Tools) > 0; offered != (row.strategy != Prompt && len(row.request.Tools) > 0) {
					t.Errorf("the server was offered tools: %v", offered)
				}
			}
		})
	}
}

func TestModelsAreProbedOncePerDigest(t *testing.T) {
	f := &fakeOllama{caps: []model.Capability{model.CapabilityCompletion}, prompt: "p", text: "x"}
	e := f.start(t, Config{})
	collect(t, e, user("hi"))
	f.paths()
	collect(t, e, user("hi"))
	if got := f.paths(); got != "render generate" {
		t.Errorf("the second request asked %s", got)
	}
	e.servers[0].backend.(*ollama.Backend).ListAge = 1
	collect(t, e, user("hi"))
	if got := f.paths(); got != "tags render generate" {
		t.Errorf("with an old list the request asked %s", got)
	}
	f.digest = "sha:2"
	collect(t, e, user("hi"))
	if got := f.paths(); got != "tags show render vocabulary render generate" {
		t.Errorf("with a new digest the request asked %s", got)
	}
}

// TestWhatIsSent looks at the two requests of the raw strategy.
func TestWhatIsSent(t *testing.T) {
	f := &fakeOllama{caps: []model.Capability{model.CapabilityTools, model.CapabilityThinking}, prompt: "PROMPT", text: "x"}
	e := f.start(t, Config{Lengths: Lengths{NumCtx: 8192}})
	seed, temperature, think := int64(5), 0.25, false
	r := user("hi")
	r.Tools, r.Stop, r.MaxTokens, r.Seed, r.Temperature, r.Think = []chat.Tool{weather}, []string{"END"}, 99, &seed, &temperature, &think
	r.Options = map[string]json.RawMessage{"min_p": json.RawMessage("0.1")}
	if _, _, _, err := collect(t, e, r); err != nil {
		t.Fatal(err)
	}
	render, raw := f.chats[len(f.chats)-1], f.generes[0]
	if got := options(render.Options); got != `min_p=0.1 num_ctx=8192 num_predict=1 seed=5 temperature=0.25` {
		t.Errorf("render options %s", got)
	}
	if got := options(raw.Options); got != `min_p=0.1 num_ctx=8192 num_predict=99 seed=5 temperature=0.25` {
		t.Errorf("generate options %s", got)
	}
	if string(render.Think) != "false" || render.Stream || render.Truncate || !render.RenderOnly {
		t.Errorf("rendered with %+v", render)
	}
	if got := string(render.Tools[0].Function.Parameters); got != `{"type":"object","properties":{"city":{"description":"(pattern: ^.+$)","type":"string"},"days":{"type":"integer"}},"required":["city"]}` {
		t.Errorf("rendered with the schema %s", got)
	}
	if raw.Prompt != "PROMPT" || !raw.Raw || raw.Think == nil || *raw.Think || raw.Truncate || !raw.Stream {
		t.Errorf("generated with %+v", raw)
	}
	r.Tools = nil
	collect(t, e, r)
	if got := options(f.generes[1].Options); !strings.Contains(got, `stop=["END"]`) {
		t.Errorf("without tools the options are %s, want the stop sequence among them", got)
	}
}

// options are written in one line, sorted.
func options(o map[string]json.RawMessage) string {
	var parts []string
	for k, v := range o {
		parts = append(parts, k+"="+string(v))
	}
	slices.Sort(parts)
	return strings.Join(parts, " ")
}

func TestFaults(t *testing.T) {
	down := New(Config{Ollama: "http://127.0.0.1:1"})
	busy := (&fakeOllama{refuse: map[string]int{"/api/chat": 503}}).start(t, Config{Timeouts: wait.Timeouts{Queue: -1}})
	unknown := (&fakeOllama{refuse: map[string]int{"/api/show": 404}}).start(t, Config{})
	bad := &fakeOllama{prompt: "p"}
	history := user("hi")
	history.Messages = append(history.Messages, chat.Message{Role: chat.Assistant, Calls: []chat.Call{{Name: "f", Args: json.RawMessage(`[1]`)}}})
	half, cold := user("hi"), user("hi")
	half.Messages = append(half.Messages, chat.Message{Role: chat.Assistant, Calls: []chat.Call{{Name: "f"}, {Name: "f", Args: json.RawMessage(`{"a":`)}}})
	none := math.NaN()
	cold.Temperature = &none
	rows := []struct {
		name    string
		engine  *Engine
		request *chat.Request
		kind    fault.Kind
		says    string
	}{
		{"no server", down, user("hi"), fault.Unavailable, "ollama serve"},
		{"busy", busy, user("hi"), fault.Busy, "no"},
		{"no such model", unknown, user("hi"), fault.NotFound, "no"},
		{"no such demo", down, &chat.Request{Model: "demo/no such format at all"}, fault.NotFound, "not found"},
		{"no model named", down, &chat.Request{}, fault.Invalid, "names no model"},
		{"arguments that are a list", bad.start(t, Config{}), history, fault.Invalid, "messages[1].tool_calls[0].function.arguments"},
		{"half of the arguments", down, half, fault.Invalid, "messages[1].tool_calls[1].function.arguments"},
		{"a number that is none", down, cold, fault.Invalid, "temperature is no number"},
	}
	for _, row := range rows {
		if row.name == "no such demo" && adapters.Named("no such format at all") != nil {
			continue // until the formats are there
		}
		_, _, end, err := collect(t, row.engine, row.request)
		var f *fault.Error
		if !errors.As(err, &f) || f.Kind != row.kind || !strings.Contains(f.Message, row.says) || end != nil {
			t.Errorf("%s: %v, want kind %d and %q", row.name, err, row.kind, row.says)
		}
	}
}

func TestDefaultModel(t *testing.T) {
	f := &fakeOllama{prompt: "p", text: "x"}
	e := f.start(t, Config{Naming: Naming{DefaultModel: "m"}})
	r := user("hi")
	r.Model = ""
	if text, _, _, err := collect(t, e, r); text != "x" || err != nil {
		t.Errorf("text %q, error %v", text, err)
	}
}

// TestCancelReachesTheServer measures from the cancellation to the server's seeing it.
func TestCancelReachesTheServer(t *testing.T) {
	f := &fakeOllama{prompt: "p", gone: make(chan time.Time, 1)}
	e := f.start(t, Config{})
	for _, leave := range []string{"cancel", "break"} {
		ctx, cancel := context.WithCancel(t.Context())
		n := 0
		var left time.Time
		var last error
		for _, err := range e.Stream(ctx, user("hi")) {
			if n++; n == 3 {
				left = time.Now()
				if leave == "break" {
					break
				}
				cancel()
			}
			last = err
		}
		late := (<-f.gone).Sub(left)
		t.Logf("%s: the server saw it after %v", leave, late)
		if late > 2*time.Second { // 50 ms is the aim; a busy machine is no failure
			t.Errorf("%s: the server went on for %v", leave, late)
		}
		if leave == "cancel" && fault.From(last).Kind != fault.Canceled {
			t.Errorf("the reply ended with %v", last)
		}
		cancel()
	}
}

func TestPulseReachesTheClient(t *testing.T) {
	f := &fakeOllama{prompt: "p", gone: make(chan time.Time, 1)}
	e := f.start(t, Config{})
	idle := 0
	r := user("hi")
	o := &chat.Observer{Pulse: &chat.Pulse{Idle: func() { idle++ }, Beat: func(string) error { return nil }}}
	n := 0
	for range e.Stream(chat.WithObserver(t.Context(), o), r) {
		if n++; n == 5 {
			break
		}
	}
	<-f.gone
	if idle < 5 {
		t.Errorf("%d flushes for 5 records that came one by one", idle)
	}
}

func TestModels(t *testing.T) {
	f := &fakeOllama{}
	for name, want := range map[string]string{"up": "m:latest ollama 7", "down": ""} {
		e := f.start(t, Config{})
		if name == "down" {
			e = New(Config{Ollama: "http://127.0.0.1:1"})
		}
		list, err := e.Models(t.Context())
		must.OK(t, err)
		var ids []string
		for _, m := range list {
			ids = append(ids, m.ID)
			if hidden := name == "up" && strings.HasPrefix(m.ID, "demo/"); m.Hidden != hidden {
				t.Errorf("%s: %+v, want hidden %t", name, m, hidden)
			}
			if m.Owner == "ollama" && (m.ID != "m:latest" || m.Created != 7) {
				t.Errorf("%s: %+v", name, m)
			}
		}
		if slices.Contains(ids, "m:latest") != (want != "") {
			t.Errorf("%s: models %v", name, ids)
		}
		for _, format := range adapters.All() {
			if !slices.Contains(ids, "demo/"+format.Name) {
				t.Errorf("%s: no demo model of %s", name, format.Name)
			}
		}
	}
}

// A server whose kind cannot be found out, since it is down, is left out of every list, and an
// error where it is meant.
func TestAServerOfUnknownKindThatIsDown(t *testing.T) {
	f := &fakeOllama{}
	e := f.start(t, Config{Upstreams: []Upstream{{Name: "box", URL: "http://127.0.0.1:1"}}})
	list, err := e.Models(t.Context())
	if err != nil || !slices.ContainsFunc(list, func(m chat.Info) bool { return m.ID == "m:latest" }) {
		t.Errorf("models %v, %v", list, err)
	}
	for name, body := range map[string]func(context.Context) (json.RawMessage, error){"tags": e.Tags, "running": e.Running} {
		if b, err := body(t.Context()); err != nil || !json.Valid(b) || bytes.Contains(b, []byte("box/")) {
			t.Errorf("%s: %s, %v", name, b, err)
		}
	}
	if _, _, err := e.Server(t.Context(), "box/m", nil); err == nil {
		t.Error("there is a way to it")
	}
	if _, err := e.Describe(t.Context(), "box/m", false); err == nil {
		t.Error("its model is described")
	}
	if _, err := e.Embed(t.Context(), &chat.EmbedRequest{Model: "box/m", Input: []string{"a"}}); err == nil {
		t.Error("it embeds")
	}
	for _, err := range e.Stream(t.Context(), &chat.Request{Model: "box/m", Messages: []chat.Message{{Role: chat.User, Content: "Hi"}}}) {
		if !strings.Contains(fault.From(err).Message, "does not say whether it is") {
			t.Errorf("it answers: %v", err)
		}
	}
}

func TestValidate(t *testing.T) {
	for _, row := range []struct {
		config Config
		says   string
	}{
		{Config{}, ""},
		{Config{Strategy: map[string]string{"a": Raw, "b": Native, "c": Prompt, "d": Tap}}, ""},
		{Config{Strategy: map[string]string{"q*": "taps"}}, `strategy of "q*": "taps"`},
		{Config{Strategy: map[string]string{"q*": "clone"}}, `none of raw, tokens, tap, native, prompt (it is gone`},
		{Config{Lengths: Lengths{NumCtx: -1}}, "num_ctx"},
		{Config{Ollama: "ftp://x"}, "ftp"},
	} {
		if err := row.config.Validate(); (err == nil) != (row.says == "") || err != nil && !strings.Contains(err.Error(), row.says) {
			t.Errorf("Validate(%+v) = %v, want %q", row.config, err, row.says)
		}
	}
}
