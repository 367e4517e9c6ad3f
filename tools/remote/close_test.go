package remote

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"toolnorm/internal/test/left"
	"toolnorm/internal/test/must"
	"toolnorm/tools"
)

// TestNothingOfASetRunsBehindClose closes a set while its servers are in every state: connected by
// each transport, hanging, refusing, flooding, just being added, and in the middle of a call.
func TestNothingOfASetRunsBehindClose(t *testing.T) {
	self, err := os.Executable()
	must.OK(t, err)
	hangs := func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	stalled := make(chan struct{})
	inner := handler(fake("f"), kindHTTP)
	stalls := boot(t, "127.0.0.1:0", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-stalled:
			<-r.Context().Done()
		default:
			inner.ServeHTTP(w, r)
		}
	}))
	entries := []map[string]any{
		{"name": "http", "url": "http://" + boot(t, "127.0.0.1:0", handler(fake("f"), kindHTTP)).addr + "/mcp"},
		{"name": "sse", "url": "http://" + boot(t, "127.0.0.1:0", handler(fake("f"), kindSSE)).addr + "/sse"},
		{"name": "command", "command": self, "env": map[string]string{"SPEAK_MCP": "1"}},
		{"name": "stalls", "url": "http://" + stalls.addr + "/mcp"},
		{"name": "hangs", "url": "http://" + boot(t, "127.0.0.1:0", http.HandlerFunc(hangs)).addr + "/mcp"},
		{"name": "refuses", "url": "http://127.0.0.1:9/mcp"},
		{"name": "sleeps", "command": "sleep", "args": []string{"1000"}},
		{"name": "floods", "command": "yes"},
	}
	text, err := json.Marshal(entries)
	must.OK(t, err)
	for round, wait := range []time.Duration{0, 300 * time.Millisecond, 2500 * time.Millisecond} {
		if testing.Short() && round == 2 {
			break
		}
		t.Run(fmt.Sprint(wait), func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "mcp.json")
			must.Write(t, path, text)
			before := left.Ours()
			r := tools.New(tools.Options{})
			s := Open(Config{Path: path, Registry: r, Version: "1", Log: zerolog.Nop()})
			time.Sleep(wait)
			answered := make(chan string, 1)
			if round == 2 {
				until(t, "the tools of three servers", func() bool { return len(r.Snapshot().Tools) >= 16 })
				close(stalled)
				go func() { answered <- called(r, "stalls.add", `{"a":1,"b":1}`) }()
				time.Sleep(100 * time.Millisecond)
			} else {
				answered <- ""
			}
			start := time.Now()
			s.Close()
			if took := time.Since(start); took > 10*time.Second {
				t.Errorf("Close took %v", took)
			}
			<-answered
			r.Close(time.Second)
			left.Behind(t, before, "net/http.(*conn).serve", "mcp-go/server") // the fakes'
		})
	}
}
