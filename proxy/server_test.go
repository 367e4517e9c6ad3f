package proxy

import (
	"context"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"toolnorm/chat"
	"toolnorm/internal/auth"
	"toolnorm/internal/test/must"
	"toolnorm/internal/test/streamcheck"
)

// script is a model that says what it is told to. A step is an event, an error, or one of the marks
// below.
type script []any

// Marks in a script: what the upstream's reader does between events.
type mark string

const (
	idle mark = "idle" // nothing more is buffered: flush
	beat mark = "beat" // a silent interval has passed
)

// told keeps the last request that a script answered.
type told struct {
	script
	last *chat.Request
}

var (
	_ chat.Model   = (*told)(nil)
	_ chat.Catalog = (*told)(nil)
)

func (m *told) Stream(ctx context.Context, r *chat.Request) iter.Seq2[chat.Event, error] {
	m.last = r
	return func(yield func(chat.Event, error) bool) {
		for _, step := range m.script {
			switch s := step.(type) {
			case chat.Event:
				if !yield(s, nil) {
					return
				}
			case error:
				yield(chat.Event{}, s)
				return
			case mark:
				if s == idle {
					chat.ObserverOf(ctx).Pulse.Idle()
				} else if err := chat.ObserverOf(ctx).Pulse.Beat(""); err != nil {
					return
				}
			}
		}
	}
}

func (m *told) Models(context.Context) ([]chat.Info, error) {
	return []chat.Info{{ID: "qwen3:latest", Created: 5, Owner: "ollama"}, {ID: "demo/hermes", Owner: "toolnorm"}}, nil
}

// Real knows one pattern of aliases, claude-*.
func (m *told) Real(name string) string {
	if strings.HasPrefix(name, "claude-") {
		return "qwen3"
	}
	return name
}

// Events, shortly.
func say(s string) chat.Event   { return chat.Event{Kind: chat.Text, Text: s} }
func think(s string) chat.Event { return chat.Event{Kind: chat.Reasoning, Text: s} }
func call(i int, name string) chat.Event {
	return chat.Event{Kind: chat.CallStart, Index: i, ID: fmt.Sprintf("call_%d", i), Text: name}
}
func args(i int, s string) chat.Event { return chat.Event{Kind: chat.CallArgs, Index: i, Text: s} }
func endOf(i int) chat.Event          { return chat.Event{Kind: chat.CallEnd, Index: i} }
func finish(reason string) chat.Event { return chat.Event{Kind: chat.Finish, Text: reason} }
func counted(in, out int) chat.Event {
	return chat.Event{Kind: chat.Usage, Meta: &chat.Meta{Usage: &chat.Counts{Prompt: in, Completion: out}}}
}

// serve starts a server over a script.
func serve(t *testing.T, s script, change ...func(*Config)) (*httptest.Server, *told) {
	t.Helper()
	m := &told{script: s}
	cfg := Config{Model: m, Catalog: m, Version: "test"}
	for _, f := range change {
		f(&cfg)
	}
	srv := httptest.NewServer(new(auth.Guard).Wrap(New(cfg)))
	t.Cleanup(srv.Close)
	return srv, m
}

// do sends a request and reads its whole answer.
func do(t *testing.T, method, url, body string, header ...string) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequest(method, url, strings.NewReader(body))
	must.OK(t, err)
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
		if header[i] == "Host" {
			req.Host = header[i+1]
		}
	}
	resp, err := http.DefaultTransport.RoundTrip(req)
	must.OK(t, err)
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	must.OK(t, err)
	return resp, string(b)
}

const twoTools = `"tools":[{"type":"function","function":{"name":"get_weather","parameters":{"type":"object"}}},{"type":"function","function":{"name":"get_time"}}]`

// offered are the names in twoTools.
var offered = []string{"get_weather", "get_time"}

// post sends a chat request about twoTools.
func post(t *testing.T, srv *httptest.Server, more string) (*http.Response, string) {
	t.Helper()
	return do(t, "POST", srv.URL+"/v1/chat/completions", `{"model":"m","messages":[{"role":"user","content":"q"}],`+twoTools+more+`}`)
}

// mustStream puts a stream together and fails the test for every rule that it breaks.
func mustStream(t *testing.T, h http.Header, body string, want streamcheck.Expect) streamcheck.Reply {
	t.Helper()
	r, broken := streamcheck.Check(h, body, want)
	for _, b := range broken {
		t.Error(b)
	}
	if len(broken) > 0 {
		t.Logf("the stream was:\n%s", body)
	}
	return r
}

// ask wraps fields into a request that is otherwise right.
func ask(fields string) string {
	return `{"model":"m","messages":[{"role":"user","content":"q"}]` + fields + `}`
}
