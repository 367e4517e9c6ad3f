package main

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"toolnorm/internal/auth"
	"toolnorm/internal/test/must"
)

// rightsOf are the needs that each right of the setting opens, besides those that every caller may
// ask.
var rightsOf = map[string][]auth.Need{
	"none":           {},
	"models":         {auth.Ask},
	"models=qwen3*":  {auth.Ask},
	"tools":          {auth.Program, auth.Call},
	"mcp-servers":    {auth.Servers},
	"manage-models":  {auth.Manage},
	"administration": {auth.Console, auth.Admin, auth.Servers, auth.Manage, auth.Scrape, auth.Program, auth.Call, auth.Ask},
	"models, tools":  {auth.Ask, auth.Program, auth.Call},
}

// TestEachRightOpensItsRoutes asks every route as the holder of a key, as a JWT and as local, with
// every right of the setting, each given by name, by role and to all others.
func TestEachRightOpensItsRoutes(t *testing.T) {
	clean(t, "")
	t.Setenv("TOOLNORM_JWT_SECRET", "")
	bearer := func(key string) []string {
		return []string{"Authorization", "Bearer " + key, "From", "192.168.1.9:5000"}
	}
	keys, jwt := []string{"--api-keys", "ci " + aKey}, []string{"--jwt-secret", jwtSecret, "--jwt-admin-role", "boss"}
	for right, needed := range rightsOf {
		for _, c := range []caller{
			{"a key by its label", append(slices.Clone(keys), "--rights", "ci="+right), bearer(aKey)},
			{"a key as all others", append(slices.Clone(keys), "--rights", "*="+right), bearer(aKey)},
			{"a JWT by its sub", append(slices.Clone(jwt), "--rights", "ann="+right), bearer(tokenOf(t, "ann"))},
			{"a JWT by its role", append(slices.Clone(jwt), "--rights", "role:ops="+right), bearer(tokenOf(t, "ann", "role", "ops"))},
			{"a JWT by role and sub", append(slices.Clone(jwt), "--rights", "ann=none;role:ops="+right), bearer(tokenOf(t, "ann", "role", "ops"))},
			{"local by name", []string{"--rights", "local=" + right}, nil},
		} {
			checkRoutes(t, right+" for "+c.name, c, needed)
		}
	}
	every := rightsOf["administration"]
	for _, c := range []struct {
		caller
		needed []auth.Need
	}{
		{caller{"a key that is not named", append(slices.Clone(keys), "--rights", "other=tools"), bearer(aKey)}, rightsOf["models, tools"]},
		{caller{"a JWT that is not named", append(slices.Clone(jwt), "--rights", "other=administration"), bearer(tokenOf(t, "ann"))}, rightsOf["models, tools"]},
		{caller{"a JWT that is called as a role", append(slices.Clone(jwt), "--rights", "role:ops=administration"), bearer(tokenOf(t, "role:ops"))}, rightsOf["models, tools"]},
		{caller{"a JWT that is called *", append(slices.Clone(jwt), "--rights", "*=none"), bearer(tokenOf(t, "*"))}, nil},
		{caller{"the user of this machine", []string{"--rights", "*=none"}, nil}, every},
		{caller{"an admin key", []string{"--admin-key", "root " + anAdmin, "--rights", "*=none;root=none"}, bearer(anAdmin)}, every},
		{caller{"the administrator's role", append(slices.Clone(jwt), "--rights", "*=none;kim=none"), bearer(tokenOf(t, "kim", "role", "boss"))}, every},
	} {
		checkRoutes(t, c.name, c.caller, c.needed)
	}
}

