package main

import (
	"context"
	"fmt"
	"strings"

	"toolnorm/internal/toolbox"
	"toolnorm/tools/data"
)

// docs are the commands for the collection of the data tools.
type docs struct {
	Import docsImport `cmd:"" help:"Put the documents of a file, or of a folder's files, into the collection. Running it again changes only what is new or gone."`
}

// docsImport is the command docs import.
// It writes where serve reads, so both take the same settings of data and store.
type docsImport struct {
	Path   string `arg:"" help:"A .txt (a document a line), .md (a paragraph), .csv or .tsv (a row), .json (a list) or .jsonl, or a folder of such."`
	stores `embed:""`

	Databases data.Config `embed:""`
}

// Run imports, and prints a line a file. How far it is goes to standard error.
// What was imported before an error is printed, too: it is in the collection.
func (c *docsImport) Run(m *Main) error {
	return opened(c.Data, toolbox.Config{Store: c.Store, Databases: c.Databases}, func(ctx context.Context, box *toolbox.Box) error {
		all, err := box.Data.Import(ctx, c.Path, m.bar)
		m.clear()
		for _, one := range all {
			fmt.Fprintf(m.stdout, "%s: %d documents, %d embedded, %d removed\n", shown(one.Source), one.Documents, one.Embedded, one.Removed)
		}
		return err
	})
}

// barWidth is how many characters a bar has.
const barWidth = 30

// bar shows how many of a file's documents are done: on a terminal a bar that is written over, else a line at the beginning and
// then one for every tenth, so that a log stays short.
func (m *Main) bar(source string, done, of int) {
	source = shown(source)
	if m.onTerminal() {
		filled := barWidth
		if of > 0 {
			filled = barWidth * done / of
		}
		fmt.Fprintf(m.stderr, "\r\x1b[K[%s%s] %d/%d %s", strings.Repeat("#", filled), strings.Repeat("-", barWidth-filled), done, of, source)
		return
	}
	if tenth := max(1, of/10); done == 0 || done == of || done%tenth < embeddedAtOnce && done/tenth != (done-embeddedAtOnce)/tenth {
		fmt.Fprintf(m.stderr, "%s: %d of %d\n", source, done, of)
	}
}

// embeddedAtOnce is how many documents are done between two signs of progress.
const embeddedAtOnce = 32
