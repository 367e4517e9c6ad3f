package golden

import (
	"fmt"
	"iter"
	"strings"

	"toolnorm/chat"
)

// degrees are the values of hold, which say how much of a call is held back. The first one is the
// default.
var degrees = []string{"short", "none", "call"}

// Decode decodes a reply in the family's format. The argument prompt is the end of the prompt. hold
// says how much of a call is held back before it is sent: none, short or call. Decode is a function
// type, so that this package need not import adapters, whose tests use it.
type Decode func(in chat.Source, prompt, hold string) iter.Seq2[chat.Event, error]

// Difference describes how a case differs from the expected events. Functions of this package
// return a nil *Difference if there is none. Their result type is not error, because a nil
// *Difference in an error would not be nil.
type Difference struct {
	How       string // how the text was split, and the value of hold
	Raw       string
	Got, Want string
	Err       error // why the reply ended early; usually nil
}

// Error implements error: it describes the difference in several lines.
func (d *Difference) Error() string {
	s := fmt.Sprintf("%s\nraw  %q\ngot  %s\nwant %s", d.How, d.Raw, indent(d.Got), indent(d.Want))
	if d.Err != nil {
		s += "\nerr  " + d.Err.Error()
	}
	return s
}

// indent returns a text in which all lines after the first are indented like the first, so that two
// texts can be compared by eye.
func indent(s string) string { return strings.ReplaceAll(s, "\n", "\n     ") }

// Degrees returns the values of hold with which the case must give its events; hold says how much
// of a call is held back before it is sent. A call that is cut off gives different events for each
// value: it is dropped if it was held back, and left open if it was sent in part. So a case with
// such a call is checked only with the default, short. A case that names a value of hold is checked
// only with that.
func (c *Case) Degrees() []string {
	switch {
	case c.Hold != "":
		return []string{c.Hold}
	case c.Finish == chat.Length || strings.Contains("\n"+c.Want, "\nopen "):
		return degrees[:1] // how much of a cut call was sent depends on hold
	}
	return degrees
}

// Whole decodes the case's text in one piece, once for each of its Degrees, the values that say how
// long calls are held back. It returns nil if the events are right each time, and otherwise the
// first difference. A case that fails only in Split is decoded wrongly if its text is split.
func (c *Case) Whole(decode Decode) *Difference {
	for _, hold := range c.Degrees() {
		if d := c.run(decode, "whole", hold, []string{c.Raw}, c.Want); d != nil {
			return d
		}
	}
	return nil
}

// Split decodes the case's text in pieces and returns the first difference from what the whole text
// gives, or nil. It does so with every value of hold, which says how much of a call is held back
// before it is sent. The text is split in the ways of Cuts, except that only one in three of the
// splits into two pieces is tried, each with one value of hold. The events in the case are not
// used, so values of hold are also checked for which a call that was cut off gives other events.
func (c *Case) Split(decode Decode) *Difference {
	for k, hold := range degrees {
		want, err := Transcript(decode(Source([]string{c.Raw}, c.Finish), c.Prompt, hold))
		if err != nil {
			return &Difference{"whole, hold " + hold, c.Raw, want, "", err}
		}
		first, step := k+len(c.Raw)%3*len(degrees), 3*len(degrees)
		for how, pieces := range Cuts(c.Raw, first, step) {
			if d := c.run(decode, how, hold, pieces, want); d != nil {
				return d
			}
		}
	}
	return nil
}

// run decodes the text in the given pieces and returns the difference from the parameter want, the
// expected events, or nil if there is none. The difference has how and hold in its text. An error
// is a difference even if the events are the same, because the reply ended early.
func (c *Case) run(decode Decode, how, hold string, pieces []string, want string) *Difference {
	got, err := Transcript(decode(Source(pieces, c.Finish), c.Prompt, hold))
	if got == want && err == nil {
		return nil
	}
	return &Difference{how + ", hold " + hold, c.Raw, got, want, err}
}
