package ollama

import (
	"context"
	"slices"

	"github.com/ollama/ollama/types/model"

	"toolnorm/adapters/derive"
	"toolnorm/chat"
	"toolnorm/engine/upstream"
	"toolnorm/internal/fault"
)

// errNoRender is the error of a server that answers instead of rendering, as one does that does not know the
// field.
var errNoRender = fault.New(fault.Unable, "the server does not show how it renders a prompt")

// Template returns the chat template of the order's model, as the server renders with it. A model that can think
// thinks: many templates print reasoning only then. Source is the Go template, and the file's own jinja behind it:
// which of the two the server renders with, the renderings show. A model that is not probed yet may be asked, so
// nothing of its facts but thinking counts. Render's error is the server's, or errNoRender.
func (b *Backend) Template(ctx context.Context, o *upstream.Order) (derive.Template, error) {
	show, err := b.Show(ctx, o.Model)
	if err != nil {
		return derive.Template{}, err
	}
	source := show.Template
	if jinja, ok := show.ModelInfo["tokenizer.chat_template"].(string); ok {
		source += "\n" + jinja
	}
	q := *o
	q.Facts.Thinking = slices.Contains(show.Capabilities, model.CapabilityThinking)
	options := upstream.WithOption(b.sizedOptions(ctx, o), "num_predict", 1)
	return derive.Template{Source: source, Render: func(messages []chat.Message, tools []chat.Tool) (string, error) {
		thinks := q.Facts.Thinking
		q.Request, q.Tools = &chat.Request{Model: o.Model, Messages: messages, Think: &thinks}, tools
		body, err := chatRequest(&q)
		if err != nil {
			return "", err
		}
		body.Options = options
		prompt, err := b.Render(ctx, o.Pulse, body)
		if err == nil && prompt == "" {
			err = errNoRender
		}
		return prompt, err
	}}, nil
}
