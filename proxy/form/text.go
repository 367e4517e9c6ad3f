package form

import (
	"strings"

	"toolnorm/chat"
)

// Ending records how the visible text ends so far, and so how many newlines must come before a new
// paragraph. A call that is written as text, or a block with a command, begins a paragraph of its
// own.
type Ending struct {
	Said bool   // there is visible text
	last string // up to two bytes
}

// Note records the next piece of the text.
func (e *Ending) Note(text string) {
	e.Said = e.Said || text != ""
	e.last += text[max(0, len(text)-2):]
	e.last = e.last[max(0, len(e.last)-2):]
}

// Gap returns the newlines that end the paragraph.
func (e *Ending) Gap() string {
	switch {
	case !e.Said, e.last == "\n\n":
		return ""
	case strings.HasSuffix(e.last, "\n"):
		return "\n"
	}
	return "\n\n"
}

// Fence records whether a text is inside a block of code. A block of ours must not become part of
// another: Void shows a button to run a block only when its fence is closed, and does not recognise
// a block inside another.
type Fence struct {
	line string // the first bytes of the current line, in which a fence would be
	open bool
}

// Note reads the next piece of the text.
func (f *Fence) Note(text string) {
	for piece := range strings.Lines(text) {
		// Enough for a fence after the three blanks that Markdown allows before it.
		if len(f.line) < 8 {
			f.line += piece[:min(len(piece), 8-len(f.line))]
		}
		if strings.HasSuffix(piece, "\n") {
			if strings.HasPrefix(strings.TrimLeft(f.line, " "), "```") {
				f.open = !f.open
			}
			f.line = ""
		}
	}
}

// End returns the text that closes an open block, empty when no block is open.
func (f *Fence) End() string {
	if !f.open {
		return ""
	}
	mark := "```\n"
	if f.line != "" {
		mark = "\n" + mark
	}
	f.open, f.line = false, ""
	return mark
}

// IsCall reports whether an event is part of a call.
func IsCall(k chat.Kind) bool {
	return k == chat.CallStart || k == chat.CallArgs || k == chat.CallEnd
}

// CallAsText returns a text that shows the user a call that the client's form cannot hold, with the
// reason. If such a call were dropped silently, an agent would wait for it.
func CallAsText(c chat.Call, why error) string {
	return "The tool " + c.Name +
		" was to be called, but the call cannot be written for this client: " + why.Error() +
		". It was:\n\n```json\n" +
		string(c.Args) + "\n```\n"
}
