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

// MaxUnrelated is how much later the slowest hundredth of first tokens may come while other MCP
// servers misbehave, in those without them.
const MaxUnrelated = 1.10

// How it is measured. Two programs run at once, one with them and one without, and are asked in
// turn, a few requests each, so that a busy moment of the machine strikes both. They have some time
// first, in which they find out what they are connected with. In the rest the broken servers are
// tried again.
const (
	unrelatedTurns = 300
	unrelatedAsked = 20
	unrelatedFirst = 3 * time.Second
)

// Unrelated is what MCP servers that hang, die and write garbage change for requests that have
// nothing to do with them.
type Unrelated struct {
	Without, With time.Duration // the 99th percentiles of the time to the first token
	Ratio         float64
}

// MeasureUnrelated measures it with a program. A ratio above the limit is measured up to three
// times, as an attack is.
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
	for range tries {
		took, err := firstTokens(program, up.URL, "[]", list)
		if err != nil {
			return u, err
		}
		for _, t := range took {
			slices.Sort(t)
		}
		u.Without, u.With = took[0][len(took[0])*99/100], took[1][len(took[1])*99/100]
		if u.Ratio = float64(u.With) / float64(u.Without); u.Ratio <= MaxUnrelated {
			break
		}
	}
	return u, nil
}

// firstTokens starts the program once with each mcp.json, and returns for each the times to the
// first token.
func firstTokens(program, upstream string, lists ...string) (took [][]time.Duration, err error) {
	var programs []*drive.Proxy
	for _, list := range lists {
		dir, err := os.MkdirTemp("", "unrelated")
		if err != nil {
			return nil, err
		}
		defer os.RemoveAll(dir)
		if err := os.WriteFile(filepath.Join(dir, "mcp.json"), []byte(list), 0o600); err != nil {
			return nil, err
		}
		log, err := os.Create(filepath.Join(dir, "log"))
		if err != nil {
			return nil, err
		}
		defer log.Close()
		p, err := drive.Launch("toolnorm", log, func(addr string) []string {
			return []string{program, "serve", "--listen", addr, "--ollama", upstream, "--data", dir}
		})
		if err != nil {
			return nil, err
		}
		defer p.Close()
		programs = append(programs, p)
	}
	time.Sleep(unrelatedFirst)
	took = make([][]time.Duration, len(programs))
	for turn := range unrelatedTurns {
		for i, p := range programs {
			for range unrelatedAsked {
				r, err := drive.Stream(p.URL, fake.Script{Bytes: 16}, false)
				if err != nil {
					return nil, err
				}
				if turn > 0 { // the first ones open connections
					took[i] = append(took[i], r.First)
				}
			}
		}
	}
	return took, nil
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
			fmt.Fprintf(w,
				`{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"x","version":"1"}}}`, ask.ID)
		}
	}
	hangs := func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	floods := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for line := []byte("data: " + strings.Repeat("garbage ", 500) +
			"\n\n"); r.Context().Err() == nil; {
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
		{"name": "hangs", "url": serve(greets(hangs))},
		{"name": "floods", "url": serve(greets(floods))},
		{"name": "noise", "url": serve(noise)}, {"name": "floods-first", "url": serve(floods)},
		{"name": "noise-later", "url": serve(greets(noise))},
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
