package doctor

import (
	"context"
	"slices"

	"toolnorm/engine/openai"
)

// compatible is the kind of servers that implement OpenAI's API.
type compatible struct{}

// title returns "OpenAI-compatible", the name of this kind of server for people.
func (compatible) title() string { return "OpenAI-compatible" }

// pull returns advice on how to get a model. The advice is the same for every model.
func (compatible) pull(string) string { return "start it with one" }

// describe implements kind: it records what the server reports about itself, and fails if the
// server does not list its models. Only llama-server reports more than its models, at /props. Other
// servers lack that path, which is no failure.
func (compatible) describe(ctx context.Context, _ *Doctor, h host, s *Server) error {
	client := openai.New(h.url, h.key, nil)
	if _, err := client.Models(ctx); err != nil {
		return err
	}
	if p, err := client.Properties(ctx); err == nil && p.Template != "" {
		s.Version, s.Slots = p.Build, p.Slots
	}
	return nil
}

// list records in s the models that the server lists. Most servers report only a model's name, and
// some its context length. It fails if the server does not answer.
func (compatible) list(ctx context.Context, d *Doctor, h host, s *Server) error {
	list, err := openai.New(h.url, h.key, nil).Models(ctx)
	for _, m := range list {
		plan := d.engine.Plan(d.called(h, m.ID))
		s.Models = append(s.Models, Listed{Name: d.called(h, m.ID), Trained: m.Context,
			Format: plan.Format, Strategy: expectedStrategy(plan, nil)})
	}
	return err
}

// model records what the server reports about the model that is examined. It returns false if the
// server has no such model or does not answer. A llama-server accepts any name.
func (compatible) model(ctx context.Context, x *examination) bool {
	client := openai.New(x.on.url, x.on.key, nil)
	list, err := client.Models(ctx)
	if err != nil {
		return x.failed(ctx, "model", err)
	}
	i := slices.IndexFunc(list, func(m openai.Model) bool { return m.ID == x.m.Model })
	p, err := client.Properties(ctx)
	llama := err == nil && p.Template != ""
	switch {
	case llama:
		x.m.Context.Loaded = p.Generation.Context
	case i < 0:
		x.m.Findings = append(x.m.Findings, x.unknown(ctx, x.on, x.m.Model))
		return false
	}
	if i < 0 {
		x.finding(Note, "model",
			"its server does not list it, and answers with the one that it has", "")
	} else if x.m.Context.Loaded == 0 {
		x.m.Context.Loaded = list[i].Context
	}
	return true
}
