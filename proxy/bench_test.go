//go:build unix

package proxy

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"time"

	"toolnorm/engine"
)

// benchSchema is the schema of a tool as editors offer them: descriptions, choices, a list of
// objects.
const benchSchema = `{"type":"object","properties":{"path":{"type":"string","description":"The path of the file to edit, relative to the workspace folder."},"mode":{"type":"string","enum":["replace","insert","delete"],"description":"What is done with the lines."},"edits":{"type":"array","minItems":1,"items":{"type":"object","properties":{"first":{"type":"integer","minimum":1,"description":"The first line, from 1 on."},"last":{"type":"integer","minimum":1},"text":{"type":"string","description":"What the lines become."}},"required":["first","text"],"additionalProperties":false}},"dry_run":{"type":"boolean","default":false,"description":"Only say what would be done."}},"required":["path","edits"],"additionalProperties":false}`

// benchRequest is a request with so many tools, the first of which is write_file, and so many turns
// of 2 KiB.
func benchRequest(tools, turns int) string {
	type object = map[string]any
	messages := []object{}
	for i := range turns {
		messages = append(messages, object{"role": []string{"user", "assistant"}[i%2], "content": strings.Repeat("The river runs past the old mill (a < b, they say); ", 40)})
	}
	messages = append(messages, object{"role": "user", "content": "Go on."})
	offered := []object{}
	for i := range tools {
		name, schema := "write_file", `{"type":"object","properties":{"path":{"type":"string"},"content":{"type":"string"}},"required":["path","content"]}`
		if i > 0 {
			name, schema = fmt.Sprintf("edit_%d", i), benchSchema
		}
		offered = append(offered, object{"type": "function", "function": object{"name": name, "parameters": json.RawMessage(schema)}})
	}
	body, _ := json.Marshal(object{"model": "qwen2.5:bench", "stream": true, "messages": messages, "tools": offered})
	return string(body)
}

// benchReply is a reply of n tokens of four bytes as Ollama's records of raw text.
func benchReply(text string) string {
	var b strings.Builder
	for len(text) > 0 {
		n := min(4, len(text))
		token, _ := json.Marshal(text[:n])
		fmt.Fprintf(&b, `{"model":"qwen2.5:bench","created_at":"2026-01-01T00:00:00.000000000Z","response":%s,"done":false}`+"\n", token)
		text = text[n:]
	}
	return b.String() + `{"model":"qwen2.5:bench","created_at":"2026-01-01T00:00:00.000000000Z","response":"","done":true,"done_reason":"stop","prompt_eval_count":10,"eval_count":10}` + "\n"
}

// benchOllama is a model server that renders every conversation as a prompt of so many bytes, and
// continues it by that reply. All it writes was made beforehand, so that what is measured is the
// proxy, and two connections of net/http.
func benchOllama(b *testing.B, prompt int, reply string) string {
	text, _ := json.Marshal(strings.Repeat("<|im_start|>user\nThe river runs past the old mill.<|im_end|>\n", prompt/60+1))
	answers := map[string]string{
		"/api/version":  `{"version":"0.34.3"}`,
		"/api/tags":     `{"models":[{"name":"qwen2.5:bench","model":"qwen2.5:bench","digest":"0123456789abcdef"}]}`,
		"/api/show":     `{"capabilities":["completion","tools"],"template":"{{ .Prompt }}{{ .Tools }}","details":{"family":"qwen2"},"model_info":{}}`,
		"/api/chat":     fmt.Sprintf(`{"model":"qwen2.5:bench","done":false,"_debug_info":{"rendered_template":%s}}`, text),
		"/api/generate": reply,
	}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/x-ndjson")
		io.WriteString(w, answers[r.URL.Path])
	}))
	b.Cleanup(srv.Close)
	return srv.URL
}

// cpuTime is the processor time of this process so far. Unlike time it means something on a machine
// that does other work, too.
func cpuTime() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u) // cannot fail for the process itself
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkProxy is one request after the other, from the client's bytes to those of the reply, in
// front of a server that has its answers ready. Of requests as of replies there are small ones and
// large ones.
func BenchmarkProxy(b *testing.B) {
	prose := strings.Repeat("The river runs past the old mill, and in spring it is wide (a < b, they say).\n", 103)[:8000]
	var lines strings.Builder
	for i := range 90 {
		fmt.Fprintf(&lines, "\tif got[%06d] < want && !ok { return fmt.Errorf(\"row %%d: {%%q}\", i, want) } // it's \\done\n", i)
	}
	content, _ := json.Marshal(lines.String())
	call := fmt.Sprintf("<tool_call>\n{\"name\": \"write_file\", \"arguments\": {\"path\": \"a.go\", \"content\": %s}}\n</tool_call>", content)
	for _, row := range []struct {
		name         string
		tools, turns int
		reply        string
	}{
		{"prose of 2000 tokens", 1, 0, prose},
		{"call of 2500 tokens", 1, 0, call},
		{"request with one tool", 1, 0, "Yes."},
		{"request with 12 tools", 12, 0, "Yes."},
		{"request of 200 KiB", 12, 100, "Yes."},
		{"first request with 12 tools", 12, 0, "Yes."},
	} {
		b.Run(row.name, func(b *testing.B) {
			body, first := benchRequest(row.tools, row.turns), strings.HasPrefix(row.name, "first")
			e := engine.New(engine.Config{Ollama: benchOllama(b, len(body), benchReply(row.reply))})
			server := New(Config{Model: e, Catalog: e})
			b.ReportAllocs()
			begin := cpuTime()
			for n := 0; b.Loop(); n++ {
				body := body
				if first { // tools that nothing is known of yet
					body = strings.ReplaceAll(body, "relative to", fmt.Sprintf("%d relative to", n))
				}
				w := httptest.NewRecorder()
				server.ServeHTTP(w, httptest.NewRequest("POST", "/v1/chat/completions", strings.NewReader(body)))
				if w.Code != 200 || !strings.Contains(w.Body.String(), "[DONE]") {
					b.Fatalf("%d %s", w.Code, w.Body)
				}
			}
			b.ReportMetric(float64(cpuTime()-begin)/float64(b.N), "cpu-ns/op")
		})
	}
}
