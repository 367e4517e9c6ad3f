package main

import (
	"fmt"
	"io"
	"os"

	"toolnorm/internal/family"
)

// learnFormat proposes a declaration by what a model wrote.
// A model without a template shows how it calls only by what it wrote.
type learnFormat struct {
	folders
	Name string `arg:"" help:"The name of the new family; models whose names begin with it are read by it."`
	File string `arg:"" optional:"" default:"-" help:"Replies, a JSON object a line: raw (what the model wrote) and tools (those it was offered); - reads standard input."`
}

// Run does it. The proposal goes to stdout, what it asks to stderr.
// Questions are what the replies leave open; a person answers them in the file.
func (c *learnFormat) Run(m *Main) error {
	set, err := c.formats()
	if err != nil {
		return err
	}
	in := io.Reader(m.stdin)
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
		fmt.Fprintln(m.stderr, q)
	}
	if err != nil {
		return err
	}
	_, err = io.WriteString(m.stdout, file)
	return err
}
