package engine

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/valyala/fastjson"

	"toolnorm/chat"
	"toolnorm/engine/upstream"
	"toolnorm/engine/wait"
	"toolnorm/internal/fault"
	"toolnorm/internal/test/must"
)

// box is a server of a pool: a fakeOllama that notes the keys of the requests that came.
type box struct {
	fakeOllama
	status int // of every generation, if not 0
	says   string
	cut    bool // it breaks the connection at a generation, before anything came
	late   bool // it breaks it behind its first record

	keysMu   sync.Mutex
	keys     []string // of the requests that had one
	requests int
	server   *httptest.Server
}

// newBox starts one.
func newBox(t *testing.T, text string) *box {
	b := &box{fakeOllama: fakeOllama{text: text, digest: "sha:1", prompt: "P"}}
	b.server = httptest.NewServer(b)
	t.Cleanup(b.server.Close)
	return b
}

// ServeHTTP implements http.Handler.
func (b *box) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b.keysMu.Lock()
	if key := r.Header.Get(upstream.ConversationHeader); key != "" {
		b.keys = append(b.keys, key)
	}
	b.requests++
	b.keysMu.Unlock()
	if r.URL.Path == "/api/generate" || r.URL.Path == "/api/embed" {
		switch {
		case b.status != 0:
			w.WriteHeader(b.status)
			fmt.Fprintf(w, `{"error":%q}`, b.says)
			return
		case b.late:
			io.WriteString(w, `{"response":"half","done":false}`+"\n")
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		case b.cut:
			panic(http.ErrAbortHandler)
		}
	}
	b.fakeOllama.ServeHTTP(w, r)
}

// served returns how many generations a box has begun.
func (b *box) served() int { return len(b.generes) }

// say asks for a reply to a conversation that begins with that text, and returns it.
func say(e *Engine, text string) (string, error) {
	r := &chat.Request{Model: "m", Messages: []chat.Message{{Role: chat.User, Content: text}}}
	var out strings.Builder
	for ev, err := range e.Stream(context.Background(), r) {
		if err != nil {
			return out.String(), err
		}
		if ev.Kind == chat.Text {
			out.WriteString(ev.Text)
		}
	}
	return out.String(), nil
}

// pooled makes an engine over boxes.
func pooled(boxes ...*box) *Engine {
	var urls []string
	for _, b := range boxes {
		urls = append(urls, b.server.URL)
	}
	return New(Config{Ollama: strings.Join(urls, ","), Demos: DemoNever, NamesOnly: true, Timeouts: wait.Timeouts{Queue: 2 * time.Second}})
}

func TestEveryRequestOfATurnHasItsConversationsKey(t *testing.T) {
	a := newBox(t, "hello")
	e := pooled(a)
	if _, err := say(e, "one"); err != nil {
		t.Fatal(err)
	}
	if len(a.keys) != a.requests || a.requests < 4 {
		t.Errorf("%d keys for %d requests: %q", len(a.keys), a.requests, a.asked)
	}
	if len(slices.Compact(slices.Clone(a.keys))) != 1 {
		t.Errorf("keys of one turn: %q", a.keys)
	}
	first := a.keys[0]
	if _, err := say(New(e.cfg), "one"); err != nil || a.keys[len(a.keys)-1] != first {
		t.Errorf("another replica's key is %q, want %q (%v)", a.keys[len(a.keys)-1], first, err)
	}
	long := &chat.Request{Model: "m", Messages: []chat.Message{{Role: chat.User, Content: "one"}, {Role: chat.Assistant, Content: "hello"}, {Role: chat.User, Content: "and?"}}}
	if got := root("m", long); got != first {
		t.Errorf("the key of a second turn is %q, want %q", got, first)
	}
	for name, r := range map[string]*chat.Request{
		"text":  {Messages: []chat.Message{{Role: chat.User, Content: "two"}}},
		"tools": {Messages: long.Messages, Tools: []chat.Tool{{Name: "f"}}},
	} {
		if root("m", r) == first {
			t.Errorf("another %s has the same key", name)
		}
	}
	if root("n", long) == first {
		t.Error("another model has the same key")
	}
}

func TestAConversationStaysAtItsServer(t *testing.T) {
	boxes := []*box{newBox(t, "a"), newBox(t, "b"), newBox(t, "c")}
	e := pooled(boxes...)
	used := map[string]int{}
	for n := range 120 {
		text := fmt.Sprint("conversation ", n)
		first, err := say(e, text)
		must.OK(t, err)
		if again, err := say(e, text); err != nil || again != first {
			t.Errorf("%s: %q (%v), then %q", text, first, err, again)
		}
		used[first]++
	}
	for _, name := range []string{"a", "b", "c"} {
		if used[name] < 15 {
			t.Errorf("%d of 120 conversations at %s: %v", used[name], name, used)
		}
	}
}

