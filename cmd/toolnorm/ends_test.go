package main

import (
	"io"
	"runtime"
	"strings"
	"testing"
)

// ours lists the goroutines that are in code of this program, by their numbers.
func ours() map[string]string {
	buffer := make([]byte, 4<<20)
	all := map[string]string{}
	for stack := range strings.SplitSeq(string(buffer[:runtime.Stack(buffer, true)]), "\n\n") {
		number, _, _ := strings.Cut(stack, "[")
		if strings.Contains(stack, "toolnorm/") && !strings.Contains(stack, "ours(") {
			all[number] = stack
		}
	}
	return all
}

// TestNothingRunsBehindClose looks at the moment when Close has returned: what runs on would use
// a database that is closed.
func TestNothingRunsBehindClose(t *testing.T) {
	clean(t, "")
	before := ours()
	m := serving(t, io.Discard, "--data", t.TempDir(), "--grace", "2s")
	for path, body := range map[string]string{
		"/v1/chat/completions": `{"model":"demo/hermes","messages":[{"role":"user","content":"Hi"}]}`,
		"/mcp/add":             `{"name":"x","url":"http://127.0.0.1:9/mcp"}`,
		"/mcp":                 initialize,
	} {
		if status, text := ask(t, "POST", m.URL()+path, body); status != 200 && status != 406 {
			t.Errorf("%s: %d %s", path, status, text)
		}
	}
	if err := m.Reload(); err != nil {
		t.Error(err)
	}
	if during := ours(); len(during) < len(before)+5 {
		t.Errorf("%d goroutines are ours while it runs: the look misses them", len(during))
	}
	if err := m.Close(); err != nil {
		t.Error(err)
	}
	for number, stack := range ours() {
		if before[number] == "" {
			t.Errorf("runs on:\n%s", stack)
		}
	}
}
