package doctor

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// fakeVLLM is a server that speaks OpenAI's API, with one model, m, whose calls it reads when they
// are at the very start.
type fakeVLLM struct {
	knows map[string]string // by a part of the question: what the model says
	says  string            // to everything else
	think string            // before everything; the server tells it apart
}

// ServeHTTP answers as a vLLM would.
func (f *fakeVLLM) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/v1/models":
		io.WriteString(w, `{"object":"list","data":[{"id":"m","object":"model","owned_by":"vllm","max_model_len":16384}]}`)
	case "/v1/chat/completions":
		body, _ := io.ReadAll(r.Body)
		f.chat(w, body)
	default:
		w.WriteHeader(http.StatusNotFound)
		io.WriteString(w, `{"error":{"message":"no such path"}}`)
	}
}

func (f *fakeVLLM) chat(w http.ResponseWriter, body []byte) {
	var q struct {
		Model    string
		Messages []struct{ Content string }
		Tools    []json.RawMessage
		Extra    struct {
			Thinking *bool `json:"enable_thinking"`
		} `json:"chat_template_kwargs"`
	}
	json.Unmarshal(body, &q)
	if q.Model != "m" {
		w.WriteHeader(http.StatusNotFound)
		io.WriteString(w, `{"error":{"message":"no such model"}}`)
		return
	}
	text := f.says
	for question, answer := range f.knows {
		if strings.Contains(q.Messages[len(q.Messages)-1].Content, question) {
			text = answer
		}
	}
	w.Header().Set("Content-Type", "text/event-stream")
	if f.think != "" && (q.Extra.Thinking == nil || *q.Extra.Thinking) {
		delta(w, "reasoning_content", f.think)
	}
	call, isCall := strings.CutPrefix(strings.TrimSuffix(text, "</tool_call>"), "<tool_call>")
	if isCall && len(q.Tools) > 0 {
		var c struct {
			Name      string
			Arguments json.RawMessage
		}
		json.Unmarshal([]byte(call), &c)
		fmt.Fprintf(w, `data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":%q,"arguments":%q}}]}}]}`+"\n\n", c.Name, c.Arguments)
		io.WriteString(w, `data: {"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}`+"\n\n")
	} else {
		for ; len(text) > 0; text = text[min(4, len(text)):] {
			delta(w, "content", text[:min(4, len(text))])
		}
		io.WriteString(w, `data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`+"\n\n")
	}
	io.WriteString(w, `data: {"choices":[],"usage":{"prompt_tokens":200,"completion_tokens":20,"total_tokens":220}}`+"\n\ndata: [DONE]\n\n")
}

// delta writes a fragment of a reply.
func delta(w io.Writer, member, text string) {
	fmt.Fprintf(w, `data: {"choices":[{"index":0,"delta":{%q:%q}}]}`+"\n\n", member, text)
}
