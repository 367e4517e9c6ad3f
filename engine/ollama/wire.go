package ollama

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"strconv"

	"toolnorm/chat"
	"toolnorm/engine/upstream"
)

// ChatRequest is the body of /api/chat. Unlike Ollama's own type it keeps schemas and arguments as
// they are spelled. The order of a schema's properties is the order in which models write them, and
// a number such as 1.50 or 12345678901234567890 stays the same. Truncate is false for every reply,
// since a server that truncates drops the oldest messages silently, while an error says how many
// tokens there were. There is no tool_choice and no parallel_tool_calls, because Ollama ignores
// both, so the engine enforces them.
type ChatRequest struct {
	Model string `json:"model"`
	// empty: the server only loads the model
	Messages []Message `json:"messages"`
	// none: no calls are looked for, unless the model has a PARSER
	Tools []upstream.Tool `json:"tools,omitempty"`
	// always sent: the server's default is true
	Stream bool `json:"stream"`
	// true, false or a level
	Think json.RawMessage `json:"think,omitempty"`
	// a schema, or "json"
	Format json.RawMessage `json:"format,omitempty"`
	// each token with its bytes, including withheld ones; for tap
	Logprobs bool `json:"logprobs,omitempty"`
	// 0 to 20; from 5 on a record has 6 to 18 times the bytes
	TopLogprobs int `json:"top_logprobs,omitempty"`
	// how long the model stays loaded; 0 unloads it
	KeepAlive json.RawMessage `json:"keep_alive,omitempty"`
	// false: a prompt that is too long is refused with its count
	Truncate bool `json:"truncate"`
	// num_ctx, num_predict, temperature, …
	Options map[string]json.RawMessage `json:"options,omitempty"`
	// undocumented: the prompt instead of a reply
	RenderOnly bool `json:"_debug_render_only,omitempty"`
}

// Message is one turn in Ollama's form. Content is a string, never null or a list of parts, because
// /api/chat accepts nothing else.
type Message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
	// templates print the thinking of earlier turns, or leave it out
	Thinking string `json:"thinking,omitempty"`
	// in base64 on the wire; the type is found from the bytes
	Images [][]byte `json:"images,omitempty"`
	Calls  []Call   `json:"tool_calls,omitempty"`
	// only for a result; most templates print this and no id
	ToolName string `json:"tool_name,omitempty"`
	// only for a result; printed by the few templates that have ids
	CallID string `json:"tool_call_id,omitempty"`
}

// Call is a tool call in Ollama's form. Its arguments are a JSON object, such as {"city": "Rome"}.
// OpenAI's form, a string that contains the object, is refused by Ollama with status 400.
type Call struct {
	ID       string `json:"id,omitempty"`
	Function struct {
		Index     int             `json:"index"`
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"` // an object
	} `json:"function"`
}

// GenerateRequest is the body of /api/generate for a prompt that is already rendered, or a text
// that should be continued.
type GenerateRequest struct {
	Model string `json:"model"`
	// with Raw, the text that the model reads
	Prompt string `json:"prompt"`
	// the text after a gap; needs a model whose template knows gaps
	Suffix string `json:"suffix,omitempty"`
	// replaces the model's own; see identity
	Template string `json:"template,omitempty"`
	// no template and no parser, in all versions
	Raw    bool `json:"raw"`
	Stream bool `json:"stream"`
	// false keeps raw text whole; with a template, models that cannot think refuse the option
	Think    *bool `json:"think,omitempty"`
	Truncate bool  `json:"truncate"`
	// the text token by token, as in ChatRequest
	Logprobs    bool                       `json:"logprobs,omitempty"`
	TopLogprobs int                        `json:"top_logprobs,omitempty"`
	Format      json.RawMessage            `json:"format,omitempty"` // a schema
	Options     map[string]json.RawMessage `json:"options,omitempty"`
	KeepAlive   json.RawMessage            `json:"keep_alive,omitempty"`

	// Further members of a client's own request (chat.Continuation).
	System  json.RawMessage `json:"system,omitempty"`
	Context json.RawMessage `json:"context,omitempty"`
	Images  json.RawMessage `json:"images,omitempty"`
}

var _, _ upstream.Body = (*ChatRequest)(nil), (*GenerateRequest)(nil)

// JSON implements upstream.Body: it returns the request as JSON, with the prompt first. It returns
// an error if a member cannot be encoded.
func (r *GenerateRequest) JSON() (json.RawMessage, error) {
	b := append(room(len(r.Prompt)+len(r.Format)), `{"prompt":`...)
	return withMembers(chat.AppendShortQuoted(b, r.Prompt), struct {
		*GenerateRequest
		Prompt string `json:"prompt,omitempty"` // hides that of the request, so that it is left out
	}{GenerateRequest: r})
}

