package main

import (
	"fmt"
	"strings"

	"toolnorm/adapters"
	"toolnorm/chat"
	"toolnorm/internal/replay"
)

// decode reads what a model wrote and prints the events that come of it.
type decode struct {
	folders
	Model      string `env:"-" placeholder:"NAME" help:"The model that wrote it; the name selects the format. Default: unknown."`
	Format     string `env:"-" placeholder:"NAME" help:"The format, whatever the model."`
	Tools      string `env:"-" placeholder:"FILE" help:"The tools that were offered: OpenAI's list, or an object with a member tools. Without tools nothing is a call."`
	PromptTail string `env:"-" placeholder:"TEXT" help:"The end of the prompt, which tells whether the reply starts inside reasoning."`
	Finish     string `env:"-" default:"stop" enum:"stop,length" help:"How the reply ended: stop, or length if it was cut."`
	CallBuffer string `env:"-" default:"short" help:"How much of a call to collect before sending it: none, short (calls of up to 512 bytes whole), call (every call whole), or a number of bytes."`
	Calls      string `env:"-" default:"normal" enum:"eager,normal,strict" help:"How much evidence a text needs to be read as a call (docs/calls.md)."`
	JSONL      bool   `env:"-" name:"jsonl" help:"Read one request per line, {id, model, format, tools, prompt_tail, finish, deltas or text, stream}, and answer each with a line {id, calls, content, reasoning, finish, error}. Flags are the defaults of fields that a request leaves out."`
}

// Run does it.
func (c *decode) Run(m *Main) error {
	set, err := c.formats()
	if err != nil {
		return err
	}
	tools, err := readTools(c.Tools)
	if err != nil {
		return err
	}
	hold, err := adapters.ParseHold(c.CallBuffer)
	if err != nil {
		return fmt.Errorf("call-buffer: %w", err)
	}
	which, err := adapters.ParseWhich(c.Calls)
	if err != nil {
		return fmt.Errorf("calls: %w", err)
	}
	f, err := c.format(set, c.Model, c.Format)
	if err != nil {
		return err
	}
	o := adapters.Options{Tools: tools, Prompt: c.PromptTail, Hold: hold, Which: which}
	if c.JSONL {
		return answerLines(m.stdin, m.stdout, maxInput, lineDecoder{c, set, o}.answer, longLine)
	}
	return c.print(m, f, o)
}

// print decodes standard input and writes its events as the cases of families do. What else is known goes to stderr.
// What it prints can be put into a family's file as the expected lines of a case.
func (c *decode) print(m *Main, f *adapters.Format, o adapters.Options) error {
	text, err := readInput(m.stdin)
	if err != nil {
		return err
	}
	r, err := replay.Read(f, replay.Text{Raw: text, Cut: c.Finish == chat.Length, Tools: o.Tools, Prompt: o.Prompt, Which: o.Which, Hold: o.Hold})
	if err != nil {
		return err
	}
	fmt.Fprintln(m.stderr, remark(r, len(o.Tools)))
	for _, why := range r.Why {
		fmt.Fprintln(m.stderr, why)
	}
	_, err = fmt.Fprintln(m.stdout, r.Events)
	return err
}

// remark says how the reply was read.
// Calls without --tools are a frequent surprise, so it is said.
func remark(r *replay.Reading, tools int) string {
	s := "read as " + r.Format
	if len(r.Repairs) > 0 {
		s += "; repaired: " + strings.Join(r.Repairs, ", ")
	}
	if tools == 0 {
		s += "; no tools are offered (--tools), so nothing is a call"
	}
	return s
}

// format is the named format, else that of the model, else the generic one.
// A name wins over the model, so that a text can be read by a family whose model has another name.
func (c *decode) format(set *adapters.Set, model, name string) (*adapters.Format, error) {
	if name == "" {
		return set.For(model), nil
	}
	return formatIn(set, name)
}
