package remote

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
	"github.com/rs/zerolog"

	"toolnorm/internal/test/must"
	"toolnorm/tools"
)

// curious is a server whose tool ask puts its argument to the client and answers with what that
// said; steps reports progress.
func curious() *server.MCPServer {
	s := server.NewMCPServer("curious", "1", server.WithToolCapabilities(true), server.WithElicitation(), server.WithResourceCapabilities(true, true), server.WithPromptCapabilities(true))
	s.AddTool(mcp.NewTool("ask", mcp.WithString("what")), func(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		var q mcp.ElicitationRequest
		q.Params.Message = r.GetString("what", "")
		q.Params.RequestedSchema = map[string]any{"type": "object", "properties": map[string]any{"a": map[string]any{"type": "string"}}}
		a, err := s.RequestElicitation(ctx, q)
		if err != nil {
			return nil, err
		}
		return mcp.NewToolResultText(fmt.Sprint(a.Action, a.Content)), nil
	})
	s.AddTool(mcp.NewTool("steps"), func(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		for i := range 8 {
			if r.Params.Meta != nil && r.Params.Meta.ProgressToken != nil {
				_ = s.SendNotificationToClient(ctx, "notifications/progress", map[string]any{"progressToken": r.Params.Meta.ProgressToken, "progress": i + 1})
			}
			time.Sleep(200 * time.Millisecond)
		}
		return mcp.NewToolResultText("done"), nil
	})
	s.AddTool(mcp.NewTool("sleep"), func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	})
	return s
}

// gate opens a set with the curious server, whose calls may take so long.
func gate(t *testing.T, h http.Handler, limit time.Duration) (*Set, *tools.Registry) {
	t.Helper()
	m := boot(t, "127.0.0.1:0", h)
	r := tools.New(tools.Options{})
	path := filepath.Join(t.TempDir(), "mcp.json")
	must.OK(t, os.WriteFile(path, fmt.Appendf(nil, `{"mcpServers": {"c": {"url": "http://%s/mcp"}}}`, m.addr), 0o600))
	s := Open(Config{Path: path, Registry: r, Log: zerolog.Nop(), CallTime: limit})
	t.Cleanup(s.Close)
	until(t, "c.ask", func() bool { return r.Snapshot().Source("c.ask") != "" })
	return s, r
}

// asked is the context of a client who answers questions as do says.
func asked(session string, do func(method, params string) (string, error)) context.Context {
	return tools.WithPeer(context.Background(), &tools.Peer{
		Session: session, Client: json.RawMessage(`{"name":"x","version":"1"}`), Can: json.RawMessage(`{"elicitation":{"form":{}}}`),
		Ask: func(_ context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
			answer, err := do(method, string(params))
			return json.RawMessage(answer), err
		},
	})
}

// TestAQuestionReachesItsOwnClientAlone has many clients at once ask through one gateway.
func TestAQuestionReachesItsOwnClientAlone(t *testing.T) {
	_, r := gate(t, server.NewStreamableHTTPServer(curious()), 0)
	var wait sync.WaitGroup
	for i := range 6 {
		who := fmt.Sprintf("client-%d", i)
		ctx := asked(who, func(method, params string) (string, error) {
			if method != "elicitation/create" || !strings.Contains(params, who+" ") {
				t.Errorf("%s was asked %s %s", who, method, params)
			}
			return fmt.Sprintf(`{"action":"accept","content":{"a":%q}}`, who), nil
		})
		for n := range 4 {
			wait.Go(func() {
				if got := r.Call(ctx, "c.ask", fmt.Appendf(nil, `{"what":"%s question %d"}`, who, n)).Text(); got != "acceptmap[a:"+who+"]" {
					t.Errorf("%s: %s", who, got)
				}
			})
		}
	}
	wait.Wait()
	if got := r.Call(t.Context(), "c.ask", json.RawMessage(`{"what":"nobody"}`)); !got.IsError {
		t.Errorf("a call of nobody's was answered: %s", got.Text())
	}
}

