package remote

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
	"github.com/rs/zerolog"

	"toolnorm/internal/fault"
	"toolnorm/internal/test/locked"
	"toolnorm/internal/test/must"
	"toolnorm/tools"
)

// TestMain is a server on standard input and output when a test starts this program as one.
func TestMain(m *testing.M) {
	if os.Getenv("SPEAK_MCP") == "crash" {
		fmt.Fprintf(os.Stderr, "starting with api_key=%s\nTraceback (most recent call last):\n  File \"server.py\", line 3\n    serve()\nAttributeError: no attribute 'serve'\n", os.Getenv("TOKEN"))
		os.Exit(1)
	}
	if os.Getenv("SPEAK_MCP") != "" {
		fmt.Fprintln(os.Stderr, "hello from the command")
		if err := server.ServeStdio(fake("stdio")); err != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// fake is a server with a few tools.
func fake(name string) *server.MCPServer {
	s := server.NewMCPServer(name, "1", server.WithToolCapabilities(true))
	read := true
	s.AddTool(mcp.NewToolWithRawSchema("add", "Adds two numbers.", json.RawMessage(`{"type":"object","properties":{"a":{"type":"integer","maximum":9007199254740993},"b":{"type":"integer"}},"required":["a","b"],"x-kept":true}`)),
		func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return mcp.NewToolResultText(fmt.Sprint(r.GetInt("a", 0) + r.GetInt("b", 0))), nil
		})
	s.AddTool(mcp.NewTool("fail", mcp.WithDescription("Fails.")), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultError("it failed"), nil
	})
	look := mcp.NewTool("pid", mcp.WithDescription("Says which process it is."))
	look.Annotations.ReadOnlyHint = &read
	s.AddTool(look, func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if os.Getenv("SPEAK_MCP") == "die" && os.Getenv("DIE") != "" {
			if _, err := os.Stat(os.Getenv("DIE")); err != nil {
				_ = os.WriteFile(os.Getenv("DIE"), nil, 0o600)
				os.Exit(3)
			}
		}
		return mcp.NewToolResultText(fmt.Sprint(os.Getpid())), nil
	})
	s.AddTool(mcp.NewTool("environ"), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultText(strings.Join(os.Environ(), "\n")), nil
	})
	return s
}

// handler serves a fake over one transport, at /sse or /mcp.
func handler(s *server.MCPServer, kind string) http.Handler {
	if kind == kindSSE {
		return server.NewSSEServer(s, server.WithKeepAlive(false))
	}
	return server.NewStreamableHTTPServer(s)
}

// machine is a fake that listens at an address, can be killed, and started there again.
type machine struct {
	t    *testing.T
	addr string
	http *http.Server
}

func boot(t *testing.T, addr string, h http.Handler) *machine {
	t.Helper()
	l := must.Listen(t, addr)
	m := &machine{t, l.Addr().String(), &http.Server{Handler: h}}
	go m.http.Serve(l)
	t.Cleanup(m.kill)
	return m
}

func (m *machine) kill() { m.http.Close() }

// opened is a set of the servers in text, with the registry that gets their tools and the log.
func opened(t *testing.T, text string) (*Set, *tools.Registry, *locked.Buffer) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "mcp.json")
	if text != "" {
		must.Write(t, path, text)
	}
	r, log := tools.New(tools.Options{}), new(locked.Buffer)
	s := Open(Config{Path: path, Registry: r, Version: "1", Log: zerolog.New(log), ListTime: 2 * time.Second, Private: func(context.Context) bool { return true }})
	t.Cleanup(s.Close)
	return s, r, log
}

// until waits for something that happens by itself.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for range 500 {
		if ok() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("never: %s", what)
}

func called(r *tools.Registry, name, args string) string {
	return r.Call(context.Background(), name, json.RawMessage(args)).Text()
}

