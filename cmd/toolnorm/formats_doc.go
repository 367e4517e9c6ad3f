package main

import (
	"fmt"
	"os"

	"toolnorm/adapters"
	"toolnorm/internal/family"
)

// docFormats writes the table of the families that come with the program.
// docs/families.md is made so, and a test holds it to the families.
type docFormats struct {
	File string `arg:"" optional:"" help:"The Markdown file whose table is replaced. Default: print the table."`
}

// Run does it.
func (c *docFormats) Run(m *Main) error {
	table, err := family.Table(adapters.All())
	if err != nil {
		return err
	}
	if c.File == "" {
		_, err = fmt.Fprint(m.stdout, table)
		return err
	}
	doc, err := os.ReadFile(c.File)
	if err != nil {
		return err
	}
	fresh, ok := family.Fill(doc, table)
	if !ok {
		return fmt.Errorf("%s: no place for the table of families", c.File)
	}
	return os.WriteFile(c.File, fresh, 0o644)
}
