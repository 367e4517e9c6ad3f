package main

import (
	"encoding/binary"
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"toolnorm/internal/test/must"
)

// members calls do with each member of a protobuf message that has bytes.
func members(b []byte, do func(number uint64, value []byte)) {
	for len(b) > 0 {
		tag, n := binary.Uvarint(b)
		if b = b[max(n, 1):]; n <= 0 {
			return
		}
		switch tag & 7 {
		case 0:
			_, n := binary.Uvarint(b)
			b = b[n:]
		case 1:
			b = b[8:]
		case 2:
			size, n := binary.Uvarint(b)
			do(tag>>3, b[n:n+int(size)])
			b = b[n+int(size):]
		case 5:
			b = b[4:]
		}
	}
}

// spanSent is a span that a receiver got.
type spanSent struct{ trace, id, parent, name string }

// receiver is where traces are sent to.
type receiver struct {
	mu    sync.Mutex
	spans []spanSent
	raw   string
}

// ServeHTTP reads an ExportTraceServiceRequest.
func (c *receiver) ServeHTTP(_ http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.raw += string(body)
	members(body, func(n uint64, resource []byte) {
		members(resource, func(n uint64, scope []byte) {
			if n != 2 {
				return
			}
			members(scope, func(n uint64, span []byte) {
				if n != 2 {
					return
				}
				var s spanSent
				members(span, func(n uint64, v []byte) {
					switch n {
					case 1:
						s.trace = hex.EncodeToString(v)
					case 2:
						s.id = hex.EncodeToString(v)
					case 4:
						s.parent = hex.EncodeToString(v)
					case 5:
						s.name = string(v)
					}
				})
				c.spans = append(c.spans, s)
			})
		})
	})
}

// TestATraceIsWhole has a client with a trace of its own ask a model whose call must be repaired,
// and the agent, which calls a tool. A receiver gets all spans under the client's, the model server
// is told the trace, and nothing that was said is in it.
func TestATraceIsWhole(t *testing.T) {
	clean(t, "")
	got := new(receiver)
	to := httptest.NewServer(got)
	defer to.Close()
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", to.URL)
	model, _ := url.Parse(damaging(t))
	var mu sync.Mutex
	var told []string
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/api/generate" {
			mu.Lock()
			told = append(told, r.Header.Get("Traceparent"))
			mu.Unlock()
		}
		httputil.NewSingleHostReverseProxy(model).ServeHTTP(w, r)
	}))
	defer front.Close()
	var lines log
	m := serving(t, &lines, "--data", t.TempDir(), "--upstream", "box="+front.URL, "--sample=always", "--log-format=json")
	const trace, parent = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
	for _, body := range []string{
		`{"model":"box/qwen3","messages":[{"role":"user","content":"<tool_call>\n{\"name\": \"get_time\", \"arguments\": {\"secret\": 3}}\n</tool_call>"}],"tools":[{"type":"function","function":{"name":"get_time","parameters":{"type":"object","properties":{"zone":{"type":"string"}},"required":["zone"]}}}]}`,
		`{"model":"demo/hermes@agent","messages":[{"role":"user","content":"What time is it in UTC?"}]}`,
	} {
		resp := must.Open(t, "POST", m.URL()+"/v1/chat/completions", body, "Traceparent: 00-"+trace+"-"+parent+"-01")
		if text, _ := io.ReadAll(resp.Body); resp.StatusCode != 200 {
			t.Fatalf("%d %s", resp.StatusCode, text)
		}
		resp.Body.Close()
	}
	m.Close()
	requests := map[string]string{} // by id
	for _, s := range got.spans {
		if s.trace != trace {
			t.Errorf("%+v is of another trace", s)
		}
		if s.parent == parent {
			requests[s.id] = s.name
		}
	}
	var under []string
	for _, s := range got.spans {
		if of := requests[s.parent]; of != "" {
			under = append(under, of+": "+s.name)
		}
	}
	for _, want := range []string{"chat box/qwen3: render", "chat box/qwen3: generate raw", "chat box/qwen3: repair rewritten", "chat demo/hermes@agent: generate raw", "chat demo/hermes@agent: execute_tool "} {
		if !slices.ContainsFunc(under, func(s string) bool { return strings.HasPrefix(s, want) }) {
			t.Errorf("there is no span %q among %q", want, under)
		}
	}
	if len(under)+len(requests) != len(got.spans) || len(requests) != 2 {
		t.Errorf("of %d spans %d are requests and %d below these: %+v", len(got.spans), len(requests), len(under), got.spans)
	}
	if len(told) == 0 || slices.ContainsFunc(told, func(s string) bool { return !strings.HasPrefix(s, "00-"+trace+"-") }) {
		t.Errorf("the model server is told %q", told)
	}
	if n := strings.Count(lines.String(), `"trace_id":"`+trace+`"`); n != 2 {
		t.Errorf("%d lines of the log name the trace, want 2: %s", n, lines.String())
	}
	if strings.Contains(got.raw, "secret") || strings.Contains(got.raw, "What time") {
		t.Error("the trace holds what was said")
	}
}

