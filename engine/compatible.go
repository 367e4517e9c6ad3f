package engine

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"time"

	"toolnorm/chat"
	"toolnorm/engine/openai"
	"toolnorm/internal/fault"
)

// compatible is a server that speaks OpenAI's API, and what has been found out about its models.
type compatible struct {
	client *openai.Client
	strict bool // refuses fields that it does not know: OpenAI itself

	grammars grammars

	mu    sync.Mutex
	known map[string]seen
}

// seen is what was found out about a model, and until when that counts: nothing says when a server's model changes.
type seen struct {
	facts
	until time.Time
}

var _ backend = (*compatible)(nil)

// newCompatible makes the backend of the server at base.
func newCompatible(base, key string) *compatible {
	return &compatible{
		client: openai.New(base, key, nil),
		strict: strings.HasPrefix(base, "https://api.openai.com"),
		known:  map[string]seen{},
	}
}

// models lists what the server says it has.
func (c *compatible) models(ctx context.Context) ([]chat.Info, error) {
	list, err := c.client.Models(ctx)
	if err != nil {
		return nil, err
	}
	all := make([]chat.Info, len(list))
	for i, m := range list {
		all[i] = chat.Info{ID: m.ID, Created: max(m.Created, 0), Owner: m.Owner}
	}
	return all, nil
}

// open begins the reply. See backend.
func (c *compatible) open(ctx context.Context, t *turn) (src chat.Source, tail string, err error) {
	if t.strategy != Raw && t.strategy != Native && t.strategy != Prompt {
		return nil, "", &fault.Error{Kind: fault.Invalid, Param: "model", Message: "strategy " + t.strategy + " is configured for " + t.name + ", but only Ollama knows it"}
	}
	r, rendered := t.request, t.facts.render && !pictures(t.request)
	if t.strategy == Prompt || t.force != nil && (!rendered || !t.facts.tools) {
		r = t.described()
	}
	body, err := c.wireRequest(ctx, t, r)
	if err != nil {
		return nil, "", err
	}
	if rendered && (t.strategy == Prompt || t.force != nil) || t.strategy == Raw {
		return c.raw(ctx, t, body)
	}
	if t.force != nil {
		body.Fields["response_format"], _ = json.Marshal(responseFormat(t.force.schema))
	}
	src, err = c.client.Chat(ctx, t.pulse, body, openai.Reading{Tools: r.Tools, Hold: t.hold()})
	return src, "", err
}

// raw renders the prompt and has it continued.
func (c *compatible) raw(ctx context.Context, t *turn, body *openai.Request) (chat.Source, string, error) {
	prompt, err := c.client.Template(ctx, t.pulse, body)
	if err != nil {
		return nil, "", err
	}
	src, err := c.held(t, c.grammar(t, body.Fields), func(h *held) (chat.Source, error) {
		return c.client.Continue(ctx, t.pulse, t.continuation(prompt, body.Fields, h))
	})
	if err != nil {
		f := *fault.From(err)
		f.Curable = false // there is no other reading of the reply than ours
		return nil, "", &f
	}
	return src, strings.Clone(prompt[max(len(prompt)-tailLength, 0):]), nil // the prompt itself may go
}
