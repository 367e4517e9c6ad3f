package engine

import (
	"context"

	"toolnorm/adapters"
	"toolnorm/chat"
	"toolnorm/engine/upstream"
	"toolnorm/engine/wait"
	"toolnorm/internal/pattern"
)

// Plan describes how the engine reads a model's replies, as far as the model's name and the
// settings determine it. It does not include the results of a probe.
type Plan struct {
	Server   string // "ollama", "demo", or the name of an Upstream
	Model    string // the name that its server uses
	Format   string // the family in whose format it is assumed to write
	Strategy string // from the settings; empty: found out by probing
	// the wording of strategy "prompt" from the settings; empty: the family's, or else found out by
	// probing
	Wording string
}

// Plan returns how the engine reads the replies of a model. If the parameter model is an alias, the
// plan is that of the model that the alias stands for. It asks no server, so that lists of models
// can show it at no cost.
func (e *Engine) Plan(model string) Plan {
	s, name := e.place(model)
	full := e.Real(model)
	p := Plan{Server: s.name, Model: name, Format: e.format(s, full, name).Name}
	p.Strategy, _ = pattern.Find(e.cfg.Strategy, full)
	p.Wording, _ = pattern.Find(e.cfg.Wording, full)
	return p
}

// Findings are the facts about a model, and the ways in which requests with tools to this model are
// answered. They are for people: doctor prints them, and the engine does not use them.
type Findings struct {
	// Facts are what the server says about the model. The field Strategies below hides that of
	// Facts, since settings may have changed the strategies.
	upstream.Facts
	// Format is the family in whose format the model's text is read. Template is what the model's
	// template says about its calls, or empty if it adds nothing to the model's name.
	Format, Template string
	// Strategy is the first of Strategies. Strategies are all that may work, in the order in which
	// they are tried.
	Strategy   string
	Strategies []string
	// Wording is how the tools are described if Strategy is Prompt. Zero: in schemas, because the
	// model understood no wording.
	Wording adapters.Wording
}

// Examine returns everything that the first request with tools to a model would find out about the
// model. It takes the same steps as such a request, because the report of doctor must be true of
// the program that answers requests. The server loads the model. If the model's template has no
// place for tools, Examine may ask the model for a few short calls. Examine returns an error if
// there is no such model, its server cannot be reached, or ctx ends.
func (e *Engine) Examine(ctx context.Context, model string) (Findings, error) {
	ctx, pulse := wait.NewPulse(ctx, nil, e.cfg.Timeouts)
	defer pulse.Stop()
	j, err := e.begin(ctx, pulse,
		&chat.Request{Model: model, Messages: []chat.Message{{Role: chat.User, Content: probeAsk}},
			Tools: probeTools})
	if err != nil {
		return Findings{}, err
	}
	for _, do := range []step{(*job).probe, (*job).readTemplate, (*job).chooseStrategy} {
		if j, err = do(j, ctx); err != nil {
			return Findings{}, err
		}
	}
	f := Findings{Facts: j.facts, Format: j.format.Name, Strategy: j.strategy,
		Strategies: j.strategies(j.request)}
	if r := j.known().reading; r != nil {
		f.Template = r.says
	}
	if f.Strategy == Prompt {
		f.Wording = j.wordingOf(ctx)
	}
	return f, ctx.Err()
}
