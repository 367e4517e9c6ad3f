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

// MaxUnrelated is the limit of Unrelated.Ratio: how much later the slowest hundredth of first
// tokens may come while other MCP servers misbehave.
const MaxUnrelated = 1.10

// The measurement of Unrelated. Two programs run at once, one with misbehaving MCP servers and one
// without them. They are asked in turn, a few requests each, so that a busy moment of the machine
// affects both. Before that they have some time to find out about their MCP servers. Meanwhile they
// try the broken servers again.
const (
	unrelatedTurns = 300
	unrelatedAsked = 20
	unrelatedFirst = 3 * time.Second
)

// Unrelated says how MCP servers that hang, die and write garbage slow down requests that do not
// use them.
type Unrelated struct {
	Without, With time.Duration // the 99th percentiles of the time to the first token
	Ratio         float64
}

// MeasureUnrelated compares a program's times to the first token with and without MCP servers that
// misbehave. It measures up to three times while the ratio is above the limit, because other work
// on the machine can raise it. It returns an error if a program cannot be run.
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

// firstTokens starts the program once for each text in lists, which becomes the program's mcp.json.
// It returns for each program the times to the first token. It returns an error if a program cannot
// be started or a request fails.
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

// misbehaving starts MCP servers that misbehave. It returns a mcp.json that lists them, and a
// function that ends them. It returns an error if it cannot listen.
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
