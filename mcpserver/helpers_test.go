package mcpserver

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"toolnorm/internal/test/must"
	"toolnorm/tools"
)

// face is a server under test, reachable over HTTP.
type face struct {
	*Server
	t   *testing.T
	url string
}

// serve starts a server with the registry of these tests, unless the configuration has another.
func serve(t *testing.T, cfg Config) *face {
	t.Helper()
	if cfg.Registry == nil {
		cfg.Registry = testTools(t)
	}
	if testing.Verbose() {
		cfg.Log = zerolog.New(zerolog.NewTestWriter(t))
	}
	s := New(cfg)
	mux := http.NewServeMux()
	s.Mount(mux)
	h := httptest.NewServer(mux)
	t.Cleanup(func() {
		now, cancel := context.WithCancel(context.Background())
		cancel()
		_ = s.Close(now) // without waiting for tools that wait themselves
		h.CloseClientConnections()
		h.Close()
	})
	return &face{s, t, h.URL}
}

// testTools are an echo, a tool that fails, one that waits for its end, and one that reports.
func testTools(t testing.TB) *tools.Registry {
	t.Helper()
	r := tools.New(tools.Options{})
	err := r.Set("test",
		tools.Tool{Name: "echo", Description: "Gives its arguments back.", Call: func(_ context.Context, args json.RawMessage) (tools.Result, error) {
			res := tools.TextOf(string(args))
			res.Structured = args
			return res, nil
		}},
		tools.Tool{Name: "fails", Call: func(context.Context, json.RawMessage) (tools.Result, error) {
			return tools.Failure("the printer is on fire"), nil
		}},
		tools.Tool{Name: "waits", Call: func(ctx context.Context, _ json.RawMessage) (tools.Result, error) {
			<-ctx.Done()
			return tools.Result{}, context.Cause(ctx)
		}},
		tools.Tool{Name: "reports", Call: func(ctx context.Context, _ json.RawMessage) (tools.Result, error) {
			for i := range 100 {
				tools.Progress(ctx, float64(i+1), 100, "")
			}
			tools.Log(ctx, "debug", "not wanted")
			tools.Log(ctx, "warning", "wanted")
			return tools.TextOf("done"), nil
		}},
	)
	must.OK(t, err)
	return r
}

// listeners is how many streams hear of changes.
func (f *face) listeners() int {
	f.engine.hub.mu.Lock()
	defer f.engine.hub.mu.Unlock()
	return len(f.engine.hub.listeners)
}

// header is a request's headers beyond the usual.
type header map[string]string

// do sends a request. Its body is closed at the end of the test.
func (f *face) do(method, path, body string, h header) *http.Response {
	f.t.Helper()
	var headers []string
	if method == http.MethodPost {
		headers = []string{"Content-Type: application/json", "Accept: application/json, text/event-stream"}
	}
	for k, v := range h {
		headers = append(headers, k+": "+v)
	}
	return must.Open(f.t, method, f.url+path, body, headers...)
}

// post sends a message to /mcp and gives status and body.
func (f *face) post(body string, h header) (int, string) {
	f.t.Helper()
	resp := f.do(http.MethodPost, "/mcp", body, h)
	all, err := io.ReadAll(resp.Body)
	must.OK(f.t, err)
	return resp.StatusCode, string(all)
}

// initialized begins a session of a revision and gives the header that names it.
func (f *face) initialized(version, client, release string) header {
	f.t.Helper()
	resp := f.do(http.MethodPost, "/mcp", `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"`+version+
		`","capabilities":{"elicitation":{}},"clientInfo":{"name":"`+client+`","version":"`+release+`"}}}`, nil)
	id := resp.Header.Get("Mcp-Session-Id")
	if resp.StatusCode != http.StatusOK || id == "" {
		f.t.Fatalf("initialize: %s, session %q", resp.Status, id)
	}
	return header{"Mcp-Session-Id": id, "Mcp-Protocol-Version": version}
}

// events reads an event stream.
type events struct {
	t *testing.T
	r *bufio.Reader
}

// sent is one event, or a comment.
type sent struct{ name, id, data, comment string }

func eventsOf(t *testing.T, r io.Reader) *events { return &events{t, bufio.NewReader(r)} }

// next reads the next event; ok is false at the end of the stream.
func (e *events) next() (s sent, ok bool) {
	e.t.Helper()
	for {
		line, err := e.r.ReadString('\n')
		if err != nil {
			return s, false
		}
		if strings.Contains(line, "\r") {
			e.t.Fatalf("a line ends with CR: %q", line)
		}
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case line == "\n":
			if s == (sent{}) {
				continue
			}
			return s, true
		case name == "":
			s.comment = value
		case name == "event":
			s.name = value
		case name == "id":
			s.id = value
		case name == "data":
			s.data += value
		default:
			e.t.Fatalf("odd line %q", line)
		}
	}
}

// message reads on to the next event that is not a comment.
func (e *events) message() string {
	e.t.Helper()
	for {
		s, ok := e.next()
		if !ok {
			e.t.Fatal("the stream ended")
		}
		if s.comment == "" && s.data != "" {
			return s.data
		}
	}
}

// soon waits for something to become true.
func soon(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(5 * time.Second); !is(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal(what, "did not come true")
		}
	}
}
