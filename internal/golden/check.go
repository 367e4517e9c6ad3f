package golden

import (
	"fmt"
	"iter"
	"strings"

	"toolnorm/chat"
)

// degrees are the names of the degrees of holding, the default first.
var degrees = []string{"short", "none", "call"}

// Decode reads a reply in the family, with the end of the prompt and in the degree of holding that
// are named. It is a function, so that this package stands below adapters, whose tests need it.
type Decode func(in chat.Source, prompt, hold string) iter.Seq2[chat.Event, error]

// Difference says where a case did not give the events that it has to.
// A nil *Difference means that all is right, so functions here answer that type and not error.
type Difference struct {
	How       string // how the text was cut, and the degree of holding
	Raw       string
	Got, Want string
	Err       error // why the reply ended early; nil in most cases
}

// Error returns all of the difference, a line each.
func (d *Difference) Error() string {
	s := fmt.Sprintf("%s\nraw  %q\ngot  %s\nwant %s", d.How, d.Raw, indent(d.Got), indent(d.Want))
	if d.Err != nil {
		s += "\nerr  " + d.Err.Error()
	}
	return s
}

// indent returns a text whose further lines are aligned with the first, so that got and want can be
// compared by eye.
func indent(s string) string { return strings.ReplaceAll(s, "\n", "\n     ") }

// Degrees returns the degrees of holding in which a case gives the events that stand in it. With
// finish "length" a call that is held is dropped, one that has begun is left open: other events in
// each degree.
func (c *Case) Degrees() []string {
	switch {
	case c.Hold != "":
		return []string{c.Hold}
	case c.Finish == chat.Length || strings.Contains("\n"+c.Want, "\nopen "):
		return degrees[:1] // how much of a call that was cut has left depends on the degree
	}
	return degrees
}

// Whole runs the case with its text in one piece; nil means that it gave its events in every
// degree. It finds what is wrong with the reading itself; Split what is wrong with where it pauses.
// A case that fails whole is wrong in itself; one that fails only in Split is read by chance.
func (c *Case) Whole(decode Decode) *Difference {
	for _, hold := range c.Degrees() {
		if d := c.run(decode, "whole", hold, []string{c.Raw}, c.Want); d != nil {
			return d
		}
	}
	return nil
}

// Split runs the case cut in every way that Cuts knows, byte by byte and at random in every degree,
// in two at each place in one of them; nil means that each gave what the whole text gives. It
// compares with that, not with what the case wants: so it says something of the degrees, too, in
// which a cut call gives other events than the case has.
func (c *Case) Split(decode Decode) *Difference {
	for k, hold := range degrees {
		want, err := Transcript(decode(Source([]string{c.Raw}, c.Finish), c.Prompt, hold))
		if err != nil {
			return &Difference{"whole, hold " + hold, c.Raw, want, "", err}
		}
		for how, pieces := range Cuts(c.Raw, k, len(degrees)) {
			if d := c.run(decode, how, hold, pieces, want); d != nil {
				return d
			}
		}
	}
	return nil
}

// run decodes the text in those pieces and compares; nil means that they agree.
// An error counts even when the events are the same: the reply has ended early.
func (c *Case) run(decode Decode, how, hold string, pieces []string, want string) *Difference {
	got, err := Transcript(decode(Source(pieces, c.Finish), c.Prompt, hold))
	if got == want && err == nil {
		return nil
	}
	return &Difference{how + ", hold " + hold, c.Raw, got, want, err}
}