// checkRoutes asks every route as one caller, and wants those of some needs, and of everybody, to
// be open.
func checkRoutes(t *testing.T, what string, c caller, needed []auth.Need) {
	t.Helper()
	m := serving(t, io.Discard, append([]string{"--data", t.TempDir()}, c.args...)...)
	f := m.now.Load()
	stub := m.guard(f, f.routes).Wrap(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }))
	asks := everyRoute(f.routes, m)
	if len(asks) < 200 {
		t.Fatalf("%d routes: the walk misses most", len(asks))
	}
	for ask, pattern := range asks {
		need := needs[pattern]
		want := "403"
		if need >= auth.User || slices.Contains(needed, need) {
			want = "yes"
		}
		if got := answer(stub, c, ask, origins[1].header); got != want {
			t.Errorf("%s: %s (%v): %s, want %s", what, ask, need, got, want)
		}
	}
}

// TestRightsBoundModels asks for a model that the caller may use and for one that it may not, on
// every path that names one, by every way of naming it.
func TestRightsBoundModels(t *testing.T) {
	m := fresh(t, "--data", t.TempDir(), "--sample=never", "--api-keys", "ci "+aKey, "--api-keys", "all sk-allallallallall", "--list-suffixes", "agent",
		"--alias", "helper=demo/hermes@agent", "--alias", "plain=demo/hermes", "--alias", "other=demo/qwen3-coder", "--rights", "ci=models=demo/hermes*,models=helper,tools;all=models")
	send := func(key, method, path, body string) (int, string) {
		resp, text := must.Ask(t, method, m.URL()+path, body, "Authorization: Bearer "+key, "Content-Type: application/json")
		return resp.StatusCode, text
	}
	said := `"messages":[{"role":"user","content":"Hi."}]`
	bodies := map[string]string{
		"/v1/chat/completions": `{"model":%q,` + said + `}`, "/v1/messages": `{"model":%q,"max_tokens":9,` + said + `}`, "/v1/messages/count_tokens": `{"model":%q,` + said + `}`,
		"/v1/completions": `{"model":%q,"prompt":"Hi"}`, "/v1/responses": `{"model":%q,"input":"Hi."}`, "/v1/embeddings": `{"model":%q,"input":"Hi."}`,
		"/api/chat": `{"model":%q,` + said + `}`, "/api/generate": `{"model":%q,"prompt":"Hi"}`, "/api/embed": `{"model":%q,"input":"Hi"}`, "/api/embeddings": `{"model":%q,"prompt":"Hi"}`,
		"/api/show": `{"model":%q}`, "/generate_with_mcp": `{"jsonrpc":"2.0","id":1,"method":"generate_content","params":{"model":%q,"messages":[{"role":"user","content":"Hi."}]}}`,
	}
	for path := range modelPaths {
		if bodies[path] == "" {
			t.Errorf("%s is not tried", path)
		}
	}
	for path, body := range bodies {
		for model, may := range map[string]bool{
			"demo/hermes": true, "demo/hermes:latest": true, "demo/hermes@agent": true, "plain": true, "helper": true,
			"demo/qwen3-coder": false, "other": false, "demo/qwen3-coder@agent": false, "demo/qwen3-coder@shell": false, "demo/llama3.1": false, "DEMO/qwen3-coder": false,
		} {
			status, text := send(aKey, "POST", path, fmt.Sprintf(body, model))
			if refused := strings.Contains(text, "ci may not ask the model"); refused == may && (may || status != 400) || status == 401 {
				t.Errorf("%s %s: %d %.300s", path, model, status, text)
			}
		}
		if _, text := send("sk-allallallallall", "POST", path, fmt.Sprintf(body, "demo/qwen3-coder")); strings.Contains(text, "may not ask") {
			t.Errorf("%s: %.300s", path, text)
		}
	}
	for _, path := range []string{"/v1/models", "/api/tags"} {
		_, all := send("sk-allallallallall", "GET", path, "")
		_, some := send(aKey, "GET", path, "")
		if !strings.Contains(all, "demo/qwen3-coder") || strings.Contains(some, "qwen3-coder") || !strings.Contains(some, `"demo/hermes`) {
			t.Errorf("%s: %s", path, some)
		}
	}
	if status, text := send(aKey, "GET", "/v1/models/demo/qwen3-coder", ""); status != 404 {
		t.Errorf("a model that may not be asked is described: %d %s", status, text)
	}
}
