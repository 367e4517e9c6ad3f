package remote

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"toolnorm/internal/test/must"
	"toolnorm/tools"
)

// quiet is an address that takes connections and says nothing.
func quiet(t *testing.T) string {
	t.Helper()
	l := must.Listen(t, "127.0.0.1:0")
	t.Cleanup(func() { l.Close() })
	return "http://" + l.Addr().String() + "/mcp"
}

// TestRequestsDoNotWaitForWhatIsKnownToBeDown asks again and again beside a server that hangs, one
// that refuses and one that answers with errors. The first request may wait; no other one does, and
// all get the good server's tools.
func TestRequestsDoNotWaitForWhatIsKnownToBeDown(t *testing.T) {
	broken := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) }))
	defer broken.Close()
	good := "http://" + boot(t, "127.0.0.1:0", handler(fake("f"), kindHTTP)).addr + "/mcp"
	s, _, _ := opened(t, `[{"name":"hangs","url":"`+quiet(t)+`"},{"name":"none","url":"http://127.0.0.1:9/mcp"},{"name":"broken","url":"`+broken.URL+`/mcp"},{"name":"good","url":"`+good+`"}]`)
	s.Collect(t.Context(), s.Names())
	var longest, all time.Duration
	for range 40 {
		start := time.Now()
		found, down := s.Collect(t.Context(), s.Names())
		took := time.Since(start)
		longest, all = max(longest, took), all+took
		if len(found) != 4 || len(down) != 3 {
			t.Fatalf("%d tools, down: %v", len(found), down)
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Logf("the longest of 40 requests waited %v, all together %v", longest, all)
	if longest > 2*shortWait || all > time.Second {
		t.Errorf("the longest of 40 requests waited %v, all together %v", longest, all)
	}
}

// TestAServerThatHangsCostsOneCallItsTime has a server that stops answering while it is connected,
// and answers again.
func TestAServerThatHangsCostsOneCallItsTime(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: the server is waited for")
	}
	var hangs atomic.Bool
	inner := handler(fake("f"), kindHTTP)
	m := boot(t, "127.0.0.1:0", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if hangs.Load() {
			_, _ = io.Copy(io.Discard, r.Body) // else the server does not see that the client has gone
			<-r.Context().Done()
			return
		}
		inner.ServeHTTP(w, r)
	}))
	path := filepath.Join(t.TempDir(), "mcp.json")
	must.Write(t, path, `[{"name":"s","url":"http://`+m.addr+`/mcp"}]`)
	r := tools.New(tools.Options{})
	s := Open(Config{Path: path, Registry: r, Version: "1", Log: zerolog.Nop(), CallTime: 4 * time.Second})
	t.Cleanup(s.Close)
	until(t, "tools", func() bool { return len(r.Snapshot().Tools) == 4 })
	hangs.Store(true)
	if got := called(r, "s.add", `{"a":1,"b":1}`); !strings.Contains(got, "longer than its 4s") {
		t.Errorf("the first call: %q", got)
	}
	for range 1000 { // more than probeTime
		if s.List()[0].State == "down" {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if got := s.List()[0]; got.State != "down" || !strings.Contains(got.Error, "wait for its whole time") {
		t.Fatalf("state: %+v", got)
	}
	start := time.Now()
	if got := called(r, "s.add", `{"a":1,"b":1}`); !strings.Contains(got, "does not answer now") {
		t.Errorf("a later call: %q", got)
	}
	if took := time.Since(start); took > callWait+time.Second {
		t.Errorf("it took %v", took)
	}
	hangs.Store(false)
	for range 2500 { // an attempt that runs has its time
		if s.List()[0].State == "ready" {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if got := called(r, "s.add", `{"a":1,"b":2}`); got != "3" {
		t.Errorf("once it is back: %q, %+v", got, s.List()[0])
	}
}

// TestAConnectionThatHasJustBrokenIsWaitedFor asks for the tools right behind the restart of a
// server that was there for long.
func TestAConnectionThatHasJustBrokenIsWaitedFor(t *testing.T) {
	m := boot(t, "127.0.0.1:0", handler(fake("f"), kindSSE))
	s, _, _ := opened(t, `[{"name":"s","url":"http://`+m.addr+`/sse"}]`)
	until(t, "a connection", func() bool { return s.List()[0].State == "ready" })
	time.Sleep(s.cfg.ListTime)
	m.kill()
	boot(t, m.addr, handler(fake("f"), kindSSE))
	for range 3 {
		if all, down := s.Collect(t.Context(), s.Names()); len(all) != 4 || len(down) > 0 {
			t.Errorf("%d tools, down: %v", len(all), down)
		}
	}
}

func TestWhyAServerIsDownIsSaidInASentence(t *testing.T) {
	self, _ := os.Executable()
	t.Setenv("MY_TOKEN", "s3cret-value")
	status := func(code int) string {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }))
		t.Cleanup(s.Close)
		return s.URL
	}
	for _, tt := range []struct{ entry, want string }{
		{fmt.Sprintf(`{"command":%q,"env":{"SPEAK_MCP":"crash","TOKEN":"${MY_TOKEN}"}}`, self), "the command has ended without speaking MCP; it wrote: starting with api_key=… | Traceback (most recent call last): | AttributeError: no attribute 'serve'"},
		{`{"command":"python3 server.py --fast"}`, `the command "python3 server.py --fast" was not found; write the program and its arguments apart: "command": "python3", "args": ["server.py","--fast"]`},
		{`{"command":"no-such-program","args":["x"]}`, `the command "no-such-program" was not found`},
		{`{"command":"true","cwd":"/no/such/folder"}`, `its cwd "/no/such/folder" is not there`},
		{`{"command":"true"}`, "the command has ended without speaking MCP"},
		{`{"url":"` + status(404) + `/mcp"}`, "no MCP server answers there: the status is 404"},
		{`{"url":"` + status(500) + `/mcp"}`, "no MCP server answers there: the status is 500"},
		{`{"url":"` + status(401) + `/mcp"}`, "it wants a sign-in or a key (status 401): sign in on the page MCP servers of /admin, or run toolnorm mcp login with its name, or give it a key in headers"},
		{`{"command":"yes"}`, "the server writes what is not MCP: more than 500 lines"},
		{`{"url":"http://127.0.0.1:9/mcp"}`, "nothing listens at its address (connection refused)"},
		{`{"url":"http://127.0.0.1:9/sse","type":"sse"}`, "nothing listens at its address (connection refused)"},
		{`{"url":"${NO_SUCH_VARIABLE}"}`, "the environment has no NO_SUCH_VARIABLE"},
		{`{"url":"http://h","headers":{"A":"${input:key}"}}`, "${input:key} asks a person"},
	} {
		t.Run(tt.want, func(t *testing.T) {
			s, _, log := opened(t, `{"mcpServers":{"s":`+tt.entry+`}}`)
			for range 3000 {
				if s.List()[0].State == "down" {
					break
				}
				time.Sleep(10 * time.Millisecond)
			}
			if got := s.List()[0].Error; !strings.HasPrefix(got, tt.want) || strings.Contains(got, "\n") {
				t.Errorf("%s\nis down since %q, want\n%q", tt.entry, got, tt.want)
			}
			if strings.Contains(log.String(), "s3cret") {
				t.Errorf("the log has the secret: %s", log)
			}
		})
	}
}

