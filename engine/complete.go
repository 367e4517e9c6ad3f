package engine

import (
	"context"
	"errors"
	"io"
	"iter"

	"toolnorm/chat"
	ollamaapi "toolnorm/engine/ollama"
	"toolnorm/engine/wait"
	"toolnorm/internal/fault"
)

// completer is a backend that can write a text on. What comes is the model's text as it is: nothing is looked for in it.
type completer interface {
	complete(ctx context.Context, t *turn) (chat.Source, error)
}

var _ completer = (*ollama)(nil)

// complete begins the writing on of a text.
func (e *Engine) complete(ctx context.Context, pulse *wait.Pulse, r *chat.Request) (iter.Seq2[chat.Event, error], error) {
	t, err := e.begin(ctx, pulse, r)
	if err != nil {
		return nil, err
	}
	c, ok := t.server.backend.(completer)
	if !ok {
		return nil, &fault.Error{Kind: fault.Invalid, Param: "model", Message: "models of the server " + t.server.name + " only answer conversations: ask at /v1/chat/completions"}
	}
	src, err := c.complete(ctx, t)
	if err != nil {
		return nil, err
	}
	src = heard(t.observer, Raw, t.unending(src))
	return ended(ctx, closing(src, all(src)), "", Raw), nil
}

// all are the events of a source.
func all(src chat.Source) iter.Seq2[chat.Event, error] {
	return func(yield func(chat.Event, error) bool) {
		for {
			ev, err := src.Next()
			if errors.Is(err, io.EOF) || !yield(ev, err) || err != nil {
				return
			}
		}
	}
}

// complete writes a text on without any template; a gap needs the model's own template for gaps.
func (o *ollama) complete(ctx context.Context, t *turn) (chat.Source, error) {
	c := t.request.Continue
	o.mu.Lock()
	t.facts = o.known[t.model]
	o.mu.Unlock()
	t.size(ctx)
	return o.client.Complete(ctx, t.pulse, &ollamaapi.CompleteRequest{
		Model: t.model, Prompt: c.Prompt, Suffix: c.Suffix, Stream: true, Options: t.options, KeepAlive: t.request.Keep,
	})
}
