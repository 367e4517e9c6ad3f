package xml

import (
	"slices"
	"strings"
)

// Prose passes on the text of a reply. It breaks text that the client would take for the beginning
// of a call: "<read_file>" becomes "< read_file>". The editor Void takes the opening tag of any of
// its tools, anywhere in the text, for a call. If there are several, it takes the tool that is
// first in its list.
type Prose struct {
	marks []string // opening tags, sorted
	tail  string   // text that may become such a tag, held back
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

// Text takes the next part of a reply's text and returns what can be shown now. An opening tag of a
// tool gets a blank after the <, or else the client would take it for a call. Text that may become
// such a tag is held back until that is known.
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

// at reports whether s begins with the opening tag of one of the client's tools. mark is true if it
// does, or if s is the beginning of such a tag and more may follow; whole is true if the tag is
// complete. The tags are sorted, so a look-up with a hundred tools of MCP servers costs little more
// than with ten.
func (p *Prose) at(s string) (mark, whole bool) {
	if end := strings.IndexByte(s[:min(len(s), longestName+2)], '>'); end >= 0 {
		_, found := slices.BinarySearch(p.marks, s[:end+1])
		return found, found
	}
	i, _ := slices.BinarySearch(p.marks, s)
	return i < len(p.marks) && strings.HasPrefix(p.marks[i], s), false
}

// End returns the text that is still held back, with a blank after it, because the editor Void
// never shows the beginning of a tag at the end of a text. It returns "" if nothing is held. A
// reply may really end in "a <", which must not be lost.
func (p *Prose) End() string {
	if p.tail == "" {
		return ""
	}
	rest := p.tail + " "
	p.tail = ""
	return rest
}
