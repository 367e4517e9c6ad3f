package e2e

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"toolnorm/internal/test/must"
)

// vacation is a call of a company tool as editors make them, every argument a string, and what its
// answer must hold.
var vacation = struct {
	job  mcpJob
	want string
}{mcpJob{Do: "call", Name: "calculate_vacation_days", Args: map[string]string{"employee_id": "EMP001", "year": "2025"}}, `"total":19,"used":4.5,"remaining":14.5`}

// TestVoidConnectsAndCalls goes through Void's own procedure: what it would show as a red dot is a
// failure here.
func TestVoidConnectsAndCalls(t *testing.T) {
	l := openMCP(t)
	base := l.toolnorm(t)
	c := l.client(t, "sdk-1.11")
	tools := c.must(t, mcpJob{Do: "connect", Transport: "void", URL: base + "/sse"}).Tools
	at := slices.IndexFunc(tools, func(name string) bool { return strings.HasSuffix(name, "_calculate_vacation_days") })
	if at < 0 {
		t.Fatalf("Void lists %q", tools)
	}
	for _, name := range []string{"calculate_vacation_days", tools[at]} { // it takes its prefix off; models call either
		call := vacation.job
		call.Name = name
		if got := c.must(t, call); !strings.Contains(got.text(), vacation.want) || got.Result.IsError {
			t.Errorf("%s gave %+v", name, got.Result)
		}
	}
	wrong := mcpJob{Do: "call", Name: "get_employee_info", Args: map[string]string{"employee_id": "nobody"}}
	if got := c.must(t, wrong); got.Result.IsError || !strings.HasPrefix(got.text(), "Error:") {
		t.Errorf("a call that fails gave %+v; Void shows results marked as errors as {}", got.Result)
	}
}

// TestClientsStartTheServerThemselves lets each client talk to a process of its own, on standard
// input and output.
func TestClientsStartTheServerThemselves(t *testing.T) {
	l := openMCP(t)
	data := t.TempDir()
	for _, name := range stockClients {
		t.Run(name, func(t *testing.T) {
			c := l.client(t, name)
			c.must(t, mcpJob{Do: "connect", Transport: "stdio", Command: []string{l.binary, "mcp", "--data", data}})
			if names := c.must(t, mcpJob{Do: "list"}).Tools; !slices.Contains(names, vacation.job.Name) {
				t.Errorf("listed %q", names)
			}
			if got := c.must(t, vacation.job); !strings.Contains(got.text(), vacation.want) {
				t.Errorf("the call gave %+v", got.Result)
			}
			c.must(t, mcpJob{Do: "close"})
		})
	}
}

// TestClientsGoOnAfterARestart restarts the server under connected clients. Those of Streamable
// HTTP notice nothing; those of SSE connect again by themselves, which takes them seconds, and
// calls fail until then.
func TestClientsGoOnAfterARestart(t *testing.T) {
	l := openMCP(t)
	addr := must.Have(freeAddr())(t)
	server := l.startAt(t, addr)
	clients := map[route]*mcpClient{}
	for _, w := range routes() {
		clients[w] = l.connect(t, w, "http://"+addr)
	}
	void := l.client(t, "sdk-1.11")
	void.must(t, mcpJob{Do: "connect", Transport: "void", URL: "http://" + addr + "/sse"})
	clients[route{"Void", "http", "/sse"}] = void
	server.Process.Signal(os.Interrupt)
	server.Wait()
	l.startAt(t, addr)
	for w, c := range clients {
		got := c.do(t, vacation.job)
		for end := time.Now().Add(15 * time.Second); w.transport == "sse" && got.Error != "" && time.Now().Before(end); {
			time.Sleep(200 * time.Millisecond)
			got = c.do(t, vacation.job)
		}
		if !strings.Contains(got.text(), vacation.want) {
			t.Errorf("%v, after the restart: %q, error %q %q", w, got.text(), got.Error, got.Failed)
		}
	}
}

// startAt serves toolnorm at an address.
func (l *mcpLane) startAt(t *testing.T, addr string) *exec.Cmd {
	t.Helper()
	return must.Have(l.startToolnormAt(addr))(t)
}

// TestTheInspectorListsAndCalls runs the command line of the official inspector.
func TestTheInspectorListsAndCalls(t *testing.T) {
	l := openMCP(t)
	base := l.toolnorm(t)
	for _, w := range []route{{"", "http", "/mcp"}, {"", "http", "/sse"}, {"", "sse", "/sse"}} {
		t.Run(w.transport+" at "+w.path, func(t *testing.T) {
			var list struct{ Tools []struct{ Name string } }
			l.inspect(t, &list, base+w.path, "--transport", w.transport, "--method", "tools/list")
			if len(list.Tools) != 4 || list.Tools[0].Name != "search_docs" {
				t.Errorf("listed %v", list.Tools)
			}
			var result struct{ Content []struct{ Text string } }
			l.inspect(t, &result, base+w.path, "--transport", w.transport, "--method", "tools/call",
				"--tool-name", "calculate_vacation_days", "--tool-arg", "employee_id=EMP001", "--tool-arg", "year=2025")
			if len(result.Content) != 1 || !strings.Contains(result.Content[0].Text, vacation.want) {
				t.Errorf("the call gave %v", result.Content)
			}
		})
	}
}

// inspect runs the inspector and reads what it prints.
func (l *mcpLane) inspect(t *testing.T, into any, args ...string) {
	t.Helper()
	program := filepath.Join(l.packages, "node_modules", "@modelcontextprotocol", "inspector", "clients", "launcher", "build", "index.js")
	cmd := exec.Command(l.node, append([]string{program, "--cli"}, args...)...)
	cmd.Env = l.env()
	cmd.WaitDelay = 30 * time.Second
	out, err := cmd.Output()
	if err == nil {
		err = json.Unmarshal(out, into)
	}
	if err != nil {
		t.Fatalf("inspector %q: %v\n%s", args, err, out)
	}
}
