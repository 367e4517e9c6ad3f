package engine

import (
	"context"

	"toolnorm/adapters"
	"toolnorm/chat"
	"toolnorm/engine/wait"
	"toolnorm/internal/pattern"
)

// Plan is how a model is read, as far as its name and the settings say.
type Plan struct {
	Server   string // "ollama", "demo", or the name of an Upstream
	Model    string // as its server calls it
	Format   string // the family in whose form it is taken to write
	Strategy string // by the settings; empty: found out by probing
	Wording  string // of strategy prompt, by the settings; empty: the family's, else found out by probing
}

// Plan says how a model, or the one that an alias stands for, is read. Nobody is asked.
func (e *Engine) Plan(model string) Plan {
	s, name := e.place(model)
	t := &turn{engine: e, server: s, name: e.real(model), model: name}
	p := Plan{Server: s.name, Model: name, Format: e.format(t).Name}
	p.Strategy, _ = pattern.Find(e.cfg.Strategy, t.name)
	p.Wording, _ = pattern.Find(e.cfg.Wording, t.name)
	return p
}

// Findings are what was found out about a model, and how requests to it that offer tools are answered.
type Findings struct {
	Strategy   string           // that comes first
	Strategies []string         // all that may work, in the order in which they are tried
	Wording    adapters.Wording // if Strategy is Prompt: how the tools are described; zero: in schemas, after no wording was understood
	Tools      bool             // its template can print tools
	Structs    bool             // and prints them as Go prints a struct, not as JSON; raw mends that
	Render     bool             // its server gives the rendered prompt
	Control    []string         // marks of its family that are control tokens
	Hidden     bool             // its server leaves those out of raw text
	Thinking   bool             // its thinking can be switched
	Always     bool             // it thinks whether it is told to or not
	Blind      bool             // it is known to see no images
}

// Examine finds out about a model what its first request with tools would find out. The server loads it, and one without a
// template for tools may be asked for a few short calls.
func (e *Engine) Examine(ctx context.Context, model string) (Findings, error) {
	ctx, pulse := wait.NewPulse(ctx, nil, e.cfg.Timeouts)
	defer pulse.Stop()
	t, err := e.begin(ctx, pulse, &chat.Request{Model: model, Messages: []chat.Message{{Role: chat.User, Content: probeAsk}}, Tools: probeTools})
	if err != nil {
		return Findings{}, err
	}
	if t.facts, err = t.server.probe(ctx, t); err != nil {
		return Findings{}, err
	}
	t.strategy = t.choose()
	f := Findings{
		Strategy: t.strategy, Strategies: t.strategies(),
		Tools: t.facts.tools, Structs: t.facts.structs, Render: t.facts.render,
		Control: t.facts.hidden, Hidden: t.facts.lacks, Thinking: t.facts.thinking, Always: t.facts.always, Blind: t.facts.blind,
	}
	if f.Strategy == Prompt {
		f.Wording = t.wordingOf(ctx)
	}
	return f, ctx.Err()
}
