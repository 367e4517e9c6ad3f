package admin

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"toolnorm/internal/auth"
	"toolnorm/internal/test/must"
	"toolnorm/internal/test/storetest"
	"toolnorm/internal/toolargs"
	"toolnorm/tools"
	"toolnorm/tools/dynamic"
)

// withTools is a server with custom tools on a store of its own.
func withTools(t *testing.T) *Server {
	t.Helper()
	dir := t.TempDir()
	where := filepath.Join(dir, "store.db")
	db := storetest.Open(t, where)
	args := new(toolargs.Reader)
	set := must.Have(dynamic.Open(t.Context(), dynamic.Config{DB: db, Registry: tools.New(tools.Options{Fit: args.Fit}), Fit: args.Fit, Data: dir, Store: where}))(t)
	t.Cleanup(set.Close)
	return New(Config{Tools: set})
}

// do sends what the page sends, as an administrator called hong.
func do(s *Server, method, path, body string) *httptest.ResponseRecorder {
	who := &auth.Principal{Subject: "hong", Admin: true}
	return ask(s, who, method, "/admin/api/"+path, body, "Toolnorm-Admin", "1", "Content-Type", "application/json")
}

// product is a tool, with a definition.
func product(definition, more string) string {
	return `{"name":"product","description_agent":"multiplies","tool_type":"PYTHON","definition":"` + definition + `","params":[{"param_name":"a","param_type":"NUMBER"},{"param_name":"b","param_type":"NUMBER","is_required":false}]` + more + `}`
}

