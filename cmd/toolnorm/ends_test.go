package main

import (
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"testing"

	"toolnorm/internal/test/left"
	"toolnorm/internal/test/must"
)

// TestNothingRunsBehindClose looks at the moment when Close has returned: what runs on would use
// a database that is closed.
func TestNothingRunsBehindClose(t *testing.T) {
	clean(t, "")
	before := left.Ours()
	data := t.TempDir()
	hangs := must.Listen(t, "127.0.0.1:0")
	defer hangs.Close()
	entries := fmt.Sprintf(`[{"name":"hangs","url":"http://%s/mcp"},{"name":"sleeps","command":"sleep","args":["1000"]},{"name":"floods","command":"yes"}]`, hangs.Addr())
	must.Write(t, filepath.Join(data, "mcp.json"), entries)
	m := serving(t, io.Discard, "--data", data, "--grace", "100ms")
	for _, path := range []string{"/sse", "/admin/api/events"} { // streams, which a client leaves open
		resp, err := http.Get(m.URL() + path)
		if err != nil || resp.StatusCode != http.StatusOK {
			t.Fatalf("%s: %v, %v", path, resp, err)
		}
		defer resp.Body.Close()
	}
	for path, body := range map[string]string{
		"/v1/chat/completions": `{"model":"demo/hermes","messages":[{"role":"user","content":"Hi"}]}`,
		"/mcp/add":             `{"name":"x","url":"http://127.0.0.1:9/mcp"}`,
		"/mcp":                 initialize,
	} {
		if status, text := ask(t, "POST", m.URL()+path, body); status != 200 && status != 406 {
			t.Errorf("%s: %d %s", path, status, text)
		}
	}
	must.OK(t, m.Reload())
	if during := left.Ours(); len(during) < len(before)+5 {
		t.Errorf("%d goroutines are ours while it runs: the look misses them", len(during))
	}
	must.OK(t, m.Close())
	left.Behind(t, before)
}
