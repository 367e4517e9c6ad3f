package repair

import (
	"strings"

	"toolnorm/adapters/internal/scan"
	"toolnorm/chat/schema"
)

// What is looked ahead is bounded, so that the work is linear.
const (
	maxKey     = 128  // a key, in bytes
	maxAhead   = 4096 // white space, a comment, in bytes
	maxClosers = 16   // closers in a row
)

// look looks at a text of arguments ahead of what was read, and changes nothing.
type look struct {
	text      string
	lastQuote int              // where the last quote of it stands
	ends      func(i int) bool // a mark that ends the call stands at i; nil: there are none
	delims    []delim
	python    bool // the arguments are those of a Python call
	ownQuotes bool // the family has delimiters of its own
	around    bool // a quote stands around the arguments
}

// here is a place of the search, from which steps lead on.
type here struct {
	*look
	s *Search
	n *Node
}

// step offers a step from here, whose output is what was put out so far and the pieces of out.
func (x *here) step(cost int, to Place, out ...string) { x.s.Go(x.n, cost, to, out...) }

// at returns the byte at i, or -1 outside the text.
func (g *look) at(i int) int {
	if 0 <= i && i < len(g.text) {
		return int(g.text[i])
	}
	return -1
}

func (g *look) has(i int, s string) bool { return i <= len(g.text) && strings.HasPrefix(g.text[i:], s) }

// A family's marks are the decoder's to know; here they are only the ends of texts.
func (g *look) mark(i int) bool { return g.ends != nil && i < len(g.text) && g.ends(i) }

// over reports whether the call ends at i: at a mark behind which there are no more strings, or
// with the text. A mark with strings behind it may stand in one of them. So a document about marks
// is not cut at the first.
func (g *look) over(i int) bool { return i >= len(g.text) || i > g.lastQuote && g.mark(i) }

// blank returns the offset after white space and comments at i. What is looked at is what would be
// read: comments count as white space in both.
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

// space returns the offset after white space at i, also of the kinds that JSON does not know.
// Inside strings such spaces are data and stay; between tokens they are not.
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

// oddSpace returns the length of the space that JSON does not know at the beginning of a text, or
// 0. Most bytes are ASCII, and one look tells.
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

// comment returns the length of the comment at i, or 0 when there is none. Outside of strings
// nothing else begins like one, whatever it holds. The line break after it is not part of it. A
// colour without quotes, #fff, is offered as a value besides. A comment that never ends does not
// count: what it took along would be gone.
func (g *look) comment(i int) int {
	rest := g.text[min(i, len(g.text)):min(i+maxAhead, len(g.text))]
	var end string
	switch {
	case strings.HasPrefix(rest, "//"), strings.HasPrefix(rest, "#"), strings.HasPrefix(rest, "-- "):
		if n := strings.IndexByte(rest, '\n'); n >= 0 {
			return n
		}
		return 0 // what follows on the line is lost, and nobody knows what it was
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

// colon returns the length of what stands for a colon at i, or 0. In JSON the equals sign is a
// habit of another language, in a call it is the rule.
func (g *look) colon(i int) int {
	switch {
	case g.at(i) == ':' || g.at(i) == '=':
		return 1
	case g.has(i, "："):
		return len("：")
	}
	return 0
}

// wideComma returns the length of a comma of Chinese or Japanese at i, or 0.
func wideComma(text string, i int) int {
	if i < len(text) && (strings.HasPrefix(text[i:], "，") || strings.HasPrefix(text[i:], "、")) {
		return len("，")
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
	for _, s := range [...]string{"，", "、", "：", "；", "｝", "］", "）"} {
		if strings.HasPrefix(text[i:], s) {
			return len(s)
		}
	}
	return 0
}

// keyAhead returns the key at i, in quotes or without, that a colon follows, and whether it is
// quoted. The key is empty when there is none. keyAhead is called at every comma, so it takes plain
// words only and builds nothing.
func (g *look) keyAhead(i int) (key string, quoted bool) {
	n := i + g.quoteAt(i)
	quoted = n > i
	from := n
	for n < from+maxKey && (scan.IsWord(g.at(n)) || g.at(n) == '-' || g.at(n) == '.' || g.at(n) == '$') {
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

// stringAhead reports whether a string begins at i.
// Any kind of quote will do, the family's own included.
func (g *look) stringAhead(i int) bool {
	for k := range g.delims {
		if g.has(i, g.delims[k].open) {
			return true
		}
	}
	return false
}

// knows reports whether one of the levels' objects has a member.
func knows(l *Level, key string) bool {
	for ; l != nil; l = l.Up {
		if typeOf(l.Want).Has(key) {
			return true
		}
	}
	return false
}

// memberAhead reports whether behind a comma at i a member or an element of the container stands,
// and whether the schema knows it. In an object a key must stand there, in a list any value may. A
// bare word is one of prose as often, so it counts as a key alone.
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

// closesAhead reports whether the closers at i are followed by what may follow closers.
// Code is full of closers, and few of them are followed by what JSON needs.
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

// likelyEnd grades what stands at i, behind a quote, as what follows the end of a string: 2 as it
// must, 1 perhaps, 0 not. Every quote of correct JSON has 2. One in prose has a letter behind it,
// and 0. The costs of both readings go by this grade.
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
	case scan.IsQuote(c) && i > from && l != nil && l.Kind != anObject && g.at(i+1) > ' ' && strings.IndexByte(",]}):", g.text[i+1]) < 0:
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