func TestTheLifeOfATool(t *testing.T) {
	s := withTools(t)
	page := s.events.join()
	for i, step := range []struct {
		method, path, body string
		status             int
		says, param        string
	}{
		{"GET", "tools", "", 200, `{"tools":[]}`, ""},
		{"POST", "tools", product("a * b", ""), 201, `"id":1,"name":"product"`, ""},
		{"GET", "tools", "", 200, `"created_by":"hong"`, ""},
		{"GET", "tools/1", "", 200, `"version":1`, ""},
		{"GET", "tools/2", "", 404, "there is no tool number 2", ""},
		{"GET", "tools/x", "", 404, `there is no tool number \"x\"`, ""},
		{"POST", "tools", product("a * b", ""), 409, `"code":"name_taken"`, "name"},
		{"POST", "tools", product("a * c", ""), 400, `"problems":[{"severity":"error","field":"definition","message":"NameError: name 'c' is not defined","rule":"unknown_parameter","line":1,"column":5}]`, "definition"},
		{"POST", "tools", product("a *", ""), 400, `"rule":"syntax","line":1`, "definition"},
		{"POST", "tools", product("a", `,"name":"b"`), 400, "the field name is there twice", "name"},
		{"POST", "tools", product("a", `,"nane":1`), 400, "there is no field nane", "nane"},
		{"POST", "tools", `[]`, 400, "the body is not a JSON object: got array", ""},
		{"POST", "tools", product("a", `,"is_active":"Y"`), 400, "is_active", "is_active"},
		{"POST", "tools", `{"name":"p","description_agent":"x","tool_type":"PYTHON","definition":"1","params":[{"param_name":"a b","param_type":"NUMBER"}]}`, 400, "", "params[0].param_name"},
		{"POST", "tools", "{\"name\":\"p\",\"description_agent\":\"caf\xe9\"}", 400, "the body is not UTF-8", ""},
		{"POST", "tools", `{}`, 400, "", "name"},
		{"PUT", "tools/1", product("a * b + 1", ""), 400, "version", "version"},
		{"PUT", "tools/1", product("a * b + 1", `,"version":1`), 200, `"version":2`, ""},
		{"PUT", "tools/1", product("a * b + 2", `,"version":1`), 409, `"code":"version_conflict"`, "version"},
		{"PUT", "tools/9", product("a * b + 2", `,"version":1`), 404, "", ""},
		{"POST", "tools/1/toggle", `{}`, 400, "", "is_active"},
		{"POST", "tools/1/toggle", `{"is_active":false,"version":1}`, 409, "", "version"},
		{"POST", "tools/1/toggle", `{"is_active":false,"version":2}`, 200, `"is_active":false`, ""},
		{"GET", "tools/1/versions", "", 200, `"version":3,"saved_at":`, ""},
		{"GET", "tools/7/versions", "", 404, "", ""},
		{"POST", "tools/1/versions/1/restore", `{"version":1}`, 409, "", "version"},
		{"POST", "tools/1/versions/8/restore", `{"version":3}`, 404, "no version 8", ""},
		{"POST", "tools/1/versions/x/restore", `{"version":3}`, 400, "", "version"},
		{"POST", "tools/1/versions/1/restore", `{"version":3}`, 200, `"definition":"a * b"`, ""},
		{"DELETE", "tools/1?version=3", "", 409, "", "version"},
		{"DELETE", "tools/1?version=x", "", 400, "", "version"},
		{"DELETE", "tools/1?version=4", "", 204, "", ""},
		{"DELETE", "tools/1", "", 404, "", ""},
		{"GET", "tools/1/versions", "", 200, `"action":"delete"`, ""},
		{"GET", "tools/audit", "", 200, `"who":"hong","action":"delete","tool_id":1,"name":"product","version":5},{"id":4,`, ""},
		{"GET", "tools/audit?before=2", "", 200, `{"entries":[{"id":1,"at":"`, ""},
		{"GET", "tools/audit?before=1", "", 200, `{"entries":[],"more":false}`, ""},
		{"GET", "tools/audit?before=x", "", 400, "", "before"},
		{"PATCH", "tools/1", "{}", 405, "DELETE and GET and PUT", ""},
		{"GET", "schema", "", 200, `"name":"h_user","columns":[{"name":"uid","type":"INTEGER"}`, ""},
	} {
		w := do(s, step.method, step.path, step.body)
		if w.Code != step.status || !strings.Contains(w.Body.String(), step.says) || param(w) != step.param {
			t.Errorf("step %d, %s %s: %d %s, want %d %q about %q", i, step.method, step.path, w.Code, w.Body, step.status, step.says, step.param)
		}
		if w.Code >= 400 && !strings.HasPrefix(w.Body.String(), `{"error":{"`) {
			t.Errorf("step %d: %s is no error of OpenAI's", i, w.Body)
		}
	}
	if got := fmt.Sprint(page.take()); got != "[tools]" {
		t.Errorf("a page heard %s", got)
	}
}

func TestDraftsAreTriedWithoutBeingSaved(t *testing.T) {
	s := withTools(t)
	sql := func(text string) string {
		return `{"name":"t","description_agent":"x","tool_type":"SQL","definition":"` + text + `","params":[{"param_name":"who","param_type":"STRING"}]}`
	}
	for _, tt := range []struct{ path, body, want string }{
		{"tools/validate", sql("SELECT uid FROM h_user WHERE user_nm = {{who}}"), `"valid":true,"problems":[],"definition":"SELECT uid FROM h_user WHERE user_nm = :who","tool":{"type":"function","function":{"name":"t","description":"x","parameters":{"type":"object","properties":{"who":{"type":"string"}},"required":["who"],"additionalProperties":false}}}`},
		{"tools/validate", sql("SELECT uid, :who FROM h_usr"), `"valid":false,"problems":[{"severity":"error","field":"definition","message":"no such table: h_usr","rule":"syntax","line":1,"column":23}]`},
		{"tools/test", `{"arguments":{"who":"hong"},"tool":` + sql("SELECT uid FROM h_user WHERE user_nm = :who") + `}`, `"ok":true,"problems":[],"duration_ms":`},
		{"tools/test", `{"arguments":{"who":"hong"},"tool":` + sql("SELECT uid FROM h_user WHERE user_nm = :who") + `}`, `"rows":1,"truncated":false,"limits_hit":[],"connection":"sample","result":{"content":[{"type":"text","text":"{\"uid\":1}"}],"structuredContent":{"uid":1},"isError":false}`},
		{"tools/test", `{"arguments":{},"tool":` + sql("SELECT uid FROM h_user WHERE user_nm = :who") + `}`, `"ok":false,"problems":[{"severity":"error","field":"arguments","message":"the arguments of t do not fit: arguments.who: is missing"`},
		{"tools/test", `{"arguments":{"who":"x"},"tool":` + sql("SELECT 1; DELETE FROM h_user WHERE user_nm = :who") + `}`, `"message":"only one statement is allowed; a second begins here","rule":"refused","line":1,"column":11`},
	} {
		w := do(s, "POST", tt.path, tt.body)
		if w.Code != 200 || !strings.Contains(w.Body.String(), tt.want) {
			t.Errorf("%s %s: %d %s, want %s", tt.path, tt.body, w.Code, w.Body, tt.want)
		}
	}
	if w := do(s, "GET", "tools", ""); w.Body.String() != "{\"tools\":[]}\n" {
		t.Errorf("something was saved: %s", w.Body)
	}
}

