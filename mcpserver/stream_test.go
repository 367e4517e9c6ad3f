package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
	"github.com/rs/zerolog"

	"toolnorm/internal/test/locked"
	"toolnorm/internal/test/must"
	"toolnorm/tools"
)

func TestReaderThatTakesNothingIsDropped(t *testing.T) {
	var log locked.Buffer
	big := strings.Repeat("x", 1<<20)
	r := tools.New(tools.Options{MaxResult: 4 << 20})
	must.OK(t, r.Set("test", tools.Tool{Name: "big", Call: func(context.Context, json.RawMessage) (tools.Result, error) { return tools.TextOf(big), nil }}))
	f := serve(t, Config{Registry: r, Log: zerolog.New(&log), Bounds: Bounds{Stall: 100 * time.Millisecond}})
	c, err := net.Dial("tcp", strings.TrimPrefix(f.url, "http://"))
	must.OK(t, err)
	defer c.Close()
	fmt.Fprintf(c, "GET /sse HTTP/1.1\r\nHost: %s\r\n\r\n", strings.TrimPrefix(f.url, "http://"))
	head := make([]byte, 4096)
	n := 0
	for !bytes.Contains(head[:n], []byte("session_id=")) {
		k, err := c.Read(head[n:])
		must.OK(t, err)
		n += k
	}
	_, id, _ := strings.Cut(string(head[:n]), "session_id=")
	path := "/sse/message?session_id=" + id[:36]
	for range 20 { // 20 MiB, more than any socket holds
		resp := f.do(http.MethodPost, path, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"big"}}`, nil)
		if resp.StatusCode == http.StatusNotFound {
			break
		}
	}
	soon(t, "an end of the session", func() bool {
		return f.do(http.MethodPost, path, `{"jsonrpc":"2.0","id":1,"method":"ping"}`, nil).StatusCode == http.StatusNotFound
	})
	soon(t, "a line of the log that says why", func() bool { return strings.Contains(log.String(), "dropped") })
}

func TestOutboxWithoutRoomEndsItsListener(t *testing.T) {
	h := &hub{listeners: map[*listener]bool{}}
	slow, quick := newOutbox(), newOutbox()
	all := func(string, string) bool { return true }
	defer h.add(&listener{box: slow, wants: all})()
	defer h.add(&listener{box: quick, wants: all})()
	for range 3 * maxFrames {
		h.tell(mcp.MethodNotificationToolsListChanged, nil)
	}
	if n := len(slow.take()); n != 1 {
		t.Errorf("%d notices that the list has changed wait, want 1", n)
	}
	for i := range maxFrames + 1 {
		h.tell(mcp.MethodNotificationResourceUpdated, json.RawMessage(fmt.Sprintf(`{"uri":"x:%d"}`, i)))
		quick.take()
	}
	if slow.ended() != errSlow || quick.ended() != nil {
		t.Errorf("the slow one: %v, the quick one: %v", slow.ended(), quick.ended())
	}
}

func TestOnlyOneStreamOfASessionIsTold(t *testing.T) {
	f := serve(t, Config{})
	h := f.initialized("2025-11-25", "x", "1")
	h["Accept"] = "application/json, Text/*; q=1" // case does not matter
	lines := make(chan string)
	for range 2 {
		e := eventsOf(t, f.do(http.MethodGet, "/mcp", "", h).Body)
		go func() {
			for {
				s, ok := e.next()
				if !ok {
					return
				}
				if s.data != "" {
					lines <- s.data
				}
			}
		}()
	}
	must.OK(t, f.cfg.Registry.Set("test"))
	if got := <-lines; got != `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}` {
		t.Error(got)
	}
	select {
	case got := <-lines:
		t.Errorf("told twice: %s", got)
	case <-time.After(50 * time.Millisecond):
	}
}

func TestSubscriptionHearsOnlyWhatItAskedFor(t *testing.T) {
	extra := server.NewMCPServer("x", "1", server.WithPromptCapabilities(true), server.WithResourceCapabilities(true, true))
	f := serve(t, Config{Extra: extra})
	listen := `{"jsonrpc":"2.0","id":5,"method":"subscriptions/listen","params":{"notifications":{"promptsListChanged":true,"resourceSubscriptions":["x:1"]},` + modernMeta + `}}`
	e := eventsOf(t, f.do(http.MethodPost, "/mcp", listen, modern("subscriptions/listen", "")).Body)
	tag := `"_meta":{"io.modelcontextprotocol/subscriptionId":5}`
	if got := e.message(); !strings.Contains(got, `subscriptions/acknowledged","params":{`+tag+`,"notifications":{"promptsListChanged":true,"resourceSubscriptions":["x:1"]}}`) {
		t.Fatal(got)
	}
	soon(t, "a listener", func() bool {
		f.engine.hub.mu.Lock()
		defer f.engine.hub.mu.Unlock()
		return len(f.engine.hub.listeners) == 1
	})
	if err := f.cfg.Registry.Set("test"); err != nil { // tools: not asked for
		t.Fatal(err)
	}
	extra.SendNotificationToAllClients(mcp.MethodNotificationResourceUpdated, map[string]any{"uri": "x:2"})
	extra.SendNotificationToAllClients(mcp.MethodNotificationResourceUpdated, map[string]any{"uri": "x:1"})
	extra.AddPrompt(mcp.NewPrompt("p"), func(context.Context, mcp.GetPromptRequest) (*mcp.GetPromptResult, error) { return nil, nil })
	for _, want := range []string{`resources/updated","params":{` + tag + `,"uri":"x:1"}}`, `prompts/list_changed","params":{` + tag + `}}`} {
		if got := e.message(); !strings.HasSuffix(got, want) {
			t.Errorf("%s, want %s", got, want)
		}
	}
	go func() { _ = f.Close(context.Background()) }()
	if got := e.message(); !strings.Contains(got, `"id":5,"result":{"resultType":"complete"`) || !strings.Contains(got, `"io.modelcontextprotocol/subscriptionId":5`) {
		t.Errorf("at the end: %s", got)
	}
}

