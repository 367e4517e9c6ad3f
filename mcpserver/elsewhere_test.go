package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"toolnorm/internal/shared"
	"toolnorm/internal/test/mailtest"
	"toolnorm/internal/test/must"
	"toolnorm/tools"
)

// common is what the replicas of a test share.
type common struct {
	mailtest.Office
	mu   sync.Mutex
	rows map[string][]byte
}

// member is one replica's view of it.
type member struct {
	*common
	*shared.Desk
}

// join adds a replica.
func (c *common) join(t *testing.T, name string) member { return member{c, c.Join(t, name)} }

func (c *common) Put(kind, id, owner string, body []byte, _ time.Duration) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.rows[kind+"|"+id+"|"+owner] = body
	return nil
}

func (c *common) Get(kind, id, owner string) ([]byte, bool, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	body, ok := c.rows[kind+"|"+id+"|"+owner]
	return body, ok, nil
}

func (c *common) of(kind string) (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for key := range c.rows {
		if strings.HasPrefix(key, kind+"|") {
			n++
		}
	}
	return n
}

// steps is a tool that reports its progress at each value that it gets, and answers when there are
// no more.
func steps(t *testing.T) (*tools.Registry, chan int) {
	t.Helper()
	next := make(chan int)
	r := tools.New(tools.Options{})
	err := r.Set("test", tools.Tool{Name: "steps", Call: func(ctx context.Context, _ json.RawMessage) (tools.Result, error) {
		for {
			select {
			case n, more := <-next:
				if !more {
					return tools.TextOf("<done>"), nil
				}
				tools.Progress(ctx, float64(n), 100, "")
			case <-ctx.Done():
				return tools.Result{}, context.Cause(ctx)
			}
		}
	}})
	must.OK(t, err)
	return r, next
}

// replicas serves one registry by two servers.
func replicas(t *testing.T, r *tools.Registry) (all *common, a, b *face) {
	t.Helper()
	all = &common{rows: map[string][]byte{}}
	key := bytes.Repeat([]byte("k"), 32)
	bounds := Bounds{Beat: 300 * time.Millisecond}
	a = serve(t, Config{Registry: r, Key: key, Shared: all.join(t, "a"), Bounds: bounds})
	b = serve(t, Config{Registry: r, Key: key, Shared: all.join(t, "b"), Bounds: bounds})
	return all, a, b
}

const callSteps = `{"jsonrpc":"2.0","id":"seven","method":"tools/call","params":{"name":"steps","_meta":{"progressToken":1}}}`

// begun calls the tool, and leaves after its first report, whose event is in the headers.
func begun(t *testing.T, f *face, next chan int, h header) header {
	t.Helper()
	go func() { next <- 1 }()
	resp := f.do(http.MethodPost, "/mcp", callSteps, h)
	e := eventsOf(t, resp.Body)
	var last sent
	for last.data == "" {
		last, _ = e.next()
	}
	resp.Body.Close()
	if !strings.Contains(last.data, `"progress":1,`) {
		t.Fatalf("%+v", last)
	}
	id, _, _ := readEvent(last.id)
	soon(t, "a stream without a reader", func() bool {
		f.records.mu.Lock()
		one := f.records.all[id]
		f.records.mu.Unlock()
		one.mu.Lock()
		defer one.mu.Unlock()
		return one.takers == 0
	})
	return header{"Mcp-Session-Id": h["Mcp-Session-Id"], "Last-Event-ID": last.id, "Accept": "text/event-stream"}
}

// answered reads a stream to its end, which is the answer.
func answered(t *testing.T, e *events) {
	t.Helper()
	if got := e.message(); got != `{"jsonrpc":"2.0","id":"seven","result":{"content":[{"type":"text","text":"<done>"}]}}` {
		t.Errorf("%s, want the answer", got)
	}
	if rest, _ := io.ReadAll(e.r); len(rest) > 0 {
		t.Errorf("the stream goes on: %s", rest)
	}
}

func TestAStreamGoesOnAtAnotherReplica(t *testing.T) {
	r, next := steps(t)
	_, a, b := replicas(t, r)
	h := begun(t, a, next, a.initialized("2025-11-25", "x", "1"))
	next <- 2
	next <- 3
	e := eventsOf(t, b.do(http.MethodGet, "/mcp", "", h).Body)
	var last sent
	for n := 2; n <= 5; n++ {
		if n > 3 {
			next <- n
		}
		for last = (sent{}); last.data == ""; { // comments while nothing comes
			last, _ = e.next()
		}
		if !strings.Contains(last.data, `"progress":`+string(encode(n))+`,`) {
			t.Fatalf("%+v, want progress %d", last, n)
		}
	}
	// Back to the first one, whose connection then is the stream's.
	h["Last-Event-ID"] = last.id
	back := eventsOf(t, a.do(http.MethodGet, "/mcp", "", h).Body)
	if rest, _ := io.ReadAll(e.r); bytes.Contains(rest, []byte("data:")) {
		t.Errorf("the connection that was replaced goes on: %s", rest)
	}
	close(next)
	answered(t, back)
	// All of it was sent, and is there still.
	answered(t, eventsOf(t, b.do(http.MethodGet, "/mcp", "", h).Body))
}

