package mcpserver

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
)

const modernMeta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`

// modern are the headers of a request of 2026-07-28.
func modern(method, name string) header {
	h := header{"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": method}
	if name != "" {
		h["Mcp-Name"] = name
	}
	return h
}

func TestEveryRequestCountsByItsRevision(t *testing.T) {
	f := serve(t, Config{})
	call := func(params string) string {
		return `{"jsonrpc":"2.0","id":7,"method":"tools/list","params":{` + params + `}}`
	}
	for _, c := range []struct {
		name, body string
		h          header
		status     int
		want       string
	}{
		{"nothing said is 2025-03-26", call(""), nil, 200, `"result":{"tools":[`},
		{"a header names an old revision", call(""), header{"Mcp-Protocol-Version": "2025-11-25"}, 200, `"result":{"tools":[`},
		{"a header names an unknown one", call(""), header{"Mcp-Protocol-Version": "2031-01-01"}, 400, `"code":-32022`},
		{"the body names the new one", call(modernMeta), modern("tools/list", ""), 200, `"resultType":"complete"`},
		{"the body names it and the header does not", call(modernMeta), header{"Mcp-Method": "tools/list"}, 400, `"code":-32020`},
		{"header and body differ", call(modernMeta), header{"Mcp-Protocol-Version": "2025-11-25"}, 400, `"code":-32020`},
		{"only the header names it", call(""), modern("tools/list", ""), 400, `"code":-32602`},
		{"only Mcp-Method hints at it", call(""), header{"Mcp-Method": "tools/list"}, 400, `"code":-32602`},
		{"an unknown revision in both", call(strings.Replace(modernMeta, "2026-07-28", "2031-01-01", 1)), header{"Mcp-Protocol-Version": "2031-01-01"}, 400, `"supported":["2026-07-28",`},
		{"no capabilities", call(`"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}`), modern("tools/list", ""), 400, `"code":-32602`},
		{"no Mcp-Method", call(modernMeta), header{"Mcp-Protocol-Version": "2026-07-28"}, 400, `"code":-32020`},
		{"another Mcp-Method", call(modernMeta), modern("tools/call", ""), 400, `"code":-32020`},
		{"initialize is gone", strings.Replace(call(modernMeta), "tools/list", "initialize", 1), modern("initialize", ""), 404, `"code":-32601`},
		{"ping is gone", strings.Replace(call(modernMeta), "tools/list", "ping", 1), modern("ping", ""), 404, `"code":-32601`},
		{"discover", strings.Replace(call(modernMeta), "tools/list", "server/discover", 1), modern("server/discover", ""), 200, `"supportedVersions":["2026-07-28"`},
		{"discover is new", strings.Replace(call(""), "tools/list", "server/discover", 1), nil, 200, `"code":-32601`},
		{"an old unknown method", strings.Replace(call(""), "tools/list", "no/such", 1), nil, 200, `"code":-32601`},
		{"odd capabilities", `{"jsonrpc":"2.0","id":7,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{"roots":[],"sampling":true,"elicitation":"x"},"clientInfo":{"name":"php","version":1}}}`, nil, 200, `"protocolVersion":"2025-06-18"`},
		{"no capabilities in PHP", `{"jsonrpc":"2.0","id":7,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":[],"clientInfo":[]}}`, nil, 200, `"protocolVersion":"2025-06-18"`},
		{"no capabilities in PHP, new", call(strings.Replace(modernMeta, `clientCapabilities":{}`, `clientCapabilities":[]`, 1)), modern("tools/list", ""), 200, `"resultType":"complete"`},
		{"no parameters in PHP", `{"jsonrpc":"2.0","id":7,"method":"tools/list","params":[ ]}`, nil, 200, `"result":{"tools":[`},
		{"no parameters in PHP, passed on", `{"jsonrpc":"2.0","id":7,"method":"ping","params":[]}`, nil, 200, `"result":{}`},
		{"a version that is no text", `{"jsonrpc":"2.0","id":7,"method":"initialize","params":{"protocolVersion":3}}`, nil, 200, `"code":-32602,"message":"params.protocolVersion has the wrong type: number"`},
		{"a level that is no text", `{"jsonrpc":"2.0","id":7,"method":"logging/setLevel","params":{"level":5.5}}`, nil, 200, `"code":-32602,"message":"params.level has the wrong type: number"`},
		{"a byte order mark", "\uFEFF" + call(""), nil, 200, `"result":{"tools":[`},
		{"parameters by place", `{"jsonrpc":"2.0","id":7,"method":"ping","params":[1]}`, nil, 200, `"code":-32602`},
		{"a new unknown method", strings.Replace(call(modernMeta), "tools/list", "no/such", 1), modern("no/such", ""), 404, `"code":-32601`},
	} {
		if status, body := f.post(c.body, c.h); status != c.status || !strings.Contains(body, c.want) || !strings.Contains(body, `"id":7`) {
			t.Errorf("%s: %d %s, want %d with %s", c.name, status, body, c.status, c.want)
		}
	}
}

func TestWhatAClientDeclaresIsReadByMembers(t *testing.T) {
	for in, want := range map[string]string{
		`{"roots":{"listChanged":true},"experimental":{"x":{}}}`:                                      `{"roots":{"listChanged":true},"experimental":{"x":{}}}`,
		`{"roots":{"listChanged":"yes"},"sampling":true,"elicitation":"x","experimental":[],"z":[7]}`: `{"experimental":{},"roots":{},"sampling":{},"z":[7]}`,
		`[]`: `{}`, `7`: `{}`, `"x"`: `{}`,
	} {
		if got := string(readable[mcp.ClientCapabilities](json.RawMessage(in))); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}

func TestChecksComeInTheirOrder(t *testing.T) {
	f := serve(t, Config{Principal: func(r *http.Request) string { return r.Header.Get("X-Who") }, Bounds: Bounds{MaxBody: 100, Rate: 4}})
	long := strings.Repeat("x", 200)
	for i, c := range []struct {
		body   string
		h      header
		status int
	}{
		{long, header{"Content-Type": "text/plain"}, 415},
		{long, nil, 413},
		{`{`, header{"Mcp-Protocol-Version": "2031-01-01"}, 400},
		{`{"jsonrpc":"2.0","id":1,"method":"ping"}`, header{"Mcp-Protocol-Version": "2031-01-01", "Mcp-Session-Id": "x"}, 400},
		{`{"jsonrpc":"2.0","id":1,"method":"ping"}`, header{"Mcp-Session-Id": "x"}, 404},
		{`{"jsonrpc":"2.0","id":1,"method":"ping"}`, nil, 200},
		{`{"jsonrpc":"2.0","method":"notifications/initialized"}`, nil, 202},
		{`{"jsonrpc":"2.0","id":"none of ours","result":{}}`, nil, 202},
		{long, header{"Content-Type": "text/plain"}, 429}, // the burst of twice the rate is used up
		{`{"jsonrpc":"2.0","id":1,"method":"ping"}`, header{"X-Who": "another"}, 200},
	} {
		if status, body := f.post(c.body, c.h); status != c.status {
			t.Errorf("%d: %s %v: %d %s, want %d", i, c.body, c.h, status, body, c.status)
		}
	}
}

func TestMessagesThatAreNone(t *testing.T) {
	f := serve(t, Config{})
	for body, want := range map[string]string{
		``:      `"id":null,"error":{"code":-32700`,
		`{`:     `"code":-32700`,
		`"x"`:   `"id":null,"error":{"code":-32600`,
		`{}`:    `"code":-32600`,
		`12`:    `"code":-32600`,
		`[]`:    `"code":-32600`,
		`[1,2]`: `[{"jsonrpc":"2.0","id":null,"error":{"code":-32600`,
		`{"jsonrpc":"2.0","id":null,"method":"ping"}`:                                            `"code":-32600`,
		`{"jsonrpc":"2.0","id":{},"method":"ping"}`:                                              `"code":-32600`,
		`{"jsonrpc":"1.0","id":4,"method":"ping"}`:                                               `"id":4,"error":{"code":-32600`,
		`{"jsonrpc":"2.0","id":4,"method":5}`:                                                    `"id":4,"error":{"code":-32600`,
		`{"jsonrpc":"2.0","id":"` + "\xff" + `","method":"ping"}`:                                "this is not JSON, which is UTF-8",
		`{"jsonrpc":"2.0","id":1e400,"method":"ping"}`:                                           `"id":null,"error":{"code":-32600`,
		`{"jsonrpc":"2.0","id":1.5,"method":"ping"}`:                                             `"id":null,"error":{"code":-32600`,
		`{"jsonrpc":"2.0","id":true,"method":"ping"}`:                                            `"id":null,"error":{"code":-32600`,
		`{"jsonrpc":"2.0","id":1e2,"method":"ping"}`:                                             `"id":1e2,"result":{}`,
		`{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}`:                                `"id":9007199254740993,"result":{}`,
		`{"jsonrpc":"2.0","id":"\ud800","method":"ping"}`:                                        `"id":"\ud800","result":{}`,
		`{"jsonrpc":"2.0","id":4,"Method":"ping"}`:                                               `"id":4,"error":{"code":-32600`,
		`{"jsonrpc":"2.0","ID":4,"method":"ping"}`:                                               "",
		`{"JSONRPC":"2.0","id":4,"method":"ping"}`:                                               `"id":4,"error":{"code":-32600`,
		`{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"Name":"echo"}}`:                `"id":4,"error":{"code":-32602`,
		strings.Repeat(`{"a":`, 20_000) + "1" + strings.Repeat("}", 20_000):                      "this is nested too deeply",
		`{"jsonrpc":"2.0","id":4,"method":"ping","params":null,"result":null,"error":null}`:      `"id":4,"result":{}`,
		`{"jsonrpc":"2.0","id":4,"method":"ping","result":{},"error":{}}`:                        `"id":4,"result":{}`,
		`{"jsonrpc":"2.0","id":4,"method":"ping","params":{"_meta":[]}}`:                         `"id":4,"result":{}`,
		`{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"echo","arguments":[]}}`: `"text":"{}"`,
		`{"jsonrpc":"2.0","id":"none of ours","method":null,"result":{},"error":null}`:           "",
		`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"this is no JSON"}}`:        "",
		`{"jsonrpc":"2.0","error":{"code":-32700,"message":"this is no JSON"}}`:                  "",
		`{"jsonrpc":"2.0","id":null,"method":"notifications/initialized","params":null}`:         "",
		`{"jsonrpc":"2.0","id":4,"method":null}`:                                                 `"id":4,"error":{"code":-32600`,
		`{"jsonrpc":"2.0","id":4}`:                                                               `"id":4,"error":{"code":-32600`,
		`{"jsonrpc":"2.0","id":4,"method":"ping","params":[1]}`:                                  `"id":4,"error":{"code":-32602`,
		`{"jsonrpc":"2.0","id":4,"method":"tools/call"}`:                                         `"id":4,"error":{"code":-32602`,
		`{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"ecco"}}`:                `"message":"Unknown tool: ecco","data":"there is no tool \"ecco\"; did you mean echo?"`,
	} {
		if _, got := f.post(body, nil); !strings.Contains(got, want) || want == "" && got != "" {
			t.Errorf("%s: %s, want %s", body, got, want)
		}
	}
}

func TestBatchesAreOfOneRevision(t *testing.T) {
	f := serve(t, Config{})
	batch := `[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","method":"notifications/initialized"},{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo"}}]`
	if status, body := f.post(batch, nil); status != 200 || !strings.HasPrefix(body, `[{"jsonrpc":"2.0","id":1,"result":{}},{"jsonrpc":"2.0","id":2,`) {
		t.Errorf("2025-03-26: %d %s", status, body)
	}
	if status, _ := f.post(batch, header{"Mcp-Protocol-Version": "2025-06-18"}); status != 400 {
		t.Errorf("2025-06-18: %d, want 400", status)
	}
	if status, _ := f.post(`[{"jsonrpc":"2.0","method":"notifications/initialized"}]`, nil); status != 202 {
		t.Errorf("only notifications: %d, want 202", status)
	}
}

func TestGetIsAStreamOrNotAllowed(t *testing.T) {
	f := serve(t, Config{})
	for _, path := range []string{"/mcp", "/sse"} {
		h := header{"Accept": "application/json"}
		if path == "/sse" {
			h["Mcp-Protocol-Version"] = "2025-11-25"
		}
		if resp := f.do(http.MethodGet, path, "", h); resp.StatusCode != 405 || resp.Header.Get("Allow") == "" {
			t.Errorf("GET %s for JSON: %s, want 405", path, resp.Status)
		}
		h["Accept"] = "text/event-stream"
		if resp := f.do(http.MethodGet, path, "", h); resp.StatusCode != 200 {
			t.Errorf("GET %s for events: %s, want 200", path, resp.Status)
		}
		if path == "/sse" { // a client of 2024-11-05 that connects again
			if first, ok := eventsOf(t, f.do(http.MethodGet, path, "", h).Body).next(); !ok || first.name != "endpoint" {
				t.Errorf("GET %s with a revision and no session: %+v", path, first)
			}
		}
		h["Mcp-Protocol-Version"] = "2026-07-28"
		if resp := f.do(http.MethodGet, path, "", h); resp.StatusCode != 405 {
			t.Errorf("GET %s of 2026-07-28: %s, want 405", path, resp.Status)
		}
	}
}

func TestSessionOutlivesTheServer(t *testing.T) {
	key := bytes.Repeat([]byte("k"), 32)
	h := serve(t, Config{Key: key}).initialized("2025-06-18", "x", "1")
	again := serve(t, Config{Key: key})
	if status, body := again.post(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo"}}`, h); status != 200 {
		t.Errorf("after a restart: %d %s", status, body)
	}
	if resp := again.do(http.MethodDelete, "/mcp", "", h); resp.StatusCode != 204 {
		t.Errorf("DELETE: %s", resp.Status)
	}
	for _, method := range []string{http.MethodDelete, http.MethodGet, http.MethodPost} {
		if resp := again.do(method, "/mcp", `{"jsonrpc":"2.0","id":1,"method":"ping"}`, header{"Mcp-Session-Id": h["Mcp-Session-Id"], "Accept": "text/event-stream"}); resp.StatusCode != 404 {
			t.Errorf("%s after DELETE: %s, want 404", method, resp.Status)
		}
	}
	if status, _ := serve(t, Config{Key: key}).post(`{"jsonrpc":"2.0","id":1,"method":"ping"}`, h); status != 200 {
		t.Errorf("where nothing is kept of its end: %d", status)
	}
	if status, _ := serve(t, Config{}).post(`{"jsonrpc":"2.0","id":1,"method":"ping"}`, h); status != 404 {
		t.Errorf("with another key: %d, want 404", status)
	}
}

func TestSessionBelongsToItsPrincipal(t *testing.T) {
	f := serve(t, Config{Principal: func(r *http.Request) string { return r.Header.Get("X-Who") }})
	h := f.initialized("2025-11-25", "x", "1")
	h["X-Who"] = "mallory"
	if status, _ := f.post(`{"jsonrpc":"2.0","id":1,"method":"ping"}`, h); status != 404 {
		t.Errorf("another principal: %d, want 404", status)
	}
}

func TestErrorsAreShownToAClientThatHidesThem(t *testing.T) {
	f := serve(t, Config{})
	call := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"fails"}}`
	want := `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"Error: the printer is on fire"}]}}`
	if _, got := f.post(call, f.initialized("2025-03-26", "void-app-client", "0.1.0")); got != want {
		t.Errorf("Void: %s, want %s", got, want)
	}
	want = `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"the printer is on fire"}],"isError":true}}`
	if _, got := f.post(call, f.initialized("2025-03-26", "another", "0.1.0")); got != want {
		t.Errorf("another client: %s, want %s", got, want)
	}
}

func TestProgressIsCompleteAndInOrder(t *testing.T) {
	f := serve(t, Config{})
	for _, h := range []header{nil, f.initialized("2025-06-18", "x", "1"), modern("tools/call", "reports")} {
		params := `"name":"reports","_meta":{"progressToken":"p"}`
		if h["Mcp-Method"] != "" {
			params = `"name":"reports",` + strings.Replace(modernMeta, `{}}`, `{},"progressToken":"p","io.modelcontextprotocol/logLevel":"info"}`, 1)
		}
		resp := f.do(http.MethodPost, "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{`+params+`}}`, h)
		if got := resp.Header.Get("Content-Type"); got != "text/event-stream" {
			t.Fatalf("Content-Type %q", got)
		}
		e := eventsOf(t, resp.Body)
		for i := range 100 {
			want := `"params":{"progressToken":"p","progress":` + string(encode(i+1)) + `,"total":100}}`
			if got := e.message(); !strings.HasSuffix(got, want) {
				t.Fatalf("%v: %s, want %s", h, got, want)
			}
		}
		if got := e.message(); got != `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"warning","data":"wanted"}}` {
			t.Errorf("%v: log: %s", h, got)
		}
		if got := e.message(); !strings.HasPrefix(got, `{"jsonrpc":"2.0","id":1,"result":`) {
			t.Errorf("%v: answer: %s", h, got)
		}
		if _, more := e.next(); more {
			t.Errorf("%v: the stream goes on behind the answer", h)
		}
	}
}

