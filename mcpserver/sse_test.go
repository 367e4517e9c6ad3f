package mcpserver

import (
	"context"
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"toolnorm/internal/test/must"
	"toolnorm/tools"
)

// legacyClient is a client of revision 2024-11-05.
type legacyClient struct {
	*face
	*events
	path   string
	cancel context.CancelFunc
}

// connect opens a stream and reads where messages go.
func (f *face) connect() *legacyClient {
	f.t.Helper()
	return f.connectWith(nil)
}

// connectWith is connect, with headers beyond the usual.
func (f *face) connectWith(h header) *legacyClient {
	f.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	f.t.Cleanup(cancel)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, f.url+"/sse", nil)
	must.OK(f.t, err)
	r.Header.Set("Accept", "text/event-stream")
	for k, v := range h {
		r.Header.Set(k, v)
	}
	resp, err := http.DefaultClient.Do(r)
	must.OK(f.t, err)
	f.t.Cleanup(func() { resp.Body.Close() })
	wanted := header{"Content-Type": "text/event-stream", "Cache-Control": "no-cache", "X-Accel-Buffering": "no"}
	for k, want := range wanted {
		if got := resp.Header.Get(k); got != want {
			f.t.Errorf("%s: %q, want %q", k, got, want)
		}
	}
	c := &legacyClient{f, eventsOf(f.t, resp.Body), "", cancel}
	first, ok := c.next()
	form := regexp.MustCompile(`^` + regexp.QuoteMeta(f.url) + `(/sse/message\?session_id=[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})$`)
	m := form.FindStringSubmatch(first.data)
	if !ok || first.name != "endpoint" || m == nil {
		f.t.Fatalf("first event %+v", first)
	}
	c.path = m[1]
	return c
}

// send sends a message and wants a status.
func (c *legacyClient) send(body string, status int) {
	c.face.t.Helper()
	if resp := c.do(http.MethodPost, c.path, body, nil); resp.StatusCode != status {
		c.face.t.Fatalf("POST %s: %s, want %d", body, resp.Status, status)
	}
}

func TestAClientWhoseStreamBrokeGoesOnWithAnother(t *testing.T) {
	f := serve(t, Config{})
	c := f.connectWith(header{"Mcp-Protocol-Version": "2025-11-25"})
	c.send(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"echo","arguments":{"text":"again"}}}`, 202)
	if got := c.message(); !strings.Contains(got, `"id":7,"result":`) {
		t.Errorf("without initialize: %s", got)
	}
	must.OK(t, f.cfg.Registry.Set("more", tools.Tool{Name: "more", Call: func(context.Context, json.RawMessage) (tools.Result, error) { return tools.TextOf("x"), nil }}))
	if got := c.message(); got != `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}` {
		t.Errorf("%s, want list_changed", got)
	}
}

func TestLegacyStreamCarriesTheAnswers(t *testing.T) {
	c := serve(t, Config{}).connect()
	c.send(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2024-11-05","capabilities":{},"clientInfo":{"name":"void","version":"1.0"}}}`, 202)
	if got := c.message(); !strings.Contains(got, `"protocolVersion":"2024-11-05"`) || !strings.Contains(got, `"tools":{"listChanged":true}`) {
		t.Errorf("initialize: %s", got)
	}
	c.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`, 202)
	c.send(`{"jsonrpc":"2.0","id":"two","method":"tools/list"}`, 202)
	if got := c.message(); !strings.HasPrefix(got, `{"jsonrpc":"2.0","id":"two","result":{"tools":[{`) {
		t.Errorf("tools/list: %s", got)
	}
	c.send(`{"jsonrpc":"2.0","id":12345678901234567890,"method":"tools/call","params":{"name":"a1b2c3_echo","arguments":{"a":"<1>"}}}`, 202)
	want := `{"jsonrpc":"2.0","id":12345678901234567890,"result":{"content":[{"type":"text","text":"{\"a\":\"<1>\"}"}],"structuredContent":{"a":"<1>"}}}`
	if got := c.message(); got != want {
		t.Errorf("tools/call:\n got %s\nwant %s", got, want)
	}
}

func TestLegacyStreamSkipsNoStep(t *testing.T) {
	c := serve(t, Config{}).connect() // no initialize at all
	c.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo"}}`, 202)
	if got := c.message(); !strings.Contains(got, `"structuredContent":{}`) {
		t.Errorf("a call without initialize: %s", got)
	}
}

func TestLegacyMessagesAreChecked(t *testing.T) {
	f := serve(t, Config{Bounds: Bounds{MaxBody: 200}})
	c := f.connect()
	c.send(`{"jsonrpc":"2.0","id":1,`, 400)
	c.send(`[]`, 400)
	c.send(`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"`+strings.Repeat("x", 300)+`"}}`, 413)
	for path, status := range map[string]int{
		"/sse/message": 400, "/sse/message?session_id=": 400, "/sse/message?session_id=00000000-0000-4000-8000-000000000000": 404,
	} {
		if resp := f.do(http.MethodPost, path, `{"jsonrpc":"2.0","id":1,"method":"ping"}`, nil); resp.StatusCode != status {
			t.Errorf("POST %s: %s, want %d", path, resp.Status, status)
		}
	}
	if resp := f.do(http.MethodGet, c.path, "", nil); resp.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("GET of the message address: %s", resp.Status)
	}
	c.path = strings.Replace(c.path, "session_id", "sessionId", 1)
	c.send(`{"jsonrpc":"2.0","id":1,"method":"ping"}`, 202)
	if got := c.message(); got != `{"jsonrpc":"2.0","id":1,"result":{}}` {
		t.Errorf("ping: %s", got)
	}
}

func TestLegacySessionBelongsToItsPrincipal(t *testing.T) {
	f := serve(t, Config{Principal: func(r *http.Request) string { return r.Header.Get("X-Who") }})
	c := f.connect()
	if resp := f.do(http.MethodPost, c.path, `{"jsonrpc":"2.0","id":1,"method":"ping"}`, header{"X-Who": "mallory"}); resp.StatusCode != 404 {
		t.Errorf("another principal's message: %s, want 404", resp.Status)
	}
	c.send(`{"jsonrpc":"2.0","id":1,"method":"ping"}`, 202)
}

func TestSilentStreamIsKeptAlive(t *testing.T) {
	c := serve(t, Config{Bounds: Bounds{Beat: 10 * time.Millisecond}}).connect()
	for range 3 {
		if s, ok := c.next(); !ok || s.comment != "keep-alive" {
			t.Fatalf("%+v, want a comment", s)
		}
	}
}

func TestToolEndsWithItsLegacyStream(t *testing.T) {
	ended := make(chan time.Time, 1)
	started := make(chan bool, 1)
	r := tools.New(tools.Options{})
	must.OK(t, r.Set("test", tools.Tool{Name: "waits", Call: func(ctx context.Context, _ json.RawMessage) (tools.Result, error) {
		started <- true
		<-ctx.Done()
		ended <- time.Now()
		return tools.Result{}, ctx.Err()
	}}))
	f := serve(t, Config{Registry: r})
	c := f.connect()
	c.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"waits"}}`, 202)
	<-started
	left := time.Now()
	c.cancel()
	if took := (<-ended).Sub(left); took > 50*time.Millisecond {
		t.Errorf("the tool was cancelled %v after the client left, more than 50 ms", took)
	}
	soon(t, "an end of the session", func() bool {
		return f.do(http.MethodPost, c.path, `{"jsonrpc":"2.0","id":1,"method":"ping"}`, nil).StatusCode == http.StatusNotFound
	})
}

func TestCancelledRequestGetsNoAnswer(t *testing.T) {
	c := serve(t, Config{}).connect()
	c.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"waits"}}`, 202)
	soon(t, "a running call", func() bool { _, ok := c.engine.running.Load(inFlight{idOf(c), "1"}); return ok })
	c.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"reason":"enough"}}`, 202)
	c.send(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo"}}`, 202)
	if got := c.message(); !strings.HasPrefix(got, `{"jsonrpc":"2.0","id":2,`) {
		t.Errorf("%s, want the answer to the second call only", got)
	}
}