func TestTheAnswerOfAReplicaThatIsGone(t *testing.T) {
	r, next := steps(t)
	all, a, b := replicas(t, r)
	h := begun(t, a, next, a.initialized("2025-11-25", "x", "1"))
	next <- 2
	close(next)
	soon(t, "an end of the call", func() bool { return len(a.places) == 0 })
	all.Kill("a")
	for range 2 { // also a second time: the first may have been lost
		e := eventsOf(t, b.do(http.MethodGet, "/mcp", "", h).Body)
		if got := e.message(); !strings.Contains(got, `"progress":2,`) {
			t.Errorf("%s, want the report that was missed", got)
		}
		answered(t, e)
	}
	if n := all.of(streamKind); n != 1 {
		t.Errorf("%d streams are kept", n)
	}
}

func TestAStreamOfAReplicaThatWasKilledIsAnError(t *testing.T) {
	t.Parallel() // it waits until the other one should have answered
	r, next := steps(t)
	all, a, b := replicas(t, r)
	h := begun(t, a, next, a.initialized("2025-11-25", "x", "1"))
	all.Kill("a")
	e := eventsOf(t, b.do(http.MethodGet, "/mcp", "", h).Body)
	if got := e.message(); !strings.HasPrefix(got, `{"jsonrpc":"2.0","id":"seven","error":{"code":-32603,"message":"the replica that ran this call has stopped`) {
		t.Errorf("%s, want an error", got)
	}
	if rest, _ := io.ReadAll(e.r); len(rest) > 0 {
		t.Errorf("the stream goes on: %s", rest)
	}
}

func TestOnlyItsSessionReadsAStreamElsewhere(t *testing.T) {
	r, next := steps(t)
	all, a, b := replicas(t, r)
	own := begun(t, a, next, a.initialized("2025-11-25", "x", "1"))
	other := header{"Mcp-Session-Id": a.initialized("2025-11-25", "x", "1")["Mcp-Session-Id"], "Last-Event-ID": own["Last-Event-ID"], "Accept": "text/event-stream"}
	refused := func() {
		t.Helper()
		if got := eventsOf(t, b.do(http.MethodGet, "/mcp", "", other).Body).message(); !strings.Contains(got, `"error"`) {
			t.Errorf("another session gets %s", got)
		}
	}
	refused()
	next <- 2
	close(next)
	soon(t, "an answer that is kept", func() bool { return all.of(streamKind) == 1 })
	refused()
}

// TestAStreamThatIsReadLeavesNothing has a client stay: nothing is kept, and no replica is asked.
func TestAStreamThatIsReadLeavesNothing(t *testing.T) {
	r, next := steps(t)
	all, a, _ := replicas(t, r)
	go func() {
		next <- 1
		close(next)
	}()
	h := a.initialized("2025-11-25", "x", "1")
	if _, got := a.post(callSteps, h); !strings.Contains(got, "<done>") {
		t.Fatal(got)
	}
	all.mu.Lock()
	defer all.mu.Unlock()
	if len(all.rows) != 0 {
		t.Errorf("%d rows are kept", len(all.rows))
	}
}

