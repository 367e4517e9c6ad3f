package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"toolnorm/chat"
	ollamaapi "toolnorm/engine/ollama"
	"toolnorm/internal/fault"
)

// wireRequest is r in Ollama's form.
func wireRequest(ctx context.Context, t *turn, r *chat.Request) (*ollamaapi.ChatRequest, error) {
	messages, err := wireMessages(r.Messages)
	if err != nil {
		return nil, err
	}
	body := &ollamaapi.ChatRequest{
		Model: t.model, Messages: messages, Options: t.options, Think: t.think(), KeepAlive: r.Keep,
		Format: r.Format, Logprobs: r.Logprobs, TopLogprobs: r.TopLogprobs,
	}
	for _, tool := range r.Tools {
		if ctx.Err() != nil {
			return nil, unfinished(ctx)
		}
		f := ollamaapi.Function{Name: tool.Name, Description: tool.Description, Parameters: tool.Schema}
		if t.server.name != demoName || len(tool.Schema) == 0 { // the demo reads every schema
			f.Description, f.Parameters = reduced(tool)
		}
		body.Tools = append(body.Tools, ollamaapi.Tool{Type: "function", Function: f})
	}
	return body, nil
}

// wireMessages is the conversation in Ollama's form: arguments as objects, results with the name of their tool.
func wireMessages(ms []chat.Message) ([]ollamaapi.Message, error) {
	out := make([]ollamaapi.Message, len(ms))
	names := map[string]string{} // of the tools, by call id
	for i, m := range ms {
		w := ollamaapi.Message{Role: string(m.Role), Content: m.Content, Thinking: m.Reasoning, Images: m.Images}
		for j, c := range m.Calls {
			args, err := arguments(c)
			if err != nil {
				at := fmt.Sprintf("messages[%d].tool_calls[%d].function.arguments", i, j)
				return nil, &fault.Error{Kind: fault.Invalid, Param: at, Message: at + " must be one JSON object", Cause: err}
			}
			w.Calls = append(w.Calls, ollamaapi.Call{ID: c.ID})
			w.Calls[j].Function.Index, w.Calls[j].Function.Name, w.Calls[j].Function.Arguments = j, c.Name, args
			names[c.ID] = c.Name
		}
		if m.Role == chat.ToolRole {
			w.CallID, w.ToolName = m.CallID, m.Name
			if w.ToolName == "" {
				w.ToolName = names[m.CallID]
			}
		}
		out[i] = w
	}
	return out, nil
}

// arguments are a call's, as an object: some clients write an empty text for none.
func arguments(c chat.Call) (json.RawMessage, error) {
	if len(bytes.TrimSpace(c.Args)) == 0 {
		return json.RawMessage("{}"), nil
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(c.Args, &members); err != nil {
		return nil, err
	}
	if members == nil {
		return nil, fmt.Errorf("%s is no object", c.Args)
	}
	return c.Args, nil
}
