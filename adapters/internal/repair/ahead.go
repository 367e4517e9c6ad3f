package repair

import (
	"strings"

	"toolnorm/adapters/internal/scan"
	"toolnorm/chat/schema"
)

// Bounds on looking ahead, so that the work is linear.
const (
	maxKey     = 128  // of a key, in bytes
	maxAhead   = 4096 // of white space or a comment, in bytes
	maxClosers = 16   // of closing brackets in a row
)

// look looks ahead in a text of arguments. It changes nothing.
type look struct {
	text      string
	lastQuote int              // the offset of the last double quotation mark; in Python of any
	ends      func(i int) bool // reports whether a closing tag at i ends the call; may be nil
	delims    []delim
	python    bool // the arguments are in a Python call
	ownQuotes bool // the model family has delimiters of its own
	around    bool // a quotation mark surrounds the arguments
}

// here is a node of the search, from which the next steps begin, with the text around it.
type here struct {
	*look
	s *Search
	n *Node
}

// step adds a step of the given cost from this node to the state to. It adds the texts in out to
// the output.
func (x *here) step(cost int, to Place, out ...string) { x.s.Go(x.n, cost, to, out...) }

// at returns the byte at offset i, or -1 outside the text.
func (g *look) at(i int) int {
	if 0 <= i && i < len(g.text) {
		return int(g.text[i])
	}
	return -1
}

// has reports whether the text at offset i begins with s.
func (g *look) has(i int, s string) bool {
	return i <= len(g.text) && strings.HasPrefix(g.text[i:], s)
}

// mark reports whether a closing tag at offset i ends the call. Only the decoder knows the tags of
// the model family, so it provides the function that decides.
func (g *look) mark(i int) bool { return g.ends != nil && i < len(g.text) && g.ends(i) }

// over reports whether the call ends at offset i. It ends at the end of the text, or at a closing
// tag after the last quotation mark. Before that mark the tag may be inside a string, as in a
// document about tags.
func (g *look) over(i int) bool { return i >= len(g.text) || i > g.lastQuote && g.mark(i) }

// blank returns the offset after the white space and comments at offset i, or i if there are none.
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

// space returns the offset after the white space at offset i, or i if there is none. White space
// includes the spaces that JSON does not allow, such as a no-break space.
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

// oddSpace returns the length of a space that JSON does not allow at the beginning of a text. It
// returns 0 if there is none.
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

// comment returns the length of the comment at offset i without the line break after it, or 0 if
// there is none. A comment that never ends does not count, because the rest of the text would be
// lost. A colour without quotation marks, such as #fff, counts as a comment here, but another
// reading takes it as a value.
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

// colon returns the length of the colon at offset i, or 0 if there is none. An equals sign and a
// full-width colon count as colons.
func (g *look) colon(i int) int {
	switch {
	case g.at(i) == ':' || g.at(i) == '=':
		return 1
	case g.has(i, "："):
		return len("：")
	}
	return 0
}

// wideComma returns the length of a Chinese, Japanese or Arabic comma at offset i, or 0 if there is
// none.
func wideComma(text string, i int) int {
	for _, comma := range [...]string{"，", "、", "،"} {
		if i < len(text) && strings.HasPrefix(text[i:], comma) {
			return len(comma)
		}
	}
	return 0
}

// sign returns the length of a comma, a colon, a semicolon, a plus sign or a closing bracket at
// offset i, or 0 if there is none.
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

// keyAhead returns the key at offset i, if a colon follows it, and whether it is quoted. Otherwise
// the key is "". It is called at every comma, so it accepts plain words only and does not allocate.
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

// stringAhead reports whether a string begins at offset i, in any kind of quotation marks,
// including those of the model family.
func (g *look) stringAhead(i int) bool {
	for k := range g.delims {
		if g.has(i, g.delims[k].open) {
			return true
		}
	}
	return false
}

// knows reports whether the key is a member in the schema of the container l, or of one around it.
func knows(l *Level, key string) bool {
	for ; l != nil; l = l.Up {
		if typeOf(l.Want).Has(key) {
			return true
		}
	}
	return false
}

// memberAhead examines the text at offset i, after a comma. The result some reports whether a
// member or an element of the container l begins there. The result known reports whether l's schema
// has the member. In an object a key must follow. In a list any value may follow, except a word
// without quotation marks, because that may be prose.
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

// closesAhead reports whether the closing brackets at offset i, which would end the container l and
// its outer ones, are followed by text that can come after a value. For most closing brackets in
// code this is false.
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

// likelyEnd grades by the text at offset i whether the quotation mark before offset i ends a
// string: 2 is likely, 1 perhaps, 0 no. The result is 2 after every closing quotation mark of
// correct JSON. In prose a letter mostly follows, so the result is 0.
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

// typeOf returns the type in want, which is what a Place of the search expects next. It returns nil
// if the type is unknown.
func typeOf(want any) *schema.Type {
	t, _ := want.(*schema.Type)
	return t
}
