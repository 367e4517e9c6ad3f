package xml

import (
	"slices"
	"strings"
)

// Prose lets a reply's text pass, and breaks what the client would take for the beginning of a
// call: "<read_file>" becomes "< read_file>". Void takes a mark of any of its tools, anywhere in
// the text, for a call; if there are several, it takes the tool that is first in its list.
type Prose struct {
	marks []string // sorted
	tail  string   // held text that may become a mark
}

// Prose returns a Prose for the text of one reply.
func (p *Prompt) Prose() *Prose {
	var marks []string
	for _, t := range p.Tools {
		marks = append(marks, "<"+t.Name+">")
	}
	slices.Sort(marks)
	return &Prose{marks: marks}
}

// Text reads the next piece and returns the part of the held text and the piece that can be shown.
// Text that may become a mark is held back, up to a name's length, since it cannot be broken any
// more once it is shown.
func (p *Prose) Text(piece string) string {
	if p.tail == "" && strings.IndexByte(piece, '<') < 0 {
		return piece
	}
	piece = p.tail + piece
	p.tail = ""
	var out strings.Builder
	for {
		i := strings.IndexByte(piece, '<')
		if i < 0 {
			break
		}
		out.WriteString(piece[:i])
		piece = piece[i:]
		mark, whole := p.at(piece)
		if mark && !whole {
			p.tail = strings.Clone(piece)
			return out.String()
		}
		out.WriteByte('<')
		if mark {
			out.WriteByte(' ')
		}
		piece = piece[1:]
	}
	out.WriteString(piece)
	return out.String()
}

// at reports whether s begins with a mark (whole is true) or is the beginning of one (whole is
// false). The marks are sorted, so a look-up with a hundred tools of MCP servers costs little more
// than with ten.
func (p *Prose) at(s string) (mark, whole bool) {
	if end := strings.IndexByte(s[:min(len(s), longestName+2)], '>'); end >= 0 {
		_, found := slices.BinarySearch(p.marks, s[:end+1])
		return found, found
	}
	i, _ := slices.BinarySearch(p.marks, s)
	return i < len(p.marks) && strings.HasPrefix(p.marks[i], s), false
}

// End returns what is still held, with a blank after it: Void never shows the beginning of a mark
// at the end of a text. A reply may really end in "a <", which must not be lost.
func (p *Prose) End() string {
	if p.tail == "" {
		return ""
	}
	rest := p.tail + " "
	p.tail = ""
	return rest
}
