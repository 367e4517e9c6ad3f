package ollama

import (
	"toolnorm/chat"
	"toolnorm/engine/upstream"
)

// chatRequest is the order's request in Ollama's form. Neither rendering nor streaming is set: both are the
// caller's. Truncate stays false, so that a prompt that is too long is refused with its count. Arguments that are
// no object are fault.Invalid, and Param names the call.
func chatRequest(o *upstream.Order) (*ChatRequest, error) {
	r := o.Request
	messages, err := wireMessages(r.Messages)
	if err != nil {
		return nil, err
	}
	body := &ChatRequest{
		Model: o.Model, Messages: messages, Options: o.Options, Think: think(r, o.Facts), KeepAlive: r.Keep,
		Format: r.Format, Logprobs: r.Logprobs, TopLogprobs: r.TopLogprobs, Tools: o.WireTools(),
	}
	return body, nil
}

// wireMessages is the conversation in Ollama's form: arguments as objects, where OpenAI has text that holds one,
// and results with the name of their tool, where OpenAI has the call's id alone. Templates print either, so both
// are sent: most have no place for an id, and a result without its tool's name would be printed under an empty
// one.
func wireMessages(ms []chat.Message) ([]Message, error) {
	out := make([]Message, len(ms))
	names := map[string]string{} // of the tools, by call id
	for i, m := range ms {
		w := Message{Role: string(m.Role), Content: m.Content, Thinking: m.Reasoning, Images: m.Images}
		for j, c := range m.Calls {
			args, err := upstream.Arguments(c, i, j)
			if err != nil {
				return nil, err
			}
			w.Calls = append(w.Calls, Call{ID: c.ID})
			w.Calls[j].Function.Index, w.Calls[j].Function.Name, w.Calls[j].Function.Arguments = j, c.Name, args
			names[c.ID] = c.Name
		}
		if m.Role == chat.ToolRole {
			w.CallID, w.ToolName = m.CallID, m.Name
			if w.ToolName == "" {
				// OpenAI's results have no name of their own.
				w.ToolName = names[m.CallID]
			}
		}
		out[i] = w
	}
	return out, nil
}
