package golden

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"toolnorm/chat"
)

// Case is one golden case of a family: what the model wrote, and the events that must come of it.
type Case struct {
	Name   string
	Raw    string
	Want   string // as Transcript writes it
	Finish string // how the upstream ended: chat.Stop unless the case says otherwise
	Prompt string // the end of the prompt
	Hold   string // none, short or call when the case is about that degree; empty: every degree gives the same events
}

// Cases reads the cases of a family file, in their order. An error names the section that is wrong.
func Cases(src []byte) ([]Case, error) {
	sections, err := Sections(src)
	if err != nil {
		return nil, err
	}
	var out []Case
	has := map[string]bool{}
	for _, s := range sections {
		i := strings.LastIndex(s.Name, ": ")
		if i < 0 {
			return nil, fmt.Errorf("section %q must be named CASE: raw, CASE: events or CASE: with", s.Name)
		}
		if has[s.Name] {
			return nil, fmt.Errorf("section %q is there twice", s.Name)
		}
		has[s.Name] = true
		name, part := s.Name[:i], s.Name[i+2:]
		at := slices.IndexFunc(out, func(c Case) bool { return c.Name == name })
		if at < 0 {
			at = len(out)
			out = append(out, Case{Name: name, Finish: chat.Stop})
		}
		if err := out[at].take(part, s.Text); err != nil {
			return nil, fmt.Errorf("section %q: %w", s.Name, err)
		}
	}
	for _, c := range out {
		for _, part := range []string{"raw", "events"} {
			if name := c.Name + ": " + part; !has[name] {
				return nil, fmt.Errorf("section %q is missing", name)
			}
		}
	}
	return out, nil
}

// take takes over one section of a case.
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

// with reads one line of a with section.
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

func oneOf(word, value string, allowed ...string) error {
	if slices.Contains(allowed, value) {
		return nil
	}
	return fmt.Errorf("%s must be %s, not %q", word, strings.Join(allowed, " or "), value)
}
