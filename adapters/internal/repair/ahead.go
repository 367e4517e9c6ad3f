package repair

import (
	"strings"

	"toolnorm/adapters/internal/scan"
	"toolnorm/chat/schema"
)

// Bounds on looking ahead, so that the work is linear.
const (
	maxKey     = 128  // a key, in bytes
	maxAhead   = 4096 // white space, a comment, in bytes
	maxClosers = 16   // closers in a row
)

// look looks ahead in a text of arguments, and changes nothing.
type look struct {
	text      string
	lastQuote int              // the offset of its last quote
	ends      func(i int) bool // reports whether a mark at i ends the call; nil: there are no marks
	delims    []delim
	python    bool // the arguments are in a Python call
	ownQuotes bool // the family has delimiters of its own
	around    bool // there is a quote around the arguments
}

// here is a place of the search, from which steps lead on.
type here struct {
	*look
	s *Search
	n *Node
}

// step offers a step from here, which adds the pieces of out to the output.
func (x *here) step(cost int, to Place, out ...string) { x.s.Go(x.n, cost, to, out...) }

// at returns the byte at i, or -1 outside the text.
func (g *look) at(i int) int {
	if 0 <= i && i < len(g.text) {
		return int(g.text[i])
	}
	return -1
}

func (g *look) has(i int, s string) bool {
	return i <= len(g.text) && strings.HasPrefix(g.text[i:], s)
}

// mark reports whether a mark at i ends the call. Only the decoder knows the family's marks.
func (g *look) mark(i int) bool { return g.ends != nil && i < len(g.text) && g.ends(i) }

// over reports whether the call ends at i: at the end of the text, or at a mark after the last
// quote. A mark before the last quote may be inside a string, as in a document about marks.
func (g *look) over(i int) bool { return i >= len(g.text) || i > g.lastQuote && g.mark(i) }

// blank returns the offset after white space and comments at i.
func (g *look) blank(i int) int {
	for range maxClosers {
		n := g.space(i)
		if n += g.comment(n); n == i {
			break
		}
		i = n
	}
	return i
}

// space returns the offset after white space at i, including the spaces that JSON does not allow.
func (g *look) space(i int) int {
	for end := min(i+maxAhead, len(g.text)); i < end; {
		n := oddSpace(g.text[i:])
		if scan.IsSpace(int(g.text[i])) {
			n = 1
		}
		if n == 0 {
			break
		}
		i += n
	}
	return i
}

// oddSpace returns the length of a space that JSON does not allow at the beginning of a text, or 0.
func oddSpace(text string) int {
	if text[0] < 0x80 {
		return 0
	}
	for _, s := range scan.OddSpaces {
		if strings.HasPrefix(text, s) {
			return len(s)
		}
	}
	return 0
}

// comment returns the length of the comment at i, or 0 when there is none. The line break after it
// is not part of it. A comment that never ends does not count, since the rest of the text would be
// lost. A colour without quotes, #fff, is offered as a value as well.
func (g *look) comment(i int) int {
	rest := g.text[min(i, len(g.text)):min(i+maxAhead, len(g.text))]
	var end string
	switch {
	case strings.HasPrefix(rest, "//"), strings.HasPrefix(rest, "#"),
		strings.HasPrefix(rest, "-- "):
		if n := strings.IndexByte(rest, '\n'); n >= 0 {
			return n
		}
		return 0 // the rest of the text would be lost
	case strings.HasPrefix(rest, "/*"):
		end = "*/"
	case strings.HasPrefix(rest, "<!--"):
		end = "-->"
	default:
		return 0
	}
	if n := strings.Index(rest[2:], end); n >= 0 {
		return 2 + n + len(end)
	}
	return 0
}

// colon returns the length of the colon at i, or 0. An equals sign and a full-width colon count as
// colons.
func (g *look) colon(i int) int {
	switch {
	case g.at(i) == ':' || g.at(i) == '=':
		return 1
	case g.has(i, "："):
		return len("：")
	}
	return 0
}

// wideComma returns the length of a Chinese, Japanese or Arabic comma at i, or 0.
func wideComma(text string, i int) int {
	for _, comma := range [...]string{"，", "、", "،"} {
		if i < len(text) && strings.HasPrefix(text[i:], comma) {
			return len(comma)
		}
	}
	return 0
}

