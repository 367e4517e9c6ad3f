package engine

import (
	"fmt"
	"slices"

	"github.com/ollama/ollama/api"
	"github.com/ollama/ollama/types/model"

	"toolnorm/chat"
	"toolnorm/internal/fault"
)

// possible says what of the request its model cannot do.
func (t *turn) possible() error {
	if !t.facts.blind {
		return nil
	}
	for i, m := range t.request.Messages {
		if len(m.Images) > 0 {
			return &fault.Error{Kind: fault.Invalid, Param: fmt.Sprintf("messages[%d].content", i), Message: "the model " + t.name + " cannot see images"}
		}
	}
	return nil
}

// blind reports whether the server says that the model sees no images. Servers before 0.6 say nothing.
func blind(show *api.ShowResponse) bool {
	return len(show.Capabilities) > 0 && !slices.Contains(show.Capabilities, model.CapabilityVision)
}

// bare reports whether only the server's own chat will do: it holds replies to a schema, and tells probabilities token by
// token.
func bare(r *chat.Request) bool { return r.Format != nil || r.Logprobs }
