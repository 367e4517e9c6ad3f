package upstream

import (
	"context"

	"github.com/ollama/ollama/api"
	"github.com/ollama/ollama/types/model"
)

// Derive makes a model that is another one but for its parser. The weights are shared. It can do what caps name, where a
// parser has taught the other one: tools, thinking.
func (o *Ollama) Derive(ctx context.Context, name, from, parser string, caps []model.Capability) error {
	whole := false
	r := &api.CreateRequest{Model: name, From: from, Parser: parser, Stream: &whole}
	if len(caps) > 0 {
		r.Info = map[string]any{"capabilities": caps}
	}
	_, err := quick(ctx, o, func(ctx context.Context) (struct{}, error) {
		return struct{}{}, o.api.Create(ctx, r, func(api.ProgressResponse) error { return nil })
	})
	return err
}

// Remove removes a model. What it shares with others stays.
func (o *Ollama) Remove(ctx context.Context, name string) error {
	_, err := quick(ctx, o, func(ctx context.Context) (struct{}, error) {
		return struct{}{}, o.api.Delete(ctx, &api.DeleteRequest{Model: name})
	})
	return err
}
