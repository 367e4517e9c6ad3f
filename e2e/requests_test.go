package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"toolnorm/internal/test/must"
)

// prompts stands in front of a server and remembers the rendered prompts that the model is given.
type prompts struct {
	base string
	mute bool // the model is not asked to write, which takes long on a busy machine
	mu   sync.Mutex
	seen []string
}

// watch starts it.
func watch(t *testing.T, s *server, mute bool) *prompts {
	t.Helper()
	target := must.Have(url.Parse(s.base))(t)
	p := &prompts{mute: mute}
	pass := httputil.NewSingleHostReverseProxy(target)
	pass.FlushInterval = -1
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/api/generate" {
			body, _ := io.ReadAll(r.Body)
			r.Body = io.NopCloser(bytes.NewReader(body))
			p.note(body)
			if p.mute {
				fmt.Fprintf(w, "{\"response\":\"well\",\"done\":false}\n{\"done\":true,\"done_reason\":\"stop\",\"prompt_eval_count\":%d,\"eval_count\":1}\n", len(p.last()))
				return
			}
		}
		pass.ServeHTTP(w, r)
	}))
	t.Cleanup(srv.Close)
	p.base = srv.URL
	return p
}

func (p *prompts) note(body []byte) {
	var q struct{ Prompt string }
	if json.Unmarshal(body, &q) == nil {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.seen = append(p.seen, q.Prompt)
	}
}

// last is the latest prompt.
func (p *prompts) last() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.seen) == 0 {
		return ""
	}
	return p.seen[len(p.seen)-1]
}

// rendering are the set-ups of a server that show the ways of a prompt: a template of Ollama's with
// tools, one without, so that the tools are described, and the jinja template inside the model.
func rendering(s *server) []string {
	if s.wedges {
		return []string{"hermes", "plain"}
	}
	return []string{"hermes", "plain", "native"}
}

// send posts a body, and gives the reply's header and text.
func send(t *testing.T, url, body string) (*http.Response, string) {
	t.Helper()
	return must.Ask(t, "POST", url, body, "Content-Type: application/json")
}

// TestHistoriesOfClientsAreInTheRealPrompt sends what each client sends on a later turn, and looks
// for every text, argument and result in the prompt that the real server has rendered.
func TestHistoriesOfClientsAreInTheRealPrompt(t *testing.T) {
	l := open(t)
	files, err := filepath.Glob("../proxy/testdata/clients/*.json")
	if err != nil || len(files) < 8 {
		t.Fatalf("%d clients, %v", len(files), err)
	}
	for _, server := range []*server{l.newest, l.former} {
		seen := watch(t, server, true)
		base := l.toolnorm(t, "--ollama", seen.base, "--no-probe")
		for _, model := range rendering(server) {
			for _, file := range files {
				src := must.Read(t, file)
				body := regexp.MustCompile(`"model": "[^"]*"`).ReplaceAllString(string(src), `"model": "`+model+`"`)
				resp, reply := send(t, base+"/v1/chat/completions", body)
				if resp.StatusCode != http.StatusOK {
					t.Errorf("%s, %s, %s: %d %s", server.name, model, filepath.Base(file), resp.StatusCode, reply)
					continue
				}
				for _, text := range saidBy(t, src) {
					if !printed(seen.last(), text) {
						t.Errorf("%s, %s, %s: %q is not in the prompt\n%s", server.name, model, filepath.Base(file), text, seen.last())
					}
				}
			}
		}
	}
}

// printed reports whether a prompt has a text, as it is or inside JSON, which templates write with
// or without escapes.
func printed(prompt, text string) bool {
	if strings.Contains(prompt, text) {
		return true
	}
	escaped, _ := json.Marshal(text)
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(text) // a string is always JSON
	return slices.ContainsFunc([]string{string(escaped), strings.TrimSpace(b.String())}, func(form string) bool {
		return strings.Contains(prompt, form[1:len(form)-1])
	})
}

// saidBy is everything that a client's request says to the model: texts, results, names of tools
// and their arguments.
func saidBy(t *testing.T, body []byte) (all []string) {
	t.Helper()
	type function struct{ Name, Arguments string }
	var r struct {
		Messages []struct {
			Content json.RawMessage
			Calls   []struct{ Function function } `json:"tool_calls"`
			Old     *function                     `json:"function_call"`
		}
	}
	must.OK(t, json.Unmarshal(body, &r))
	for _, m := range r.Messages {
		all = append(all, texts(m.Content)...)
		if m.Old != nil {
			m.Calls = append(m.Calls, struct{ Function function }{*m.Old})
		}
		for _, c := range m.Calls {
			all = append(all, c.Function.Name)
			var args map[string]any
			_ = json.Unmarshal([]byte(c.Function.Arguments), &args) // a cut one has nothing that can be looked for
			for key, value := range args {
				all = append(all, key)
				if text, ok := value.(string); ok {
					all = append(all, text)
				}
			}
		}
	}
	return all
}

// repeated is a call that a client left in a text beside the call itself.
var repeated = regexp.MustCompile(`(?s)<tool_call>.*</tool_call>`)

