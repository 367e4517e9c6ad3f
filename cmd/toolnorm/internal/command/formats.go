package command

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"toolnorm/adapters"
	"toolnorm/internal/family"
	"toolnorm/internal/golden"
)

// Formats are the commands about the formats in which models write tool calls. All but guess work
// without a server, because they show how the program itself would read a model's text.
type Formats struct {
	List  listFormats `cmd:"" help:"List the families: name, the marks of their calls, and known models."`
	Show  showFormat  `cmd:"" help:"Print a family's declaration."`
	Test  testFormat  `cmd:"" help:"Run the test cases of a family's file, whole and split at every byte, and print what differs."`
	Doc   docFormats  `cmd:"" help:"Write the table of families into a Markdown file."`
	Learn learnFormat `cmd:"" help:"Suggest a family file from recorded replies."`
	Guess guessFormat `cmd:"" help:"Suggest a family file from a model's chat template."`
}

// listFormats is the command "toolnorm formats list", which prints the known formats.
type listFormats struct{ Folders }

// Run prints a table of the known families, which are groups of models that write tool calls in the
// same format. It shows their names, tags and models. It returns an error if the table cannot be
// written.
func (c *listFormats) Run(m *Console) error {
	set, err := c.formats(m)
	if err != nil {
		return err
	}
	rows := [][]string{{"NAME", "MARKS", "MODELS"}}
	for _, f := range set.All() {
		rows = append(rows, []string{f.Name, strings.Join(f.Marks(), "  "),
			strings.Join(f.Models, " ")})
	}
	return table(m.Out, m.Width(), rows)
}

// showFormat is the command "toolnorm formats show", which prints how a format is declared.
type showFormat struct {
	Folders
	Name  string `arg:"" help:"The family."`
	Cases bool   `env:"-" help:"Include the test cases: the whole file."`
}

// Run prints the declaration of a format, with its test cases if Cases is set. It returns an error
// if there is no format of the name.
func (c *showFormat) Run(m *Console) error {
	set, err := c.formats(m)
	if err != nil {
		return err
	}
	f, err := formatIn(set, c.Name)
	if err != nil {
		return err
	}
	text := f.Declaration()
	if c.Cases {
		text = f.File()
	}
	_, err = fmt.Fprintln(m.Out, strings.TrimRight(text, "\n"))
	return err
}

// testFormat is the command "toolnorm formats test", which runs the test cases of a format.
type testFormat struct {
	Folders
	File  string `arg:"" help:"The family's file, or the name of a known family."`
	Tools string `env:"-" placeholder:"FILE" help:"The tools that the cases are offered. Default: those of the built-in families."`
}

// Run runs the test cases of a format. Each text is decoded once as a whole and once for every
// place at which it can be split in two, since a model's tokens may end anywhere. It prints the
// differences to stdout. It returns an error if there are any, if there are no cases, or if the
// file cannot be read.
func (c *testFormat) Run(m *Console) error {
	f, err := c.format(m)
	if err != nil {
		return err
	}
	tools, err := ReadTools(c.Tools)
	if c.Tools == "" {
		tools, err = golden.Tools()
	}
	if err != nil {
		return err
	}
	cases, problems, err := family.Check(f, tools)
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w", c.File, err)
	case cases == 0 && len(problems) == 0:
		return fmt.Errorf(
			"%s: the declaration can be read, and reads what it prints; but there are no cases",
			c.File)
	}
	if err := printProblems(m.Out, fmt.Sprintf("%s: %s", c.File, count(cases, "case")),
		problems); err != nil {
		return err
	}
	_, err = fmt.Fprintf(m.Out,
		"%s: %s, each whole and cut everywhere; printed calls are read again\n", f.Name,
		count(cases, "case"))
	return err
}

// printProblems writes the problems, each with the name of its test case or check. If there are
// any, it returns an error with their number. The text of that error begins with the parameter
// what, which names what was examined.
func printProblems(w io.Writer, what string, problems []family.Problem) error {
	for _, p := range problems {
		fmt.Fprintf(w, "%s: %s\n", p.Where, strings.ReplaceAll(p.Err.Error(), "\n", "\n  "))
	}
	if len(problems) == 0 {
		return nil
	}
	return fmt.Errorf("%s, %s", what, count(len(problems), "problem"))
}

// format returns the format in the file c.File or, if there is no such file, the known format of
// that name. The file comes first, so that a file that is being written may have the name of a
// known format. It returns an error if there is neither, or if the file contains no format.
func (c *testFormat) format(m *Console) (*adapters.Format, error) {
	set, err := c.formats(m)
	if err != nil {
		return nil, err
	}
	src, err := os.ReadFile(c.File)
	if errors.Is(err, os.ErrNotExist) && set.Named(c.File) != nil {
		return set.Named(c.File), nil
	}
	if err != nil {
		return nil, err
	}
	f, err := set.Parse(src)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.File, err)
	}
	return f, nil
}

// count returns a number with a noun, in the plural unless the number is 1, for example "2 cases".
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// docFormats is the command formats doc, which writes the table of the program's own formats.
// docs/families.md is written with it, and a test checks that the table there is up to date.
type docFormats struct {
	File string `arg:"" optional:"" help:"The Markdown file whose table is replaced. Default: print the table."`
}

// Run prints the table or writes it into the file. It returns an error if the file cannot be read
// or written, or lacks the two lines between which the table belongs.
func (c *docFormats) Run(m *Console) error {
	table, err := family.Table(adapters.All())
	if err != nil {
		return err
	}
	if c.File == "" {
		_, err = fmt.Fprint(m.Out, table)
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
