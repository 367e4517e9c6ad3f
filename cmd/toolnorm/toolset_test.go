package main

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"toolnorm/internal/test/must"
)

// TestStdioOffersTheSetsOfItsSettings is about a client that starts the program itself, and is
// given one set.
func TestStdioOffersTheSetsOfItsSettings(t *testing.T) {
	clean(t, "")
	data := t.TempDir()
	m := serving(t, io.Discard, "--data", data)
	for _, tool := range []string{dailyLimit, multiply} {
		if status, body := administer(t, m, "POST", "tools", tool); status != 201 {
			t.Fatalf("%d %s", status, body)
		}
	}
	if status, body := administer(t, m, "PUT", "toolsets/maths", `{"description":"To calculate.","tools":["multiply_numbers"]}`); status != 200 {
		t.Fatalf("%d %s", status, body)
	}
	var out bytes.Buffer
	stdio := NewMain(&out, io.Discard)
	stdio.In = strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"a","version":"1"}}}
{"jsonrpc":"2.0","id":2,"method":"tools/list"}
{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"get_user_daily_limit","arguments":{"user_name":"hong"}}}
`)
	must.OK(t, stdio.ParseFlags([]string{"mcp", "--data", data, "--tool-sets", "local=maths"}))
	must.OK(t, stdio.instead())
	if got := out.String(); strings.Count(got, "inputSchema") != 1 || !strings.Contains(got, "multiply_numbers") || !strings.Contains(got, "Unknown tool") || !strings.Contains(got, `"instructions":"To calculate."`) {
		t.Error(got)
	}
}

// TestAdministratorsMakeSetsAndExamples goes through the admin API, and hears of a set as an MCP
// client does.
func TestAdministratorsMakeSetsAndExamples(t *testing.T) {
	clean(t, "")
	lines := new(log)
	m := serving(t, lines, "--data", t.TempDir(), "--tool-sets", "ci=nowhere")
	if !strings.Contains(lines.String(), "nowhere") {
		t.Errorf("the log does not tell of a set that is not there: %s", lines)
	}
	withExample := func(want string) string {
		return strings.Replace(multiply, `"params"`, `"examples":[{"arguments":{"num1":2,"num2":3},"result":`+want+`}],"params"`, 1)
	}
	status, body := administer(t, m, "POST", "tools", withExample("7"))
	if status != 400 || !strings.Contains(body, "result: expected 7, got 6") || !strings.Contains(body, `"field":"examples[0]"`) {
		t.Errorf("%d %s", status, body)
	}
	if status, body = administer(t, m, "POST", "tools/examples", `{"tool":`+withExample("7")+`}`); status != 200 || !strings.Contains(body, `"ok":false`) || !strings.Contains(body, `"diff":["result: expected 7, got 6"]`) {
		t.Errorf("%d %s", status, body)
	}
	if status, body = administer(t, m, "POST", "tools", strings.Replace(withExample("7"), "{", `{"force":true,`, 1)); status != 201 || strings.Contains(body, "force") {
		t.Errorf("%d %s", status, body)
	}
	client := listening(t, m)
	for _, tt := range []struct {
		method, path, body string
		status             int
		says               string
	}{
		{"PUT", "toolsets/maths", `{"tools":["multiply_numbers","gone"]}`, 200, `"missing":["gone"]`},
		{"PUT", "toolsets/maths", `{"tools":[]}`, 409, "there is a set maths already"},
		{"PUT", "toolsets/maths", `{"tools":[],"version":1,"name":"other"}`, 400, "keeps its name"},
		{"PUT", "toolsets/Maths", `{"tools":[]}`, 400, "a set's name is"},
		{"PUT", "toolsets/maths", `{"tools":[],"version":1}`, 200, `"version":2`},
		{"GET", "toolsets", "", 200, `"name":"maths"`},
		{"DELETE", "toolsets/maths?version=1", "", 409, "version 2"},
		{"DELETE", "toolsets/maths?version=2", "", 204, ""},
		{"DELETE", "toolsets/maths", "", 404, "there is no set"},
	} {
		if status, body := administer(t, m, tt.method, tt.path, tt.body); status != tt.status || !strings.Contains(body, tt.says) {
			t.Errorf("%s %s %s: %d %s", tt.method, tt.path, tt.body, status, body)
		}
	}
	until(t, client, "notifications/tools/list_changed")
}
