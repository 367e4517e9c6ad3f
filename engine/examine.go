package engine

import (
	"context"

	"toolnorm/adapters"
	"toolnorm/chat"
	"toolnorm/engine/upstream"
	"toolnorm/engine/wait"
	"toolnorm/internal/pattern"
)

// Plan describes how a model is read, as far as its name and the settings say. What a probe would
// find is not in it.
type Plan struct {
	Server   string // "ollama", "demo", or the name of an Upstream
	Model    string // as its server calls it
	Format   string // the family in whose form it is taken to write
	Strategy string // by the settings; empty: found out by probing
	// of strategy prompt, by the settings; empty: the family's, else found out by probing
	Wording string
}

// Plan returns how a model, or the one that an alias names, is read. It asks no server, so it is
// free: lists of models show it.
func (e *Engine) Plan(model string) Plan {
	s, name := e.place(model)
	full := e.Real(model)
	p := Plan{Server: s.name, Model: name, Format: e.format(s, full, name).Name}
	p.Strategy, _ = pattern.Find(e.cfg.Strategy, full)
	p.Wording, _ = pattern.Find(e.cfg.Wording, full)
	return p
}

// Findings are what was found out about a model, and how requests to it that offer tools are
// answered. They are for people: doctor prints them, and the engine does not use them.
type Findings struct {
	// Facts are what the server says. The field Strategies below shadows that of Facts, since
	// settings may have changed the strategies.
	upstream.Facts
	// Format is the family in whose form the model is read, Template what its template says about
	// its calls. An empty Template adds nothing to what the model's name says.
	Format, Template string
	// Strategy is the one that comes first of Strategies, which are all that may work, in the order
	// in which they are tried.
	Strategy   string
	Strategies []string
	// Wording is how the tools are described, if Strategy is Prompt. Zero: in schemas, after no
	// wording was understood.
	Wording adapters.Wording
}

// Examine finds out about a model what its first request with tools would find out, by the same
// steps: what doctor prints must be true of the program that serves. The server loads the model,
// and a model without a template for tools may be asked for a few short calls.
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
