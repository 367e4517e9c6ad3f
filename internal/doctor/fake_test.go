package doctor

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/ollama/ollama/api"
	"github.com/ollama/ollama/types/model"

	"toolnorm/engine/ollama"
)

// fakeOllama is a server with one model, m, which says what it was told to.
type fakeOllama struct {
	version string // empty: 0.34.3
	caps    []model.Capability
	parser  string
	structs bool              // its template prints tools as Go prints a struct
	loaded  int               // context length; 0: 16384
	knows   map[string]string // by a part of the question: what it says
	says    string            // to everything else
	needs   string            // what the prompt must hold, else it says the same to everything
	thinks  string            // before everything, unless it is told not to
	control []string          // control tokens of its vocabulary, which raw text lacks
	calls   bool              // it has a reader of its own for <tool_call>
	picks   bool              // asked which tool it needs, it knows
}

// ServeHTTP answers as Ollama would.
func (f *fakeOllama) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	switch r.URL.Path {
	case "/api/version":
		fmt.Fprintf(w, `{"version":%q}`, cmp.Or(f.version, "0.34.3"))
	case "/api/tags":
		io.WriteString(w, `{"models":[{"name":"m:latest","model":"m:latest","size":4000000000,"digest":"1","details":{"family":"qwen3","parameter_size":"8B","quantization_level":"Q4_K_M"}}]}`)
	case "/api/ps":
		fmt.Fprintf(w, `{"models":[{"name":"m:latest","size":5000000000,"context_length":%d}]}`, max(f.loaded, 4096))
	case "/api/show":
		f.show(w, body)
	case "/api/chat":
		f.chat(w, body)
	case "/api/generate":
		var q ollama.GenerateRequest
		json.Unmarshal(body, &q)
		text := f.answer(q.Prompt)
		if f.thinks != "" && !strings.HasSuffix(q.Prompt, "/no_think") {
			text = "<think>\n" + f.thinks + "\n</think>\n\n" + text
		}
		if q.Template != "" {
			for text != "" { // a control token, or a character
				_, n := utf8.DecodeRuneInString(text)
				for _, mark := range f.control {
					if strings.HasPrefix(text, mark) {
						n = len(mark)
					}
				}
				token, _ := json.Marshal(text[:n])
				fmt.Fprintf(w, `{"response":"","logprobs":[{"token":%s}]}`+"\n", token)
				text = text[n:]
			}
		}
		for _, mark := range f.control {
			text = strings.ReplaceAll(text, mark, "")
		}
		stream(w, "response", text)
	}
}

func (f *fakeOllama) show(w http.ResponseWriter, body []byte) {
	if !strings.Contains(string(body), `"m"`) && !strings.Contains(string(body), `"m:latest"`) {
		w.WriteHeader(http.StatusNotFound)
		io.WriteString(w, `{"error":"model 'x' not found"}`)
		return
	}
	show := api.ShowResponse{Capabilities: f.caps, ModelInfo: map[string]any{"general.architecture": "qwen3", "qwen3.context_length": 40960}}
	show.Details.Family, show.Details.ParameterSize, show.Details.QuantizationLevel = "qwen3", "8B", "Q4_K_M"
	if f.parser != "" {
		show.Modelfile = "FROM x\nPARSER " + f.parser + "\n"
	}
	if f.control != nil && strings.Contains(string(body), `"verbose":true`) {
		types := make([]int, len(f.control))
		for i := range types {
			types[i] = 3
		}
		show.ModelInfo["tokenizer.ggml.tokens"], show.ModelInfo["tokenizer.ggml.token_type"] = f.control, types
	}
	json.NewEncoder(w).Encode(show)
}

func (f *fakeOllama) chat(w http.ResponseWriter, body []byte) {
	var q struct {
		api.ChatRequest
		RenderOnly bool  `json:"_debug_render_only"`
		Truncate   bool  `json:"truncate"`
		Think      *bool `json:"think"`
	}
	json.Unmarshal(body, &q)
	prompt := f.render(q.Tools, q.Messages, q.Truncate)
	switch {
	case q.RenderOnly:
		if q.Think != nil && !*q.Think {
			prompt += "/no_think"
		}
		json.NewEncoder(w).Encode(api.ChatResponse{Done: true, DebugInfo: &api.DebugInfo{RenderedTemplate: prompt}})
	case len(q.Tools) > 0 && len(f.caps) == 1:
		w.WriteHeader(http.StatusBadRequest)
		io.WriteString(w, `{"error":"m does not support tools"}`)
	default:
		text := f.answer(prompt)
		if call, isCall := strings.CutPrefix(strings.TrimSuffix(text, "</tool_call>"), "<tool_call>"); isCall && f.calls {
			fmt.Fprintf(w, `{"message":{"tool_calls":[{"function":%s}]}}`+"\n", call)
			text = ""
		}
		stream(w, "message", text)
	}
}

// render prints a conversation. One that is longer than the context loses its first messages unless
// that is forbidden.
func (f *fakeOllama) render(tools api.Tools, messages []api.Message, truncate bool) string {
	var b strings.Builder
	for _, t := range tools {
		if f.structs {
			p := t.Function.Parameters
			properties, _ := json.Marshal(p.Properties.ToMap())
			fmt.Fprintf(&b, "{%s %s {%s <nil> <nil> %v %s}}\n", t.Function.Name, t.Function.Description, p.Type, p.Required, properties)
		} else {
			text, _ := json.Marshal(t.Function)
			fmt.Fprintf(&b, "%s\n", text)
		}
	}
	for i, m := range messages {
		rest := 0
		for _, later := range messages[i:] {
			rest += len(later.Content)
		}
		if truncate && rest > max(f.loaded, 4096) && i < len(messages)-1 {
			continue
		}
		fmt.Fprintf(&b, "%s: %s\n", m.Role, m.Content)
	}
	return b.String()
}

// answer is what the model says to the end of a prompt.
func (f *fakeOllama) answer(prompt string) string {
	if !strings.Contains(prompt, f.needs) {
		return f.says
	}
	picking := f.picks && strings.Contains(prompt, "Decide which tool")
	for question, text := range f.knows {
		if strings.Contains(prompt[strings.LastIndex(prompt, "user: ")+1:], question) {
			if name, _, ok := strings.Cut(strings.TrimPrefix(text, `<tool_call>{"name": "`), `"`); ok && picking {
				return `{"tool":"` + name + `"}`
			}
			return text
		}
	}
	if picking {
		return `{"tool":"none"}`
	}
	return f.says
}

// stream writes a text in pieces of four bytes, and the end.
func stream(w http.ResponseWriter, as, text string) {
	for n := len(text); len(text) > 0; text = text[min(4, len(text)):] {
		piece, _ := json.Marshal(text[:min(4, n, len(text))])
		if as == "message" {
			fmt.Fprintf(w, `{"message":{"content":%s}}`+"\n", piece)
		} else {
			fmt.Fprintf(w, `{"response":%s}`+"\n", piece)
		}
	}
	io.WriteString(w, `{"done":true,"done_reason":"stop","prompt_eval_count":200,"prompt_eval_duration":1000000000,"eval_count":20,"eval_duration":1000000000}`+"\n")
}
