// Package golden reads case files, cuts their texts in every way that matters, and writes replies
// in their notation: for the tests of package adapters, and for users who check a family of their
// own. The notation is described in adapters/testdata/README.md.
package golden

import (
	"fmt"
	"strconv"
	"strings"
)

// Section is one named text of a case file.
// The name is without the word "quoted", and the text without the quotes.
type Section struct{ Name, Text string }

// Sections parses a case file: sections that begin with a line "-- NAME --", each with the text up
// to the next such line. Text before the first section is ignored. The last newline before the next
// section line does not belong to the text, unlike in Go's txtar, since replies of models mostly
// end without one. A section "-- NAME quoted --" holds a Go string literal; if it is not valid, the
// error names the section.
func Sections(src []byte) ([]Section, error) {
	var out []Section
	for line := range strings.Lines(string(src)) {
		name, ok := strings.CutPrefix(strings.TrimRight(line, "\n"), "-- ")
		if ok && strings.HasSuffix(name, " --") {
			out = append(out, Section{Name: strings.TrimSuffix(name, " --")})
		} else if len(out) > 0 {
			out[len(out)-1].Text += line
		}
	}
	for i := range out {
		if err := out[i].unquote(); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// unquote removes what the form of the file added to a text. A quoted section is for bytes that
// editors change or do not show: carriage returns, NUL, trailing blanks.
func (s *Section) unquote() (err error) {
	s.Text = strings.TrimSuffix(s.Text, "\n")
	name, quoted := strings.CutSuffix(s.Name, " quoted")
	if !quoted {
		return nil
	}
	s.Name = name
	if s.Text, err = strconv.Unquote(strings.TrimSpace(s.Text)); err != nil {
		return fmt.Errorf("section %q: not a Go string literal", name)
	}
	return nil
}