func TestToolsComeOverEachTransport(t *testing.T) {
	for _, tt := range []struct{ kind, path, want string }{
		{kindHTTP, "/mcp", kindHTTP},
		{kindSSE, "/sse", kindSSE},
		{kindHTTP, "/sse", kindHTTP}, // looks like the other, and is found out
	} {
		t.Run(tt.kind+tt.path, func(t *testing.T) {
			h := handler(fake("f"), tt.kind)
			s, r, _ := opened(t, `[{"name":"calc","url":"http://`+boot(t, "127.0.0.1:0", h).addr+tt.path+`"}]`)
			until(t, "a connection", func() bool { return s.List()[0].State == "ready" })
			all, down := s.Collect(t.Context(), []string{"calc"})
			if len(all) != 4 || len(down) != 0 {
				t.Fatalf("collected %d tools, down: %v", len(all), down)
			}
			if got := called(r, "calc.add", `{"a":2,"b":3}`); got != "5" {
				t.Errorf("2+3 = %q", got)
			}
			if got := r.Call(t.Context(), "calc.fail", nil); !got.IsError || got.Text() != "it failed" {
				t.Errorf("fail = %+v", got)
			}
			if got := s.List()[0]; got.State != "ready" || got.Kind != tt.want || got.Tools != 4 {
				t.Errorf("state = %+v", got)
			}
		})
	}
}

func TestASchemaComesAsTheServerWritesIt(t *testing.T) {
	s, r, _ := opened(t, `[{"name":"c","url":"http://`+boot(t, "127.0.0.1:0", handler(fake("f"), kindHTTP)).addr+`/mcp"}]`)
	s.Collect(t.Context(), []string{"c"})
	tool, _ := r.Snapshot().Find("c.add")
	for _, want := range []string{"9007199254740993", "x-kept"} {
		if !strings.Contains(string(tool.Schema), want) {
			t.Errorf("the schema has lost %s: %s", want, tool.Schema)
		}
	}
}

func TestACommandSpeaksOnItsInputAndOutput(t *testing.T) {
	self, _ := os.Executable()
	t.Setenv("MY_SECRET", "s3cret")
	t.Setenv("TOOLNORM_API_KEYS", "not-for-commands")
	s, r, log := opened(t, fmt.Sprintf(`{"mcpServers":{"cmd":{"command":%q,"env":{"SPEAK_MCP":"1","TOKEN":"${MY_SECRET}"}}}}`, self))
	if _, down := s.Collect(t.Context(), []string{"cmd"}); len(down) != 0 {
		t.Fatalf("down: %v, log:\n%s", down, log)
	}
	env := called(r, "cmd.environ", "{}")
	if !strings.Contains(env, "TOKEN=s3cret") || strings.Contains(env, "not-for-commands") || !strings.Contains(env, Hops+"=1") {
		t.Errorf("the command's environment is\n%s", env)
	}
	until(t, "the command's words in the log", func() bool { return strings.Contains(log.String(), "hello from the command") })
	if strings.Contains(log.String(), "s3cret") {
		t.Error("the log has the secret")
	}
}

func TestACommandThatDiesIsStartedAgain(t *testing.T) {
	self, _ := os.Executable()
	_, r, _ := opened(t, fmt.Sprintf(`{"mcpServers":{"cmd":{"command":%q,"env":{"SPEAK_MCP":"die","DIE":%q}}}}`, self, filepath.Join(t.TempDir(), "died")))
	until(t, "tools", func() bool { return len(r.Snapshot().Tools) == 4 })
	start := time.Now()
	if got := called(r, "cmd.pid", "{}"); strings.Trim(got, "0123456789") != "" {
		t.Errorf("behind its death the command says %q", got)
	}
	if took := time.Since(start); took > 2*time.Second {
		t.Errorf("that took %v", took)
	}
}

func TestAServerThatIsKilledAndStartedAnswersTheNextCall(t *testing.T) {
	for _, kind := range []string{kindHTTP, kindSSE} {
		t.Run(kind, func(t *testing.T) {
			m := boot(t, "127.0.0.1:0", handler(fake("f"), kind))
			other := boot(t, "127.0.0.1:0", handler(fake("g"), kindHTTP))
			_, r, log := opened(t, `[{"name":"a","url":"http://`+m.addr+"/"+map[string]string{kindHTTP: "mcp", kindSSE: "sse"}[kind]+`"},{"name":"b","url":"http://`+other.addr+`/mcp"}]`)
			until(t, "tools of both", func() bool { return len(r.Snapshot().Tools) == 8 })
			m.kill()
			if got := called(r, "a.add", `{"a":1,"b":1}`); !strings.Contains(got, "does not answer now") {
				t.Errorf("while it is down: %q", got)
			}
			if got := called(r, "b.add", `{"a":1,"b":1}`); got != "2" {
				t.Errorf("the other server: %q", got)
			}
			boot(t, m.addr, handler(fake("f"), kind))
			start := time.Now()
			if got := called(r, "a.add", `{"a":1,"b":2}`); got != "3" {
				t.Errorf("behind the restart: %q, log:\n%s", got, log)
			}
			if took := time.Since(start); took > 2*time.Second {
				t.Errorf("that took %v", took)
			}
		})
	}
}

