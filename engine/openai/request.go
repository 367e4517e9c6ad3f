package openai

import (
	"encoding/base64"
	"encoding/json"
	"maps"
	"net/http"
	"strings"

	"toolnorm/chat"
	"toolnorm/engine/upstream"
)

// request returns the order's request in OpenAI's form. The tools are those of the order, in a form
// that the server accepts (Facts.PlainSchemas), not the client's.
func (b *Backend) request(o *upstream.Order) *Request {
	return &Request{Model: o.Model, Messages: b.wireMessages(o.Request.Messages),
		Tools: o.WireTools(), Fields: b.fields(o)}
}

// wireMessages returns the conversation in OpenAI's form. Every message has a content, and every
// call's arguments are an object, because the templates of such servers parse the arguments, and
// fail if the text is not an object. Reasoning is sent back to servers that know the field, but not
// to OpenAI, which refuses it.
func (b *Backend) wireMessages(ms []chat.Message) []Message {
	out := make([]Message, len(ms))
	for i, m := range ms {
		w := Message{Role: string(m.Role), Content: content(m), CallID: m.CallID, Name: m.Name}
		if !b.Strict {
			w.Reasoning = m.Reasoning
		}
		for j, call := range m.Calls {
			w.Calls = append(w.Calls, Call{ID: call.ID, Type: "function"})
			w.Calls[j].Function.Name, w.Calls[j].Function.Arguments = call.Name,
				string(upstream.Arguments(call))
		}
		out[i] = w
	}
	return out
}

// content returns a message's text, or its parts if there are pictures. Text without pictures is
// never sent as parts, because templates of many models print a list as it is.
func content(m chat.Message) any {
	if len(m.Images) == 0 {
		return m.Content
	}
	var parts []json.RawMessage
	if m.Content != "" {
		parts = append(parts, json.RawMessage(`{"type":"text","text":`+
			string(chat.AppendQuoted(nil, m.Content))+`}`))
	}
	for _, image := range m.Images {
		// A picture is kept only as bytes, and its type is found from the first of them. No other
		// URL is sent: the server would fetch it from any address that the client names.
		url := "data:" + http.DetectContentType(image) + ";base64," +
			base64.StdEncoding.EncodeToString(image)
		parts = append(parts, json.RawMessage(`{"type":"image_url","image_url":{"url":"`+url+`"}}`))
	}
	return parts
}

// fields returns the request's other fields: the sampling options, and the fields that this program
// does not know, since the server may. Known fields take precedence. Options under Ollama's names
// override both, as the client's most explicit choice.
//
// tool_choice is sent only to a server that is known to obey it. For others the engine forces the
// call, because a server that ignores it would answer in text.
func (b *Backend) fields(o *upstream.Order) map[string]json.RawMessage {
	r, all := o.Request, maps.Clone(o.Request.Extra)
	said := upstream.Sampling(r)
	if r.MaxTokens > 0 {
		said[b.limit()] = r.MaxTokens
	}
	if len(r.Stop) > 0 {
		said["stop"] = r.Stop
	}
	// The switch is sent only to servers that are known to read it; OpenAI refuses unknown fields.
	// What the client itself says to the template stays.
	if r.Think != nil && o.Facts.Thinking && all["chat_template_kwargs"] == nil {
		said["chat_template_kwargs"] = map[string]bool{"enable_thinking": *r.Think}
	}
	if r.Effort != "" {
		said["reasoning_effort"] = r.Effort
	}
	if r.Format != nil {
		said["response_format"] = responseFormat(r.Format)
	}
	// together with tools a server refuses them, or shows tokens that are not text
	if r.Logprobs && len(r.Tools) == 0 {
		said["logprobs"] = true
		if r.TopLogprobs > 0 {
			said["top_logprobs"] = r.TopLogprobs
		}
	}
	if all == nil {
		all = map[string]json.RawMessage{}
	}
	if r.Required && o.Facts.HonorsToolChoice {
		said["tool_choice"] = toolChoice(o.Decoding.Tools)
	}
	// OpenAI refuses the field in a request without tools. If a server ignores it, the engine ends
	// the reply after its first call.
	if r.Single && len(r.Tools) > 0 {
		said["parallel_tool_calls"] = false
	}
	upstream.AddFields(all, said)
	for k, v := range r.Options {
		if k == "num_predict" {
			k = b.limit()
		}
		if !strings.HasPrefix(k, "num_") { // the others are about how Ollama loads a model
			all[k] = v
		}
	}
	return all
}

