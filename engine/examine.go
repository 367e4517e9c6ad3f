package engine

import (
	"context"

	"toolnorm/adapters"
	"toolnorm/chat"
	"toolnorm/engine/wait"
	"toolnorm/internal/pattern"
)

// Plan is how a model is read, as far as its name and the settings say. What a probe would find is not in it.
type Plan struct {
	Server   string // "ollama", "demo", or the name of an Upstream
	Model    string // as its server calls it
	Format   string // the family in whose form it is taken to write
	Strategy string // by the settings; empty: found out by probing
	Wording  string // of strategy prompt, by the settings; empty: the family's, else found out by probing
}

// Plan says how a model, or the one that an alias stands for, is read. Nobody is asked, so it is free: lists of models show it.
func (e *Engine) Plan(model string) Plan {
	s, name := e.place(model)
	full := e.Real(model)
	p := Plan{Server: s.name, Model: name, Format: e.format(s, full, name).Name}
	p.Strategy, _ = pattern.Find(e.cfg.Strategy, full)
	p.Wording, _ = pattern.Find(e.cfg.Wording, full)
	return p
}

// Findings are what was found out about a model, and how requests to it that offer tools are answered. They are
// for people: doctor prints them, and nothing is decided by them.
type Findings struct {
	// Format is the family in whose form the model is read, Template what its template says about its calls. Empty: nothing
	// else than its name.
	Format, Template string
	// Strategy is the one that comes first of Strategies, which are all that may work, in the order in which they are tried.
	Strategy   string
	Strategies []string
	// Wording is how the tools are described, if Strategy is Prompt. Zero: in schemas, after no wording was understood.
	Wording adapters.Wording

	// Tools says that the template can print tools, Structs that it prints them as Go prints a struct, not as JSON, which raw
	// repairs. Render says that the server gives the rendered prompt.
	Tools, Structs, Render bool
	// Control are the marks of the family that are control tokens, Hidden says that the server leaves those out of raw text.
	Control []string
	Hidden  bool
	// Thinking can be switched, unless the model thinks Always. Blind says that it is known to see no images.
	Thinking, Always, Blind bool
}

// Examine finds out about a model what its first request with tools would find out, by the same steps: what doctor
// says must be true of the program that serves. The server loads the model, and one without a template for tools
// may be asked for a few short calls.
func (e *Engine) Examine(ctx context.Context, model string) (Findings, error) {
	ctx, pulse := wait.NewPulse(ctx, nil, e.cfg.Timeouts)
	defer pulse.Stop()
	j, err := e.begin(ctx, pulse, &chat.Request{Model: model, Messages: []chat.Message{{Role: chat.User, Content: probeAsk}}, Tools: probeTools})
	if err != nil {
		return Findings{}, err
	}
	for _, do := range []step{(*job).probe, (*job).readTemplate, (*job).chooseStrategy} {
		if j, err = do(j, ctx); err != nil {
			return Findings{}, err
		}
	}
	f := Findings{
		Format: j.format.Name, Strategy: j.strategy, Strategies: j.strategies(),
		Tools: j.facts.Tools, Structs: j.facts.PrintsGoStructs, Render: j.facts.Renders,
		Control: j.facts.ControlMarks, Hidden: j.facts.RawLacksMarks, Thinking: j.facts.Thinking, Always: j.facts.AlwaysThinks, Blind: j.facts.NoVision,
	}
	if r := j.known().reading; r != nil {
		f.Template = r.says
	}
	if f.Strategy == Prompt {
		f.Wording = j.wordingOf(ctx)
	}
	return f, ctx.Err()
}
