package proxy

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"toolnorm/chat"
	"toolnorm/internal/fault"
	"toolnorm/internal/test/must"
)

func TestModelsAreListedAndFound(t *testing.T) {
	srv, _ := serve(t, nil)
	for path, want := range map[string]string{
		"/v1/models":             `{"object":"list","data":[{"id":"qwen3:latest","object":"model","created":5,"owned_by":"ollama"},{"id":"demo/hermes","object":"model","created":0,"owned_by":"toolnorm"}]}`,
		"/v1/models/demo/hermes": `{"id":"demo/hermes","object":"model","created":0,"owned_by":"toolnorm"}`,
		"/v1/models/qwen3":       `{"id":"qwen3:latest","object":"model","created":5,"owned_by":"ollama"}`,
		"/healthz":               `{"status":"ok"}`,
	} {
		if resp, body := do(t, "GET", srv.URL+path, ""); resp.StatusCode != 200 || strings.TrimSpace(body) != want {
			t.Errorf("%s: %d %s, want %s", path, resp.StatusCode, body, want)
		}
	}
	resp, body := do(t, "GET", srv.URL+"/v1/models/no/such", "")
	if resp.StatusCode != 404 || !strings.Contains(body, `"code":"model_not_found"`) {
		t.Errorf("unknown model: %d %s", resp.StatusCode, body)
	}
	// A client asks for the name that it was given, which no list can hold when a pattern of
	// aliases stands for it.
	if resp, body := do(t, "GET", srv.URL+"/v1/models/claude-opus-5-5", ""); resp.StatusCode != 200 || !strings.HasPrefix(body, `{"id":"claude-opus-5-5","object":"model"`) {
		t.Errorf("a name that a pattern serves: %d %s", resp.StatusCode, body)
	}
	if _, body := do(t, "GET", srv.URL+"/version", ""); !strings.Contains(body, `"version":"test"`) {
		t.Errorf("/version says %s", body)
	}
}

func TestWrongRequestsGetAnErrorBody(t *testing.T) {
	srv, _ := serve(t, nil, func(c *Config) { c.MaxBody = 100 })
	for _, tt := range []struct {
		method, path, body string
		status             int
		say                string
	}{
		{"GET", "/chat/completions", "", 404, "begins at /v1"},
		{"GET", "/v1/chat/completions", "", 405, "takes POST, not GET"},
		{"POST", "/v1/models", "", 405, "takes GET, not POST"},
		{"DELETE", "/v1/models/x", "", 405, "takes GET, not DELETE"},
		{"POST", "/v1/chat/completions", "", 400, "empty"},
		{"POST", "/v1/chat/completions", "{", 400, "not valid JSON"},
		{"POST", "/v1/chat/completions", `{"messages":[{"role":"user"}]}`, 400, "model: must name a model"},
		{"POST", "/v1/chat/completions", strings.Repeat(" ", 101), 413, "limit of 100 bytes"},
	} {
		resp, body := do(t, tt.method, srv.URL+tt.path, tt.body)
		if resp.StatusCode != tt.status {
			t.Errorf("%s %s: status %d, want %d", tt.method, tt.path, resp.StatusCode, tt.status)
		}
		wantErrorBody(t, body, tt.say)
	}
	req, _ := http.NewRequest("POST", srv.URL+"/v1/chat/completions", io.MultiReader(strings.NewReader(strings.Repeat(" ", 101)))) // no length told
	if resp, err := http.DefaultClient.Do(req); err != nil || resp.StatusCode != 413 {
		t.Errorf("too large without a length: %v %v, want 413", resp, err)
	}
}

func TestFaultsBecomeStatuses(t *testing.T) {
	for want, err := range map[int]error{
		400: fault.New(fault.Invalid, "x"), 404: fault.New(fault.NotFound, "x"), 502: fault.New(fault.Unavailable, "x"),
		503: &fault.Error{Kind: fault.Busy, Message: "x", Retry: 1500 * time.Millisecond}, 504: fault.New(fault.Timeout, "x"), 500: errors.New("x"),
	} {
		srv, _ := serve(t, script{err})
		resp, body := post(t, srv, `,"stream":true`)
		if resp.StatusCode != want {
			t.Errorf("%v: status %d, want %d", err, resp.StatusCode, want)
		}
		wantErrorBody(t, body, "")
		if want == 503 && resp.Header.Get("Retry-After") != "2" {
			t.Errorf("Retry-After %q, want 2", resp.Header.Get("Retry-After"))
		}
	}
}

func TestTheDefaultModelAnswersForNone(t *testing.T) {
	srv, m := serve(t, script{say("a"), finish("stop")}, func(c *Config) { c.DefaultModel = "d" })
	_, body := do(t, "POST", srv.URL+"/v1/chat/completions", `{"messages":[{"role":"user","content":"q"}]}`)
	if m.last == nil || m.last.Model != "d" || !strings.Contains(body, `"model":"d"`) {
		t.Errorf("asked %+v, got %s", m.last, body)
	}
}

