package form

import (
	"strings"

	"toolnorm/chat"
)

// Ending remembers how the visible text ends so far, and so how many newlines must come before a
// new paragraph. A call that is written as text is a paragraph of its own, and so is a block with a
// command.
type Ending struct {
	Said bool   // whether there is visible text
	last string // its last two bytes, or fewer
}

// Note records that text has been written to the client.
func (e *Ending) Note(text string) {
	e.Said = e.Said || text != ""
	e.last += text[max(0, len(text)-2):]
	e.last = e.last[max(0, len(e.last)-2):]
}

// Gap returns the newlines that must be written to end the current paragraph. It returns "" if the
// paragraph has ended or there is no text.
func (e *Ending) Gap() string {
	switch {
	case !e.Said, e.last == "\n\n":
		return ""
	case strings.HasSuffix(e.last, "\n"):
		return "\n"
	}
	return "\n\n"
}

// Fence knows whether a text is inside a block of code. A block that this program writes must not
// become part of another block. The editor Void shows a button to run a block only when its fence
// is closed, and does not recognise a block inside another.
type Fence struct {
	line string // the first bytes of the current line, where a fence would be
	// whether the text is inside a block
	open bool
}

// Note takes the next part of the text, and finds out whether a block of code is open after it.
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

// End returns the text that closes an open block of code, or "" if none is open.
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

// CallAsText returns a text that shows a call to the user, with the reason why the client's form
// cannot express it. If such a call were dropped silently, an agent would wait for it.
func CallAsText(c chat.Call, why error) string {
	return "The tool " + c.Name +
		" was to be called, but the call cannot be written for this client: " + why.Error() +
		". It was:\n\n```json\n" +
		string(c.Args) + "\n```\n"
}
