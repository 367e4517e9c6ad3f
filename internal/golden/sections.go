// Package golden reads case files, cuts their texts in every way that matters, and writes replies
// in their notation: for the tests of package adapters, and for users who check a family of their
// own. The notation is described in adapters/testdata/README.md.
package golden

import (
	"fmt"
	"strconv"
	"strings"
)

// Section is one part of a case file: a heading, Name, and the lines below it, Text. If the word
// "quoted" is in the heading, it is not in Name, and Text is unquoted.
type Section struct{ Name, Text string }

// Sections parses a case file into its sections. A section begins with a line "-- NAME --", and its
// text goes up to the next such line. Text before the first section is ignored. Unlike in Go's
// txtar, the last newline before the next section line does not belong to the text, because replies
// of models usually end without one. A section "-- NAME quoted --" contains a Go string literal; if
// it is not valid, the error names the section.
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

// unquote removes the last newline of a section and, if the section is quoted, decodes its Go
// string literal; it fails if the literal is invalid. Quoted sections are for bytes that editors
// change or hide, such as carriage returns, NUL and trailing blanks.
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
