package e2e

import (
	"slices"
	"testing"
	"time"
)

// route is how a stock client reaches a server.
type route struct{ client, transport, path string }

// stockClients are the TypeScript clients: as Void ships it, the last one of version 1, and version
// 2 by either era.
var stockClients = []string{"sdk-1.11", "sdk-current", "sdk-2", "sdk-2-modern"}

// routes are all that there are: each client by Streamable HTTP at both addresses, and by legacy
// SSE.
func routes() (all []route) {
	for _, client := range stockClients {
		all = append(all, route{client, "http", "/mcp"}, route{client, "http", "/sse"})
		if client != "sdk-2-modern" { // that revision has no such transport
			all = append(all, route{client, "sse", "/sse"})
		}
	}
	return all
}

func (w route) String() string { return w.client + " by " + w.transport + " at " + w.path }

// connect starts a client and connects it.
func (l *mcpLane) connect(t *testing.T, w route, base string) *mcpClient {
	t.Helper()
	c := l.client(t, w.client)
	c.must(t, mcpJob{Do: "connect", Transport: w.transport, URL: base + w.path})
	return c
}

// TestStockClientsListAndCall lets each client do with the fixture what clients do.
func TestStockClientsListAndCall(t *testing.T) {
	l := openMCP(t)
	base := l.served(t)
	for _, w := range routes() {
		t.Run(w.String(), func(t *testing.T) {
			c := l.connect(t, w, base)
			if names := c.must(t, mcpJob{Do: "list"}).Tools; !slices.Contains(names, "test_simple_text") || !slices.Contains(names, "json_schema_2020_12_tool") {
				t.Errorf("listed %q", names)
			}
			if got := c.must(t, mcpJob{Do: "call", Name: "test_simple_text"}).text(); got != "This is a simple text response for testing." {
				t.Errorf("the call gave %q", got)
			}
			if got := c.must(t, mcpJob{Do: "call", Name: "test_tool_with_progress"}).Progress; !slices.Equal(got, []float64{0, 50, 100}) {
				t.Errorf("progress %v, want 0, 50 and 100", got)
			}
			if got := c.must(t, mcpJob{Do: "call", Name: "test_error_handling"}); !got.Result.IsError || got.text() != "This tool intentionally returns an error for testing" {
				t.Errorf("a tool that fails: %+v", got.Result)
			}
			if got := c.do(t, mcpJob{Do: "call", Name: "nobody"}); got.Code != -32602 {
				t.Errorf("an unknown tool: code %d, error %q", got.Code, got.Error)
			}
			c.must(t, mcpJob{Do: "close"})
		})
	}
}

func TestStockClientsHearOfListChanges(t *testing.T) {
	l := openMCP(t)
	base := l.served(t)
	for _, w := range routes() {
		t.Run(w.String(), func(t *testing.T) {
			c := l.connect(t, w, base)
			if w.client == "sdk-2-modern" {
				c.must(t, mcpJob{Do: "listen"})
			}
			c.hears(t, "notifications/tools/list_changed", mcpJob{Do: "call", Name: "test_trigger_tool_change"})
		})
	}
}

// TestACallThatIsCancelledStops looks from another connection whether the tool still runs.
func TestACallThatIsCancelledStops(t *testing.T) {
	l := openMCP(t)
	base := l.served(t)
	watcher := l.connect(t, route{"sdk-current", "http", "/mcp"}, base)
	for _, w := range routes() {
		t.Run(w.String(), func(t *testing.T) {
			c := l.connect(t, w, base)
			if got := c.do(t, mcpJob{Do: "call", Name: "wait", Cancel: 300}); got.Error == "" {
				t.Fatalf("a call that is cancelled gave %+v", got.Result)
			}
			for range 20 {
				if watcher.must(t, mcpJob{Do: "call", Name: "waiting"}).text() == "0" {
					return
				}
				time.Sleep(50 * time.Millisecond)
			}
			t.Error("the tool still runs a second later")
		})
	}
}
