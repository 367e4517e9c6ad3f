package repair

import (
	"strings"

	"toolnorm/adapters/internal/scan"
)

// backslash reads a backslash in a string. Whether backslashes escape is decided at its first one, and holds for the whole
// string: as JSON has it, as text, or as escapes where they can be and as text elsewhere.
func (g *Args) backslash(s *Search, n *Node, i int, run string, d *delim) {
	if d.raw {
		s.Go(n, 0, n.stay(i+1), run, `\\`)
		return
	}
	if n.Flags&sEscaped == 0 {
		path := drive(g.text, i)
		for _, way := range [...]struct {
			flags uint64
			cost  int
		}{{sEscaped, pick(path, slip, 0)}, {sEscaped | sRaw, pick(path, trifle, slip)}, {sEscaped | sMixed, pick(path, 2*slip, slip)}} {
			to := n.stay(i)
			to.Flags |= way.flags
			if path {
				to.Flags |= sPath
			}
			s.Go(n, way.cost, to, run)
		}
		return
	}
	g.escape(s, n, i, run, d)
}

// escape reads a backslash in a string in the way that was decided.
func (g *Args) escape(s *Search, n *Node, i int, run string, d *delim) {
	if n.Flags&sBare != 0 && g.Quotes != nil {
		n.Flags |= unsure // in the family's own quotes it would escape nothing
	}
	c := g.at(i + 1)
	lower := c2(g.at(i + 2))
	switch {
	case d.open == `\"`:
		g.escapedTwice(s, n, i, run)
	case c == '"' || c == '\'' && d.open[0] == '\'':
		g.escapedQuote(s, n, i, run, d)
	case n.Flags&sRaw != 0:
		cost := 0
		if c >= 0 && strings.IndexByte("nrt", byte(c)) >= 0 && !lower {
			cost = 3 // a line break, rather
		} else if c == '\\' {
			cost = small
		}
		to := n.stay(i + 1)
		if c == '\\' {
			to.Flags |= unsure // doubled, perhaps
		}
		s.Go(n, cost, to, run, `\\`)
	case c == '\\':
		to := n.stay(i + 2)
		if g.at(i+2) == '"' && d.open != `"` {
			to.Flags |= unsure // an escaped quote, perhaps
		}
		if n.Flags&sMixed != 0 {
			to.Flags |= unsure // backslashes that are doubled, and others that are not
		}
		s.Go(n, 0, to, run, `\\`)
		if g.at(i+2) == '"' {
			// \\" for \"
			to := n.stay(i + 3)
			cost := g.habit(&to, habitOver) + g.first(&to, sOver, trifle+pick(n.Flags&sPlain != 0, odd, 0))
			to.Flags ^= sLone
			if i > 0 && scan.IsDigit(g.text[i-1]) { // inches
				to.Flags &^= sLone
			}
			s.Go(n, cost+pick(n.Flags&sMixed != 0, slip, 0), to, run, `\"`)
		}
	case c == '/' || c >= 0 && strings.IndexByte("bfnrt", byte(c)) >= 0:
		cost := 0
		if n.Flags&sMixed != 0 && lower {
			cost = pick(c == 'b' || c == 'f', odd, 3)
		}
		s.Go(n, cost, n.stay(i+2), run, g.text[i:i+2])
	case c == 'u' && i+6 <= len(g.text) && scan.IsHex(g.at(i+2)) && scan.IsHex(g.at(i+3)) && scan.IsHex(g.at(i+4)) && scan.IsHex(g.at(i+5)):
		s.Go(n, 0, n.stay(i+6), run, g.text[i:i+6])
	case c == '\'' || c == '`':
		s.Go(n, trifle, n.stay(i+2), run, g.text[i+1:i+2])
	case g.Python && c == '\n':
		s.Go(n, 0, n.stay(i+2), run)
	case n.Flags&sMixed != 0:
		s.Go(n, 0, n.stay(i+1), run, `\\`)
		if !g.Python && c < 0x80 && (c == '_' || !scan.IsWord(c)) { // "\ " for a blank
			s.Go(n, 0, n.stay(i+1), run)
		}
	}
}

// escapedQuote reads an escaped quote: as one, and where a path ends in front of it as a backslash and the end.
// A path that ends with a backslash, "C:\dir\", looks as if its quote were escaped.
// Where the text goes on as behind a string it is offered as the end.
func (g *Args) escapedQuote(s *Search, n *Node, i int, run string, d *delim) {
	to := n.stay(i + 2)
	to.Flags |= sPlain
	if n.Flags&sTwo != 0 || n.Flags&sDirty != 0 && d.close == `"` && n.inList() {
		to.Flags |= unsure // who escapes quotes escapes all of a text
	}
	cost := 0
	if to.Flags&sOver != 0 {
		cost = small
	}
	text := g.text[i : i+2]
	if text == `\'` {
		text = `'`
	} else if to.Flags ^= sLone; i > 0 && scan.IsDigit(g.text[i-1]) { // inches, or the end of a quotation
		to.Flags &^= sLone
	}
	if n.Flags&sRaw != 0 && g.likelyEnd(i+2, n.Stack) == 2 {
		cost += small
		to := n.behind(i + 2)
		if n.Flags&sPath == 0 {
			to.Flags |= unsure // it may be the quote that is escaped
		}
		s.Go(n, 0, to, run, `\\"`)
	}
	s.Go(n, cost, to, run, text)
}

// escapedTwice reads a backslash in a string that is quoted by \": what is escaped in it is escaped twice.
// {\\"a\\": \\"x\\"} is an object that was escaped as if it stood in a string.
// One level of escapes is taken off, as everywhere in the text.
func (g *Args) escapedTwice(s *Search, n *Node, i int, run string) {
	switch {
	case g.has(i, `\\\"`):
		s.Go(n, 0, n.stay(i+4), run, `\"`)
	case g.has(i, `\\`) && g.at(i+2) >= 0 && g.at(i+2) != '\\':
		to := n.stay(i + 3)
		if c := g.text[i+2]; scan.IsLetter(c) && (strings.Count(g.text, `"`) != strings.Count(g.text, `\"`) || strings.IndexByte("bfnrtu", c) < 0) {
			to.Flags |= unsure // not everything is escaped twice
		}
		s.Go(n, 0, to, run, g.text[i+1:i+3])
	case g.has(i, `\\\\`):
		s.Go(n, 0, n.stay(i+4), run, `\\`)
	case g.at(i+1) >= 0 && strings.IndexByte("nrtbf", byte(g.at(i+1))) >= 0:
		s.Go(n, 0, n.stay(i+2), run, g.text[i:i+2])
	}
}

// drive reports whether the backslash at i follows the drive of a path that a string begins with, and is not doubled.
// C:\new has escapes that JSON knows, so the beginning is all the evidence there is.
// A backslash that is doubled shows that the writer escapes them.
func drive(text string, i int) bool {
	return i >= 3 && text[i-1] == ':' && scan.IsLetter(text[i-2]) && scan.IsQuote(int(text[i-3])) && i+1 < len(text) && (scan.IsWord(int(text[i+1])) || text[i+1] == '.')
}

// c2 reports whether c is a letter in lower case, as behind the first letter of a name.
func c2(c int) bool { return c >= 'a' && c <= 'z' }

// pick returns a where is holds, else b.
// Costs are mostly chosen by one question.
func pick(is bool, a, b int) int {
	if is {
		return a
	}
	return b
}