func TestRequestThatWaitsIsCancelledToo(t *testing.T) {
	c := serve(t, Config{}).connect()
	for range atOnceOfOne {
		c.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"waits"}}`, 202)
	}
	c.send(`{"jsonrpc":"2.0","id":"last","method":"tools/call","params":{"name":"echo"}}`, 202)
	c.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"last"}}`, 202)
	soon(t, "an end of the waiting request", func() bool { return c.queue.pending.Load() == atOnceOfOne })
}

// idOf is a client's session.
func idOf(c *legacyClient) string { return strings.TrimPrefix(c.path, "/sse/message?session_id=") }

func TestFullQueueRefusesAndGoesOn(t *testing.T) {
	c := serve(t, Config{Bounds: Bounds{MaxWaiting: 4}}).connect()
	refused := 0
	for range atOnceOfOne + 10 {
		resp := c.do(http.MethodPost, c.path, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"waits"}}`, nil)
		if resp.StatusCode == http.StatusServiceUnavailable && resp.Header.Get("Retry-After") != "" {
			refused++
		}
	}
	if refused != atOnceOfOne+10-4 {
		t.Errorf("%d of %d requests were refused, all but 4 should be", refused, atOnceOfOne+10)
	}
}

func TestSlowToolsOfOneSessionStopNoOther(t *testing.T) {
	f := serve(t, Config{Bounds: Bounds{MaxCalls: atOnceOfOne + 1}})
	slow, quick := f.connect(), f.connect()
	for range atOnceOfOne + 5 {
		slow.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"waits"}}`, 202)
	}
	quick.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo"}}`, 202)
	if got := quick.message(); !strings.Contains(got, `"id":1`) {
		t.Error(got)
	}
}

func TestEverySessionHearsOfChangedTools(t *testing.T) {
	f := serve(t, Config{})
	var all []*legacyClient
	for range 20 {
		c := f.connect()
		c.send(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2024-11-05","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`, 202)
		c.message()
		all = append(all, c)
	}
	must.OK(t, f.cfg.Registry.Set("more", tools.Tool{Name: "more", Call: func(context.Context, json.RawMessage) (tools.Result, error) { return tools.TextOf("x"), nil }}))
	for _, c := range all {
		if got := c.message(); got != `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}` {
			t.Errorf("%s, want list_changed", got)
		}
	}
	all[0].send(`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`, 202)
	if got := all[0].message(); !strings.Contains(got, `"name":"more"`) {
		t.Errorf("the list lacks the new tool: %s", got)
	}
}
