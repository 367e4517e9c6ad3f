package family

import (
	"fmt"
	"strings"

	"toolnorm/adapters"
	"toolnorm/adapters/derive"
	"toolnorm/chat"
	"toolnorm/internal/golden"
)

// Proposal is a family that is derived from a model's template. Its file is meant to be read and
// changed by an author and is not installed; it may be useful in spite of its problems.
type Proposal struct {
	File     string    // a family's file: the declaration, and the template's own calls as cases
	Known    string    // the known family that prints the same; empty: none does
	Problems []Problem // failures of the declaration
}

// Guess returns a proposal derived from the model's template ([derive.From]), with the template's
// own calls as cases. It fails if the template writes no calls, or writes them in a form that a
// declaration cannot express. A model may write calls in another way than its template, which the
// first line of the file points out.
func Guess(model string, set *adapters.Set, t derive.Template) (*Proposal, error) {
	found, err := derive.From(model, set, t)
	if err != nil {
		return nil, err
	}
	if found.Format == found.Rest {
		return nil, found.Wrong[0]
	}
	tools, err := golden.Tools()
	if err != nil {
		return nil, err
	}
	p := &Proposal{Known: found.Known}
	for _, err := range found.Wrong {
		p.Problems = append(p.Problems, Problem{"the template's calls", err})
	}
	p.Problems = append(p.Problems, ReadsBack(found.Format)...)
	p.File = heading(model, found) + found.Lines + cases(found.Format, tools, found.Shown)
	return p, nil
}

// heading returns the comments at the beginning of a family file that was guessed from a model's
// template. They name the model, and show how the template writes a tool's result. The result is
// only shown and not declared, because one conversation does not tell which part of the text
// belongs to the result and which to the turn after it.
func heading(model string, found *derive.Finding) string {
	s := fmt.Sprintf(
		"# Proposed from the template of %s; to be compared with what the model really writes.\n",
		model)
	if found.Result != "" {
		s += fmt.Sprintf("# A result, up to the next turn: %s\n",
			strings.ReplaceAll(found.Result, "\n", `\n`))
	}
	return s
}

// cases returns the template's own calls as cases under the names "one call" and "two calls". It
// leaves out a text in which the format reads another number of calls, since the case would fail at
// once.
func cases(f *adapters.Format, tools []chat.Tool, shown []string) (s string) {
	for i, raw := range shown {
		c, calls := asCase(f, tools, []string{"one call", "two calls"}[i], strings.Trim(raw, "\n"))
		if calls == i+1 {
			s += c
		}
	}
	return s
}

// asCase returns a reply as a test case with the events that the format reads in it, and the number
// of its calls. Both results are empty if the reply cannot be decoded, or if a later line of it
// begins with "-- ", which would begin another case.
func asCase(f *adapters.Format, tools []chat.Tool, name, raw string) (text string, calls int) {
	events, err := golden.Transcript(f.Decode(golden.Source([]string{raw}, chat.Stop),
		adapters.Options{Tools: tools}))
	if err != nil || strings.Contains(raw, "\n-- ") {
		return "", 0
	}
	return fmt.Sprintf("-- %s: raw --\n%s\n-- %s: events --\n%s\n", name, raw, name, events),
		strings.Count("\n"+events, "\ncall ")
}
