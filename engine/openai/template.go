package openai

import (
	"context"

	"toolnorm/adapters/derive"
	"toolnorm/chat"
	"toolnorm/engine/upstream"
)

// Template returns the chat template of the order's model at a llama-server, which renders with it. Thinking is
// on: many templates print reasoning only then. Servers that do not render are an error here: nothing is known of
// their templates.
func (b *Backend) Template(ctx context.Context, o *upstream.Order) (derive.Template, error) {
	props, err := b.Client.Properties(ctx)
	if err != nil {
		return derive.Template{}, err
	}
	q := *o
	q.Facts.Thinking = true
	return derive.Template{Source: props.Template, Render: func(messages []chat.Message, tools []chat.Tool) (string, error) {
		thinks := true
		q.Request, q.Tools = &chat.Request{Model: o.Model, Messages: messages, Think: &thinks}, tools
		body, err := b.request(&q)
		if err != nil {
			return "", err
		}
		return b.Client.Template(ctx, o.Pulse, body)
	}}, nil
}
