package e2e

import (
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
	"time"

	"toolnorm/internal/test/must"
)

// TestServerEverythingIsTheSameThroughToolnorm has a stock client do the same with
// server-everything directly and through toolnorm, at each of its faces and over each transport of
// the server, and compares everything that the client sees.
func TestServerEverythingIsTheSameThroughToolnorm(t *testing.T) {
	l := openServers(t)
	everything, url := l.everything(t)
	byCommand := map[string]any{"command": l.node, "args": []string{everything, "stdio"}}
	byHTTP := map[string]any{"url": url}
	for _, capable := range []string{"yes", "no"} {
		t.Run("capable="+capable, func(t *testing.T) {
			t.Parallel() // what is compared waits most of its time
			direct := l.seen(t, capable, "--", l.node, everything, "stdio")
			overHTTP := l.seen(t, capable, "=", url)
			for name, entry := range map[string]map[string]any{"command": byCommand, "http": byHTTP} {
				want := map[string]map[string]any{"command": direct, "http": overHTTP}[name]
				file := mcpFile(t, map[string]any{"everything": entry})
				base := l.toolnorm(t, "--ollama", "127.0.0.1:1", "--sample=never", "--mcp-file", file)
				awaitEverything(t, base)
				same(t, name+" at /mcp", want, l.seen(t, capable, base+"/mcp"))
				same(t, name+" by toolnorm mcp", want, l.seen(t, capable, "through", l.binary, "mcp", "--sample=never", "--data", t.TempDir(), "--mcp-file", file))
			}
		})
	}
}

// mcpFile writes a file of servers.
func mcpFile(t *testing.T, servers map[string]any) string {
	t.Helper()
	text := must.Have(json.Marshal(map[string]any{"mcpServers": servers}))(t)
	file := filepath.Join(t.TempDir(), "mcp.json")
	must.Write(t, file, text)
	return file
}

// everything starts server-everything over HTTP, and returns its program and its address.
func (l *serversLane) everything(t *testing.T) (program, url string) {
	t.Helper()
	program = filepath.Join(l.packages, "node_modules", "@modelcontextprotocol", "server-everything", "dist", "index.js")
	addr := must.Have(freeAddr())(t)
	r := &running{foreign: foreign{name: "everything", command: []string{l.node, program, "streamableHttp"}, env: []string{"PORT=%PORT%"}}, addr: addr}
	r.start(t)
	t.Cleanup(r.kill)
	return program, "http://" + addr + "/mcp"
}

// awaitEverything waits until a toolnorm has reached server-everything, for ten seconds at most.
func awaitEverything(t *testing.T, base string) {
	t.Helper()
	for range 100 {
		if states(t, base)["everything"] == "ready" {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// seen is what a client saw, by its steps.
func (l *serversLane) seen(t *testing.T, capable string, way ...string) (steps map[string]any) {
	t.Helper()
	packages := npmPart(t, "mcp")
	cmd := exec.CommandContext(t.Context(), l.node, append([]string{filepath.Join("mcp", "gateway.mjs"), packages}, way...)...)
	cmd.Env = append(os.Environ(), "CAPABLE="+capable)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%q: %v\n%s", way, err, out)
	}
	must.OK(t, json.Unmarshal(out, &steps))
	return steps
}

// same reports each step that differs.
func same(t *testing.T, name string, want, got map[string]any) {
	t.Helper()
	differ := 0
	for _, step := range slices.Sorted(maps.Keys(want)) {
		if !reflect.DeepEqual(want[step], got[step]) {
			differ++
			a, _ := json.Marshal(want[step]) // of JSON
			b, _ := json.Marshal(got[step])
			t.Errorf("%s, %s:\ndirectly %.1500s\nthrough  %.1500s", name, step, a, b)
		}
	}
	t.Logf("%s: %d of %d steps differ", name, differ, len(want))
}