// Calls of two tools with one name could not be told apart: those of the second were held to the
// first one's schema, and became text.
func TestAToolIsOfferedOnce(t *testing.T) {
	srv, m := serve(t, script{say("a"), finish("stop")})
	const f, g = `{"name":"f","parameters":{"a":1}}`, `{"name":"f","parameters":{"b":1}}`
	for tools, note := range map[string]string{f + "," + f: "", f + `,{"name":"h"},` + g + "," + g: "f: of several tools with one name only the first is offered"} {
		for path, body := range map[string]string{"chat/completions": ask(`,"tools":[` + tools + `]`), "responses": `{"model":"m","input":"q","tools":[` + tools + `]}`} {
			resp, _ := do(t, "POST", srv.URL+"/v1/"+path, body)
			if got := resp.Header.Get("Toolnorm-Same-Name"); got != note || len(m.last.Tools) != strings.Count(tools, "h")+1 || string(m.last.Tools[0].Schema) != `{"a":1}` {
				t.Errorf("%s %s: offered %+v, told %q, want %q", path, tools, m.last.Tools, got, note)
			}
		}
	}
}

// waiter is a model that says one word and then waits until its client is gone.
type waiter struct{ gone chan error }

func (m waiter) Stream(ctx context.Context, r *chat.Request) iter.Seq2[chat.Event, error] {
	return func(yield func(chat.Event, error) bool) {
		yield(say("a"), nil)
		chat.ObserverOf(ctx).Pulse.Idle()
		<-ctx.Done()
		m.gone <- ctx.Err()
		yield(chat.Event{}, ctx.Err())
	}
}

func (waiter) Models(context.Context) ([]chat.Info, error) { return nil, nil }
func (waiter) Real(name string) string                     { return name }

func TestAClientThatLeavesEndsTheModelsWork(t *testing.T) {
	m := waiter{gone: make(chan error, 1)}
	srv := httptest.NewServer(New(Config{Model: m, Catalog: m}))
	defer srv.Close()
	ctx, cancel := context.WithCancel(context.Background())
	req, _ := http.NewRequestWithContext(ctx, "POST", srv.URL+"/v1/chat/completions", strings.NewReader(ask(`,"stream":true`)))
	resp, err := http.DefaultClient.Do(req)
	must.OK(t, err)
	defer resp.Body.Close()
	if line, err := bufio.NewReader(resp.Body).ReadString('\n'); err != nil || !strings.Contains(line, `"a"`) {
		t.Fatalf("first line %q, %v", line, err)
	}
	cancel()
	select {
	case <-m.gone:
	case <-time.After(5 * time.Second):
		t.Error("the model still works five seconds after its client left")
	}
}

// flood is a model that never stops.
type flood struct{ ended chan error }

func (m flood) Stream(ctx context.Context, r *chat.Request) iter.Seq2[chat.Event, error] {
	return func(yield func(chat.Event, error) bool) {
		defer close(m.ended)
		for yield(say(strings.Repeat("x", 1<<15)), nil) {
		}
	}
}

func (flood) Models(context.Context) ([]chat.Info, error) { return nil, nil }
func (flood) Real(name string) string                     { return name }

func TestAClientThatTakesNothingIsGivenUp(t *testing.T) {
	m := flood{ended: make(chan error)}
	srv := httptest.NewServer(New(Config{Model: m, Catalog: m, Stall: 200 * time.Millisecond}))
	defer srv.Close()
	conn, err := net.Dial("tcp", srv.Listener.Addr().String())
	must.OK(t, err)
	defer conn.Close()
	body := ask(`,"stream":true`)
	fmt.Fprintf(conn, "POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	select {
	case <-m.ended:
	case <-time.After(20 * time.Second):
		t.Error("a client that reads nothing is still served")
	}
}

func TestTheLogSaysEnoughAndNothingSecret(t *testing.T) {
	var log bytes.Buffer
	srv, _ := serve(t, script{think("SECRET"), say("SECRET"), call(0, "get_time"), args(0, `{"k":"SECRET"}`), endOf(0), counted(3, 4),
		chat.Event{Kind: chat.Finish, Text: "stop", Meta: &chat.Meta{Format: "hermes", Strategy: "raw", Repairs: []string{"comma"}}}},
		func(c *Config) { c.Log = zerolog.New(&log) })
	do(t, "POST", srv.URL+"/v1/chat/completions", `{"model":"m","stream":true,"messages":[{"role":"user","content":"SECRET"}],`+twoTools+`}`, "Authorization", "Bearer SECRET")
	srv.Close() // waits for the handler, and so for its line
	for _, want := range []string{`"model":"m"`, `"format":"hermes"`, `"strategy":"raw"`, `"calls":1`, `"repairs":["comma"]`, `"prompt_tokens":3`, `"completion_tokens":4`, `"status":200`, `"ttft_ms":`, `"total_ms":`, `"bytes":`, `"id":"chatcmpl-`} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log lacks %s: %s", want, log.String())
		}
	}
	if strings.Contains(log.String(), "SECRET") || strings.Count(log.String(), "\n") != 1 {
		t.Errorf("the log is not one line without secrets: %s", log.String())
	}
}

// discard is a client that takes everything.
func TestPagesCanReadWhatAReplySaysOfItself(t *testing.T) {
	srv, _ := serve(t, script{say("a"), finish("stop")})
	resp, _ := do(t, "POST", srv.URL+"/v1/chat/completions", ask(""), "Origin", "http://localhost:3000")
	exposed := strings.Split(resp.Header.Get("Access-Control-Expose-Headers"), ", ")
	for name := range resp.Header {
		if (strings.HasPrefix(name, "Toolnorm-") || name == "X-Request-Id") && !slices.Contains(exposed, name) {
			t.Errorf("%s is not among %q", name, exposed)
		}
	}
	if resp.Header.Get("X-Request-Id") == "" || resp.Header.Get("Vary") != "Origin" {
		t.Errorf("header %v", resp.Header)
	}
}
