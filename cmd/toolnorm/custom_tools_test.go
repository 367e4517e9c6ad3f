package main

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"

	"toolnorm/internal/test/must"
	"toolnorm/internal/test/storetest"
	"toolnorm/runner"
)

// databases are those of the tests of several programs on one store.
var databases storetest.Databases

// TestMain is the program itself when a test starts this file as one: signals and files need real
// processes.
func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
		return
	}
	// Under nohup the signal is ignored, and programs that tests start would inherit that; what is
	// caught here is not inherited.
	if signal.Ignored(syscall.SIGHUP) {
		signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	}
	os.Exit(databases.Main(m))
}

// The two examples of the specification, as the page sends them.
const (
	dailyLimit = `{"name":"get_user_daily_limit","description_agent":"특정 사용자의 일일 제한량을 조회합니다.","tool_type":"SQL",
		"definition":"SELECT u.user_nm, l.max_count FROM h_user u JOIN h_mcp_tool_limit l ON u.uid = l.target_id WHERE u.user_nm = {{user_name}} AND l.target_type = 'USER'",
		"params":[{"param_name":"user_name","param_type":"STRING","description":"target user"}]}`
	multiply = `{"name":"multiply_numbers","description_agent":"두 숫자를 입력받아 곱한 결과를 반환합니다.","tool_type":"PYTHON","definition":"result = num1 * num2",
		"params":[{"param_name":"num1","param_type":"NUMBER"},{"param_name":"num2","param_type":"NUMBER"}]}`
)

// administer sends a request to the admin API as the page does.
func administer(t *testing.T, m *Main, method, path, body string) (int, string) {
	t.Helper()
	resp, text := must.Ask(t, method, m.URL()+"/admin/api/"+path, body, "Toolnorm-Admin: 1", "Content-Type: application/json", "Origin: "+m.URL())
	return resp.StatusCode, text
}

// listening is an MCP client of 2024-11-05, whose stream hears of changes.
func listening(t *testing.T, m *Main) *bufio.Scanner {
	t.Helper()
	lines := bufio.NewScanner(must.Open(t, "GET", m.URL()+"/sse", "").Body)
	until(t, lines, "/sse/message")
	where := strings.TrimPrefix(lines.Text(), "data: ")
	for _, body := range []string{
		`{"jsonrpc":"2.0","method":"initialize","params":{"protocolVersion":"2024-11-05","capabilities":{},"clientInfo":{"name":"test","version":"1"}},"id":1}`,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
	} {
		if status, text := ask(t, "POST", where, body); status != http.StatusAccepted {
			t.Fatalf("%d %s", status, text)
		}
	}
	until(t, lines, `"protocolVersion"`)
	return lines
}

// until reads a stream up to a line that holds some words.
func until(t *testing.T, lines *bufio.Scanner, words string) {
	t.Helper()
	for lines.Scan() {
		if strings.Contains(lines.Text(), words) {
			return
		}
	}
	t.Fatalf("the stream ended before %q: %v", words, lines.Err())
}

