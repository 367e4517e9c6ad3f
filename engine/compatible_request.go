package engine

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"strings"

	"toolnorm/chat"
	"toolnorm/engine/openai"
	"toolnorm/internal/fault"
)

// wireRequest is r in OpenAI's form.
func (c *compatible) wireRequest(ctx context.Context, t *turn, r *chat.Request) (*openai.Request, error) {
	messages, err := c.wireMessages(r.Messages)
	if err != nil {
		return nil, err
	}
	body := &openai.Request{Model: t.model, Messages: messages}
	for _, tool := range r.Tools {
		if ctx.Err() != nil {
			return nil, unfinished(ctx)
		}
		f := openai.Function{Name: tool.Name, Description: tool.Description, Parameters: tool.Schema, Strict: tool.Strict}
		if t.facts.render || len(tool.Schema) == 0 { // llama-server makes a grammar of the schema, or refuses the request
			f.Description, f.Parameters = reduced(tool)
			f.Strict = false
		}
		body.Tools = append(body.Tools, openai.Tool{Type: "function", Function: f})
	}
	body.Fields, err = c.fields(t, r)
	return body, err
}

// wireMessages is the conversation in OpenAI's form, every content there and every call's arguments an object.
func (c *compatible) wireMessages(ms []chat.Message) ([]openai.Message, error) {
	out := make([]openai.Message, len(ms))
	for i, m := range ms {
		w := openai.Message{Role: string(m.Role), Content: content(m), CallID: m.CallID, Name: m.Name}
		if !c.strict {
			w.Reasoning = m.Reasoning
		}
		for j, call := range m.Calls {
			args, err := arguments(call)
			if err != nil {
				at := fmt.Sprintf("messages[%d].tool_calls[%d].function.arguments", i, j)
				return nil, &fault.Error{Kind: fault.Invalid, Param: at, Message: at + " must be one JSON object", Cause: err}
			}
			w.Calls = append(w.Calls, openai.Call{ID: call.ID, Type: "function"})
			w.Calls[j].Function.Name, w.Calls[j].Function.Arguments = call.Name, string(args)
		}
		out[i] = w
	}
	return out, nil
}

// content is a message's text, or its parts when there are pictures.
func content(m chat.Message) any {
	if len(m.Images) == 0 {
		return m.Content
	}
	var parts []openai.Part
	if m.Content != "" {
		parts = append(parts, openai.Part{Type: "text", Text: m.Content})
	}
	for _, image := range m.Images {
		url := "data:" + http.DetectContentType(image) + ";base64," + base64.StdEncoding.EncodeToString(image)
		parts = append(parts, openai.Part{Type: "image_url", Image: &openai.Image{URL: url}})
	}
	return parts
}

// fields are the request's other fields: what the client said of how to write, and what of it nobody here understood.
func (c *compatible) fields(t *turn, r *chat.Request) (map[string]json.RawMessage, error) {
	o := sampling(r)
	if r.MaxTokens > 0 {
		o[c.limit()] = r.MaxTokens
	}
	if len(r.Stop) > 0 && !t.ownStops() {
		o["stop"] = r.Stop
	}
	if r.Think != nil && t.facts.thinking {
		o["chat_template_kwargs"] = map[string]bool{"enable_thinking": *r.Think}
	}
	if r.Effort != "" {
		o["reasoning_effort"] = r.Effort
	}
	if r.Format != nil {
		o["response_format"] = responseFormat(r.Format)
	}
	if r.Logprobs {
		o["logprobs"] = true
	}
	if r.TopLogprobs > 0 {
		o["top_logprobs"] = r.TopLogprobs
	}
	all := maps.Clone(r.Extra)
	if all == nil {
		all = map[string]json.RawMessage{}
	}
	if r.Required && t.facts.chooses {
		o["tool_choice"] = toolChoice(t.callable())
	}
	if r.Single && len(r.Tools) > 0 {
		o["parallel_tool_calls"] = false
	}
	for k, v := range o {
		raw, err := json.Marshal(v)
		if err != nil {
			return nil, &fault.Error{Kind: fault.Invalid, Param: k, Message: k + " is no number", Cause: err}
		}
		all[k] = raw
	}
	for k, v := range r.Options {
		if k == "num_predict" {
			k = c.limit()
		}
		if !strings.HasPrefix(k, "num_") { // the others are about how Ollama loads a model
			all[k] = v
		}
	}
	return all, nil
}

// toolChoice wants a call of one of the tools, in OpenAI's words.
func toolChoice(tools []chat.Tool) any {
	type function struct {
		Name string `json:"name"`
	}
	type named struct {
		Type     string   `json:"type"`
		Function function `json:"function"`
	}
	if len(tools) != 1 {
		return "required"
	}
	return named{"function", function{tools[0].Name}}
}

// limit is the field that bounds a reply's length: OpenAI's newer models refuse the old one, others know only that.
func (c *compatible) limit() string {
	if c.strict {
		return "max_completion_tokens"
	}
	return "max_tokens"
}

// responseFormat is a chat.Request's Format in OpenAI's words.
func responseFormat(format json.RawMessage) any {
	type schema struct {
		Name   string          `json:"name"`
		Schema json.RawMessage `json:"schema"`
	}
	type wire struct {
		Type   string  `json:"type"`
		Schema *schema `json:"json_schema,omitempty"`
	}
	if string(format) == `"json"` {
		return wire{Type: "json_object"}
	}
	return wire{"json_schema", &schema{"reply", format}}
}

// continuing are the fields of a chat in the words of llama-server's /completion, which ignores those that it does not
// know.
func continuing(chat map[string]json.RawMessage) map[string]json.RawMessage {
	all := maps.Clone(chat)
	if n, ok := all["max_tokens"]; ok {
		all["n_predict"] = n
		delete(all, "max_tokens")
	}
	return all
}
