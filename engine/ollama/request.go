package ollama

import (
	"encoding/json"
	"slices"

	"github.com/ollama/ollama/api"

	"toolnorm/chat"
	"toolnorm/engine/upstream"
)

// chatRequest returns the order's request in Ollama's form. The caller sets rendering and
// streaming. Truncate stays false, so that a prompt that is too long is refused with its token
// count.
func chatRequest(o *upstream.Order) *ChatRequest {
	r := o.Request
	q := &ChatRequest{
		Model: o.Model, Messages: wireMessages(r.Messages), Options: o.Options,
		Think: think(r, o.Facts), KeepAlive: r.Keep,
		Format: r.Format, Tools: o.WireTools(),
	}
	// A server that reads calls itself refuses log probabilities together with tools (native mode),
	// or shows tokens that are not text.
	if len(q.Tools) == 0 {
		q.Logprobs, q.TopLogprobs = r.Logprobs, r.TopLogprobs
	}
	return q
}

// wireMessages returns the conversation in Ollama's form. Arguments are objects, not text that
// contains an object as in OpenAI's form. A result has both its call's id and its tool's name. Some
// templates print the id, but most print only the name, and would print an empty one if it were
// missing.
func wireMessages(ms []chat.Message) []Message {
	out := make([]Message, len(ms))
	names := map[string]string{} // of the tools, by call id
	for i, m := range ms {
		w := Message{Role: string(m.Role), Content: m.Content, Thinking: m.Reasoning,
			Images: m.Images}
		for j, c := range m.Calls {
			w.Calls = append(w.Calls, Call{ID: c.ID})
			w.Calls[j].Function.Index, w.Calls[j].Function.Name, w.Calls[j].Function.Arguments = j,
				c.Name, upstream.Arguments(c)
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

// harmonyLevels are the levels of gpt-oss, whose thinking cannot be switched off. Its template
// prints them, as in "Reasoning: low".
var harmonyLevels = []string{"low", "medium", "high"}

// nearest lists, for each level of OpenAI's, the levels that are used instead, best first, if the
// model does not have that level. An unknown level is worse than none, because Ollama answers 400.
var nearest = map[string][]string{
	"minimal": {"minimal", "low"},
	"low":     {"low", "minimal"},
	"medium":  {"medium"},
	"high":    {"high", "max"},
	"xhigh":   {"xhigh", "max", "high"},
	"max":     {"max", "xhigh", "high"},
}

// levels returns the names of the model's levels of thinking, and reports whether it always thinks.
// Newer servers list the levels. With older servers gpt-oss has levels, and thinking of other
// models can only be switched. Thinking can be switched off if the server's list has false.
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

// think returns the value of think for Ollama: nothing (nil), a switch, or a level. Models that do
// not think answer 400 to any value ("does not support thinking"). A reply that must be JSON is
// written without thinking, since the server would apply the schema to the thinking, or ignore it.
// Models that always think keep thinking, because the server handles this case itself.
//
// If the client does not set think, nothing is sent, so the model does what it usually does. Many
// think unless they are told not to.
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
		// Thinking cannot be switched off, so the lowest level is requested.
		effort = "minimal"
	}
	for _, level := range nearest[effort] {
		if slices.Contains(f.EffortLevels, level) {
			return json.RawMessage(`"` + level + `"`)
		}
	}
	return json.RawMessage("true")
}