// viaMCP calls a tool over Streamable HTTP, and gives the text of the result.
func viaMCP(t *testing.T, m *Main, name, args string) string {
	t.Helper()
	_, body := ask(t, "POST", m.URL()+"/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"`+name+`","arguments":`+args+`}}`)
	var reply struct {
		Result struct {
			Content []struct{ Text string }
		}
	}
	if err := json.Unmarshal([]byte(body), &reply); err != nil || len(reply.Result.Content) == 0 {
		t.Fatalf("%s: %v", body, err)
	}
	return reply.Result.Content[0].Text
}

// viaRunner calls a tool as toolrun does.
func viaRunner(t *testing.T, dir, name, args string) string {
	t.Helper()
	own := runner.Client{Address: must.Have(runner.FindAddress(dir))(t)}
	return string(must.Have(own.Call(t.Context(), name, json.RawMessage(args)))(t).JSON())
}

// viaChat has the demo model call the tool that it is told to, by the agent, and gives what it
// answers.
func viaChat(t *testing.T, m *Main, question string) string {
	t.Helper()
	text := must.Have(json.Marshal(question))(t)
	status, body := ask(t, "POST", m.URL()+"/v1/chat/completions", `{"model":"demo/hermes@agent","messages":[{"role":"user","content":`+string(text)+`}]}`)
	if status != 200 {
		t.Fatalf("%d %s", status, body)
	}
	return body
}

// TestCustomToolsOnEveryFace makes both examples by the API and calls them by chat, MCP and the
// runner, at once, and not any more once they are switched off.
func TestCustomToolsOnEveryFace(t *testing.T) {
	clean(t, "")
	dir := t.TempDir()
	m := serving(t, io.Discard, "--data", dir)
	hears := listening(t, m)
	for _, tool := range []string{dailyLimit, multiply} {
		if status, body := administer(t, m, "POST", "tools", tool); status != 201 {
			t.Fatalf("%d %s", status, body)
		}
		until(t, hears, "notifications/tools/list_changed")
	}
	for _, tt := range []struct{ name, args, question, want string }{
		{"get_user_daily_limit", `{"user_name":"hong"}`, `What is the daily limit of user_name "hong"?`, `{"user_nm":"hong","max_count":50}`},
		{"multiply_numbers", `{"num1":5,"num2":3}`, `Multiply num1 5 and num2 3.`, `15`},
	} {
		if got := viaMCP(t, m, tt.name, tt.args); got != tt.want {
			t.Errorf("MCP: %s", got)
		}
		if got, want := viaRunner(t, dir, tt.name, tt.args), `{"success":true,"result":`+tt.want+`}`; got != want {
			t.Errorf("toolrun: %s", got)
		}
		got := viaChat(t, m, tt.question)
		if escaped, _ := json.Marshal(tt.want); !strings.Contains(got, "[local."+tt.name+" ") || !strings.Contains(got, strings.Trim(string(escaped), `"`)) {
			t.Errorf("chat: %s", got)
		}
	}
	if status, body := administer(t, m, "POST", "tools/2/toggle", `{"is_active":false,"version":1}`); status != 200 {
		t.Fatalf("%d %s", status, body)
	}
	until(t, hears, "notifications/tools/list_changed")
	if _, got := ask(t, "POST", m.URL()+"/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"multiply_numbers","arguments":{}}}`); !strings.Contains(got, `"data":"tool multiply_numbers is not active"`) {
		t.Errorf("MCP, switched off: %s", got)
	}
	if got := viaRunner(t, dir, "multiply_numbers", "{}"); got != `{"success":false,"error":"tool multiply_numbers is not active"}` {
		t.Errorf("toolrun, switched off: %s", got)
	}
	if got := viaChat(t, m, "Multiply num1 5 and num2 3."); strings.Contains(got, "[local.multiply_numbers") {
		t.Errorf("chat, switched off: %s", got)
	}
	must.OK(t, m.Close())
	m = serving(t, io.Discard, "--data", dir)
	if got := viaMCP(t, m, "get_user_daily_limit", `{"user_name":"hong"}`); got != `{"user_nm":"hong","max_count":50}` {
		t.Errorf("after a restart: %s", got)
	}
}

// TestReplicasOfferTheSameTools starts two programs on one PostgreSQL: what is made at one is
// called at the other, whose MCP clients hear of it.
func TestReplicasOfferTheSameTools(t *testing.T) {
	first, second, _ := replicas(t)
	hears := listening(t, second)
	for _, tool := range []string{dailyLimit, multiply} {
		if status, body := administer(t, first, "POST", "tools", tool); status != 201 {
			t.Fatalf("%d %s", status, body)
		}
		var made struct{ Name string }
		must.OK(t, json.Unmarshal([]byte(tool), &made))
		for lists := ""; !strings.Contains(lists, `"`+made.Name+`"`); { // a change may be told twice, before and behind the set of all
			until(t, hears, "notifications/tools/list_changed")
			_, lists = ask(t, "POST", second.URL()+"/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
		}
	}
	if got := viaMCP(t, second, "get_user_daily_limit", `{"user_name":"hong"}`); got != `{"user_nm":"hong","max_count":50}` {
		t.Errorf("at the other: %s", got)
	}
	if got := viaMCP(t, second, "multiply_numbers", `{"num1":5,"num2":3}`); got != "15" {
		t.Errorf("at the other: %s", got)
	}
	if status, body := administer(t, second, "DELETE", "tools/2?version=1", ""); status != 204 {
		t.Fatalf("%d %s", status, body)
	}
	if status, body := administer(t, first, "PUT", "tools/2", strings.TrimSuffix(multiply, "}")+`,"version":1}`); status != 404 {
		t.Errorf("what the other deleted is changed: %d %s", status, body)
	}
}
