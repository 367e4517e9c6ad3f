package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"strings"
	"testing"

	"toolnorm/e2e/script"
	"toolnorm/internal/test/must"
)

// target is a model behind toolnorm, with the prompts that make it say what a test wants.
type target struct {
	name     string
	base     string // toolnorm
	model    string
	unknown  string   // a model that is not there
	embedder string   // the model that embeds
	direct   string   // the server that the embeddings come from; empty: none can be asked
	breaks   *breaker // in front of the server; nil: there is no connection to break
	chat     talk
	one, two talk
	loop     talk   // the call, then the text after the answer
	answer   string // of the tool, in the loop
	endless  string // a prompt with a long reply
}

// talk is a prompt and the reply to it.
type talk struct {
	prompt string
	want   script.Reply
}

// TestEveryClient lets each stock client do what applications do with it, at each kind of server.
func TestEveryClient(t *testing.T) {
	l := open(t)
	for _, target := range l.targets(t) {
		t.Run(target.name, func(t *testing.T) {
			t.Parallel() // the servers have nothing to do with each other
			for _, name := range []string{"openai-current", "openai-4.96", "ollama", "vercel", "langchain"} {
				c := l.clients[name]
				t.Run(name, func(t *testing.T) {
					for _, stream := range []bool{true, false} {
						l.talks(t, c, target, stream)
						l.refusals(t, c, target, stream)
					}
					target.embeds(t, c)
					l.leaves(t, c, target)
				})
			}
		})
	}
}

// targets are the demo, each Ollama, and the llama-server in both ways.
func (l *lane) targets(t *testing.T) []*target {
	t.Helper()
	all := []*target{demoTarget(l.proxied(t, l.newest))}
	for dir, version := range map[string]string{installed.newest: installed.version["OLLAMA"], installed.former: installed.version["OLLAMA_OLD"]} {
		s := must.Have(l.startOllama(dir, version, places, setups[:1]))(t)
		b := l.startBreaker(t, s.base)
		all = append(all, l.scripted(t, target{name: s.name, base: l.witness(t, l.toolnorm(t, "--ollama", b.base, "--max-repeat", "0")), model: "hermes", unknown: "nobody", embedder: "embed", direct: s.base, breaks: b}))
	}
	for _, strategy := range []string{"raw", "native"} {
		b := l.startBreaker(t, l.llama.chat.base)
		base := l.witness(t, l.toolnorm(t, "--ollama", l.newest.base, "--upstream", "llama="+b.base, "--upstream", "embed="+l.llama.embed.base, "--strategy", "*="+strategy, "--max-repeat", "0"))
		all = append(all, l.scripted(t, target{name: "llama-server, " + strategy, base: base, model: "llama/native",
			unknown:  "nobody", // a llama-server answers to every name, so it is Ollama that knows of none
			embedder: "embed/embed", direct: l.llama.embed.base, breaks: b}))
	}
	return all
}

// scripted fills in what to ask a scripted model.
func (l *lane) scripted(t *testing.T, like target) *target {
	t.Helper()
	say := func(name string) talk {
		sc := l.named(t, name)
		return talk{sc.Model.Selector() + " please", *sc.Reply}
	}
	like.chat, like.one, like.two, like.loop = say("plain"), say("hermes_pre"), say("hermes_two"), say("hermes_pre")
	like.answer = "The tool of this long conversation says at last: " + l.named(t, "plain").Model.Selector()
	like.loop.want.Text = l.named(t, "plain").Text()
	like.endless = l.named(t, "loop").Model.Selector() + " please"
	return &like
}

// demoTarget is the model that needs no server.
func demoTarget(base string) *target {
	paris := script.Call{Name: "get_weather", Args: `{"city": "Paris"}`}
	return &target{
		name: "demo", base: base, model: "demo/hermes", unknown: "demo/nobody", embedder: "demo/hermes",
		chat: talk{"Say something.", script.Reply{Text: "Hello! I am a demo without a model behind me: offer me tools and I will call one. You said: Say something."}},
		one:  talk{"What is the weather in Paris?", script.Reply{Text: "I will use get_weather for this.", Calls: []script.Call{paris}}},
		two: talk{`Call get_weather and get_time for "Paris".`, script.Reply{Text: "I will use get_weather and get_time for this.",
			Calls: []script.Call{paris, {Name: "get_time", Args: `{"tz": "Paris"}`}}}},
		loop:    talk{"What is the weather in Paris?", script.Reply{Text: "The tool get_weather answered:\n\nsunny\n\nThat is all I have to say.", Calls: []script.Call{paris}}},
		answer:  "sunny",
		endless: "Say all of this again: " + strings.Repeat("word after word ", 200),
	}
}

// body is a chat of one prompt; the answer to a prompt that wants calls is asked with tools.
func (x *target) body(l *lane, say talk, stream bool) request {
	r := request{Model: x.model, Stream: stream, MaxTokens: 2000, Messages: []message{{Role: "user", Content: say.prompt}}}
	if len(say.want.Calls) > 0 {
		r.Tools = l.tools[:2]
	}
	return r
}

