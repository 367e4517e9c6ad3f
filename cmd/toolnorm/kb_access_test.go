package main

import (
	"io"
	"strings"
	"testing"

	"toolnorm/internal/test/must"
	"toolnorm/tools/kb/kbstore"
)

// TestErrorsOfKnowledgeBasesOnEveryFace holds the specification's table where it is read: a wrong
// token is a 401 of HTTP, everything else a result that says its status, over MCP, to the runner
// and in a chat.
func TestErrorsOfKnowledgeBasesOnEveryFace(t *testing.T) {
	clean(t, "")
	t.Setenv("TOOLNORM_JWT_SECRET", jwtSecret)
	m := serving(t, io.Discard, "--data", t.TempDir(), "--kb-tools", "always", "--ocr-llm-url", "http://127.0.0.1:1")
	b := must.Have(m.toolbox.KB.Store.Create(t.Context(), kbstore.Base{Name: "Handbook", Tenant: "acme"}))(t)
	const none = "cf23c222-b024-4533-81aa-52e4f673281e"
	hong, foreign := tokenOf(t, "hong"), tokenOf(t, "kim", "tenant_id", "other")
	for _, row := range []struct{ token, tool, args, want string }{
		{hong, "get_knowledge_base_summary", `{"knowledge_base_id":"` + b.ID + `"}`, `"summary":"Handbook","statistics":{"total_documents":0,"total_collections":0,"total_chunks":0}`},
		{foreign, "get_knowledge_base_summary", `{"knowledge_base_id":"` + b.ID + `"}`, `{"status_code":403,"message":"Access denied to this knowledge base"}`},
		{hong, "get_knowledge_base_summary", `{"knowledge_base_id":"` + none + `"}`, `{"status_code":404,"message":"Knowledge base not found"}`},
		{hong, "get_knowledge_base_summary", `{"knowledge_base_id":"brochure"}`, `{"status_code":400,"message":"knowledge_base_id must be a UUID","hint":"one of these names will do: Handbook"`},
		{hong, "normalize_ocr_text", `{"text":"マネ-ジャ-"}`, `"normalized_text":"マネージャー","status":"success"`},
		{hong, "normalize_ocr_text", `{"text":"カメラ-レンズ"}`, `{"status_code":503,"message":"LLM service unavailable"}`},
		{tokenOf(t, "hong", "exp", "soon"), "get_knowledge_base_summary", `{"knowledge_base_id":"` + b.ID + `"}`, ""},
	} {
		fails := strings.HasPrefix(row.want, `{"status_code"`)
		call := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + row.tool + `","arguments":` + row.args + `}}`
		status, got := withToken(t, "POST", m.URL()+"/mcp", row.token, call, "Accept: application/json, text/event-stream", "Mcp-Session-Id: "+sessionOf(t, m.URL()+"/mcp", row.token))
		ran, out := withToken(t, "POST", m.URL()+"/runner/call", row.token, `{"name":"`+row.tool+`","arguments":`+row.args+`}`)
		switch {
		case row.want == "":
			if status != 401 || ran != 401 || !strings.Contains(got+out, "Invalid authentication credentials") {
				t.Errorf("%+v: %d %s, %d %s", row, status, got, ran, out)
			}
		case status != 200 || !strings.Contains(got, `"structuredContent":`) || !strings.Contains(got, strings.TrimPrefix(row.want, "{")) || strings.Contains(got, `"isError":true`) != fails:
			t.Errorf("%+v over MCP: %d %s", row, status, got)
		case !strings.Contains(strings.ReplaceAll(out, `\"`, `"`), strings.TrimPrefix(row.want, "{")) || strings.Contains(out, `"success":false`) != fails:
			t.Errorf("%+v to the runner: %d %s", row, ran, out)
		}
	}
	// In a chat the base is the caller's, who may not see it: the tool says so to the model, and no
	// name leaves the store.
	ask := `{"method":"generate_content","id":1,"params":{"model":"demo/hermes","messages":[{"role":"user","content":"このKBについて"}],"knowledge_base_id":"` + b.ID + `","force_tool":"get_knowledge_base_summary"}}`
	if status, got := withToken(t, "POST", m.URL()+"/generate_with_mcp", foreign, ask); status != 200 || !strings.Contains(got, `"name":"local.get_knowledge_base_summary","arguments":{"knowledge_base_id":"`+b.ID+`"},"ok":false`) || strings.Contains(got, "Handbook") {
		t.Errorf("another tenant: %d %s", status, got)
	}
	if status, got := withToken(t, "POST", m.URL()+"/generate_with_mcp", hong, ask); status != 200 || !strings.Contains(got, `"ok":true`) || !strings.Contains(got, `"selected_by":"forced"`) {
		t.Errorf("its own tenant: %d %s", status, got)
	}
}
