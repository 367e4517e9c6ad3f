package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"toolnorm/internal/test/must"
	"toolnorm/tools"
)

// tasked are a tool that may be a task, which waits for open before each round and asks in the
// first, and one that must be one.
func tasked(t *testing.T, open chan struct{}) *tools.Registry {
	t.Helper()
	r := tools.New(tools.Options{})
	call := func(ctx context.Context, _ json.RawMessage) (tools.Result, error) {
		select {
		case <-open:
		case <-ctx.Done():
			return tools.Result{}, context.Cause(ctx)
		}
		if strings.Contains(string(tools.PeerOf(ctx).Params), "Ada") {
			return tools.TextOf("Hello, Ada!"), nil
		}
		return tools.Result{Raw: json.RawMessage(`{"resultType":"input_required","inputRequests":{"name":{"method":"elicitation/create","params":{}}},"requestState":"s"}`)}, nil
	}
	err := r.Set("test", tools.Tool{Name: "may", More: json.RawMessage(`{"execution":{"taskSupport":"optional"}}`), Call: call},
		tools.Tool{Name: "must", More: json.RawMessage(`{"execution":{"taskSupport":"required"}}`), Call: call})
	must.OK(t, err)
	return r
}

// taskAnswer is what tests read of an answer.
type taskAnswer struct {
	Result struct {
		Type, Status, TaskID string
		ResultType           string
		InputRequests        map[string]json.RawMessage
		Result               struct{ Content []struct{ Text string } }
		Content              []struct{ Text string }
	}
	Error struct{ Code int }
}

// askTask sends a request of 2026-07-28 as somebody, who knows tasks or not.
func (f *face) askTask(who, method, name, params string, knows bool) (a taskAnswer) {
	f.t.Helper()
	can := ""
	if knows {
		can = `"extensions":{"io.modelcontextprotocol/tasks":{}}`
	}
	meta := `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{},` + can + `}}`
	meta = strings.Replace(meta, "{},}", "{}}", 1)
	h := modern(method, name)
	h["X-Who"], h["Accept"] = who, "application/json"
	_, body := f.post(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{%s,%s}}`, method, params, meta), h)
	if err := json.Unmarshal([]byte(body), &a); err != nil {
		f.t.Fatalf("%s: %s", err, body)
	}
	return a
}

// until asks for a task until it has a status.
func (f *face) until(id, status string) taskAnswer {
	f.t.Helper()
	for {
		a := f.askTask("ann", "tasks/get", id, `"taskId":"`+id+`"`, true)
		if a.Result.Status == status {
			return a
		}
		if a.Error.Code != 0 || f.t.Context().Err() != nil {
			f.t.Fatalf("%+v, want status %s", a, status)
		}
		time.Sleep(5 * time.Millisecond) // the tool runs behind the answer
	}
}

func TestACallThatTakesLongIsATask(t *testing.T) {
	open := make(chan struct{})
	f := serve(t, Config{Registry: tasked(t, open), Bounds: Bounds{Patience: time.Millisecond}, Principal: func(r *http.Request) string { return r.Header.Get("X-Who") }})
	for _, tool := range []string{"may", "must"} {
		made := f.askTask("ann", "tools/call", tool, `"name":"`+tool+`"`, true)
		id := made.Result.TaskID
		if made.Result.ResultType != "task" || made.Result.Status != "working" || id == "" {
			t.Fatalf("%s: %+v", tool, made)
		}
		one := `"taskId":"` + id + `"`
		for who, knows := range map[string]bool{"bob": true, "ann": false} {
			if a := f.askTask(who, "tasks/get", id, one, knows); a.Error.Code != map[bool]int{true: codeParams, false: codeCapability}[knows] {
				t.Errorf("%s, %v: %+v", who, knows, a)
			}
		}
		open <- struct{}{}
		if a := f.until(id, "input_required"); len(a.Result.InputRequests) != 1 {
			t.Errorf("%+v", a)
		}
		f.askTask("ann", "tasks/update", id, one+`,"inputResponses":{"other":{}}`, true)
		f.until(id, "input_required")
		f.askTask("ann", "tasks/update", id, one+`,"inputResponses":{"name":{"action":"accept","content":{"name":"Ada"}}}`, true)
		open <- struct{}{}
		if a := f.until(id, "completed"); len(a.Result.Result.Content) != 1 || a.Result.Result.Content[0].Text != "Hello, Ada!" {
			t.Errorf("%+v", a)
		}
	}
}

func TestATaskCanBeCancelled(t *testing.T) {
	f := serve(t, Config{Registry: tasked(t, nil), Bounds: Bounds{Patience: time.Millisecond}, Principal: func(r *http.Request) string { return r.Header.Get("X-Who") }})
	id := f.askTask("ann", "tools/call", "may", `"name":"may"`, true).Result.TaskID
	if a := f.askTask("ann", "tasks/cancel", id, `"taskId":"`+id+`"`, true); a.Result.ResultType != "complete" || a.Result.TaskID != "" {
		t.Errorf("%+v", a)
	}
	f.until(id, "cancelled")
	if a := f.askTask("ann", "tools/call", "must", `"name":"must"`, false); a.Error.Code != codeCapability {
		t.Errorf("a tool that must be a task: %+v", a)
	}
}
