package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// wirings is how many ways of asking for structured output must pass.
const wirings = 40

// unheld is what a model writes whose server does not know format: a preface, a fence, JavaScript's
// names, numbers as texts, a comma too many.
const unheld = "Sure! Here is the city as JSON:\n\n```json\n{\n  name: 'Rome',\n  \"population\": \"2873000\",\n  \"latitude\": 41.9,\n" +
	"  \"mayor\": {\"name\": \"Ann\", \"age\": \"44\"},\n}\n```\n\nLet me know if you need anything else!"

// TestStructuredOutputWhereTheServerIgnoresFormat asks as stock clients do, each by its own helper,
// in front of a server that knows nothing of format. Each check validates what its client made of
// the answer.
func TestStructuredOutputWhereTheServerIgnoresFormat(t *testing.T) {
	_, missing := sdkPython("clients")
	demand(t, missing, nil)
	l := &lane{}
	demand(t, nil, l.scratch())
	t.Cleanup(l.stop)
	demand(t, nil, l.build())
	server := httptest.NewServer(http.HandlerFunc(ignoreFormat))
	t.Cleanup(server.Close)
	base := l.toolnorm(t, "--ollama", strings.TrimPrefix(server.URL, "http://"))
	var passed sync.Map // names of checks: some packages are installed more than once
	t.Run("all", func(t *testing.T) {
		count := func(t *testing.T, language, checks string) {
			t.Log(checks)
			for name := range strings.SplitSeq(checks, ", ") {
				passed.Store(language+name, true)
			}
		}
		for _, environment := range []string{"clients", "agents", "anthropic", "llama-index"} {
			t.Run(environment, func(t *testing.T) {
				t.Parallel()
				python, err := sdkPython(environment)
				demand(t, err, nil)
				count(t, "python ", runSDK(t, python, []string{filepath.Join("sdks", "structured_client.py"), base, "unheld"}))
			})
		}
		t.Run("node", func(t *testing.T) {
			t.Parallel()
			count(t, "node ", runSDK(t, "node", []string{filepath.Join("clients", "structured.mjs"), npmPart(t, "clients"), npmPart(t, "anthropic"), base, "unheld"}))
		})
	})
	t.Run("count", func(t *testing.T) {
		n := 0
		passed.Range(func(any, any) bool { n++; return true })
		if t.Logf("%d wirings", n); n < wirings {
			t.Errorf("%d wirings passed, want %d", n, wirings)
		}
	})
}

// ignoreFormat is a server of Ollama's API whose one model writes the same whatever is asked.
func ignoreFormat(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/api/version":
		io.WriteString(w, `{"version":"0.34.3"}`)
	case "/api/tags":
		io.WriteString(w, `{"models":[{"name":"unheld:latest","model":"unheld:latest","digest":"0123456789abcdef"}]}`)
	case "/api/show":
		io.WriteString(w, `{"capabilities":["completion"],"template":"{{ .Prompt }}","details":{"family":"qwen2"},"model_info":{}}`)
	case "/api/chat", "/api/generate":
		if body, _ := io.ReadAll(r.Body); bytes.Contains(body, []byte(`"_debug_render_only":true`)) {
			io.WriteString(w, `{"message":{"role":"assistant","content":""},"done":true}`) // it does not know how to render alone
			return
		}
		for _, word := range strings.SplitAfter(unheld, " ") {
			text, _ := json.Marshal(word)
			fmt.Fprintf(w, `{"message":{"role":"assistant","content":%s},"response":%s,"done":false}`+"\n", text, text)
		}
		io.WriteString(w, `{"message":{"role":"assistant","content":""},"done":true,"done_reason":"stop","prompt_eval_count":3,"eval_count":4}`+"\n")
	default:
		http.NotFound(w, r)
	}
}
