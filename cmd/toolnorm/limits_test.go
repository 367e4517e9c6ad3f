package main

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"toolnorm/internal/auth"
	"toolnorm/internal/test/must"
)

// TestKeysHaveTheirLimits asks with two keys, one of which has limits, in each API, and reads what
// the metrics say of it.
func TestKeysHaveTheirLimits(t *testing.T) {
	clean(t, "")
	const ann, bob = "ann " + aKey, "bob sk-bobbobbobbobbob"
	m := serving(t, io.Discard, "--data", t.TempDir(), "--sample=never", "--api-keys", ann, "--api-keys", bob, "--limits", "ann=rpm=3,context=1000")
	send := func(key, method, path, body string) (*http.Response, string) {
		resp, text := must.Ask(t, method, m.URL()+path, body, "Authorization: Bearer "+key[4:], "Content-Type: application/json")
		return resp, text
	}
	chat := func(said string) string {
		return `{"model":"demo/hermes","max_tokens":9,"messages":[{"role":"user","content":"` + said + `"}]}`
	}
	long := chat(strings.Repeat("word ", 4000))
	for i, c := range []struct {
		key, path, body string
		want            int
		says            string
	}{
		{bob, "/v1/chat/completions", chat("Hi."), 200, ""},
		{bob, "/v1/chat/completions", long, 200, ""},
		{ann, "/v1/chat/completions", chat("Hi."), 200, ""},
		{ann, "/v1/chat/completions", long, 400, `"code":"context_length_exceeded"`},
		{ann, "/v1/messages", long, 400, `"message":"prompt is too long: `},
		{ann, "/v1/messages", chat("Hi."), 429, `"type":"rate_limit_error"`},
		{ann, "/v1/responses", `{"model":"demo/hermes","input":"Hi."}`, 429, `"code":"rate_limit_exceeded"`},
		{ann, "/api/chat", chat("Hi."), 429, `{"error":"your limit is 3 requests a minute`},
		{bob, "/v1/chat/completions", chat("Hi."), 200, ""},
	} {
		resp, text := send(c.key, "POST", c.path, c.body)
		if resp.StatusCode != c.want || !strings.Contains(text, c.says) || (resp.Header.Get("Retry-After") != "") != (c.want == 429) ||
			(resp.Header.Get("X-Ratelimit-Limit-Requests") == "3") != (c.key == ann) {
			t.Errorf("%d: %s %s: %d %.300s %v", i, c.key[:3], c.path, resp.StatusCode, text, resp.Header)
		}
	}
	if resp, text := send(ann, "GET", "/v1/models", ""); resp.StatusCode != 200 {
		t.Errorf("lists count as well: %d %s", resp.StatusCode, text)
	}
	_, text := send(ann, "GET", "/metrics", "")
	for _, want := range []string{`toolnorm_limited_total{limit="requests"} 3`, `toolnorm_limited_total{limit="context"} 2`} {
		if !strings.Contains(text, want) {
			t.Errorf("the metrics have no %s", want)
		}
	}
	resp, table := must.Ask(t, "GET", m.URL()+"/admin/api/usage?as=csv", "", "Authorization: Bearer "+ann[4:], "Toolnorm-Admin: 1")
	if !strings.Contains(table, ",ann,demo/hermes,3,2,0,") || !strings.Contains(table, ",bob,demo/hermes,3,0,0,") {
		t.Errorf("the usage is %d %s", resp.StatusCode, table)
	}
	for _, secret := range []string{aKey, "ann", "bob"} {
		if strings.Contains(text, secret) {
			t.Errorf("the metrics name %s", secret)
		}
	}
}

// TestEveryPathThatAsksAModelCounts compares the list with the routes: what is open to users and
// takes a POST asks a model, or is named here.
func TestEveryPathThatAsksAModelCounts(t *testing.T) {
	free := map[string]bool{"/": true, "/{$}": true, "/version": true, "/v1/messages/count_tokens": true, "/v1/responses/{id}": true, "/v1/responses/{id}/input_items": true,
		"/v1/models": true, "/v1/models/{id...}": true, "/mcp": true, "/mcp/{$}": true, "/mcp/sets/{set}": true, "/mcp/sets/{set}/{$}": true, "/sse": true, "/sse/{$}": true, "/sse/message": true, "/kb/{base}/{document}/{passage}": true,
		"/api/tags": true, "/api/ps": true, "/api/version": true, "/api/show": true}
	for path, need := range needs {
		if (need == auth.User || need == auth.Ask || need == auth.Call) && free[path] == modelPaths[path] {
			t.Errorf("%s: it is not said whether it counts for the limits", path)
		}
	}
}