func TestAListThatChangesIsTakenAnew(t *testing.T) {
	for _, kind := range []string{kindHTTP, kindSSE} {
		t.Run(kind, func(t *testing.T) {
			f := fake("f")
			_, r, _ := opened(t, `[{"name":"a","url":"http://`+boot(t, "127.0.0.1:0", handler(f, kind)).addr+"/"+map[string]string{kindHTTP: "mcp", kindSSE: "sse"}[kind]+`"}]`)
			until(t, "tools", func() bool { return len(r.Snapshot().Tools) == 4 })
			time.Sleep(100 * time.Millisecond) // until the stream of news is open, which nothing tells
			f.AddTool(mcp.NewTool("fresh"), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				return mcp.NewToolResultText("new"), nil
			})
			until(t, "the new tool", func() bool { return called(r, "a.fresh", "{}") == "new" })
			f.DeleteTools("fresh", "fail")
			until(t, "two tools fewer", func() bool { return len(r.Snapshot().Tools) == 3 })
		})
	}
}

func TestADeadServerIsNobodyElsesMatter(t *testing.T) {
	silentOne, err := net.Listen("tcp", "127.0.0.1:0") // takes connections and says nothing
	must.OK(t, err)
	defer silentOne.Close()
	s, _, _ := opened(t, `[{"name":"quiet","url":"http://`+silentOne.Addr().String()+`/mcp"},{"name":"none","url":"http://127.0.0.1:9/mcp"},
		{"name":"good","url":"http://`+boot(t, "127.0.0.1:0", handler(fake("f"), kindHTTP)).addr+`/mcp"},{"name":"unset","url":"http://${NO_SUCH_VARIABLE}/mcp"}]`)
	start := time.Now()
	all, down := s.Collect(t.Context(), s.Names())
	if took := time.Since(start); took > 3*time.Second {
		t.Errorf("collecting took %v", took)
	}
	if len(all) != 4 || len(down) != 3 || down["quiet"] != "no answer within 2s" || !strings.Contains(down["unset"], "NO_SUCH_VARIABLE") {
		t.Errorf("%d tools, down: %v", len(all), down)
	}
}

// TestAServerTooManyHopsAwayIsNotListed is about two toolnorms that have registered each other.
func TestToolsOfToolnormsComeThroughFewHops(t *testing.T) {
	f := server.NewMCPServer("toolnorm", "1", server.WithToolCapabilities(false))
	for _, name := range []string{"near", "b.far", "b.a.b.farther"} {
		f.AddTool(mcp.NewTool(name), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return mcp.NewToolResultText(""), nil
		})
	}
	s, r, _ := opened(t, `[{"name":"a","url":"http://`+boot(t, "127.0.0.1:0", handler(f, kindHTTP)).addr+`/mcp"}]`)
	s.Collect(t.Context(), s.Names())
	var names []string
	for _, tool := range r.Snapshot().Tools {
		names = append(names, tool.Name)
	}
	slices.Sort(names)
	if got := strings.Join(names, " "); got != "a.b.far a.near" {
		t.Errorf("listed: %s", got)
	}
}

// TestServersAreSwitchedOffAndOn holds that one that is off has no tools and keeps its entry, that
// one that is on is connected anew, and that no request starts a command that the file disables.
func TestServersAreSwitchedOffAndOn(t *testing.T) {
	s, r, _ := opened(t, "")
	url := "http://" + boot(t, "127.0.0.1:0", handler(fake("f"), kindHTTP)).addr + "/mcp"
	must.OK(t, s.Add(t.Context(), Asked{Name: "calc", URL: url, Headers: map[string]string{"X-Kept": "1"}}))
	there := func() bool { return called(r, "calc.add", `{"a":1,"b":1}`) == "2" }
	until(t, "its tools", there)
	must.OK(t, s.Switch("calc", false))
	if text, _ := os.ReadFile(s.cfg.Path); !strings.Contains(string(text), `"X-Kept"`) || !strings.Contains(string(text), `"disabled":true`) {
		t.Errorf("the file is %s", text)
	}
	if n, all := len(r.Snapshot().Tools), s.List(); n != 0 || len(all) != 1 || all[0].State != "disabled" {
		t.Errorf("%d tools are left, and the list is %+v", n, all)
	}
	for range 2 {
		must.OK(t, s.Switch("calc", true))
		until(t, "its tools again", there)
	}
	if text, _ := os.ReadFile(s.cfg.Path); strings.Contains(string(text), "disabled") {
		t.Errorf("the file is %s", text)
	}
	if err := s.Switch("none", true); err == nil || !strings.Contains(err.Error(), "no MCP server") {
		t.Errorf("a server that is not there: %v", err)
	}
	must.Write(t, s.cfg.Path, `[{"name":"cmd","command":"/bin/false","disabled":true}]`)
	if err := s.Switch("cmd", true); err == nil || !strings.Contains(err.Error(), "is a command") {
		t.Errorf("a disabled command: %v", err)
	}
}

