package ollama

import (
	"encoding/json"
	"slices"

	"github.com/ollama/ollama/api"

	"toolnorm/chat"
	"toolnorm/engine/upstream"
)

// harmonyLevels are the levels of gpt-oss, whose thinking cannot be switched off: its template prints "Reasoning:
// low".
var harmonyLevels = []string{"low", "medium", "high"}

// nearest says which level stands for OpenAI's when a model has not that very one, the best first. A level that no
// model has is worse than none: Ollama answers 400.
var nearest = map[string][]string{
	"minimal": {"minimal", "low"},
	"low":     {"low", "minimal"},
	"medium":  {"medium"},
	"high":    {"high", "max"},
	"xhigh":   {"xhigh", "max", "high"},
	"max":     {"max", "xhigh", "high"},
}

// levels are the names of how much the model can think, and whether it can leave it. Newer servers say so; of
// older ones it is known that gpt-oss has levels, and that it has no other way to be told. A list that holds false
// is one that can be switched off.
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

// think is what Ollama is told about thinking: nothing, a switch, or a level. Other models than those that think
// answer 400 to the very word ("does not support thinking"). A reply that must be JSON is written without
// thinking, since the server would hold the thinking to the schema, or forget about the schema; models that always
// think are known to it.
//
// Nothing at all, where the client does not say, leaves the model's own habit: many think unless they are told not
// to.
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
