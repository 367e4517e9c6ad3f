package golden

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"toolnorm/chat"
)

// Case is one test case of a family: what the model wrote, and the events that the decoder must
// give for it. The events must be the same however the text is split into pieces. Names are unique
// in a file. The notation is described in adapters/testdata/README.md.
type Case struct {
	Name   string
	Raw    string
	Want   string // in the notation of Transcript
	Finish string // why the reply ended; chat.Stop unless the case says otherwise
	Prompt string // the end of the prompt
	// how much of a call is held back (none, short or call), if the events depend on it; empty:
	// they do not
	Hold string
}

// Cases returns the decoding cases of a family file, in order. Prints returns the printing cases.
// The error names the section that is wrong.
func Cases(src []byte) ([]Case, error) {
	groups, err := groupCases(src)
	if err != nil {
		return nil, err
	}
	var out []Case
	for _, g := range groups {
		if g.prints() {
			continue
		}
		c := Case{Name: g.name, Finish: chat.Stop}
		if err := g.take(c.take, "raw", "events"); err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, nil
}

// group holds the sections of one test case, such as its raw text and its events. In the file,
// sections of other cases may be between them.
type group struct {
	name  string
	parts []Section // named by the part after the case's name
}

// groupCases returns the sections of a family file, grouped by case. A case's name may contain ":
// ", so a section's name is split at the last one. It is an error if a section occurs twice, since
// the second would hide the first, or if its name has no ": ".
func groupCases(src []byte) ([]group, error) {
	sections, err := Sections(src)
	if err != nil {
		return nil, err
	}
	var out []group
	for _, s := range sections {
		i := strings.LastIndex(s.Name, ": ")
		if i < 0 {
			return nil, fmt.Errorf("section %q must be named CASE: raw, CASE: events or CASE: with",
				s.Name)
		}
		at := slices.IndexFunc(out, func(g group) bool { return g.name == s.Name[:i] })
		if at < 0 {
			at = len(out)
			out = append(out, group{name: s.Name[:i]})
		}
		part := Section{s.Name[i+2:], s.Text}
		if out[at].has(part.Name) {
			return nil, fmt.Errorf("section %q is there twice", s.Name)
		}
		out[at].parts = append(out[at].parts, part)
	}
	return out, nil
}

// has reports whether the case has a section with this part's name.
func (g *group) has(part string) bool {
	return slices.ContainsFunc(g.parts, func(s Section) bool { return s.Name == part })
}

// take calls the function part for each section. It returns an error if the function fails or a
// needed section is missing. The error names the section as it is written in the file.
func (g *group) take(part func(name, text string) error, needed ...string) error {
	for _, s := range g.parts {
		if err := part(s.Name, s.Text); err != nil {
			return fmt.Errorf("section %q: %w", g.name+": "+s.Name, err)
		}
	}
	for _, name := range needed {
		if !g.has(name) {
			return fmt.Errorf("section %q is missing", g.name+": "+name)
		}
	}
	return nil
}

// take sets one part of a case from its section. An unknown part is an error, because with "event"
// instead of "events" a case would check nothing.
func (c *Case) take(part, text string) error {
	switch part {
	case "raw":
		c.Raw = text
	case "events":
		c.Want = strings.TrimRight(text, "\n")
	case "with":
		for line := range strings.SplitSeq(text, "\n") {
			if err := c.with(line); err != nil {
				return err
			}
		}
	default:
		return fmt.Errorf("no part %q", part)
	}
	return nil
}

// with reads one line of a section "with", and fails if the line is not a valid option. A prompt is
// a Go literal, because it often ends in a newline that an editor would remove. A line that begins
// with # is a comment.
func (c *Case) with(line string) (err error) {
	word, value, _ := strings.Cut(line, " ")
	switch word {
	case "finish":
		c.Finish = value
		return oneOf(word, value, chat.Stop, chat.Length)
	case "prompt":
		if c.Prompt, err = strconv.Unquote(value); err != nil {
			return fmt.Errorf("prompt: %s is not a Go string literal", value)
		}
	case "hold":
		c.Hold = value
		return oneOf(word, value, "none", "short", "call")
	case "#", "":
	default:
		return fmt.Errorf("no option %q", word)
	}
	return nil
}

// oneOf returns nil if value is one of the allowed ones, and otherwise an error that lists them.
func oneOf(word, value string, allowed ...string) error {
	if slices.Contains(allowed, value) {
		return nil
	}
	return fmt.Errorf("%s must be %s, not %q", word, strings.Join(allowed, " or "), value)
}
