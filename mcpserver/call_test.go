package mcpserver

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"toolnorm/internal/test/must"
)

// What a call costs beside net/http.
func BenchmarkCall(b *testing.B) {
	s := New(Config{Registry: testTools(b), Bounds: Bounds{Rate: -1, RateOfTool: -1}})
	defer s.Close(b.Context())
	session := s.engine.seal.mint(&session{said: said{version: "2025-06-18"}})
	call := func(more string) string {
		return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"a":1}` + more + `}}`
	}
	for name, c := range map[string]struct {
		body string
		h    header
	}{
		"2025":         {call(""), nil},
		"2025-session": {call(""), header{"Mcp-Session-Id": session, "Mcp-Protocol-Version": "2025-06-18"}},
		"2026":         {call("," + modernMeta), modern("tools/call", "echo")},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				r := httptest.NewRequest(http.MethodPost, "/mcp", strings.NewReader(c.body))
				r.Header.Set("Content-Type", "application/json")
				r.Header.Set("Accept", "application/json, text/event-stream")
				for k, v := range c.h {
					r.Header.Set(k, v)
				}
				w := httptest.NewRecorder()
				if s.streamable(w, r); w.Code != http.StatusOK {
					b.Fatal(w.Body)
				}
			}
		})
	}
}

// Most clients show an error's message alone, so that is where a tool that was switched off is told
// from one that never was.
func TestAToolThatWasSwitchedOffIsNamedInTheMessage(t *testing.T) {
	r := testTools(t)
	must.OK(t, r.Replace("custom", map[string]string{"multiply": "tool multiply is not active"}))
	f := serve(t, Config{Registry: r})
	const want = `"code":-32602,"message":"Unknown tool: multiply: tool multiply is not active","data":"tool multiply is not active"`
	if _, got := f.post(`{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"multiply"}}`, nil); !strings.Contains(got, want) {
		t.Errorf("%s, want %s", got, want)
	}
}