func TestServersAreAddedAndRemovedAtOnce(t *testing.T) {
	s, r, _ := opened(t, "")
	path := s.cfg.Path
	if text, _ := os.ReadFile(path); string(text) != "[]\n" {
		t.Errorf("a missing file is made as %q", text)
	}
	url := "http://" + boot(t, "127.0.0.1:0", handler(fake("f"), kindHTTP)).addr + "/mcp"
	must.OK(t, s.Add(t.Context(), Asked{Name: "calc", URL: url}))
	if text, _ := os.ReadFile(path); string(text) != "[\n  {\"name\":\"calc\",\"url\":\""+url+"\"}\n]\n" {
		t.Errorf("the file is %q", text)
	}
	if info, _ := os.Stat(path); info.Mode().Perm() != 0o600 {
		t.Errorf("others can read the file: %v", info.Mode())
	}
	until(t, "its tools", func() bool { return called(r, "calc.add", `{"a":1,"b":1}`) == "2" })
	if err := s.Remove("calc"); err != nil {
		t.Errorf("Remove: %v", err)
	}
	if n := len(r.Snapshot().Tools); n != 0 {
		t.Errorf("%d tools are left", n)
	}
	if err := s.Remove("calc"); err == nil || fault.From(err).Kind != fault.NotFound {
		t.Errorf("Remove of one that is gone: %v", err)
	}
	must.Write(t, path, `[{"name":"calc","url":"`+url+`"}]`)
	until(t, "the tools of an edited file", func() bool { return len(r.Snapshot().Tools) == 4 })
	must.Write(t, path, `[{`)
	if err := s.Add(t.Context(), Asked{Name: "x", URL: url}); err == nil {
		t.Error("a server was added to a file that is broken")
	}
	if text, _ := os.ReadFile(path); string(text) != `[{` {
		t.Errorf("the broken file was overwritten: %q", text)
	}
}

// TestABrokenFileIsNotAnEmptyOne starts with a file that is no JSON: the program goes on, says so,
// writes nothing over it, and uses it as soon as it is put right.
func TestABrokenFileIsNotAnEmptyOne(t *testing.T) {
	s, _, log := opened(t, "[\n  {\"name\": \"a\",,\n")
	if got := s.List(); len(got) != 1 || got[0].Name != "mcp.json" || got[0].State != "invalid" || !strings.Contains(got[0].Error, "line 2") {
		t.Errorf("listed: %+v", got)
	}
	if !strings.Contains(log.String(), "line 2") {
		t.Errorf("the log has %s", log)
	}
	if err := s.Add(t.Context(), Asked{Name: "x", URL: "http://127.0.0.1:9/mcp"}); err == nil {
		t.Error("a server was added to it")
	}
	must.Write(t, s.cfg.Path, `[{"name":"a","url":"http://127.0.0.1:9/mcp"}]`)
	until(t, "the file that was put right", func() bool { all := s.List(); return len(all) == 1 && all[0].Name == "a" })
}