// TestAServerThatFailsIsReplaced breaks each server in each way, in front of its first byte and
// behind it.
func TestAServerThatFailsIsReplaced(t *testing.T) {
	for name, break1 := range map[string]func(*box){
		"gone":   func(b *box) { b.server.Close() },
		"broken": func(b *box) { b.cut = true },
		"full": func(b *box) {
			b.status, b.says = 503, "server busy, please try again.  maximum pending requests exceeded"
		},
		"lacks it":  func(b *box) { b.status, b.says = 404, `model "m" not found, try pulling it first` },
		"crashes":   func(b *box) { b.status, b.says = 500, "llama runner process has terminated" },
		"loads yet": func(b *box) { b.status, b.says = 503, "Loading model" },
	} {
		t.Run(name, func(t *testing.T) {
			boxes := []*box{newBox(t, "first"), newBox(t, "second")}
			e := pooled(boxes...)
			for n := range 12 { // of which each has some
				if _, err := say(e, fmt.Sprint(n)); err != nil {
					t.Fatal(err)
				}
			}
			break1(boxes[0])
			for n := range 12 {
				if got, err := say(e, fmt.Sprint(n)); err != nil || got != "second" {
					t.Errorf("conversation %d: %q, %v", n, got, err)
				}
			}
		})
	}
	t.Run("behind the first byte", func(t *testing.T) {
		boxes := []*box{newBox(t, "first"), newBox(t, "second")}
		boxes[0].late, boxes[1].late = true, true
		got, err := say(pooled(boxes...), "x")
		if err == nil || got != "half" || fault.From(err).Kind != fault.Unavailable {
			t.Errorf("%q, %v", got, err)
		}
	})
}

func TestNoServerOfAPool(t *testing.T) {
	boxes := []*box{newBox(t, "first"), newBox(t, "second")}
	e := pooled(boxes...)
	if _, err := say(e, "x"); err != nil {
		t.Fatal(err)
	}
	boxes[0].server.Close()
	boxes[1].server.Close()
	for range 2 {
		began := time.Now()
		_, err := say(e, "x")
		f := fault.From(err)
		if f.Kind != fault.Busy || f.Code != poolAway || !strings.Contains(f.Message, boxes[0].server.URL) || !strings.Contains(f.Message, boxes[1].server.URL) {
			t.Errorf("%+v", f)
		}
		if took := time.Since(began); took > 2*listWait {
			t.Errorf("it took %v to say so", took)
		}
	}
}

// TestAFullPoolIsWaitedFor has every server refuse for a moment: that is load, and no error.
func TestAFullPoolIsWaitedFor(t *testing.T) {
	a, b := newBox(t, "a"), newBox(t, "b")
	var mu sync.Mutex
	until := time.Now().Add(700 * time.Millisecond)
	for _, one := range []*box{a, b} {
		one.server.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			defer mu.Unlock()
			if r.URL.Path == "/api/generate" && time.Now().Before(until) {
				w.WriteHeader(503)
				io.WriteString(w, `{"error":"server busy, please try again.  maximum pending requests exceeded"}`)
				return
			}
			one.ServeHTTP(w, r)
		})
	}
	if got, err := say(pooled(a, b), "x"); err != nil || got == "" {
		t.Errorf("%q, %v", got, err)
	}
}

func TestAModelGoesWhereItIs(t *testing.T) {
	a, b := newBox(t, "a"), newBox(t, "b")
	a.server.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/api/tags" {
			io.WriteString(w, `{"models":[{"name":"other:latest","digest":"sha:9"}]}`)
			return
		}
		t.Errorf("%s was asked of a server without the model", r.URL.Path)
	})
	e := pooled(a, b)
	for n := range 8 {
		if got, err := say(e, fmt.Sprint(n)); err != nil || got != "b" {
			t.Errorf("%q, %v", got, err)
		}
	}
	all, err := e.Models(t.Context())
	var names []string
	for _, m := range all {
		names = append(names, m.ID)
	}
	if err != nil || !slices.Contains(names, "other:latest") || !slices.Contains(names, "m:latest") {
		t.Errorf("models %q, %v", names, err)
	}
}

