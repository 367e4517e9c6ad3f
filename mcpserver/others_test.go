package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"toolnorm/internal/test/must"
	"toolnorm/tools"
)

// waiting is a tool that waits until it is ended, and tells why.
func waiting(t *testing.T) (_ *tools.Registry, began chan string, ended chan error) {
	t.Helper()
	began, ended = make(chan string, 10), make(chan error, 10)
	r := tools.New(tools.Options{})
	err := r.Set("test", tools.Tool{Name: "waits", Call: func(ctx context.Context, args json.RawMessage) (tools.Result, error) {
		began <- string(args)
		<-ctx.Done()
		ended <- context.Cause(ctx)
		return tools.Result{}, context.Cause(ctx)
	}})
	must.OK(t, err)
	return r, began, ended
}

// ends waits for the end of the tool.
func ends(t *testing.T, ended chan error) {
	t.Helper()
	select {
	case err := <-ended:
		if err != errCancelled {
			t.Errorf("the tool ended by %v", err)
		}
	case <-time.After(10 * time.Second):
		t.Error("the tool goes on")
	}
}

// TestACallIsCancelledAtAnotherReplica cancels calls of two sessions with the same ids at the
// replica that does not run them: one ends each time, and it is the right one.
func TestACallIsCancelledAtAnotherReplica(t *testing.T) {
	r, began, ended := waiting(t)
	_, a, b := replicas(t, r)
	cancel := func(f *face, id string, h header) {
		t.Helper()
		if status, got := f.post(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":`+id+`}}`, h); status != 202 {
			t.Errorf("%d %s", status, got)
		}
	}
	one, two := a.initialized("2025-11-25", "x", "1"), b.initialized("2025-11-25", "x", "1")
	answers := make(chan string, 10)
	call := func(name, id string, h header) {
		go func() {
			_, got := a.post(`{"jsonrpc":"2.0","id":`+id+`,"method":"tools/call","params":{"name":"waits"}}`, h)
			answers <- name + got
		}()
		<-began
	}
	call("one 7 ", "7", one)
	call("two 7 ", "7", two)
	call(`one "7" `, `"7"`, one)
	for _, c := range []struct {
		id   string
		h    header
		want string
	}{{`"7"`, one, `one "7" `}, {"7", two, "two 7 "}, {"7", one, "one 7 "}} {
		cancel(b, "8", c.h) // runs nowhere
		cancel(b, c.id, c.h)
		ends(t, ended)
		if got := <-answers; !strings.HasPrefix(got, c.want) || strings.Contains(got, `"result"`) {
			t.Errorf("%q ended, want %s", got, c.want)
		}
	}
	if len(ended) > 0 {
		t.Error("another call ended, too")
	}
}

// TestASessionThatEndsTakesItsCallsAlong gives a session up at the replica that runs nothing of it.
func TestASessionThatEndsTakesItsCallsAlong(t *testing.T) {
	r, began, ended := waiting(t)
	_, a, b := replicas(t, r)
	h, other := a.initialized("2025-11-25", "x", "1"), a.initialized("2025-11-25", "x", "1")
	var calls sync.WaitGroup
	for _, of := range []header{h, other} {
		calls.Go(func() {
			a.post(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"waits"}}`, of)
		})
		<-began
	}
	get := header{"Mcp-Session-Id": h["Mcp-Session-Id"], "Accept": "text/event-stream"}
	a.do(http.MethodGet, "/mcp", "", get)
	soon(t, "a listener", func() bool { return a.listeners() == 1 })
	if resp := b.do(http.MethodDelete, "/mcp", "", h); resp.StatusCode != 204 {
		t.Fatal(resp.Status)
	}
	ends(t, ended)
	soon(t, "no listener", func() bool { return a.listeners() == 0 })
	if len(ended) > 0 {
		t.Error("another session's call ended, too")
	}
	b.do(http.MethodDelete, "/mcp", "", other)
	calls.Wait()
}

// TestATaskIsReachedFromAnotherReplica begins a task at one replica, and asks for it, answers its
// question and cancels it at the other. When its replica is gone, that is an error.
func TestATaskIsReachedFromAnotherReplica(t *testing.T) {
	t.Parallel() // it waits until the other one should have answered
	all := &common{rows: map[string][]byte{}}
	open := make(chan struct{})
	cfg := Config{Key: bytes.Repeat([]byte("k"), 32), Bounds: Bounds{Patience: time.Millisecond}, Registry: tasked(t, open), Principal: func(r *http.Request) string { return r.Header.Get("X-Who") }}
	cfg.Shared = all.join(t, "a")
	a := serve(t, cfg)
	cfg.Shared = all.join(t, "b")
	b := serve(t, cfg)
	made := func() (id, one string) {
		t.Helper()
		id = a.askTask("ann", "tools/call", "may", `"name":"may"`, true).Result.TaskID
		if id == "" {
			t.Fatal("no task")
		}
		return id, fmt.Sprintf(`"taskId":%q`, id)
	}
	id, one := made()
	if got := b.askTask("ann", "tasks/get", id, one, true); got.Result.Status != "working" || got.Result.ResultType != "complete" {
		t.Errorf("%+v", got)
	}
	forged := id[:len(id)-1] + map[bool]string{true: "1", false: "0"}[id[len(id)-1] == '0']
	for name, got := range map[string]taskAnswer{
		"another caller":     b.askTask("bob", "tasks/get", id, one, true),
		"a forged id":        b.askTask("ann", "tasks/get", forged, fmt.Sprintf(`"taskId":%q`, forged), true),
		"answers, no object": b.askTask("ann", "tasks/update", id, one+`,"inputResponses":7`, true),
	} {
		if got.Error.Code != codeParams {
			t.Errorf("%s: %+v", name, got)
		}
	}
	open <- struct{}{}
	b.until(id, "input_required")
	b.askTask("ann", "tasks/update", id, one+`,"inputResponses":{"name":{"action":"accept","content":{"name":"Ada"}}}`, true)
	open <- struct{}{}
	if got := b.until(id, "completed"); len(got.Result.Result.Content) != 1 || got.Result.Result.Content[0].Text != "Hello, Ada!" {
		t.Errorf("%+v", got)
	}
	id, one = made()
	b.askTask("ann", "tasks/cancel", id, one, true)
	a.until(id, "cancelled")
	all.Kill("a")
	if got := b.askTask("ann", "tasks/get", id, one, true); got.Error.Code != codeInternal {
		t.Errorf("its replica is gone: %+v", got)
	}
}