func TestATokenStaysWithItsServer(t *testing.T) {
	var stolen []string
	var mu sync.Mutex
	thief := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		stolen = append(stolen, r.Header.Get("Authorization")+r.Header.Get("X-Api-Key"))
	}))
	defer thief.Close()
	for name, h := range map[string]http.HandlerFunc{
		"redirect": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, thief.URL+"/mcp", http.StatusTemporaryRedirect)
		},
		"endpoint": func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPost {
				w.WriteHeader(http.StatusMethodNotAllowed)
				return
			}
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprintf(w, "event: endpoint\ndata: %s/messages\n\n", thief.URL)
			http.NewResponseController(w).Flush()
			<-r.Context().Done()
		},
	} {
		t.Run(name, func(t *testing.T) {
			victim := httptest.NewServer(h)
			e := Entry{Name: "v", URL: victim.URL + "/mcp", Headers: map[string]string{"Authorization": "Bearer t", "X-Api-Key": "k"}}
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			if _, _, err := e.connect(ctx, "", greeting{}, func(string) {}); err == nil {
				t.Error("connected")
			}
			victim.CloseClientConnections()
			victim.Close()
		})
	}
	if len(stolen) > 0 {
		t.Errorf("another server was sent %q", stolen)
	}
}

func TestAnAnswerThatIsTooLargeIsCut(t *testing.T) {
	for _, kind := range []string{"application/json", "text/event-stream"} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind)
			b := bufio.NewWriter(w)
			for range largestAnswer/8 + 2 {
				if _, err := b.WriteString("12345678"); err != nil {
					return
				}
			}
			b.Flush()
		}))
		e := Entry{URL: s.URL}
		c, free := e.client()
		resp, err := c.Get(s.URL)
		must.OK(t, err)
		n, err := new(bytes.Buffer).ReadFrom(resp.Body)
		resp.Body.Close()
		if err == nil || n > largestAnswer+64<<10 {
			t.Errorf("%s: %d bytes were read, %v", kind, n, err)
		}
		free()
		s.Close()
	}
}

func TestAStreamIsReadWhileItIsOpen(t *testing.T) {
	for _, kind := range []string{"text/event-stream", "Text/Event-Stream; charset=UTF-8"} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", kind)
			fmt.Fprint(w, "data: {}\n\n")
			http.NewResponseController(w).Flush()
			<-r.Context().Done()
		}))
		e := Entry{URL: s.URL}
		c, free := e.client()
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		resp, err := c.Do(must.Have(http.NewRequestWithContext(ctx, http.MethodGet, s.URL, nil))(t))
		must.OK(t, err)
		if line, err := bufio.NewReader(resp.Body).ReadString('\n'); line != "data: {}\n" || ctx.Err() != nil {
			t.Errorf("%s: %q, %v", kind, line, err)
		}
		cancel()
		resp.Body.Close()
		free()
		s.Close()
	}
}

func TestAStreamIsBoundedByItsEvents(t *testing.T) {
	small := strings.Repeat("data: {"+strings.Repeat("x", 1<<20)+"\n\n: ping\r\n\r\n", 20)
	large := strings.Repeat("data: {"+strings.Repeat("x", 1<<20)+"\n", 40)
	for text, ok := range map[string]bool{small: true, large: false} {
		_, err := io.Copy(io.Discard, &bounded{ReadCloser: io.NopCloser(strings.NewReader(text)), unit: oneEvent})
		if (err == nil) != ok {
			t.Errorf("%d bytes: %v", len(text), err)
		}
	}
}

// TestAServerThatFloodsIsEnded reads more messages, more bytes, and more that is not MCP than a
// server may write.
func TestAServerThatFloodsIsEnded(t *testing.T) {
	message := `{"jsonrpc":"2.0","method":"` + strings.Repeat("x", 2000) + `"}`
	for _, c := range []struct {
		name   string
		unit   unit
		text   string
		floods bool
	}{
		{"lines", oneLine, strings.Repeat("{}\n", 20_000), true},
		{"bytes", oneLine, strings.Repeat("{"+strings.Repeat("x", 4<<20)+"\n", 40), true},
		{"noise of many lines", oneLine, strings.Repeat("y\n", 600), true},
		{"noise without an end", oneLine, strings.Repeat("\x00", 300<<10), true},
		{"noise in a stream", oneEvent, strings.Repeat("data: "+strings.Repeat("garbage ", 500)+"\n\n", 100), true},
		{"messages", oneLine, strings.Repeat(message+"\n", 4000), false},
		{"a large message", oneLine, "{" + strings.Repeat("x", 9<<20) + "\n", false},
		{"a batch", oneLine, " [" + message + "]\r\n", false},
		{"a banner", oneLine, strings.Repeat(strings.Repeat("=", 80)+"\n", 400) + strings.Repeat(message+"\n", 4000), false},
		{"events", oneEvent, strings.Repeat("id: 1\nevent: message\ndata: "+message+"\n\n", 4000), false},
		{"events in lines", oneEvent, strings.Repeat("data:{\ndata: \"x\": \""+strings.Repeat("x", 2000)+"\"\ndata:}\r\n\r\n", 4000), false},
		{"an address, and pings", oneEvent, "event: endpoint\ndata: /messages?session=1\n\n" + strings.Repeat(": ping\n\n", 400), false},
	} {
		synctest.Test(t, func(t *testing.T) { // no time passes, however slow the machine is
			_, err := io.Copy(io.Discard, &bounded{ReadCloser: io.NopCloser(strings.NewReader(c.text)), unit: c.unit})
			if (err != nil) != c.floods {
				t.Errorf("%s, %d bytes: %v", c.name, len(c.text), err)
			}
		})
	}
}