// TestAQuestionIsAnsweredAtAnotherReplica has a tool ask its client, which answers at the other
// replica.
func TestAQuestionIsAnsweredAtAnotherReplica(t *testing.T) {
	extra := server.NewMCPServer("x", "1", server.WithElicitation())
	extra.AddTool(mcp.NewTool("asks"), func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		answer, err := extra.RequestElicitation(ctx, mcp.ElicitationRequest{Params: mcp.ElicitationParams{Message: "Who?", RequestedSchema: json.RawMessage(`{"type":"object","properties":{}}`)}})
		if err != nil {
			return mcp.NewToolResultError(err.Error()), nil
		}
		return mcp.NewToolResultText(string(answer.Action)), nil
	})
	all := &common{rows: map[string][]byte{}}
	key := bytes.Repeat([]byte("k"), 32)
	who := func(r *http.Request) string { return r.Header.Get("X-Who") }
	a := serve(t, Config{Key: key, Shared: all.join(t, "a"), Extra: extra, Principal: who})
	b := serve(t, Config{Key: key, Shared: all.join(t, "b"), Principal: who})
	silent := all.Silent("c")
	h := a.initialized("2025-11-25", "x", "1")
	e := eventsOf(t, a.do(http.MethodPost, "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"asks"}}`, h).Body)
	var asked struct{ ID, Method string }
	if err := json.Unmarshal([]byte(e.message()), &asked); err != nil || asked.Method != "elicitation/create" {
		t.Fatalf("%+v %v", asked, err)
	}
	answer := func(id, action string, h header) {
		t.Helper()
		if status, got := b.post(`{"jsonrpc":"2.0","id":"`+id+`","result":{"action":"`+action+`"}}`, h); status != 202 {
			t.Errorf("%d %s", status, got)
		}
	}
	answer(asked.ID, "decline", b.initialized("2025-11-25", "x", "1")) // another session's
	answer(strings.Replace(asked.ID, ".a.", ".c.", 1), "decline", h)   // to a replica that has not asked
	if n := len(silent); n != 0 {
		t.Errorf("%d letters go to a replica that a client named", n)
	}
	answer(asked.ID, "accept", h)
	if got := e.message(); !strings.Contains(got, `"text":"accept"`) {
		t.Errorf("%s, want accept", got)
	}
	answer(asked.ID, "accept", h) // too late, for nobody
}

// TestSettingsOfASessionCountAtAllReplicas sets the level of log lines and subscriptions at either
// replica, and looks at both.
func TestSettingsOfASessionCountAtAllReplicas(t *testing.T) {
	all := &common{rows: map[string][]byte{}}
	key := bytes.Repeat([]byte("k"), 32)
	resources := func() *server.MCPServer {
		return server.NewMCPServer("x", "1", server.WithResourceCapabilities(true, true))
	}
	extra := resources()
	a, b := serve(t, Config{Key: key, Shared: all.join(t, "a"), Extra: resources()}), serve(t, Config{Key: key, Shared: all.join(t, "b"), Extra: extra})
	h := a.initialized("2025-11-25", "x", "1")
	lines := func(f *face) int {
		t.Helper()
		_, got := f.post(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"reports"}}`, h)
		if !strings.Contains(got, `"text":"done"`) {
			t.Fatal(got)
		}
		return strings.Count(got, "notifications/message")
	}
	set := func(f *face, method, params string) {
		t.Helper()
		if status, got := f.post(`{"jsonrpc":"2.0","id":1,"method":"`+method+`","params":`+params+`}`, h); status != 200 || strings.Contains(got, `"error"`) {
			t.Fatalf("%d %s", status, got)
		}
	}
	for _, c := range []struct {
		at    *face
		level string
		want  int
	}{{a, "error", 0}, {b, "debug", 2}, {b, "warning", 1}, {a, "emergency", 0}, {a, "debug", 2}} {
		set(c.at, "logging/setLevel", `{"level":"`+c.level+`"}`)
		if atA, atB := lines(a), lines(b); atA != c.want || atB != c.want {
			t.Errorf("%s: %d and %d lines, want %d", c.level, atA, atB, c.want)
		}
	}
	set(b, "resources/subscribe", `{"uri":"x:1"}`)
	set(a, "resources/subscribe", `{"uri":"x:2"}`)
	set(a, "resources/unsubscribe", `{"uri":"x:1"}`)
	get := header{"Mcp-Session-Id": h["Mcp-Session-Id"], "Accept": "text/event-stream"}
	e := eventsOf(t, b.do(http.MethodGet, "/mcp", "", get).Body)
	soon(t, "a listener", func() bool { return b.listeners() == 1 })
	for _, uri := range []string{"x:1", "x:2"} {
		extra.SendNotificationToAllClients(mcp.MethodNotificationResourceUpdated, map[string]any{"uri": uri})
	}
	if got := e.message(); !strings.Contains(got, `"uri":"x:2"`) {
		t.Errorf("%s, want that x:2 has changed", got)
	}
}

func TestSubscriptionsAreBounded(t *testing.T) {
	one := &session{}
	long := strings.Repeat("x", maxWatchedBytes/2)
	for range 3 { // the same again costs nothing
		if err := one.watch(long); err != nil {
			t.Error(err)
		}
	}
	if err := one.watch(long + "x"); err == nil {
		t.Error("more bytes than allowed")
	}
	one.unwatch(long)
	one.unwatch(long)
	if err := one.watch(long + "x"); err != nil || one.bytes != len(long)+1 {
		t.Error(err, one.bytes)
	}
}

// FuzzStreamID reads ids that a client made up.
func FuzzStreamID(f *testing.F) {
	for _, id := range []string{"", ".", "..", "A.b.MQ-1", "A.b.!-1", "A.b.", "A.b.MQ.-1"} {
		f.Add(id)
	}
	f.Fuzz(func(t *testing.T, event string) {
		id, n, ok := readEvent(event)
		if _, request, known := readStreamID(id); known && request != nil && !json.Valid(request) {
			t.Fatalf("%q asks %q", event, request)
		}
		if ok && n > 0 && !strings.HasPrefix(event, id+"-") {
			t.Fatalf("%q is of %q", event, id)
		}
	})
}
