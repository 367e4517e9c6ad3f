package engine

import (
	"context"

	"toolnorm/chat"
	"toolnorm/engine/openai"
	"toolnorm/engine/wait"
	"toolnorm/internal/fault"
)

var (
	_ completer = (*compatible)(nil)
	_ embedder  = (*compatible)(nil)
)

// complete writes a text on; whether the model fills gaps is for the server to say. A llama-server, which is known by its
// rendering, fills them in a way of its own.
func (c *compatible) complete(ctx context.Context, t *turn) (chat.Source, error) {
	fields, err := c.fields(t, t.request)
	if err != nil {
		return nil, err
	}
	text := t.request.Continue
	if text.Suffix != "" {
		facts, err := c.probe(ctx, t)
		if err != nil {
			return nil, err
		}
		if facts.render {
			return c.client.Infill(ctx, t.pulse, t.model, text.Prompt, text.Suffix, continuing(fields))
		}
	}
	return c.client.Complete(ctx, t.pulse, t.model, text.Prompt, text.Suffix, fields)
}

// embed asks the server for vectors.
func (c *compatible) embed(ctx context.Context, p *wait.Pulse, model string, r *chat.EmbedRequest) (*chat.Embeddings, error) {
	if r.Truncate {
		return nil, &fault.Error{Kind: fault.Invalid, Param: "truncate", Message: "the model's server cuts no texts: leave truncate out"}
	}
	vectors, tokens, err := c.client.Embed(ctx, p, &openai.Embedding{Model: model, Input: r.Input, Dimensions: r.Dimensions, Encoding: "float"})
	if err != nil {
		return nil, err
	}
	return &chat.Embeddings{Vectors: vectors, Tokens: tokens}, nil
}
