package family

import (
	"fmt"
	"strings"

	"toolnorm/adapters"
	"toolnorm/adapters/derive"
	"toolnorm/chat"
	"toolnorm/internal/golden"
)

// Proposal is a proposed family for a model, from the model's template. The problems are for the
// author of the file, which may be a good beginning in spite of them. The file is a text for people
// to read and change; it is not installed.
type Proposal struct {
	File     string    // a family file: the declaration, and the template's own calls as cases
	Known    string    // the known family that prints the same; empty if there is none
	Problems []Problem // failures of the declaration
}

// Guess makes a family's file from the model's template ([derive.From]), with the template's own
// calls as cases. It fails if the template writes no calls, or writes them in a form that a
// declaration cannot express. The cases are the template's calls, not the model's: a model may
// write otherwise, and the file says so in its first line.
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

// heading returns comments that say where a file comes from, and how a call is answered, which its
// author may want to put into a result line. That text is in a comment, since one conversation does
// not show how a result is split into wrapper and turn.
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

// cases returns the template's own calls as golden cases, with the events that the format reads. A
// case that the format does not read as that many calls would fail at once, so it is left out; so
// is a text with a line in a case file's own form. The cases are named one call and two calls; a
// template that refuses two calls gives only the first.
func cases(f *adapters.Format, tools []chat.Tool, shown []string) string {
	var b strings.Builder
	for i, raw := range shown {
		raw = strings.Trim(raw, "\n")
		events, err := golden.Transcript(f.Decode(golden.Source([]string{raw}, chat.Stop),
			adapters.Options{Tools: tools}))
		if err != nil || strings.Count("\n"+events, "\ncall ") != i+1 ||
			strings.Contains(raw, "\n-- ") {
			continue
		}
		name := []string{"one call", "two calls"}[i]
		fmt.Fprintf(&b, "-- %s: raw --\n%s\n-- %s: events --\n%s\n", name, raw, name, events)
	}
	return b.String()
}
