package proxy

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"toolnorm/engine"
	"toolnorm/engine/upstream"
	"toolnorm/engine/wait"
	"toolnorm/internal/auth"
	"toolnorm/internal/test/streamcheck"
)

// faulty is a model server that speaks Ollama's API and OpenAI's. How it answers a request for a
// reply is up to the test.
type faulty struct {
	*httptest.Server
	mu     sync.Mutex
	reply  http.HandlerFunc
	render func(*http.Request) // if set, what happens before a prompt is rendered
	busy   map[net.Conn]bool   // connections with a request on them
}

// newFaulty starts one.
func newFaulty(t *testing.T) *faulty {
	f := &faulty{busy: map[net.Conn]bool{}}
	f.Server = httptest.NewUnstartedServer(f)
	f.Config.ConnState = func(c net.Conn, s http.ConnState) {
		f.mu.Lock()
		defer f.mu.Unlock()
		if delete(f.busy, c); s == http.StateActive {
			f.busy[c] = true
		}
	}
	f.Start()
	t.Cleanup(f.Close)
	return f
}

// answers sets how requests for a reply are answered.
func (f *faulty) answers(h http.HandlerFunc) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.reply = h
}

func (f *faulty) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	io.Copy(io.Discard, r.Body) // a server sees its client go only when it has read the request
	f.mu.Lock()
	reply := f.reply
	f.mu.Unlock()
	switch r.URL.Path {
	case "/api/tags":
		io.WriteString(w, `{"models":[{"name":"m:latest","digest":"sha256:1"}]}`)
	case "/api/version":
		io.WriteString(w, `{"version":"0.34.3"}`)
	case "/api/show":
		io.WriteString(w, `{"capabilities":["completion","tools"]}`)
	case "/api/ps":
		io.WriteString(w, `{"models":[{"name":"m:latest"}]}`)
	case "/api/chat":
		if f.render != nil {
			f.render(r)
		}
		io.WriteString(w, `{"_debug_info":{"rendered_template":"<|im_start|>assistant\n"},"done":true}`)
	case "/api/generate", "/v1/chat/completions":
		reply(w, r)
	default:
		http.NotFound(w, r)
	}
}

// free waits until no request is on any connection.
func (f *faulty) free() bool {
	for deadline := time.Now().Add(5 * time.Second); ; time.Sleep(time.Millisecond) {
		f.mu.Lock()
		n := len(f.busy)
		f.mu.Unlock()
		if n == 0 {
			return true
		}
		if time.Now().After(deadline) {
			return false
		}
	}
}

// before is the whole program's chain in front of the server: "m" is its model by Ollama's API,
// "box/m" by OpenAI's.
func (f *faulty) before(t *testing.T, limits wait.Timeouts, change ...func(*engine.Config)) *httptest.Server {
	cfg := engine.Config{
		Ollama: f.URL, Format: map[string]string{"*": "hermes"}, Timeouts: limits,
		Upstreams: []engine.Upstream{{Name: "box", URL: f.URL, Kind: upstream.KindOpenAI}},
	}
	for _, c := range change {
		c(&cfg)
	}
	eng := engine.New(cfg)
	srv := httptest.NewServer(new(auth.Guard).Wrap(New(Config{Model: eng, Catalog: eng, Embedder: eng, Ollama: eng})))
	t.Cleanup(srv.Close)
	return srv
}

// asked is a request about twoTools for a reply of a model, streamed or whole.
func asked(model string, stream bool) string {
	return fmt.Sprintf(`{"model":%q,"stream":%v,"messages":[{"role":"user","content":"q"}],`+twoTools+`}`, model, stream)
}

// outcome is how a reply ended, in a line. A reply that has not exactly one end fails the test.
func outcome(t *testing.T, resp *http.Response, body string) string {
	t.Helper()
	if resp.StatusCode != 200 {
		return refusal(t, resp, body)
	}
	if strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		r := mustStream(t, resp.Header, body, streamcheck.Expect{Tools: offered})
		if r.Error != nil {
			return fmt.Sprintf("begun, then an error event, `%s`: %s", strings.Trim(string(*r.Error.Code), `"`), *r.Error.Message)
		}
		return "`" + r.Finish + "`"
	}
	var c struct {
		Choices []struct {
			Reason string `json:"finish_reason"`
		}
	}
	if err := json.Unmarshal([]byte(body), &c); err != nil || len(c.Choices) != 1 || c.Choices[0].Reason == "" {
		t.Errorf("a whole reply without an end: %s", body)
		return "?"
	}
	return "`" + c.Choices[0].Reason + "`"
}

// refusal is an error with a status, in a line.
func refusal(t *testing.T, resp *http.Response, body string) string {
	t.Helper()
	wantErrorBody(t, body, "")
	var e struct {
		Error struct{ Message, Code string }
	}
	if err := json.Unmarshal([]byte(body), &e); err != nil {
		t.Error(err)
	}
	again := "not to be sent again"
	if after := resp.Header.Get("Retry-After"); after != "" {
		again = "again in " + after + " s"
	} else if resp.Header.Get("X-Should-Retry") != "false" {
		t.Errorf("status %d does not say whether to try again", resp.StatusCode)
	}
	return fmt.Sprintf("%d `%s`, %s: %s", resp.StatusCode, e.Error.Code, again, e.Error.Message)
}
