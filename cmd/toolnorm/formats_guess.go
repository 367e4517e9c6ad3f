package main

import (
	"context"
	"fmt"

	"toolnorm/engine/ollama"
	"toolnorm/engine/upstream"
	"toolnorm/engine/wait"
	"toolnorm/internal/family"
)

// guessFormat proposes a declaration for a model that an Ollama server has.
// The template is tried by rendering calls with it, so the model's server has to be there.
type guessFormat struct {
	folders
	Ollama string `default:"127.0.0.1:11434" env:"TOOLNORM_OLLAMA,OLLAMA_HOST" help:"Address of the Ollama server, in any form that OLLAMA_HOST takes."`
	Model  string `arg:"" help:"The model, as the server names it. It will be loaded."`
}

// Run does it. The proposal goes to stdout, a family's file; what it does not do is an error.
// The proposal is printed even with problems: a person can finish it.
func (c *guessFormat) Run(m *Main) error {
	set, err := c.formats()
	if err != nil {
		return err
	}
	base, err := ollama.ParseHost(c.Ollama)
	if err != nil {
		return fmt.Errorf("ollama: %w", err)
	}
	client, err := ollama.New(base, nil)
	if err != nil {
		return fmt.Errorf("ollama: %w", err)
	}
	ctx, pulse := wait.NewPulse(context.Background(), nil, wait.Timeouts{Beat: -1})
	defer pulse.Stop()
	template, err := (&ollama.Backend{Client: client}).Template(ctx, &upstream.Order{Model: c.Model, Pulse: pulse})
	if err != nil {
		return err
	}
	p, err := family.Guess(c.Model, set, template)
	if err != nil {
		return fmt.Errorf("%s: %w", c.Model, err)
	}
	if p.Known != "" {
		fmt.Fprintln(m.stderr, "the template prints calls as the known family", p.Known, "does")
	}
	if _, err := fmt.Fprint(m.stdout, p.File); err != nil {
		return err
	}
	return printProblems(m.stderr, c.Model, p.Problems)
}
