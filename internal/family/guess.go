package family

import (
	"fmt"
	"strings"

	"toolnorm/adapters"
	"toolnorm/adapters/derive"
	"toolnorm/chat"
	"toolnorm/internal/golden"
)

// Proposal is what a model's template says about how the model writes.
// The problems are for the author of the file: it may be a good beginning all the same.
// The file is text to be read and changed by people; nothing of it is installed.
type Proposal struct {
	File     string    // a family file: the declaration, and the template's own calls as cases
	Known    string    // the known family that prints the same; empty when none does
	Problems []Problem // what the declaration does not do
}

// Guess makes a family's file of what the model's template says ([derive.From]), with the
// template's own calls as cases. An error means that the template writes no calls, or not in a form
// that a declaration can say. The cases are the template's calls, not the model's: a model may
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

// heading returns comments that say where a file comes from, and what answers a call, which its
// author may want to put into a result line. The text is in a comment, since how a result is split
// into wrapper and turn cannot be told from one conversation.
func heading(model string, found *derive.Finding) string {
	s := fmt.Sprintf("# Proposed from the template of %s; to be compared with what the model really writes.\n", model)
	if found.Result != "" {
		s += fmt.Sprintf("# A result, up to the next turn: %s\n", strings.ReplaceAll(found.Result, "\n", `\n`))
	}
	return s
}

// cases returns the template's own calls as golden cases, with the events that the format reads. A
// case that the format does not read as that many calls would fail at once, so it is left out; so
// is a text that holds a line of a case file's own form. They are named one call and two calls; a
// template that refuses two has the first alone.
func cases(f *adapters.Format, tools []chat.Tool, shown []string) string {
	var b strings.Builder
	for i, raw := range shown {
		raw = strings.Trim(raw, "\n")
		events, err := golden.Transcript(f.Decode(golden.Source([]string{raw}, chat.Stop), adapters.Options{Tools: tools}))
		if err != nil || strings.Count("\n"+events, "\ncall ") != i+1 || strings.Contains(raw, "\n-- ") {
			continue
		}
		name := []string{"one call", "two calls"}[i]
		fmt.Fprintf(&b, "-- %s: raw --\n%s\n-- %s: events --\n%s\n", name, raw, name, events)
	}
	return b.String()
}
