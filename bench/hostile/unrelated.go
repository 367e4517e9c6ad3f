package hostile

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"toolnorm/bench/drive"
	"toolnorm/bench/fake"
)

// MaxUnrelated is how much later the slowest hundredth of first tokens may come while other MCP servers
// misbehave, in those without them.
const MaxUnrelated = 1.10

// How it is measured. The program is started with and without them in turn, so that a busy moment of the machine
// strikes both, and it has some time first, in which it finds out what it is connected with.
const (
	unrelatedTurns = 5
	unrelatedAsked = 200
	unrelatedFirst = 3 * time.Second
)

// Unrelated is what MCP servers that hang, die and write garbage change for requests that have nothing to do with them.
type Unrelated struct {
	Without, With time.Duration // the median of the turns' 99th percentiles of the time to the first token
	Ratio         float64
}

// MeasureUnrelated measures it with a program. A ratio above the limit is measured up to three times, as an attack is.
func MeasureUnrelated(program string) (u Unrelated, err error) {
	up, err := fake.Start()
	if err != nil {
		return u, err
	}
	defer up.Close()
	list, end, err := misbehaving()
	if err != nil {
		return u, err
	}
	defer end()
	for try := 0; try < tries; try++ {
		var all [2][]time.Duration
		for range unrelatedTurns {
			for i, servers := range []string{"[]", list} {
				p99, err := firstTokens(program, up.URL, servers)
				if err != nil {
					return u, err
				}
				all[i] = append(all[i], p99)
			}
		}
		for i := range all {
			slices.Sort(all[i])
		}
		u.Without, u.With = all[0][unrelatedTurns/2], all[1][unrelatedTurns/2]
		if u.Ratio = float64(u.With) / float64(u.Without); u.Ratio <= MaxUnrelated {
			break
		}
	}
	return u, nil
}

// firstTokens starts the program with a mcp.json and returns the 99th percentile of the time to the first token.
func firstTokens(program, upstream, servers string) (time.Duration, error) {
	dir, err := os.MkdirTemp("", "unrelated")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	if err := os.WriteFile(filepath.Join(dir, "mcp.json"), []byte(servers), 0o600); err != nil {
		return 0, err
	}
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		return 0, err
	}
	defer log.Close()
	p, err := drive.Launch("toolnorm", log, func(addr string) []string {
		return []string{program, "serve", "--listen", addr, "--ollama", upstream, "--data", dir}
	})
	if err != nil {
		return 0, err
	}
	defer p.Close()
	time.Sleep(unrelatedFirst)
	took := make([]time.Duration, 0, unrelatedAsked)
	for i := range unrelatedAsked + 20 {
		r, err := drive.Stream(p.URL, fake.Script{Bytes: 16}, false)
		if err != nil {
			return 0, err
		}
		if i >= 20 { // the first ones open connections
			took = append(took, r.First)
		}
	}
	slices.Sort(took)
	return took[len(took)*99/100], nil
}

// misbehaving returns a mcp.json of servers that do not what they should, and what ends them.
func misbehaving() (list string, end func(), err error) {
	hung, err := net.Listen("tcp", "127.0.0.1:0") // takes connections and never answers
	if err != nil {
		return "", nil, err
	}
	var servers []*httptest.Server
	serve := func(h http.HandlerFunc) string {
		s := httptest.NewServer(h)
		servers = append(servers, s)
		return s.URL + "/mcp"
	}
	greets := func(rest func(w http.ResponseWriter, r *http.Request)) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			var ask struct {
				ID     json.RawMessage
				Method string
			}
			if json.NewDecoder(r.Body).Decode(&ask) != nil || ask.Method != "initialize" {
				rest(w, r)
				return
			}
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"x","version":"1"}}}`, ask.ID)
		}
	}
	hangs := func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	floods := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for line := []byte("data: " + strings.Repeat("garbage ", 500) + "\n\n"); r.Context().Err() == nil; {
			if _, err := w.Write(line); err != nil {
				return
			}
		}
	}
	noise := func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(strings.Repeat("\x00\xff{\"jsonrpc\"", 100_000)))
	}
	const shell = "/bin/sh"
	entries := []map[string]any{
		{"name": "hung", "url": "http://" + hung.Addr().String() + "/mcp"},
		{"name": "hangs", "url": serve(greets(hangs))}, {"name": "floods", "url": serve(greets(floods))},
		{"name": "noise", "url": serve(noise)}, {"name": "floods-first", "url": serve(floods)}, {"name": "noise-later", "url": serve(greets(noise))},
		{"name": "silent", "command": shell, "args": []string{"-c", "exec sleep 600"}},
		{"name": "ends", "command": shell, "args": []string{"-c", "exit 1"}},
		{"name": "killed", "command": shell, "args": []string{"-c", "sleep 0.2; kill -9 $$"}},
		{"name": "yes", "command": shell, "args": []string{"-c", "exec yes"}},
		{"name": "zeros", "command": shell, "args": []string{"-c", "exec cat /dev/zero"}},
		{"name": "complains", "command": shell, "args": []string{"-c", "exec yes >&2"}},
	}
	text, err := json.Marshal(entries)
	return string(text), func() {
		hung.Close()
		for _, s := range servers {
			s.CloseClientConnections()
			s.Close()
		}
	}, err
}