// TestTheTimeOfACallStandsStillForAUser and begins anew with progress; a server that says nothing
// is ended.
func TestTheTimeOfACallStandsStillForAUser(t *testing.T) {
	const limit = 500 * time.Millisecond
	_, r := gate(t, server.NewStreamableHTTPServer(curious()), limit)
	ctx := asked("slow", func(string, string) (string, error) {
		time.Sleep(3 * limit)
		return `{"action":"decline"}`, nil
	})
	if got := r.Call(ctx, "c.ask", json.RawMessage(`{"what":"slow"}`)).Text(); !strings.HasPrefix(got, "decline") {
		t.Errorf("a user who thinks: %s", got)
	}
	var told atomic.Int64
	listening := tools.WithReporter(t.Context(), tools.Reporter{Progress: func(float64, float64, string) { told.Add(1) }})
	if got := r.Call(listening, "c.steps", nil).Text(); got != "done" || told.Load() != 8 {
		t.Errorf("a call with progress: %s, %d reports", got, told.Load())
	}
	start := time.Now()
	if got := r.Call(ctx, "c.sleep", nil).Text(); got != "c.sleep took longer than its 500ms" || time.Since(start) > 10*limit {
		t.Errorf("a call without: %s after %v", got, time.Since(start))
	}
}

// TestASessionsConnectionsEndWithIt looks at what is left of a session.
func TestASessionsConnectionsEndWithIt(t *testing.T) {
	s, r := gate(t, server.NewStreamableHTTPServer(curious()), 0)
	ctx := asked("one", func(string, string) (string, error) { return `{"action":"cancel"}`, nil })
	r.Call(ctx, "c.ask", json.RawMessage(`{"what":"one"}`))
	if n := len(s.relays); n != 1 {
		t.Fatalf("%d relays, want 1", n)
	}
	s.Left("one")
	s.relayMu.Lock()
	defer s.relayMu.Unlock()
	if n := len(s.relays); n != 0 {
		t.Errorf("%d relays are left", n)
	}
}

// TestAnAnswerThatComesLateIsSent is about mcp-go's 30 s for a question.
func TestAnAnswerThatComesLateIsSent(t *testing.T) {
	m := boot(t, "127.0.0.1:0", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusAccepted) }))
	e := Entry{Name: "a", URL: "http://" + m.addr}
	c, free := e.client()
	defer free()
	ctx, cancel := context.WithTimeout(t.Context(), time.Nanosecond)
	defer cancel()
	<-ctx.Done()
	req, err := http.NewRequestWithContext(ctx, "POST", e.URL, nil)
	must.OK(t, err)
	if resp, err := c.Do(req); err != nil || resp.StatusCode != http.StatusAccepted {
		t.Errorf("%v %v", resp, err)
	}
}

// TestAClientThatCanBeAskedDoesNotWaitForADeadServer has one server that hangs beside one that
// answers.
func TestAClientThatCanBeAskedDoesNotWaitForADeadServer(t *testing.T) {
	m := boot(t, "127.0.0.1:0", server.NewStreamableHTTPServer(curious()))
	s, r, _ := opened(t, fmt.Sprintf(`{"mcpServers": {"c": {"url": "http://%s/mcp"}, "hung": {"url": %q}}}`, m.addr, quiet(t)))
	until(t, "c.ask", func() bool { return r.Snapshot().Source("c.ask") != "" })
	hung := s.links["hung"]
	hung.mu.Lock()
	hung.err, hung.failedAt = context.DeadlineExceeded, time.Now() // as after its first attempt, which takes attemptTime
	hung.mu.Unlock()
	ctx := asked("one", func(string, string) (string, error) { return `{"action":"accept","content":{"a":"b"}}`, nil })
	start := time.Now()
	s.Tools(ctx)
	s.Members(ctx, "prompts/list")
	if got := r.Call(ctx, "c.ask", json.RawMessage(`{"what":"x"}`)).Text(); got != "acceptmap[a:b]" {
		t.Error(got)
	}
	if took := time.Since(start); took > 2*time.Second {
		t.Errorf("that took %v", took)
	}
}

// TestAServerCannotFloodAClientWithQuestions has it ask one more than may be open.
func TestAServerCannotFloodAClientWithQuestions(t *testing.T) {
	begun, end := make(chan struct{}), make(chan struct{})
	peer := tools.PeerOf(asked("one", func(string, string) (string, error) {
		begun <- struct{}{}
		<-end
		return "{}", nil
	}))
	r := &relay{peer: peer}
	var wait sync.WaitGroup
	for range mostAsked {
		wait.Go(func() {
			if _, err := r.answer(t.Context(), "roots/list", nil); err != nil {
				t.Error(err)
			}
		})
		<-begun
	}
	if _, err := r.answer(t.Context(), "roots/list", nil); err == nil {
		t.Error("one more was asked")
	}
	close(end)
	wait.Wait()
}