func TestStatesOfAPool(t *testing.T) {
	a, b := newBox(t, "a"), newBox(t, "b")
	b.digest = "sha:2"
	gone := newBox(t, "gone")
	gone.server.Close()
	states := pooled(a, b, gone).States(t.Context())
	if len(states) != 3 || !states[0].Up || !states[1].Up || states[2].Up || states[0].At != a.server.URL || states[0].Label() == states[1].Label() {
		t.Errorf("%+v", states)
	}
	if !slices.Equal(states[1].Unlike, []string{"m"}) || states[0].Unlike != nil {
		t.Errorf("digests that differ: %q, %q", states[0].Unlike, states[1].Unlike)
	}
}

func TestPoolsThatCannotBe(t *testing.T) {
	for want, cfg := range map[string]Config{
		"there twice":     {Ollama: "http://a:11434,a"},
		"behind a comma":  {Ollama: "a,"},
		"of kind openai":  {Upstreams: []Upstream{{Name: "p", URL: "ollama+http://a,openai+http://b"}}},
		"b is there twic": {Upstreams: []Upstream{{Name: "p", URL: "http://b,http://b/"}}},
	} {
		if err := cfg.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", cfg, err, want)
		}
	}
	if err := (Config{Ollama: "a:1,b:2", Upstreams: []Upstream{{Name: "p", URL: "openai+http://a,http://b"}}}).Validate(); err != nil {
		t.Error(err)
	}
}

// TestWhatIsPassedOnGoesByItsConversation passes requests of Ollama's own API on, and takes one
// server away.
func TestWhatIsPassedOnGoesByItsConversation(t *testing.T) {
	const conversations = 40 // the ports differ from run to run, and so does which server each gets
	boxes := []*box{newBox(t, "first"), newBox(t, "second")}
	e := pooled(boxes...)
	ask := func(text string) (string, error) {
		body := fmt.Sprintf(`{"model":"m","prompt":%q}`, text)
		way, _, err := e.Server(t.Context(), "m", fastjson.MustParse(body))
		if err != nil {
			return "", err
		}
		resp, err := way.RoundTrip(httptest.NewRequest("POST", "http://here/api/generate", strings.NewReader(body)))
		if err != nil {
			return "", err
		}
		defer resp.Body.Close()
		all, err := io.ReadAll(resp.Body)
		return string(all), err
	}
	for n := range conversations {
		text := fmt.Sprint(n)
		first, err := ask(text)
		again, err2 := ask(text)
		if err != nil || err2 != nil || first == "" || first != again {
			t.Errorf("%q, %v; %q, %v", first, err, again, err2)
		}
	}
	for _, b := range boxes {
		if b.served() == 0 || len(b.keys) == 0 {
			t.Errorf("%d served, keys %q", b.served(), b.keys)
		}
	}
	boxes[0].server.Close()
	for n := range conversations {
		if got, err := ask(fmt.Sprint(n)); err != nil || got == "" {
			t.Errorf("%q, %v", got, err)
		}
	}
	p := e.servers[0].pool
	for _, m := range p.members {
		if m.running != 0 {
			t.Errorf("%s still has %d", m.at, m.running)
		}
	}
}

// BenchmarkKey makes the key of a turn of an agent: 40 KB of system text and tools.
func BenchmarkKey(b *testing.B) {
	r := &chat.Request{Model: "m", Messages: []chat.Message{
		{Role: chat.System, Content: strings.Repeat("You are an agent. ", 1000)},
		{Role: chat.User, Content: strings.Repeat("Fix the tests. ", 100)},
	}}
	for n := range 20 {
		r.Tools = append(r.Tools, chat.Tool{Name: fmt.Sprint("tool", n), Schema: []byte(`{"type":"object","description":"` + strings.Repeat("words ", 200) + `"}`)})
	}
	for b.Loop() {
		root("m", r)
	}
}

// BenchmarkTurn chooses a server of a pool of eight, as every request does.
func BenchmarkTurn(b *testing.B) {
	e := New(Config{Ollama: "a,b,c,d,e,f,g,h", Demos: DemoNever})
	p := e.servers[0].pool
	for _, m := range p.members {
		m.has, m.listed = map[string]string{"m": "sha:1"}, time.Now().Add(time.Hour)
	}
	ctx := b.Context()
	for b.Loop() {
		t := e.newTurn("0123456789abcdef")
		if _, err := p.known(t.context(ctx), "m"); err != nil {
			b.Fatal(err)
		}
		t.end()
	}
}