// talks holds conversations: a chat, one call, two calls, and a loop in which the client's own
// means run the tool.
func (l *lane) talks(t *testing.T, c *client, x *target, stream bool) {
	t.Helper()
	for what, say := range map[string]talk{"chat": x.chat, "one call": x.one, "two calls": x.two} {
		got := c.chat(x.base, x.body(l, say, stream))
		if c.name == "ollama" && got.Finish == "stop" && len(got.Calls) > 0 {
			got.Finish = "tool_calls" // that API has no such word
		}
		for _, fault := range faults(&say.want, got) {
			t.Errorf("%s, streamed %t: %s", what, stream, fault)
		}
		if got.Error == "" && (got.Usage == nil || got.Usage.Prompt == 0 || got.Usage.Completion == 0) && (stream && c.name != "openai-current" && c.name != "openai-4.96") {
			t.Errorf("%s, streamed %t: usage %+v, want the tokens", what, stream, got.Usage)
		}
	}
	got := c.do(job{Do: "loop", Base: x.base, Answer: x.answer}, x.body(l, x.loop, stream))
	got.Finish = "tool_calls" // of the first reply; the client does not show it
	for _, fault := range faults(&x.loop.want, got) {
		t.Errorf("tool loop, streamed %t: %s", stream, fault)
	}
}

// refusals are requests that cannot be answered, and a server that breaks in the middle.
func (l *lane) refusals(t *testing.T, c *client, x *target, stream bool) {
	t.Helper()
	unknown := x.body(l, x.chat, stream)
	unknown.Model = x.unknown
	if got := c.chat(x.base, unknown); got.Status != http.StatusNotFound {
		t.Errorf("unknown model, streamed %t: status %d, error %q, want 404", stream, got.Status, got.Error)
	}
	wrong := x.body(l, x.chat, stream)
	wrong.Wrong = true
	if got := c.chat(x.base, wrong); got.Status != http.StatusBadRequest {
		t.Errorf("a field that cannot be honoured, streamed %t: status %d, error %q, content %q, want 400", stream, got.Status, got.Error, got.Content)
	}
	if x.breaks == nil {
		return
	}
	x.breaks.armed.Store(true)
	got := c.chat(x.base, x.body(l, talk{prompt: x.endless}, stream))
	x.breaks.armed.Store(false)
	switch {
	case got.Error == "":
		t.Errorf("broken in the middle, streamed %t: no error, but %q", stream, got.Content)
	case !stream && got.Status != http.StatusBadGateway && c.name != "ollama": // without tools its replies are passed through as they come
		t.Errorf("broken in the middle: status %d, error %q, want 502", got.Status, got.Error)
	case stream && got.Status != 0:
		t.Errorf("broken in the middle, streamed: status %d, error %q, want an error in the stream", got.Status, got.Error)
	}
}

// embeds compares the vectors that the client got with the server's own.
func (x *target) embeds(t *testing.T, c *client) {
	t.Helper()
	body := embedding{x.embedder, []string{"a first text", "another one"}}
	got := c.do(job{Do: "embed", Base: x.base}, body)
	if c.name == "ollama" && strings.Contains(x.embedder, "/") && x.direct != "" {
		if got.Error == "" {
			t.Error("embeddings: a server that does not speak Ollama's API was asked in it")
		}
		return
	}
	if got.Error != "" || len(got.Vectors) != 2 || len(got.Vectors[0]) < 8 {
		t.Errorf("embeddings: error %q, %d vectors", got.Error, len(got.Vectors))
		return
	}
	if apart(got.Vectors[0], got.Vectors[1]) < 1e-4 {
		t.Error("embeddings: two texts have one vector")
	}
	if x.direct == "" {
		return
	}
	want, err := body.ask(x.direct)
	if err != nil {
		t.Fatalf("embeddings of the server itself: %v", err)
	}
	for i := range want {
		if d := apart(want[i], got.Vectors[i]); d > 1e-6 {
			t.Errorf("embeddings: vector %d is %g away from the server's own", i, d)
		}
	}
}

// embedding is a request for vectors.
type embedding struct {
	Model string   `json:"model"`
	Input []string `json:"input"`
}

// ask has the server itself embed.
func (e embedding) ask(base string) ([][]float64, error) {
	b, err := json.Marshal(e)
	if err != nil {
		return nil, err
	}
	resp, err := http.Post(base+"/v1/embeddings", "application/json", bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	var out struct {
		Data []struct{ Embedding []float64 }
	}
	if err := json.NewDecoder(resp.Body).Decode(&out); err != nil {
		return nil, err
	}
	if len(out.Data) != len(e.Input) {
		return nil, fmt.Errorf("%d vectors of %d texts", len(out.Data), len(e.Input))
	}
	vectors := make([][]float64, len(out.Data))
	for i, d := range out.Data {
		vectors[i] = d.Embedding
	}
	return vectors, nil
}

// apart is the largest difference of two vectors' numbers.
func apart(a, b []float64) (d float64) {
	if len(a) != len(b) {
		return math.Inf(1)
	}
	for i := range a {
		d = max(d, math.Abs(a[i]-b[i]))
	}
	return d
}

// leaves drops a stream. The llama-server runs one request at a time, so the reply after it proves
// that the first was stopped; of Ollama that is TestDroppedStreamFreesTheServer's part.
func (l *lane) leaves(t *testing.T, c *client, x *target) {
	t.Helper()
	endless := x.body(l, talk{prompt: x.endless}, true)
	endless.MaxTokens = 0
	if got := c.do(job{Do: "abort", Base: x.base}, endless); !got.Aborted || got.Error != "" {
		t.Errorf("abort: aborted %t, error %q", got.Aborted, got.Error)
	}
	if f := faults(&x.chat.want, c.chat(x.base, x.body(l, x.chat, false))); len(f) > 0 {
		t.Errorf("the reply after an abort: %q", f)
	}
}
