package upstream

import (
	"encoding/json"
)

// OpenAIRequest is the body of /v1/chat/completions, and of llama-server's /apply-template. Fields are added to the
// others as they are: how the model should write, and what the client wants of this very server.
type OpenAIRequest struct {
	Model    string
	Messages []OpenAIMessage
	Tools    []OpenAITool
	Fields   map[string]json.RawMessage
}

// body is the request as JSON.
func (r *OpenAIRequest) body(stream bool) ([]byte, error) {
	all := make(map[string]any, len(r.Fields)+5)
	for k, v := range r.Fields {
		all[k] = v
	}
	all["model"], all["messages"], all["stream"] = r.Model, r.Messages, stream
	if len(r.Tools) > 0 {
		all["tools"] = r.Tools
	}
	if stream {
		all["stream_options"] = json.RawMessage(`{"include_usage":true}`)
	}
	return json.Marshal(all)
}

// OpenAIMessage is one turn in OpenAI's form.
type OpenAIMessage struct {
	Role      string       `json:"role"`
	Content   any          `json:"content"` // a string, or a list of OpenAIPart
	Reasoning string       `json:"reasoning_content,omitempty"`
	Calls     []OpenAICall `json:"tool_calls,omitempty"`
	CallID    string       `json:"tool_call_id,omitempty"`
	Name      string       `json:"name,omitempty"`
}

// OpenAIPart is a piece of a message that is not text alone.
type OpenAIPart struct {
	Type  string       `json:"type"` // "text" or "image_url"
	Text  string       `json:"text,omitempty"`
	Image *OpenAIImage `json:"image_url,omitempty"`
}

// OpenAIImage is a picture as a data URL.
type OpenAIImage struct {
	URL string `json:"url"`
}

// OpenAICall is a tool call in OpenAI's form.
type OpenAICall struct {
	ID       string `json:"id"`
	Type     string `json:"type"` // "function"
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"` // an object, as text
	} `json:"function"`
}

// OpenAITool is a tool in OpenAI's form.
type OpenAITool struct {
	Type     string         `json:"type"` // "function"
	Function OpenAIFunction `json:"function"`
}

// OpenAIFunction is what an OpenAITool offers.
type OpenAIFunction struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters"`
	Strict      bool            `json:"strict,omitempty"`
}

// Continuation is the body of llama-server's /completion: a rendered prompt, and in Fields how to go on with it.
type Continuation struct {
	Model     string
	Prompt    string
	Preserved []string // marks to write out even where the model has them as control tokens
	Fields    map[string]json.RawMessage
}

// body is the request as JSON.
func (c *Continuation) body() ([]byte, error) {
	all := make(map[string]any, len(c.Fields)+4)
	for k, v := range c.Fields {
		all[k] = v
	}
	all["model"], all["prompt"], all["stream"], all["preserved_tokens"] = c.Model, c.Prompt, true, c.Preserved
	return json.Marshal(all)
}