func TestSlowAnswerBecomesAStream(t *testing.T) {
	f := serve(t, Config{Bounds: Bounds{Patience: 5 * time.Millisecond, Beat: 5 * time.Millisecond}})
	resp := f.do(http.MethodPost, "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"waits"}}`, nil)
	if got := resp.Header.Get("Content-Type"); got != "text/event-stream" {
		t.Fatalf("Content-Type %q", got)
	}
	if s, ok := eventsOf(t, resp.Body).next(); !ok || s.comment != "keep-alive" {
		t.Errorf("%+v", s)
	}
}

func TestLeavingCancelsByTheNewRevisionOnly(t *testing.T) {
	f := serve(t, Config{Bounds: Bounds{Patience: time.Millisecond, Beat: time.Millisecond}})
	resp := f.do(http.MethodPost, "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"waits",`+modernMeta+`}}`, modern("tools/call", "waits"))
	if len(f.places) != 1 {
		t.Fatal("the call does not run")
	}
	resp.Body.Close()
	soon(t, "an end of the call", func() bool { return len(f.places) == 0 })

	h := f.initialized("2025-11-25", "x", "1")
	resp = f.do(http.MethodPost, "/mcp", `{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"waits"}}`, h)
	resp.Body.Close()
	time.Sleep(50 * time.Millisecond)
	if len(f.places) != 1 {
		t.Fatal("the call ended with its connection")
	}
	if status, _ := f.post(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":9}}`, h); status != 202 {
		t.Errorf("cancelled: %d", status)
	}
	soon(t, "an end of the cancelled call", func() bool { return len(f.places) == 0 })
}

func TestBrokenStreamIsTakenUpAgain(t *testing.T) {
	f := serve(t, Config{})
	h := f.initialized("2025-11-25", "x", "1")
	resp := f.do(http.MethodPost, "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"reports","_meta":{"progressToken":1}}}`, h)
	e := eventsOf(t, resp.Body)
	var last sent
	for range 11 { // the first one tells only the id
		last, _ = e.next()
	}
	resp.Body.Close()
	if !strings.Contains(last.data, `"progress":10,`) {
		t.Fatalf("%+v", last)
	}
	h["Last-Event-ID"], h["Accept"] = last.id, "text/event-stream"
	e = eventsOf(t, f.do(http.MethodGet, "/mcp", "", h).Body)
	for i := 11; i <= 100; i++ {
		if got := e.message(); !strings.Contains(got, `"progress":`+string(encode(i))+`,`) {
			t.Fatalf("%s, want progress %d", got, i)
		}
	}
	e.message() // the log line
	if got := e.message(); !strings.HasPrefix(got, `{"jsonrpc":"2.0","id":1,"result":`) {
		t.Errorf("%s, want the answer", got)
	}
	if rest, _ := io.ReadAll(e.r); len(rest) > 0 {
		t.Errorf("the stream goes on: %s", rest)
	}
	delete(h, "Last-Event-ID")
	other := f.initialized("2025-11-25", "x", "1")
	other["Last-Event-ID"] = last.id
	if _, _, ok := f.records.find(last.id, nameOf(other["Mcp-Session-Id"])); ok {
		t.Error("another session finds the stream")
	}
}