// TestTheOrderIsThatOfTheFile starts servers that answer at different times, in both orders.
func TestTheOrderIsThatOfTheFile(t *testing.T) {
	for _, slow := range []string{"a", "b"} {
		entry := func(name string) string {
			inner := handler(fake(name), kindHTTP)
			m := boot(t, "127.0.0.1:0", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if name == slow {
					time.Sleep(20 * time.Millisecond)
				}
				inner.ServeHTTP(w, r)
			}))
			return `{"name":"` + name + `","url":"http://` + m.addr + `/mcp"}`
		}
		_, r, _ := opened(t, `[`+entry("b")+`,`+entry("a")+`]`)
		until(t, "all tools", func() bool { return len(r.Snapshot().Tools) == 8 })
		var names []string
		for _, tool := range r.Snapshot().Tools {
			names = append(names, tool.Name)
		}
		if got := strings.Join(names, " "); got != "b.add b.environ b.fail b.pid a.add a.environ a.fail a.pid" {
			t.Errorf("%s is slow: %s", slow, got)
		}
	}
}

// TestACallThatWantsASignInSaysSo has a server that lists its tools to everybody.
func TestACallThatWantsASignInSaysSo(t *testing.T) {
	open, err := url.Parse(strings.TrimSuffix(raw(t, `{"tools":[{"name":"a","inputSchema":{"type":"object"}}]}`, goodGreeting, 0), "/mcp"))
	must.OK(t, err)
	closed := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if strings.Contains(string(body), `"tools/call"`) {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		httputil.NewSingleHostReverseProxy(open).ServeHTTP(w, r)
	}))
	defer closed.Close()
	s, registry, _ := opened(t, `[{"name":"s","url":"`+closed.URL+`/mcp"}]`)
	if _, down := s.Collect(t.Context(), []string{"s"}); len(down) > 0 {
		t.Fatal(down)
	}
	if got := called(registry, "s.a", `{}`); !strings.Contains(got, "it wants a sign-in or a key") {
		t.Errorf("the call says %s", got)
	}
}