// JSON implements upstream.Body: it returns the request as JSON, with messages and tools first. It
// returns an error if the arguments of a call are not JSON.
func (r *ChatRequest) JSON() (_ json.RawMessage, err error) {
	size := len(r.Format)
	for _, m := range r.Messages {
		size += len(m.Content) + len(m.Thinking) + 64
		for _, image := range m.Images {
			size += base64.StdEncoding.EncodedLen(len(image))
		}
		for _, c := range m.Calls {
			size += len(c.Function.Arguments) + 96
		}
	}
	for _, t := range r.Tools {
		size += len(t.Function.Description) + len(t.Function.Parameters) + 128
	}
	b := append(room(size), `{"messages":[`...)
	for i := range r.Messages {
		if i > 0 {
			b = append(b, ',')
		}
		if b, err = r.Messages[i].appendJSON(b); err != nil {
			return nil, err
		}
	}
	b = append(b, ']')
	if len(r.Tools) > 0 {
		b = append(b, `,"tools":`...)
		for i := range r.Tools {
			b = appendTool(append(b, separator(i)), &r.Tools[i])
		}
		b = append(b, ']')
	}
	return withMembers(b, struct {
		*ChatRequest
		// these two hide those of the request, so that they are left out
		Messages []Message       `json:"messages,omitempty"`
		Tools    []upstream.Tool `json:"tools,omitempty"`
	}{ChatRequest: r})
}

// appendTool appends a tool as JSON. The schema was parsed before, so it is not checked again.
func appendTool(b []byte, t *upstream.Tool) []byte {
	b = chat.AppendShortQuoted(append(b, `{"type":`...), t.Type)
	b = chat.AppendShortQuoted(append(b, `,"function":{"name":`...), t.Function.Name)
	if t.Function.Description != "" {
		b = chat.AppendShortQuoted(append(b, `,"description":`...), t.Function.Description)
	}
	b = append(b, `,"parameters":`...)
	if len(t.Function.Parameters) == 0 {
		b = append(b, "null"...)
	}
	return append(append(b, t.Function.Parameters...), "}}"...)
}

// withMembers appends the members of v to those of the JSON object whose beginning is b, and
// returns the complete object. The opening brace of v becomes the comma between them, so v must
// have members. It returns an error if v cannot be encoded.
func withMembers(b []byte, v any) (json.RawMessage, error) {
	object, comma := bytes.NewBuffer(b), len(b)
	enc := json.NewEncoder(object)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	all := bytes.TrimSuffix(object.Bytes(), []byte("\n"))
	all[comma] = ','
	return all, nil
}

// appendJSON appends the message as JSON, because encoding/json would copy pictures and arguments,
// which may be megabytes, three times. It returns an error if the arguments of a call are not JSON.
func (m *Message) appendJSON(b []byte) (_ []byte, err error) {
	b = chat.AppendShortQuoted(append(b, `{"role":`...), m.Role)
	b = chat.AppendShortQuoted(append(b, `,"content":`...), m.Content)
	for _, member := range [...]struct{ name, text string }{
		{`,"thinking":`, m.Thinking}, {`,"tool_name":`, m.ToolName}, {`,"tool_call_id":`, m.CallID},
	} {
		if member.text != "" {
			b = chat.AppendShortQuoted(append(b, member.name...), member.text)
		}
	}
	if len(m.Images) > 0 {
		b = append(b, `,"images":`...)
		for i, image := range m.Images {
			b = append(base64.StdEncoding.AppendEncode(append(b, separator(i), '"'), image), '"')
		}
		b = append(b, ']')
	}
	if len(m.Calls) > 0 {
		b = append(b, `,"tool_calls":`...)
		for i := range m.Calls {
			if b, err = m.Calls[i].appendJSON(append(b, separator(i))); err != nil {
				return nil, err
			}
		}
		b = append(b, ']')
	}
	return append(b, '}'), nil
}

// appendJSON appends the call as JSON, with compact arguments. It returns an error if these are not
// JSON.
func (c *Call) appendJSON(b []byte) ([]byte, error) {
	b = append(b, '{')
	if c.ID != "" {
		b = append(chat.AppendShortQuoted(append(b, `"id":`...), c.ID), ',')
	}
	b = strconv.AppendInt(append(b, `"function":{"index":`...), int64(c.Function.Index), 10)
	b = chat.AppendShortQuoted(append(b, `,"name":`...), c.Function.Name)
	out := bytes.NewBuffer(append(b, `,"arguments":`...))
	err := json.Compact(out, c.Function.Arguments)
	return append(out.Bytes(), "}}"...), err
}

// separator returns the byte that comes before the element with index i of a JSON array: '[' before
// the first, ',' before the others.
func separator(i int) byte {
	if i == 0 {
		return '['
	}
	return ','
}

// room returns a slice with capacity for a body whose texts have the given number of bytes. Line
// feeds and quotes take two bytes in JSON. An eighth more is enough for most text and code, and
// otherwise there is a second allocation.
func room(bytes int) []byte { return make([]byte, 0, bytes+bytes/8+512) }
