package openai

import (
	"encoding/json"
	"maps"

	"toolnorm/engine/upstream"
)

// Request is the body of /v1/chat/completions, and of llama-server's /apply-template. Fields are added to the
// others as they are: how the model should write, and what the client wants of this very server (guided decoding
// of a vLLM, say). Servers have more fields than anybody lists, so those that nobody here knows pass.
type Request struct {
	Model    string
	Messages []Message
	Tools    []upstream.Tool
	Fields   map[string]json.RawMessage
}

// body is the request as JSON. What has a field of its own here wins over Fields. A stream is asked for its token
// counts, since OpenAI sends them only then.
func (r *Request) body(stream bool) map[string]any {
	said := map[string]any{"model": r.Model, "messages": r.Messages, "stream": stream}
	if len(r.Tools) > 0 {
		said["tools"] = r.Tools
	}
	if stream {
		said["stream_options"] = counted
	}
	return with(r.Fields, said)
}

// counted are the options of a stream that counts its tokens.
var counted = json.RawMessage(`{"include_usage":true}`)

// with is a body of fields, and of what is said beside them, which counts first.
func with(fields map[string]json.RawMessage, said map[string]any) map[string]any {
	all := make(map[string]any, len(fields)+len(said))
	for k, v := range fields {
		all[k] = v
	}
	maps.Copy(all, said)
	return all
}

// Message is one turn in OpenAI's form. Content is always there, "" beside calls: some servers refuse null, or a
// message without it.
type Message struct {
	Role      string `json:"role"`
	Content   any    `json:"content"`                     // a string, or a list of Part
	Reasoning string `json:"reasoning_content,omitempty"` // what vLLM and llama-server read; OpenAI refuses it
	Calls     []Call `json:"tool_calls,omitempty"`
	CallID    string `json:"tool_call_id,omitempty"` // of a result: the call that it answers
	Name      string `json:"name,omitempty"`
}

// Part is a piece of a message that is not text alone:
// {"type":"image_url","image_url":{"url":"data:image/png;base64,…"}}
type Part struct {
	Type  string `json:"type"` // "text" or "image_url"
	Text  string `json:"text,omitempty"`
	Image *Image `json:"image_url,omitempty"`
}

// Image is a picture as a data URL. No other URL is sent: the server would fetch it, from wherever the client
// says.
type Image struct {
	URL string `json:"url"`
}

// Call is a tool call in OpenAI's form. Unlike Ollama's its arguments are text that holds an object.
type Call struct {
	ID       string `json:"id"`
	Type     string `json:"type"` // "function"
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"` // an object, as text
	} `json:"function"`
}

// Continuation is the body of llama-server's /completion: a rendered prompt, and in Fields how to go on with it.
// The server parses nothing of the reply, so what comes is what the model wrote.
type Continuation struct {
	Model     string
	Prompt    string
	Preserved []string // marks to write out even where the model has them as control tokens
	Fields    map[string]json.RawMessage
}

// body is the request as JSON. It is always a stream.
func (c *Continuation) body() map[string]any {
	return with(c.Fields, map[string]any{"model": c.Model, "prompt": c.Prompt, "stream": true, "preserved_tokens": c.Preserved})
}
