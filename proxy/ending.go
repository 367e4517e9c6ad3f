package proxy

import "strings"

// ending is how the visible text ends so far: the newlines that must come in front of a paragraph.
type ending struct {
	said bool
	last string // up to two bytes
}

// note takes the next piece of the text.
func (e *ending) note(text string) {
	e.said = e.said || text != ""
	e.last += text[max(0, len(text)-2):]
	e.last = e.last[max(0, len(e.last)-2):]
}

// gap is what ends the paragraph.
func (e *ending) gap() string {
	switch {
	case !e.said, e.last == "\n\n":
		return ""
	case strings.HasSuffix(e.last, "\n"):
		return "\n"
	}
	return "\n\n"
}

// fence knows whether a text is inside a block of code, which a block of ours must not become part of.
type fence struct {
	line string // the beginning of the line that is being written; the first bytes tell
	open bool
}

// note takes the next piece of the text.
func (f *fence) note(text string) {
	for piece := range strings.Lines(text) {
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

// end is what closes an open block.
func (f *fence) end() string {
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