// sign returns the length of a comma, a colon or a closer at i, or 0.
func sign(text string, i int) int {
	if i < 0 || i >= len(text) {
		return 0
	}
	if strings.IndexByte("}]),;:+", text[i]) >= 0 {
		return 1
	}
	for _, s := range [...]string{"，", "、", "،", "：", "；", "｝", "］", "）"} {
		if strings.HasPrefix(text[i:], s) {
			return len(s)
		}
	}
	return 0
}

// keyAhead returns the key at i, in quotes or without, that a colon follows, and whether it is
// quoted. The key is empty when there is none. keyAhead is called at every comma, so it accepts
// plain words only and does not allocate.
func (g *look) keyAhead(i int) (key string, quoted bool) {
	n := i + g.quoteAt(i)
	quoted = n > i
	from := n
	for n < from+maxKey && (scan.IsWord(g.at(n)) || g.at(n) == '-' || g.at(n) == '.' ||
		g.at(n) == '$') {
		n++
	}
	key = g.text[min(from, len(g.text)):min(n, len(g.text))]
	if !quoted && key != "" && (scan.IsDigit(key[0]) || key[0] == '-') {
		return "", false
	}
	n += g.quoteAt(n)
	if key == "" || g.colon(g.blank(n)) == 0 {
		return "", false
	}
	return key, quoted
}

// stringAhead reports whether a string begins at i. It may have any kind of quote, including the
// family's own.
func (g *look) stringAhead(i int) bool {
	for k := range g.delims {
		if g.has(i, g.delims[k].open) {
			return true
		}
	}
	return false
}

// knows reports whether the schema of a level, or of one around it, has the key.
func knows(l *Level, key string) bool {
	for ; l != nil; l = l.Up {
		if typeOf(l.Want).Has(key) {
			return true
		}
	}
	return false
}

// memberAhead reports whether a member or an element of the container follows a comma before i, and
// whether the schema knows it. In an object a key must follow, in a list any value may. A bare word
// counts only as a key, since it may be prose.
func (g *look) memberAhead(i int, l *Level) (some, known bool) {
	i = g.blank(i)
	if key, quoted := g.keyAhead(i); key != "" {
		known = knows(l, key)
		bare := l != nil && l.Kind == aCall || len(g.delims) > len(delims) // keys have no quotes
		return known || quoted || bare, known
	}
	c := g.at(i)
	if scan.IsCloser(c) || g.over(i) {
		return true, false
	}
	if l == nil || l.Kind == anObject || l.Kind == aCall {
		return false, false
	}
	return c == '{' || c == '[' || g.stringAhead(i) || c == '-' || c >= '0' && c <= '9', false
}

// closesAhead reports whether the text after the closers at i can follow closers in arguments.
// After most closers in code it cannot.
func (g *look) closesAhead(i int, l *Level) bool {
	for k := 0; scan.IsCloser(g.at(i)) && k < maxClosers; k++ {
		i = g.blank(i + 1)
		if l != nil {
			l = l.Up
		}
	}
	if g.at(i) == ',' || g.at(i) == ';' {
		some, _ := g.memberAhead(i+1, l)
		return some || l == nil
	}
	return g.over(i) || g.has(i, "```")
}

// likelyEnd grades whether the text at i, after a quote, follows the end of a string: 2 likely, 1
// perhaps, 0 no. Every closing quote of correct JSON has 2; a quote in prose is mostly followed by
// a letter and has 0.
func (g *look) likelyEnd(i int, l *Level) int {
	from := i
	i = g.blank(i)
	c := g.at(i)
	switch {
	case g.over(i):
		return 2
	case c == ',' || c == ';':
		if some, _ := g.memberAhead(i+1, l); some {
			return 2
		}
		return 1
	case scan.IsCloser(c):
		if g.closesAhead(i, l) {
			return 2
		}
		return 1
	case wideComma(g.text, i) > 0:
		if some, _ := g.memberAhead(i+wideComma(g.text, i), l); some {
			return 2
		}
		return 1
	case c == '+' || c == ':':
		return 1
	case scan.IsQuote(c) && i > from && l != nil && l.Kind != anObject && g.at(i+1) > ' ' &&
		strings.IndexByte(",]}):", g.text[i+1]) < 0:
		return 2 // "a" "b" in a list
	}
	if key, _ := g.keyAhead(i); key != "" && knows(l, key) {
		return 2
	}
	return 0
}

// typeOf returns the type that a place wants, or nil.
func typeOf(want any) *schema.Type {
	t, _ := want.(*schema.Type)
	return t
}