// TestATraceGoesOnBehindMCP has an agent, and an MCP client, call a tool of another server's, which
// is a toolnorm with a trace of its own: all spans are one tree, also across the programs, and what
// was said is in it since the variable says so.
func TestATraceGoesOnBehindMCP(t *testing.T) {
	clean(t, "")
	got := new(receiver)
	to := httptest.NewServer(got)
	defer to.Close()
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", to.URL)
	t.Setenv("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "true")
	far := serving(t, io.Discard, "--data", t.TempDir(), "--sample=always")
	dir := t.TempDir()
	file := filepath.Join(dir, "mcp.json")
	must.Write(t, file, `{"mcpServers":{"far":{"url":"`+far.URL()+`/mcp","include":["calculate_vacation_days"]}}}`)
	near := serving(t, io.Discard, "--data", dir, "--sample=never", "--mcp-file", file)
	eventually(t, "the far tools are never there", func() bool {
		_, list := ask(t, "POST", near.URL()+"/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
		return strings.Contains(list, "far.calculate_vacation_days")
	})
	const trace, parent = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
	for path, body := range map[string]string{
		"/v1/chat/completions": `{"model":"demo/hermes@agent","messages":[{"role":"user","content":"How many vacation days has employee \"EMP001\" left in 2025?"}]}`,
		"/mcp":                 `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"far.calculate_vacation_days","arguments":{"employee_id":"EMP001","year":2025}}}`,
	} {
		resp := must.Open(t, "POST", near.URL()+path, body, "Traceparent: 00-"+trace+"-"+parent+"-01", "Content-Type: application/json", "Accept: application/json")
		if text, _ := io.ReadAll(resp.Body); resp.StatusCode != 200 || !strings.Contains(string(text), "14.5") {
			t.Fatalf("%d %s", resp.StatusCode, text)
		}
		resp.Body.Close()
	}
	near.Close()
	far.Close()
	byID := map[string]spanSent{parent: {}}
	for _, s := range got.spans {
		byID[s.id] = s
	}
	var paths []string
	for _, s := range got.spans {
		path := s.name
		for up := s; up.parent != "" && up.parent != parent; path = up.name + " > " + path {
			next, ok := byID[up.parent]
			if up = next; !ok || s.trace != trace {
				t.Fatalf("%+v has no parent among %+v", s, got.spans)
			}
		}
		paths = append(paths, path)
	}
	for _, want := range []string{
		"chat demo/hermes@agent > execute_tool far.calculate_vacation_days > execute_tool calculate_vacation_days",
		"execute_tool far.calculate_vacation_days > execute_tool calculate_vacation_days",
	} {
		if !slices.Contains(paths, want) {
			t.Errorf("there is no %q among %q", want, paths)
		}
	}
	for _, want := range []string{"How many vacation days", "gen_ai.tool.call.arguments", `"employee_id":"EMP001"`, "gen_ai.tool.call.result", "toolnorm.text"} {
		if !strings.Contains(got.raw, want) {
			t.Errorf("%q is in no span", want)
		}
	}
}
