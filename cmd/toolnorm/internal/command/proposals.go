package command

import (
	"context"
	"fmt"
	"io"
	"os"

	"toolnorm/engine/ollama"
	"toolnorm/engine/upstream"
	"toolnorm/engine/wait"
	"toolnorm/internal/family"
)

// guessFormat is the command formats guess. It proposes the declaration of a format, as formats are
// written in files, for a model of an Ollama server. It renders calls with the model's template, so
// the server must be running.
type guessFormat struct {
	Folders
	ollamaServer `embed:""`
	Model        string `arg:"" help:"The model, as the server names it. It will be loaded."`
}

// Run prints the proposal, a file that declares a format, to stdout. It returns an error if there
// is no proposal. It also returns an error after printing a proposal that does not cover something,
// which a person can finish.
func (c *guessFormat) Run(m *Console) error {
	set, err := c.formats(m)
	if err != nil {
		return err
	}
	base, err := c.base()
	if err != nil {
		return fmt.Errorf("ollama: %w", err)
	}
	client, err := ollama.New(base, nil)
	if err != nil {
		return fmt.Errorf("ollama: %w", err)
	}
	ctx, pulse := wait.NewPulse(context.Background(), nil, wait.Timeouts{Beat: -1})
	defer pulse.Stop()
	template, err := (&ollama.Backend{Client: client}).Template(ctx,
		&upstream.Order{Model: c.Model, Pulse: pulse})
	if err != nil {
		return err
	}
	p, err := family.Guess(c.Model, set, template)
	if err != nil {
		return fmt.Errorf("%s: %w", c.Model, err)
	}
	if p.Known != "" {
		fmt.Fprintln(m.Err, "the template prints calls as the known family", p.Known, "does")
	}
	if _, err := fmt.Fprint(m.Out, p.File); err != nil {
		return err
	}
	return printProblems(m.Err, c.Model, p.Problems)
}

// learnFormat is the command formats learn. It proposes the declaration of a format, as formats are
// written in files, from what a model wrote. That is the only source for a model without a
// template.
type learnFormat struct {
	Folders
	Name string `arg:"" help:"The name of the new family; models whose names begin with it are read by it."`
	File string `arg:"" optional:"" default:"-" help:"Replies, a JSON object a line: raw (what the model wrote) and tools (those it was offered); - reads standard input."`
}

// Run prints the proposal to stdout and questions to stderr. The questions are about what the
// replies leave open; a person answers them in the file. It returns an error if nothing can be
// proposed from the replies.
func (c *learnFormat) Run(m *Console) error {
	set, err := c.formats(m)
	if err != nil {
		return err
	}
	in := io.Reader(m.In)
	if c.File != "-" {
		f, err := os.Open(c.File)
		if err != nil {
			return err
		}
		defer f.Close()
		in = f
	}
	replies, err := family.Replies(in)
	if err != nil {
		return err
	}
	file, questions, err := family.Learn(c.Name, set, replies)
	for _, q := range questions {
		fmt.Fprintln(m.Err, q)
	}
	if err != nil {
		return err
	}
	_, err = io.WriteString(m.Out, file)
	return err
}
