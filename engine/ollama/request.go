package ollama

import (
	"encoding/json"
	"slices"

	"github.com/ollama/ollama/api"

	"toolnorm/chat"
	"toolnorm/engine/upstream"
)

// chatRequest returns the order's request in Ollama's form. Neither rendering nor streaming is set:
// both are the caller's. Truncate stays false, so that a prompt that is too long is refused with
// its count.
func chatRequest(o *upstream.Order) *ChatRequest {
	r := o.Request
	q := &ChatRequest{
		Model: o.Model, Messages: wireMessages(r.Messages), Options: o.Options, Think: think(r, o.Facts), KeepAlive: r.Keep,
		Format: r.Format, Tools: o.WireTools(),
	}
	// A server that reads calls itself refuses them beside tools (native mode), or shows tokens
	// that are no text.
	if len(q.Tools) == 0 {
		q.Logprobs, q.TopLogprobs = r.Logprobs, r.TopLogprobs
	}
	return q
}

// wireMessages returns the conversation in Ollama's form: arguments as objects, where OpenAI has
// text that holds one, and results with the name of their tool, where OpenAI has the call's id
// alone. Templates print either, so both are sent: most have no place for an id, and a result
// without its tool's name would be printed under an empty one.
func wireMessages(ms []chat.Message) []Message {
	out := make([]Message, len(ms))
	names := map[string]string{} // of the tools, by call id
	for i, m := range ms {
		w := Message{Role: string(m.Role), Content: m.Content, Thinking: m.Reasoning, Images: m.Images}
		for j, c := range m.Calls {
			w.Calls = append(w.Calls, Call{ID: c.ID})
			w.Calls[j].Function.Index, w.Calls[j].Function.Name, w.Calls[j].Function.Arguments = j, c.Name, upstream.Arguments(c)
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
	return out
}

// harmonyLevels are the levels of gpt-oss, whose thinking cannot be switched off: its template
// prints "Reasoning: low".
var harmonyLevels = []string{"low", "medium", "high"}

// nearest says which level stands for OpenAI's when a model has not that very one, the best first.
// A level that no model has is worse than none: Ollama answers 400.
var nearest = map[string][]string{
	"minimal": {"minimal", "low"},
	"low":     {"low", "minimal"},
	"medium":  {"medium"},
	"high":    {"high", "max"},
	"xhigh":   {"xhigh", "max", "high"},
	"max":     {"max", "xhigh", "high"},
}

// levels returns the names of how much the model can think, and reports whether it always thinks.
// Newer servers say so; of older ones it is known that gpt-oss has levels, and that it has no other
// way to be told. Thinking can be switched off where the server's list holds false.
func levels(show *api.ShowResponse, format string) (names []string, always bool) {
	if show.Thinking == nil || len(show.Thinking.Values) == 0 {
		if format == "harmony" {
			return harmonyLevels, true
		}
		return nil, false
	}
	for _, v := range show.Thinking.Values {
		if name, ok := v.(string); ok {
			names = append(names, name)
		}
	}
	return names, len(names) > 0 && !slices.Contains(show.Thinking.Values, any(false))
}

// think returns what Ollama is told about thinking: nothing, a switch, or a level. Models that do
// not think answer 400 to the very word ("does not support thinking"). A reply that must be JSON is
// written without thinking, since the server would hold the thinking to the schema, or forget about
// the schema; models that always think are known to it.
//
// Nothing at all, where the client does not say, leaves the model's own habit: many think unless
// they are told not to.
func think(r *chat.Request, f upstream.Facts) json.RawMessage {
	on := r.Think
	switch {
	case !f.Thinking:
		return nil
	case r.Format != nil && !f.AlwaysThinks:
		return json.RawMessage("false")
	case on == nil:
		return nil
	case !*on && !f.AlwaysThinks:
		return json.RawMessage("false")
	}
	effort := r.Effort
	if !*on {
		// It cannot be switched off, so what comes next to that is asked for.
		effort = "minimal"
	}
	for _, level := range nearest[effort] {
		if slices.Contains(f.EffortLevels, level) {
			return json.RawMessage(`"` + level + `"`)
		}
	}
	return json.RawMessage("true")
}
