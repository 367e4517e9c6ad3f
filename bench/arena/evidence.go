package main

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// source is a page of documentation with results that the arena, a comparison of programs that read
// calls, shows as well. Other commands measure these results, because that takes hours, a real
// Ollama or a real model. The arena takes them from the tables of the page.
type source struct {
	File, Title, Command string

	until string // the heading at which reading stops; "": the end
	// how the first cell of another reader's row begins; "": all rows are toolnorm's
	theirs string
	more   []string    // columns of which more is better
	less   []string    // columns of which less is better
	pairs  [][2]string // columns of another reader and of toolnorm, of which more is better
}

// sources lists the pages of evidence.
var sources = []source{
	{File: "templates.md", Title: "Any template",
		Command: "go test ./adapters/derive -run TestInventedTemplates -v"},
	{File: "faces.md", Title: "A real Ollama with scripted models: each API", Command: "make faces",
		pairs: [][2]string{{"Ollama right", "toolnorm right"}}},
	{File: "guarantee.md", Title: "A real Ollama with scripted models: malformed replies",
		Command: "make guarantee", pairs: [][2]string{{"own /v1", "as written"}}},
	{File: "models.md", Title: "Real models: tool choice, arguments, small talk",
		Command: "make e2e-models", until: "## What went wrong",
		theirs: "Ollama", more: []string{"right tool", "right arguments"},
		less: []string{"false calls", "errors"}},
	{File: "by-default.md", Title: "A real model by default: small talk, structured output",
		Command: "make by-default"},
	{File: "tasks.md", Title: "A real model: agent tasks", Command: "make tasks"},
	{File: "sloppy.md", Title: "Agents: sloppy replies",
		Command: "TOOLNORM_SLOPPY=FILE go test -run 'TestSloppy$' ./agent, and agent/testdata/sloppy/peers.py"},
	{File: "structured.md", Title: "Structured output, by servers that hold to a schema or not",
		Command: "make forms"},
}

// evidence is a Markdown page with results of an earlier measurement, and its tables.
type evidence struct {
	source
	Tables []table
	Better []string // a sentence for each place where another reader is better
}

// table is a table with the heading before it.
type table struct {
	Heading string     `json:"heading"`
	Head    []string   `json:"head"`
	Rows    [][]string `json:"rows"`
}

// readEvidence returns the pages of evidence in a folder with their tables. It returns an error if
// a page cannot be read, or has no table, because the arena would lose a row.
func readEvidence(folder string) (all []evidence, err error) {
	for _, s := range sources {
		text, err := os.ReadFile(filepath.Join(folder, s.File))
		if err != nil {
			return nil, err
		}
		e := evidence{source: s, Tables: tables(string(text), s.until)}
		if len(e.Tables) == 0 {
			return nil, fmt.Errorf("%s has no table", s.File)
		}
		for _, t := range e.Tables {
			better, err := s.better(t)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", s.File, err)
			}
			e.Better = append(e.Better, better...)
		}
		all = append(all, e)
	}
	return all, nil
}

// tables returns the tables of a page of Markdown. If the parameter until is not empty, it stops at
// the line that equals it.
func tables(text, until string) (all []table) {
	heading, inside := "", false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if until != "" && line == until {
			break
		}
		if !strings.HasPrefix(line, "|") {
			inside = false
			if h := strings.TrimLeft(line, "#"); h != line {
				heading = strings.TrimSpace(h)
			}
			continue
		}
		cells := strings.Split(strings.Trim(line, "|"), "|")
		for i, c := range cells {
			cells[i] = strings.ReplaceAll(strings.TrimSpace(c), "`", "")
		}
		switch last := len(all) - 1; {
		case !inside:
			all = append(all, table{Heading: heading, Head: cells})
			inside = true
		case strings.Trim(line, "|-: ") != "": // not the line under the head
			all[last].Rows = append(all[last].Rows, cells)
		}
	}
	return all
}

// leading matches the number at the beginning of a cell.
var leading = regexp.MustCompile(`^[0-9]+`)

// number returns the number at the beginning of a cell of a table's row: 28 for "28 of 30". It
// returns an error if the row has no cell with that index, or if the cell does not begin with a
// number.
func number(row []string, column int) (int, error) {
	if column < 0 || column >= len(row) {
		return 0, fmt.Errorf("no such column in %q", row)
	}
	return strconv.Atoi(leading.FindString(row[column]))
}

// better returns a sentence for each case in a table in which another program is better than
// toolnorm. It compares columns of the same row, or the row of the other program with toolnorm's
// rows. It returns an error if a cell has no number.
func (s *source) better(t table) (all []string, err error) {
	for _, row := range t.Rows {
		for _, p := range s.pairs {
			theirs, err1 := number(row, slices.Index(t.Head, p[0]))
			ours, err2 := number(row, slices.Index(t.Head, p[1]))
			if err := cmp.Or(err1, err2); err != nil {
				return nil, err
			}
			if theirs > ours {
				all = append(all, fmt.Sprintf("%s, %s: %s %d, %s %d.", s.Title, row[0], p[0],
					theirs, p[1], ours))
			}
		}
		if s.theirs == "" || !strings.HasPrefix(row[0], s.theirs) {
			continue
		}
		for _, name := range slices.Concat(s.more, s.less) {
			behind, err := s.behind(t, row, name)
			if err != nil {
				return nil, err
			}
			if len(behind) > 0 {
				all = append(all, fmt.Sprintf("%s, %s, %s: %s %s; %s.", s.Title, t.Heading, name,
					row[0],
					row[slices.Index(t.Head, name)], strings.Join(behind, "; ")))
			}
		}
	}
	return all, nil
}

// behind compares theirs, which is the row of another program in the table t, with the rows of
// toolnorm in that table. It returns a text for each row of toolnorm that is worse in the column
// called name. It returns an error if a cell of the column has no number.
func (s *source) behind(t table, theirs []string, name string) (all []string, err error) {
	column := slices.Index(t.Head, name)
	best, err := number(theirs, column)
	if err != nil {
		return nil, err
	}
	for _, row := range t.Rows {
		if strings.HasPrefix(row[0], s.theirs) {
			continue
		}
		ours, err := number(row, column)
		if err != nil {
			return nil, err
		}
		if slices.Contains(s.more, name) && ours < best || slices.Contains(s.less, name) &&
			ours > best {
			all = append(all, row[0]+" "+row[column])
		}
	}
	return all, nil
}
