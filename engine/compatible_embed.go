package engine

import (
	"context"

	"toolnorm/chat"
	"toolnorm/engine/upstream"
	"toolnorm/internal/fault"
)

var _ embedder = (*compatible)(nil)

// embed asks at /v1/embeddings. What only Ollama knows, how to cut texts and for how long to keep the model, is left out.
func (c *compatible) embed(ctx context.Context, p *upstream.Pulse, model string, r *chat.EmbedRequest) (*chat.Embeddings, error) {
	reply, err := c.client.Embed(ctx, p, &upstream.OpenAIEmbedRequest{Model: model, Input: r.Input, Dimensions: r.Dimensions, Encoding: "float"})
	if err != nil {
		return nil, err
	}
	got := &chat.Embeddings{Vectors: make([][]float32, len(reply.Data)), Tokens: reply.Usage.Prompt}
	for _, d := range reply.Data {
		if d.Index < 0 || d.Index >= len(got.Vectors) || got.Vectors[d.Index] != nil {
			return nil, fault.New(fault.Unavailable, "the model server's embeddings are numbered wrongly")
		}
		got.Vectors[d.Index] = d.Embedding
	}
	return got, nil
}
