package agent

import (
	"context"
	"fmt"
	"iter"
	"net/http"
	"path/filepath"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"toolnorm/chat"
	"toolnorm/internal/test/must"
	"toolnorm/internal/toolargs"
	"toolnorm/tools"
	"toolnorm/tools/remote"
)

// adder is an MCP server at an address; its sessions end with it.
func adder(t *testing.T, addr string) *http.Server {
	t.Helper()
	s := server.NewMCPServer("calc", "1")
	s.AddTool(mcp.NewTool("add", mcp.WithNumber("a"), mcp.WithNumber("b")), func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultText(fmt.Sprint(r.GetInt("a", 0) + r.GetInt("b", 0))), nil
	})
	l := must.Listen(t, addr)
	h := &http.Server{Addr: l.Addr().String(), Handler: server.NewStreamableHTTPServer(s)}
	go h.Serve(l)
	t.Cleanup(func() { h.Close() })
	return h
}

// TestAServerMayRestartInAConversation kills a server between two steps of a run. While it is down
// the other one goes on; and the first call behind its restart works.
func TestAServerMayRestartInAConversation(t *testing.T) {
	first, other := adder(t, "127.0.0.1:0"), adder(t, "127.0.0.1:0")
	registry := tools.New(tools.Options{Fit: new(toolargs.Reader).Fit})
	set := remote.Open(remote.Config{Path: filepath.Join(t.TempDir(), "mcp.json"), Registry: registry, Version: "1", Private: func(context.Context) bool { return true }})
	defer set.Close()
	for name, s := range map[string]*http.Server{"first": first, "other": other} {
		must.OK(t, set.Add(t.Context(), remote.Asked{Name: name, URL: "http://" + s.Addr + "/mcp"}))
	}
	script := &scripted{texts: []string{
		fenced("first.add", `{"a":1,"b":1}`), fenced("first.add", `{"a":2,"b":2}`), fenced("other.add", `{"a":3,"b":3}`), fenced("first.add", `{"a":4,"b":4}`), "Done.",
	}}
	step := 0
	m := model(func(ctx context.Context, r *chat.Request) iter.Seq2[chat.Event, error] {
		switch step++; step {
		case 2:
			first.Close()
		case 4:
			adder(t, first.Addr)
		}
		return script.Stream(ctx, r)
	})
	out, err := New(Config{Model: m, Tools: registry, Servers: set}).Run(t.Context(), Ask{Request: question("x")}, nil)
	if err != nil || out.Stop != Final || len(out.Calls) != 4 {
		t.Fatalf("%+v, %v", out, err)
	}
	for i, ok := range []bool{true, false, true, true} {
		if c := out.Calls[i]; c.OK != ok || c.Millis > 2000 {
			t.Errorf("call %d: %+v, want ok %v within 2 s\n%s", i+1, c, ok, script.told())
		}
	}
}