func TestAResultWithOneOddPartIsPassedOn(t *testing.T) {
	for text, want := range map[string]string{
		`{"content":[{"type":"text","text":"a"},{"type":"text","text":7},"b",null,{"type":"image","data":"not base64!"}]}`: "a\n7\nb\n{\"type\":\"image\",\"data\":\"not base64!\"}",
		`{"content":{"type":"text","text":"a"}}`:                     "a",
		`{"content":"a"}`:                                            "a",
		`{"content":[]}`:                                             "",
		`{"content":null,"structuredContent":{"x":1}}`:               `{"x":1}`,
		`{"content":[{"type":"text","text":"a"}],"isError":"false"}`: "a",
		`{"toolResult":{"x":1}}`:                                     `{"x":1}`,
		`{"result":"42"}`:                                            "42",
		`{"content":[],"output":"42","code":0}`:                      "",
		`{"output":"42","code":0}`:                                   `{"output":"42","code":0}`,
		`"hello"`:                                                    "hello",
		`[{"type":"text","text":"a"}]`:                               "a",
		`null`:                                                       "",
		`{}`:                                                         "",
		`{"content":{"0":{"type":"text","text":"a"},"2":{"type":"text","text":"b"}}}`:                             "a\nb",
		`{"content":[{"text":"no type"},{"type":"TEXT","text":"b"},{"type":"json","json":{"x":1}}]}`:              "no type\nb\n{\"type\":\"json\",\"json\":{\"x\":1}}",
		`{"content":[{"type":"video","data":"` + strings.Repeat("A", 5000) + `"}]}`:                               "[video]",
		`{"content":[{"type":"image","data":"data:image/gif;base64,R0lGODlhAQ"}]}`:                                "[image image/gif, 7 bytes]",
		`{"content":[{"type":"image","data":"iVBORw0KGgo","mime_type":"image/x"},{"type":"audio","data":"_-8"}]}`: "[image image/x, 8 bytes]\n[audio text/plain; charset=utf-8, 2 bytes]",
		`{"content":[{"type":"image","data":"iVBORw0KGgo"},{"type":"resource_link","uri":"a:b"}]}`:                "[image image/png, 8 bytes]\n[a:b](a:b)",
	} {
		r, err := result(json.RawMessage(text))
		if err != nil || r.IsError || r.Text() != want {
			t.Errorf("%s: %q, %v, %v", text, r.Text(), r.IsError, err)
		}
	}
	for _, flag := range []string{`"isError":"true"`, `"isError":1`, `"isError":"True"`, `"is_error":true`} {
		text := `{"content":[{"type":"text","text":"no"}],` + flag + `}`
		if r, _ := result(json.RawMessage(text)); !r.IsError || r.Raw != nil {
			t.Errorf("%s is no error", text)
		}
	}
}

func TestErrorsThatProveThatNothingRan(t *testing.T) {
	_, err := net.DialTimeout("tcp", "127.0.0.1:9", time.Second)
	for _, tt := range []struct {
		err  error
		want bool
	}{{err, true}, {errors.New("Bad Request: No valid session ID provided"), true}, {errors.New("Session not found"), true},
		{errors.New("there is no such session any more; initialize again"), true}, {errors.New("Session abc-1 has expired"), true},
		{errors.New("sent, but the database session is closed"), false}, {errors.New("the training session is full"), false}, {errLost, false}, {context.DeadlineExceeded, false}} {
		if got := neverRan(tt.err); got != tt.want {
			t.Errorf("neverRan(%v) = %v", tt.err, got)
		}
	}
}
