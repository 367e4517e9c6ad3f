package remote

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"toolnorm/internal/test/must"
)

func TestTheAddressesAnswerAsSpecified(t *testing.T) {
	s, _, _ := opened(t, "")
	mux := http.NewServeMux()
	s.Mount(mux)
	for _, tt := range []struct {
		do, body string
		status   int
		want     string
	}{
		{"GET /mcp/list", "", 200, `{"servers":[]}`},
		{"POST /mcp/add", `{"name":"tts","url":"http://127.0.0.1:9/sse"}`, 200, `{"name":"tts","url":"http://127.0.0.1:9/sse","message":"registered"}`},
		{"GET /mcp/list", "", 200, `{"servers":[{"name":"tts","url":"http://127.0.0.1:9/sse"}]}`},
		{"GET /mcp/list?state=1", "", 200, `"state":"`},
		{"POST /mcp/add", `{"name":"tts","url":"http://127.0.0.1:9/mcp"}`, 200, `"message":"registered"`},
		{"GET /mcp/list", "", 200, `{"servers":[{"name":"tts","url":"http://127.0.0.1:9/mcp"}]}`},
		{"POST /mcp/add", `{"name":"x","command":"rm"}`, 403, "commands are started only if mcp.json names them"},
		{"POST /mcp/add", `{"name":"x","url":"http://h/${HOME}"}`, 400, "variables"},
		{"POST /mcp/add", `{"name":"x","url":"file:///etc/passwd"}`, 400, "http:// or https://"},
		{"POST /mcp/add", `{"name":"x","url":"http://169.254.169.254/"}`, 400, "no MCP server may be at"},
		{"POST /mcp/add", `{"name":"x"`, 400, "JSON object"},
		{"POST /mcp/add", `{"name":"x","url":"http://127.0.0.1:9/sse","header":{}}`, 400, `there is no field header`},
		{"POST /mcp/add", `{"name":"x","url":"http://127.0.0.1:9/sse","headers":{"A":"${HOME}"}}`, 400, "variables"},
		{"POST /mcp/add", `{"name":"x","url":"http://127.0.0.1:9/sse","headers":{"A":"b\r\nHost: c"}}`, 400, `\"A\" is not a header`},
		{"POST /mcp/add", `{"name":"x","url":5}`, 400, `"message":"url has the wrong type: number","type":"invalid_request_error","param":"url"`},
		{"POST /mcp/add", `{"name":"x","url":"http://127.0.0.1:9/sse","headers":{"a":"1","a":"2"}}`, 400, `the field a is there twice`},
		{"DELETE /mcp/remove", `{"name":"x","headers":{}}`, 400, `there is no field headers`},
		{"DELETE /mcp/remove", `{"naem":"tts"}`, 400, `"param":"naem"`},
		{"POST /mcp/add", `{"name":"` + strings.Repeat("x", largestBody) + `"}`, 413, "more than"},
		{"GET /mcp/add", "", 405, "takes POST"},
		{"DELETE /mcp/remove", `{"name":"tts"}`, 200, `{"name":"tts","message":"removed"}`},
		{"DELETE /mcp/remove", `{"name":"tts"}`, 404, `no MCP server`},
		{"DELETE /mcp/remove?name=tts", "", 404, `no MCP server`},
		{"DELETE /mcp/remove", "", 400, `name a server`},
	} {
		method, path, _ := strings.Cut(tt.do, " ")
		r := httptest.NewRequest(method, path, strings.NewReader(tt.body))
		w := httptest.NewRecorder()
		mux.ServeHTTP(w, r)
		body, _ := io.ReadAll(w.Body)
		if w.Code != tt.status || !strings.Contains(string(body), tt.want) {
			t.Errorf("%s %.80s: %d %s, want %d %s", tt.do, tt.body, w.Code, body, tt.status, tt.want)
		}
	}
}

func TestServersThatAreAddedFromAfarAreNotInside(t *testing.T) {
	s, _, _ := opened(t, "")
	s.cfg.Private = nil
	if err := s.Add(t.Context(), Asked{Name: "x", URL: "http://127.0.0.1:9/mcp"}); err == nil || !strings.Contains(err.Error(), "private") {
		t.Errorf("Add = %v", err)
	}
	must.OK(t, s.Add(t.Context(), Asked{Name: "x", URL: "https://name.invalid/mcp"}))
	text, _ := s.file.encode()
	if !strings.Contains(string(text), `"private":false`) {
		t.Errorf("the file forgets it: %s", text)
	}
}

// TestAServerIsAddedWithItsKey adds a server that wants a header, and takes one of its tools.
func TestAServerIsAddedWithItsKey(t *testing.T) {
	s, r, _ := opened(t, "")
	inner := handler(fake("f"), kindHTTP)
	url := "http://" + boot(t, "127.0.0.1:0", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer k" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		inner.ServeHTTP(w, r)
	})).addr + "/mcp"
	must.OK(t, s.Add(t.Context(), Asked{Name: "calc", URL: url, Headers: map[string]string{"Authorization": "Bearer k"}, Include: []string{"add"}}))
	until(t, "its tool", func() bool { return called(r, "calc.add", `{"a":1,"b":1}`) == "2" })
	if n := len(r.Snapshot().Tools); n != 1 {
		t.Errorf("%d tools are offered, want 1", n)
	}
}
