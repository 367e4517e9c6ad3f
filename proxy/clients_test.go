package proxy

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"sort"
	"strings"
	"testing"

	"toolnorm/engine"
	"toolnorm/internal/test/must"
)

// renderer is an Ollama that remembers what it was to render last.
type renderer struct{ asked json.RawMessage }

func (o *renderer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	switch r.URL.Path {
	case "/api/tags":
		io.WriteString(w, `{"models":[{"name":"qwen3:latest","digest":"sha:1"}]}`)
	case "/api/ps":
		io.WriteString(w, `{"models":[]}`)
	case "/api/show":
		io.WriteString(w, `{"capabilities":["completion","tools","thinking"],"model_info":{"qwen3.context_length":40960}}`)
	case "/api/chat":
		o.asked = body
		io.WriteString(w, `{"done":true,"_debug_info":{"rendered_template":"p"}}`)
	case "/api/generate":
		io.WriteString(w, `{"response":"ok","done":false}`+"\n"+`{"done":true,"done_reason":"stop","prompt_eval_count":9,"eval_count":2}`+"\n")
	}
}

// TestHistoriesOfClientsReachTheModelWhole sends what each client sends on a later turn, and wants
// every text, every argument and every result in what the model's server is to render.
func TestHistoriesOfClientsReachTheModelWhole(t *testing.T) {
	ollama := new(renderer)
	upstream := httptest.NewServer(ollama)
	defer upstream.Close()
	eng := engine.New(engine.Config{Ollama: upstream.URL})
	srv := httptest.NewServer(New(Config{Model: eng, Catalog: eng}))
	defer srv.Close()
	files, err := filepath.Glob("testdata/clients/*.json")
	if err != nil || len(files) < 8 {
		t.Fatalf("%d clients, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".json"), func(t *testing.T) {
			src := must.Read(t, file)
			body := regexp.MustCompile(`"model": "[^"]*"`).ReplaceAllString(string(src), `"model": "qwen3"`)
			resp, reply := do(t, "POST", srv.URL+"/v1/chat/completions", body)
			if resp.StatusCode != http.StatusOK {
				t.Fatalf("%d: %s", resp.StatusCode, reply)
			}
			if word := resp.Header.Get("Toolnorm-History"); word != "" && !strings.Contains(reply, "\n: history="+word+"\n") {
				t.Errorf("the stream does not say %q: %s", word, reply)
			}
			got := shownOf(t, ollama.asked) + notesOf(resp.Header)
			must.Match(t, strings.TrimSuffix(file, ".json")+".shown", got)
			there := leaves(t, ollama.asked)
			for _, text := range said(t, src) {
				if !strings.Contains(there, text) {
					t.Errorf("%q did not reach the model's server", text)
				}
			}
		})
	}
}

// shownOf are the messages of a request, one a line.
func shownOf(t *testing.T, body []byte) string {
	t.Helper()
	var asked struct{ Messages []json.RawMessage }
	if err := json.Unmarshal(body, &asked); err != nil {
		t.Fatalf("the model's server was asked %s: %v", body, err)
	}
	var b strings.Builder
	for _, m := range asked.Messages {
		fmt.Fprintf(&b, "%s\n", m)
	}
	return b.String()
}

// notesOf is what the client is told was done.
func notesOf(h http.Header) string {
	var lines []string
	for _, word := range []string{"History", "Trimmed", "Tools"} {
		if text := h.Get("Toolnorm-" + word); text != "" {
			lines = append(lines, "# "+strings.ToLower(word)+": "+text+"\n")
		}
	}
	return strings.Join(lines, "")
}

// repeated is a call that a client left in a text, beside the call itself.
var repeated = regexp.MustCompile(`(?s)<tool_call>.*</tool_call>`)

// said is everything that a client's request says: texts, arguments, results, what was thought.
func said(t *testing.T, body []byte) (all []string) {
	t.Helper()
	var r struct {
		Messages []struct {
			Content   any
			Reasoning string `json:"reasoning_content"`
			ToolCalls []struct {
				Function struct{ Name, Arguments string }
			} `json:"tool_calls"`
			Old struct{ Name, Arguments string } `json:"function_call"`
		}
	}
	must.OK(t, json.Unmarshal(body, &r))
	for _, m := range r.Messages {
		switch c := m.Content.(type) {
		case string:
			all = append(all, c)
		case []any:
			for _, part := range c {
				text, _ := part.(map[string]any)["text"].(string)
				all = append(all, text)
			}
		}
		all = append(all, m.Reasoning, m.Old.Name)
		all = append(all, stringsIn(m.Old.Arguments)...)
		for _, call := range m.ToolCalls {
			all = append(append(all, call.Function.Name), stringsIn(call.Function.Arguments)...)
		}
	}
	for i, text := range all {
		all[i] = strings.TrimSpace(repeated.ReplaceAllString(text, ""))
	}
	return all
}

// stringsIn are the texts in a JSON document; of one that is broken, none.
func stringsIn(doc string) (all []string) {
	var v any
	_ = json.Unmarshal([]byte(doc), &v) // nothing is wanted of what is broken
	walk(v, func(s string) { all = append(all, s) })
	return all
}

// walk calls f for each string in a value, and each name of a member.
func walk(v any, f func(string)) {
	switch v := v.(type) {
	case string:
		f(v)
	case []any:
		for _, e := range v {
			walk(e, f)
		}
	case map[string]any:
		keys := make([]string, 0, len(v))
		for k := range v {
			keys = append(keys, k)
		}
		sort.Strings(keys)
		for _, k := range keys {
			f(k)
			walk(v[k], f)
		}
	}
}

// leaves are the texts of a request to the model's server, one behind the other.
func leaves(t *testing.T, body []byte) string {
	t.Helper()
	return strings.Join(stringsIn(string(body)), "\n")
}
