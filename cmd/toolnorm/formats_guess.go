package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/ollama/ollama/types/model"

	"toolnorm/adapters/derive"
	"toolnorm/chat"
	"toolnorm/engine/ollama"
	"toolnorm/engine/wait"
	"toolnorm/internal/family"
)

// guessFormat proposes a declaration for a model that an Ollama server has.
type guessFormat struct {
	folders
	Ollama string `default:"127.0.0.1:11434" env:"TOOLNORM_OLLAMA,OLLAMA_HOST" help:"The Ollama server, in any spelling that OLLAMA_HOST takes."`
	Model  string `arg:"" help:"The model, as the server names it. It is loaded."`
}

// Run does it. The proposal goes to stdout, a family's file; what it does not do is an error.
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
	show, err := client.Show(ctx, c.Model)
	if err != nil {
		return err
	}
	thinks := slices.Contains(show.Capabilities, model.CapabilityThinking)
	render := func(messages []chat.Message, tools []chat.Tool) (string, error) {
		prompt, err := client.Render(ctx, pulse, renderRequest(c.Model, thinks, messages, tools))
		if err == nil && prompt == "" {
			err = errors.New("the server does not show how it renders a prompt")
		}
		return prompt, err
	}
	p, err := family.Guess(c.Model, set, derive.Template{Render: render, Source: show.Template})
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

// renderRequest is a conversation in Ollama's form, to be rendered only.
func renderRequest(name string, thinks bool, messages []chat.Message, tools []chat.Tool) *ollama.ChatRequest {
	r := &ollama.ChatRequest{Model: name}
	if thinks {
		r.Think = json.RawMessage("true")
	}
	for _, t := range tools {
		f := ollama.Function{Name: t.Name, Description: t.Description, Parameters: t.Schema}
		r.Tools = append(r.Tools, ollama.Tool{Type: "function", Function: f})
	}
	for _, m := range messages {
		w := ollama.Message{Role: string(m.Role), Content: m.Content, Thinking: m.Reasoning, ToolName: m.Name, CallID: m.CallID}
		for i, c := range m.Calls {
			call := ollama.Call{ID: c.ID}
			call.Function.Index, call.Function.Name, call.Function.Arguments = i, c.Name, c.Args
			w.Calls = append(w.Calls, call)
		}
		r.Messages = append(r.Messages, w)
	}
	return r
}
