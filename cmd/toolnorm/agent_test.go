package main

import (
	"context"
	"encoding/json"
	"io"
	"iter"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"toolnorm/agent"
	"toolnorm/chat"
	"toolnorm/internal/auth"
)

func TestTheAgentAnswersAtItsAddressAndAsAModel(t *testing.T) {
	m := fresh(t)
	const params = `"model":"demo/hermes","messages":[{"role":"user","content":"How many vacation days has employee \"EMP001\" left in 2025?"}]`
	if status, body := ask(t, "POST", m.URL()+"/generate_with_mcp", `{"method":"generate_content","params":{`+params+`},"id":1}`); status != 200 || !strings.Contains(body, `"stop_reason":"final","tool_calls":[]`) {
		t.Errorf("without a server: %d %s", status, body)
	}
	status, body := ask(t, "POST", m.URL()+"/v1/chat/completions", `{`+strings.Replace(params, "demo/hermes", "demo/hermes@agent", 1)+`}`)
	if status != 200 || !strings.Contains(body, "[local.calculate_vacation_days ") || strings.Contains(body, `"tool_calls"`) {
		t.Errorf("as a model: %d %s", status, body)
	}
}

func TestModelsWaitWithThoseOfTheSameServer(t *testing.T) {
	var c Config
	c.Upstream, c.Upstreams, c.Alias = map[string]string{"box": "http://h"}, []listed{{Name: "den"}}, map[string]string{"fast": "box/qwen3"}
	for model, want := range map[string]string{"qwen3": "", "fast": "box", "box/a": "box", "den/b": "den", "hf.co/c": ""} {
		if got := c.server(model); got != want {
			t.Errorf("%s waits at %q, want %q", model, got, want)
		}
	}
}

// writer is a model that writes one text after the other, and remembers what it was asked last in
// each request.
type writer struct {
	mu    sync.Mutex
	texts []string
	asked []string
}

// Stream writes the next text.
func (w *writer) Stream(_ context.Context, r *chat.Request) iter.Seq2[chat.Event, error] {
	w.mu.Lock()
	defer w.mu.Unlock()
	text := "Done."
	if n := len(w.asked); n < len(w.texts) {
		text = w.texts[n]
	}
	w.asked = append(w.asked, r.Messages[len(r.Messages)-1].Content)
	return func(yield func(chat.Event, error) bool) {
		_ = yield(chat.Event{Kind: chat.Text, Text: text}, nil) && yield(chat.Event{Kind: chat.Finish, Text: chat.Stop}, nil)
	}
}

// TestAServerAsksTheModelOfARun has a real MCP server ask, with the setting and without it.
func TestAServerAsksTheModelOfARun(t *testing.T) {
	clean(t, "")
	s := server.NewMCPServer("q", "1", server.WithToolCapabilities(true))
	s.EnableSampling()
	s.AddTool(mcp.NewTool("sum", mcp.WithDescription("Sums up.")), func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		var q mcp.CreateMessageRequest
		q.Messages = []mcp.SamplingMessage{{Role: mcp.RoleUser, Content: mcp.TextContent{Type: "text", Text: "Sum up the report."}}}
		q.MaxTokens = 50
		//lint:ignore SA1019 servers of the older revisions ask this way
		a, err := s.RequestSampling(ctx, q)
		if err != nil {
			return mcp.NewToolResultError("nobody sums up: " + err.Error()), nil
		}
		text, _ := json.Marshal(a.Content)
		return mcp.NewToolResultText(string(text)), nil
	})
	h := httptest.NewServer(server.NewStreamableHTTPServer(s))
	t.Cleanup(func() { h.CloseClientConnections(); h.Close() })
	m := serving(t, io.Discard, "--no-tools")
	if status, body := ask(t, "POST", m.URL()+"/mcp/add", `{"name":"q","url":"`+h.URL+`/mcp"}`); status != 200 {
		t.Fatalf("%d %s", status, body)
	}
	m.remote.Settle(t.Context())
	const call = "```json\n{\"tool\": \"q.sum\", \"arguments\": {}}\n```"
	for _, on := range []bool{true, false} {
		w := &writer{texts: []string{call, "All is well.", "The report says that all is well."}}
		l := agent.New(agent.Config{Model: w, Tools: m.toolbox.Registry, Servers: m.remote, Sample: on, Log: m.log, Time: time.Minute})
		ctx := auth.WithPrincipal(t.Context(), &auth.Principal{Subject: "local", Admin: true})
		out, err := l.Run(ctx, agent.Ask{Request: chat.Request{Model: "m", Messages: []chat.Message{{Role: chat.User, Content: "What does the report say?"}}}}, nil)
		if err != nil || len(out.Calls) != 1 || out.Calls[0].OK != on {
			t.Fatalf("%v: %+v %v", on, out, err)
		}
		if want := map[bool]string{true: "Sum up the report.", false: "nobody sums up"}[on]; !strings.Contains(w.asked[1], want) {
			t.Errorf("%v: %q", on, w.asked)
		}
		if on && !strings.Contains(w.asked[2], "All is well.") {
			t.Errorf("the model reads %q", w.asked[2])
		}
	}
}