// texts are a content's: of one text, or of its parts.
func texts(content json.RawMessage) (all []string) {
	var one string
	var parts []struct{ Text string }
	if json.Unmarshal(content, &one) != nil {
		_ = json.Unmarshal(content, &parts) // null has none
	}
	all = append(all, strings.TrimSpace(repeated.ReplaceAllString(one, "")))
	for _, p := range parts {
		all = append(all, strings.TrimSpace(p.Text))
	}
	return all
}

// TestConsecutivePromptsBeginAlike wants the prompt of each turn, up to where the model is to
// write, at the start of the next turn's: else the server reads all of it again.
func TestConsecutivePromptsBeginAlike(t *testing.T) {
	l := open(t)
	talk := []message{{Role: "system", Content: "Be brief."}, {Role: "user", Content: "Weather in Rome?"}}
	for i := range 4 {
		id := fmt.Sprint("call_", i)
		talk = append(talk,
			message{Role: "assistant", ToolCalls: []toolCall{{ID: id, Type: "function", Function: function{Name: "get_weather", Arguments: fmt.Sprintf(`{"days": %d, "city": "Rome"}`, i)}}}},
			message{Role: "tool", CallID: id, Content: fmt.Sprintf("sunny, %d", i)},
			message{Role: "assistant", Content: "Sunny."},
			message{Role: "user", Content: fmt.Sprintf("And in %d days?", i+1)})
	}
	for _, server := range []*server{l.newest, l.former} {
		seen := watch(t, server, true)
		base := l.toolnorm(t, "--ollama", seen.base, "--no-probe")
		for _, model := range rendering(server) {
			before := ""
			for n := 2; n <= len(talk); n++ {
				if talk[n-1].Role == "assistant" {
					continue
				}
				body := must.Have(json.Marshal(request{Model: model, Messages: talk[:n], Tools: l.tools, Stream: true, MaxTokens: 20}))(t)
				if resp, reply := send(t, base+"/v1/chat/completions", string(body)); resp.StatusCode != http.StatusOK {
					t.Fatalf("%s, %s: %d %s", server.name, model, resp.StatusCode, reply)
				}
				now := seen.last()
				if !strings.HasPrefix(now, strings.TrimSuffix(before, "<|im_start|>assistant\n")) {
					t.Errorf("%s, %s: with %d messages the prompt\n%s\ndoes not go on from\n%s", server.name, model, n, now, before)
				}
				before = now
			}
		}
	}
}

// narrow is a context, in tokens, that the conversation of the test below is longer than; the
// model's tokens are bytes.
const narrow = 1536

// TestWhatOllamaCutsInSilenceIsTrimmedOrRefused asks for more than the context holds. Ollama alone
// answers as if nothing were missing; through here the reply says what was left out, or is an
// error.
func TestWhatOllamaCutsInSilenceIsTrimmedOrRefused(t *testing.T) {
	l := open(t)
	talk := longTalk(l.named(t, "plain").Model.Selector())
	for _, server := range []*server{l.newest, l.former} {
		alone := must.Have(json.Marshal(map[string]any{"model": "hermes", "messages": talk, "stream": false, "options": map[string]any{"num_ctx": narrow, "num_predict": 20}}))(t)
		var cut struct {
			Read int `json:"prompt_eval_count"`
		}
		resp, reply := send(t, server.base+"/api/chat", string(alone))
		if err := json.Unmarshal([]byte(reply), &cut); err != nil || resp.StatusCode != http.StatusOK || cut.Read > narrow {
			t.Errorf("%s: Ollama alone answers %d, %.200s", server.name, resp.StatusCode, reply)
		}
		body := must.Have(json.Marshal(request{Model: "hermes", Messages: talk, Tools: l.tools[:1], MaxTokens: 200}))(t)
		seen := watch(t, server, false)
		flags := []string{"--ollama", seen.base, "--num-ctx", fmt.Sprint(narrow)}
		resp, reply = send(t, l.toolnorm(t, flags...)+"/v1/chat/completions", string(body))
		if trimmed := resp.Header.Get("Toolnorm-Trimmed"); resp.StatusCode != http.StatusOK || !strings.Contains(trimmed, "oldest messages") {
			t.Errorf("%s: %d, Toolnorm-Trimmed %q, %.300s", server.name, resp.StatusCode, trimmed, reply)
		}
		if p := seen.last(); !strings.Contains(p, "The last question") || !strings.Contains(p, "get_weather") || strings.Contains(p, "question 0") {
			t.Errorf("%s: the prompt is %s", server.name, p)
		}
		resp, reply = send(t, l.toolnorm(t, append(flags, "--overflow", "refuse")...)+"/v1/chat/completions", string(body))
		if resp.StatusCode != http.StatusBadRequest || !strings.Contains(reply, `"code":"context_length_exceeded"`) || !strings.Contains(reply, fmt.Sprint(narrow, " tokens")) {
			t.Errorf("%s: refused: %d %s", server.name, resp.StatusCode, reply)
		}
	}
}

// longTalk is about 4,000 bytes of questions and answers, and a last question that ends in a
// selector.
func longTalk(selector string) (talk []message) {
	for i := range 8 {
		question := fmt.Sprintf("question %d ", i) + strings.Repeat("lorem ipsum ", 40)
		talk = append(talk, message{Role: "user", Content: question}, message{Role: "assistant", Content: fmt.Sprintf("answer %d", i)})
	}
	return append(talk, message{Role: "user", Content: "The last question, long enough for the selector: " + selector + " please"})
}