// toolChoice returns the tool_choice that requires a call of one of the tools: "required", or the
// tool's name if there is only one.
func toolChoice(tools []chat.Tool) any {
	if len(tools) != 1 {
		return "required"
	}
	return json.RawMessage(`{"type":"function","function":{"name":` +
		string(chat.AppendQuoted(nil, tools[0].Name)) + `}}`)
}

// limit returns the name of the field that limits a reply's length. OpenAI's newer models refuse
// the old name, and other servers know only the old one. A server that ignores an unknown field
// would let the model run on to the end of its context.
func (b *Backend) limit() string {
	if b.Strict {
		return "max_completion_tokens"
	}
	return "max_tokens"
}

// responseFormat returns a chat.Request's Format in OpenAI's form. A schema must have a name there,
// which is not used for anything. It is not marked as strict, since OpenAI then accepts only a
// narrow kind of schemas.
func responseFormat(format json.RawMessage) json.RawMessage {
	if string(format) == `"json"` {
		return json.RawMessage(`{"type":"json_object"}`)
	}
	return json.RawMessage(`{"type":"json_schema","json_schema":{"name":"reply","schema":` +
		string(format) + `}}`)
}

// continuing returns the fields of a chat request under the names that llama-server's /completion
// uses: max_tokens becomes n_predict. /completion ignores names that it does not know, so the reply
// would have no limit.
func continuing(chat map[string]json.RawMessage) map[string]json.RawMessage {
	all := maps.Clone(chat)
	if n, ok := all["max_tokens"]; ok {
		all["n_predict"] = n
		delete(all, "max_tokens")
	}
	return all
}

// Request is the body of /v1/chat/completions, and of llama-server's /apply-template. The map
// Fields holds further members, which are sent unchanged: sampling options, and fields that the
// client sends for this particular server (such as vLLM's guided decoding). No list of fields is
// complete, so unknown fields are passed on.
type Request struct {
	Model    string
	Messages []Message
	Tools    []upstream.Tool
	Fields   map[string]json.RawMessage
}

// body returns the members of the JSON body. Members of Request take precedence over Fields. A
// streamed request asks for token counts, since OpenAI sends these only then.
func (r *Request) body(stream bool) map[string]any {
	said := map[string]any{"model": r.Model, "messages": r.Messages, "stream": stream}
	if len(r.Tools) > 0 {
		said["tools"] = r.Tools
	}
	if stream {
		said["stream_options"] = countOptions
	}
	return with(r.Fields, said)
}

// countOptions are the options of a stream that should count its tokens.
var countOptions = json.RawMessage(`{"include_usage":true}`)

// with returns a body with the members of both maps. If both have a member of the same name, the
// one in values is used.
func with(fields map[string]json.RawMessage, values map[string]any) map[string]any {
	all := make(map[string]any, len(fields)+len(values))
	for k, v := range fields {
		all[k] = v
	}
	maps.Copy(all, values)
	return all
}

// Message is one turn in OpenAI's form. Content is always present, and "" if there are only calls,
// because some servers refuse null, or a message without it.
type Message struct {
	Role    string `json:"role"`
	Content any    `json:"content"` // a string, or a list of parts
	// read by vLLM and llama-server; OpenAI refuses it
	Reasoning string `json:"reasoning_content,omitempty"`
	Calls     []Call `json:"tool_calls,omitempty"`
	CallID    string `json:"tool_call_id,omitempty"` // of a result: the id of its call
	Name      string `json:"name,omitempty"`
}

// Call is a tool call in OpenAI's form. Unlike Ollama's, its arguments are text that contains an
// object.
type Call struct {
	ID       string `json:"id"`
	Type     string `json:"type"` // "function"
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"` // an object, as text
	} `json:"function"`
}