func TestQuestionsToTheClientComeBackToTheirTool(t *testing.T) {
	extra := server.NewMCPServer("x", "1", server.WithElicitation())
	extra.AddTool(mcp.NewTool("asks"), func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		answer, err := extra.RequestElicitation(ctx, mcp.ElicitationRequest{Params: mcp.ElicitationParams{Message: "Who?", RequestedSchema: json.RawMessage(`{"type":"object","properties":{}}`)}})
		if err != nil {
			return mcp.NewToolResultError(err.Error()), nil
		}
		return mcp.NewToolResultText(string(answer.Action)), nil
	})
	f := serve(t, Config{Extra: extra})
	h := f.initialized("2025-11-25", "x", "1")
	e := eventsOf(t, f.do(http.MethodPost, "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"asks"}}`, h).Body)
	var asked struct{ ID, Method string }
	if err := json.Unmarshal([]byte(e.message()), &asked); err != nil || asked.Method != "elicitation/create" {
		t.Fatalf("%+v %v", asked, err)
	}
	answer := func(action string) string {
		return `{"jsonrpc":"2.0","id":"` + asked.ID + `","method":null,"result":{"action":"` + action + `"},"error":null}`
	}
	f.post(answer("decline"), f.initialized("2025-11-25", "x", "1")) // another session's
	f.post(answer("accept"), h)
	if got := e.message(); !strings.Contains(got, `"text":"accept"`) {
		t.Errorf("%s, want accept", got)
	}
	delete(h, "Accept")
	if _, got := f.post(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"asks"}}`, header{"Accept": "application/json"}); !strings.Contains(got, "isError") {
		t.Errorf("a client that cannot be asked: %s", got)
	}
}

func TestConnectingAndLeavingLeavesNothing(t *testing.T) {
	rounds := 2000
	if testing.Short() {
		rounds = 500
	}
	f := serve(t, Config{Bounds: Bounds{Rate: -1}})
	cycle := func(n int) {
		for range n {
			ctx, cancel := context.WithCancel(context.Background())
			r, _ := http.NewRequestWithContext(ctx, http.MethodGet, f.url+"/sse", nil)
			resp, err := http.DefaultClient.Do(r)
			must.OK(t, err)
			cancel()
			resp.Body.Close()
		}
		soon(t, "an end of all streams", func() bool { return f.streams.Load() == 0 })
	}
	size := func() (int, uint64) {
		http.DefaultClient.CloseIdleConnections()
		time.Sleep(50 * time.Millisecond)
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return runtime.NumGoroutine(), m.HeapAlloc
	}
	cycle(rounds / 10)
	routines, heap := size()
	cycle(rounds)
	routinesAfter, heapAfter := size()
	if routinesAfter > routines+10 || heapAfter > heap+(1<<20) {
		t.Errorf("%d goroutines and %d bytes before, %d and %d behind %d rounds", routines, heap, routinesAfter, heapAfter, rounds)
	}
	f.conns.Range(func(any, any) bool { t.Error("a session is left"); return false })
	if n := f.listeners(); n != 0 {
		t.Errorf("%d listeners are left", n)
	}
}
