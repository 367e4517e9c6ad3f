package main

import (
	"bufio"
	"io"
	"net/http"
	"strings"
	"testing"

	"toolnorm/internal/test/must"
)

// initialize is what Void sends first, to the address that its user wrote, whichever that is.
const initialize = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"toolnorm-client","version":"0.1.0"}}}`

// posted is what a server answers to a message.
func posted(t *testing.T, url, body, session, key string) *http.Response {
	t.Helper()
	return must.Open(t, "POST", url, body, "Content-Type: application/json",
		"Accept: application/json, text/event-stream", "Mcp-Session-Id: "+session, "X-Api-Key: "+key)
}

func TestMCPClientsAreServedOnTheSamePort(t *testing.T) {
	m := fresh(t)
	session := ""
	for _, path := range []string{"/mcp/", "/sse/", "/mcp", "/sse"} {
		resp := posted(t, m.URL()+path, initialize, "", "")
		body, _ := io.ReadAll(resp.Body)
		if session = resp.Header.Get("Mcp-Session-Id"); session == "" || !strings.Contains(string(body), `"protocolVersion":"2025-03-26"`) {
			t.Errorf("POST %s: %s %s", path, resp.Status, body)
		}
	}
	for _, path := range []string{"/sse", "/sse/"} {
		resp := must.Open(t, "GET", m.URL()+path, "")
		defer resp.Body.Close()
		r := bufio.NewReader(resp.Body)
		if first, err := r.ReadString('\n'); first != "event: endpoint\n" {
			t.Errorf("GET %s begins with %q, %v", path, first, err)
		}
		if at, _ := r.ReadString('\n'); !strings.HasPrefix(at, "data: "+m.URL()+"/sse/message?") {
			t.Errorf("GET %s names %q for messages", path, at)
		}
	}
	must.OK(t, m.Close())
	again := serving(t, io.Discard)
	if resp := posted(t, again.URL()+"/sse", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, session, ""); resp.StatusCode != http.StatusOK {
		t.Errorf("the session does not outlive a restart: %s", resp.Status)
	}
}

func TestMCPSessionBelongsToItsKey(t *testing.T) {
	clean(t, "")
	t.Setenv("TOOLNORM_API_KEYS", "sk-0123456789abcdef,sk-another-key-0123")
	m := serving(t, io.Discard)
	session := posted(t, m.URL()+"/mcp", initialize, "", "sk-0123456789abcdef").Header.Get("Mcp-Session-Id")
	for key, want := range map[string]int{"": 401, "sk-another-key-0123": 404, "sk-0123456789abcdef": 200} {
		if resp := posted(t, m.URL()+"/mcp", `{"jsonrpc":"2.0","id":1,"method":"ping"}`, session, key); resp.StatusCode != want {
			t.Errorf("key %q: %s, want %d", key, resp.Status, want)
		}
	}
}

func TestMCPCanBeSwitchedOff(t *testing.T) {
	m := fresh(t, "--no-mcp")
	if resp := posted(t, m.URL()+"/mcp", initialize, "", ""); resp.StatusCode != http.StatusNotFound {
		t.Errorf("%s, want 404", resp.Status)
	}
}

func TestCompanyToolsAnswerAsPromised(t *testing.T) {
	m := fresh(t)
	for _, row := range []struct{ method, params, want string }{
		{"tools/call", `{"name":"abc123_calculate_vacation_days","arguments":{"employee_id":"EMP001","year":"2025"}}`,
			`"text":"{\"success\":true,\"result\":{\"employee_id\":\"EMP001\",\"year\":2025,\"total\":19,\"used\":4.5,\"remaining\":14.5}}"}],"structuredContent":{"success":true,"result":{"employee_id":"EMP001"`},
		{"tools/call", `{"name":"get_employee_info","arguments":{"employee_id":"EMP999"}}`, `"structuredContent":{"success":false,"error":"`},
		{"tools/list", `{}`, `"outputSchema":{"type":"object","properties":{"success":{"type":"boolean"},"result":{"type":"object"`},
		{"resources/list", `{}`, `"uri":"company://documents/1"`},
		{"resources/read", `{"uri":"company://documents/4000"}`, `"code":-32002`},
		{"prompts/get", `{"name":"ask_company"}`, `"code":-32602`},
	} {
		resp := posted(t, m.URL()+"/mcp", `{"jsonrpc":"2.0","id":1,"method":"`+row.method+`","params":`+row.params+`}`, "", "")
		if body, _ := io.ReadAll(resp.Body); !strings.Contains(string(body), row.want) {
			t.Errorf("%s %s:\n%s, want\n%s", row.method, row.params, body, row.want)
		}
	}
}
