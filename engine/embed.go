package engine

import (
	"context"

	"toolnorm/chat"
	ollamaapi "toolnorm/engine/ollama"
	"toolnorm/engine/wait"
	"toolnorm/internal/fault"
)

// embedder is a backend whose models can embed. Model is the model's name on that server.
type embedder interface {
	embed(ctx context.Context, p *wait.Pulse, model string, r *chat.EmbedRequest) (*chat.Embeddings, error)
}

var (
	_ chat.Embedder = (*Engine)(nil)
	_ embedder      = (*ollama)(nil)
)

// Embed gives the vectors of r's texts. See chat.Embedder.
func (e *Engine) Embed(ctx context.Context, r *chat.EmbedRequest) (*chat.Embeddings, error) {
	name := r.Model
	if name == "" {
		name = e.cfg.DefaultModel
	}
	s, model, err := e.route(ctx, name)
	if err != nil {
		return nil, err
	}
	b, ok := s.backend.(embedder)
	if !ok {
		return nil, &fault.Error{Kind: fault.Invalid, Param: "model", Message: "models of the server " + s.name + " are not asked for embeddings"}
	}
	ctx, pulse := wait.NewPulse(ctx, nil, e.cfg.Timeouts)
	defer pulse.Stop()
	got, err := b.embed(ctx, pulse, model, r)
	if err == nil && len(got.Vectors) != len(r.Input) {
		err = fault.New(fault.Unavailable, "the model server sent %d vectors for %d texts", len(got.Vectors), len(r.Input))
	}
	return got, err
}

// embed asks Ollama.
func (o *ollama) embed(ctx context.Context, p *wait.Pulse, model string, r *chat.EmbedRequest) (*chat.Embeddings, error) {
	reply, err := o.client.Embed(ctx, p, &ollamaapi.EmbedRequest{
		Model: model, Input: r.Input, Dimensions: r.Dimensions, Truncate: r.Truncate, KeepAlive: r.KeepAlive, Options: r.Options,
	})
	if err != nil {
		return nil, err
	}
	return &chat.Embeddings{Vectors: reply.Embeddings, Tokens: reply.PromptEvalCount}, nil
}
