package form

import (
	"strings"

	"toolnorm/chat"
)

// Ending knows how the visible text ends so far: how many newlines must come in front of a
// paragraph. A call that is written as text, or a block with a command, begins a paragraph of its
// own.
type Ending struct {
	Said bool   // there is some
	last string // up to two bytes
}

// Note records the next piece of the text.
func (e *Ending) Note(text string) {
	e.Said = e.Said || text != ""
	e.last += text[max(0, len(text)-2):]
	e.last = e.last[max(0, len(e.last)-2):]
}

// Gap returns what ends the paragraph.
func (e *Ending) Gap() string {
	switch {
	case !e.Said, e.last == "\n\n":
		return ""
	case strings.HasSuffix(e.last, "\n"):
		return "\n"
	}
	return "\n\n"
}

// Fence knows whether a text is inside a block of code, which a block of ours must not become part
// of. Void shows a button to run a block only when its fence is closed, and a block inside another
// is no block.
type Fence struct {
	line string // the beginning of the line that is being written; the first bytes tell
	open bool
}

// Note reads the next piece of the text.
func (f *Fence) Note(text string) {
	for piece := range strings.Lines(text) {
		// Enough for a fence behind the three blanks that Markdown allows in front of one.
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

// End returns what closes an open block, and nothing when none is open.
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
func IsCall(k chat.Kind) bool { return k == chat.CallStart || k == chat.CallArgs || k == chat.CallEnd }

// CallAsText shows a call that its client's form cannot hold, with the reason, to whoever reads the
// reply: dropped silently, it would leave an agent waiting.
func CallAsText(c chat.Call, why error) string {
	return "The tool " + c.Name + " was to be called, but the call cannot be written for this client: " + why.Error() + ". It was:\n\n```json\n" +
		string(c.Args) + "\n```\n"
}
