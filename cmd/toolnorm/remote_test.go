package main

import (
	"context"
	"io"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"toolnorm/internal/test/must"
	"toolnorm/runner"
	"toolnorm/tools/remote"
)

// elsewhere is another MCP server, with one tool; its address is at /mcp.
func elsewhere(t *testing.T) string {
	t.Helper()
	s := server.NewMCPServer("elsewhere", "1")
	s.AddTool(mcp.NewTool("shout", mcp.WithString("text")), func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultText(strings.ToUpper(r.GetString("text", "shouted"))), nil
	})
	h := httptest.NewServer(server.NewStreamableHTTPServer(s))
	t.Cleanup(func() { h.CloseClientConnections(); h.Close() })
	return h.URL + "/mcp"
}

func TestToolsOfOtherServersAreOfferedHere(t *testing.T) {
	clean(t, "")
	lines := new(log)
	m := serving(t, lines, "--no-tools", "--log-level=debug")
	if status, body := ask(t, "POST", m.URL()+"/mcp/add", `{"name":"loud","url":"`+elsewhere(t)+`"}`); status != 200 {
		t.Fatalf("add: %d %s", status, body)
	}
	const call = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"loud.shout","arguments":{"text":"hey"}}}`
	var body string
	for range 200 {
		if _, body = ask(t, "POST", m.URL()+"/mcp", call); strings.Contains(body, `"HEY"`) {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if !strings.Contains(body, `"HEY"`) {
		t.Errorf("the call gives %s", body)
	}
	must.Have(os.Stat(filepath.Join(m.Config.Data, "mcp.json")))(t)
	toolrun := runner.Client{Address: must.Have(runner.FindAddress(m.Config.Data))(t)}
	if out, err := toolrun.Call(t.Context(), "loud.shout", []byte(`{"text":"hey"}`)); err != nil || !strings.Contains(string(out.JSON()), "HEY") {
		t.Errorf("through the runner: %s, %v", out.JSON(), err)
	}
	if text := lines.String(); !strings.Contains(text, "Loaded 0 MCP servers from mcp.json") {
		t.Errorf("the log does not count the servers:\n%s", text)
	}
}

// Who asks from elsewhere, be it through a proxy on this machine, may not lead the program into its
// network.
func TestAddressesInsideAreNamedFromThisMachine(t *testing.T) {
	m := fresh(t, "--api-keys", aKey)
	for header, want := range map[string]int{"Accept": 200, "X-Forwarded-For": 400} {
		for _, path := range []string{"/mcp/add", "/admin/api/servers"} {
			got, body := withToken(t, "POST", m.URL()+path, aKey, `{"name":"x","url":"http://127.0.0.1:9/mcp"}`, header+": 127.0.0.1", "Toolnorm-Admin: 1")
			if got/100 != want/100 || want == 400 && !strings.Contains(body, "private") {
				t.Errorf("%s with %s: %d %s", path, header, got, body)
			}
		}
	}
}

func TestTheFileOfServersIsBesideThatOfSettings(t *testing.T) {
	dir := t.TempDir()
	config := filepath.Join(dir, "toolnorm.yaml")
	must.Write(t, config, "grace: 1s\n")
	clean(t, "")
	serving(t, io.Discard, "--config", config)
	if text, err := os.ReadFile(filepath.Join(dir, "mcp.json")); err != nil || string(text) != "[]\n" {
		t.Errorf("mcp.json is %q, %v", text, err)
	}
	must.Write(t, filepath.Join(dir, "mcp.json"), "{")
	m := serving(t, io.Discard, "--config", config)
	if status, body := ask(t, "GET", m.URL()+"/mcp/list?state=1", ""); status != 200 || !strings.Contains(body, `"name":"mcp.json","url":"","state":"invalid"`) {
		t.Errorf("a broken file: %d %s", status, body)
	}
}

// TestAProgramThatIsAServerOfOursHasNone is about a mcp.json that names "toolnorm mcp".
func TestAProgramThatIsAServerOfOursHasNone(t *testing.T) {
	clean(t, "")
	t.Setenv(remote.Hops, "1")
	m := serving(t, io.Discard)
	if m.remote != nil {
		t.Error("it connects with servers itself")
	}
}