// TestForeignPagesCannotTouchTools tries on each route what a page elsewhere can make a browser
// send.
func TestForeignPagesCannotTouchTools(t *testing.T) {
	s := withTools(t)
	if w := do(s, "POST", "tools", product("a * b", "")); w.Code != 201 {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	attacks := map[string][]string{
		"a page of another origin":     {"Origin", "https://evil.example", "Toolnorm-Admin", "1", "Content-Type", "application/json"},
		"another port of this machine": {"Origin", "http://127.0.0.1:3000", "Toolnorm-Admin", "1", "Content-Type", "application/json"},
		"a sandboxed frame":            {"Origin", "null", "Toolnorm-Admin", "1", "Content-Type", "application/json"},
		"a form":                       {"Content-Type", "application/x-www-form-urlencoded", "Sec-Fetch-Site", "cross-site"},
		"a form without signs":         {"Content-Type", "text/plain"},
		"a beacon":                     {"Content-Type", "application/json"},
		"a rebound name":               {"Host", "rebound.example:11435", "Toolnorm-Admin", "1", "Content-Type", "application/json"},
		"another machine":              {"From", "10.0.0.7:4000", "Toolnorm-Admin", "1", "Content-Type", "application/json"},
		"a proxy":                      {"X-Real-Ip", "10.0.0.7", "Toolnorm-Admin", "1", "Content-Type", "application/json"},
	}
	// A route that the guard does not know has the strictest need, which is that of all of these.
	guarded := (&auth.Guard{Routes: http.NewServeMux()}).Wrap(s)
	for _, pattern := range s.routes {
		method, path, _ := strings.Cut(pattern, " ")
		if method == http.MethodGet || !strings.HasPrefix(path, "/admin/api/tools") {
			continue
		}
		path = strings.NewReplacer("{id}", "1", "{version}", "1").Replace(path)
		for name, header := range attacks {
			w := ask(guarded, nil, method, path, product("a", `,"version":1`), header...)
			if w.Code != http.StatusForbidden && !(w.Code == http.StatusBadRequest && strings.Contains(w.Body.String(), "application/json")) {
				t.Errorf("%s, %s %s: %d %s", name, method, path, w.Code, w.Body)
			}
		}
	}
	w := do(s, "GET", "tools/1", "")
	var tool dynamic.Tool
	if err := json.Unmarshal(w.Body.Bytes(), &tool); err != nil || tool.Version != 1 || tool.Definition != "a * b" {
		t.Errorf("%s, %v", w.Body, err)
	}
}

func TestWithoutAStoreTheAPISaysSo(t *testing.T) {
	if w := do(New(Config{}), "GET", "tools", ""); w.Code != 400 || !strings.Contains(w.Body.String(), "custom tools are off") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}
