package repair

import (
	"regexp"
	"slices"
	"strings"

	"toolnorm/adapters/internal/scan"
	"toolnorm/chat/schema"
)

// value reads a value, or what stands in its place.
// The first byte decides what can stand here; what is missing in front of it is offered besides.
// A value that its schema does not want costs more, and is no error: types may be turned into others later.
func (g *Args) value(s *Search, n *Node) {
	c := g.at(n.Pos)
	t := typeOf(n.Want)
	inList := n.inList()
	switch {
	case g.over(n.Pos):
		return
	case c == '{':
		g.open(s, n, 1, pick(t.Allows(schema.Object), 0, likely), anObject)
		if g.at(n.Pos+1) == '{' {
			g.open(s, n, 2, pick(t.Known(), habit, slip), anObject)
		}
		if t.Allows(schema.Array) && !g.wholeKey(g.blank(n.Pos+1)) {
			g.open(s, n, 1, pick(t.Only(schema.Array|schema.Null) || g.Python && !t.Known(), small, slip), aSet)
		}
	case c == '[':
		g.open(s, n, 1, 0, aList)
		if g.at(n.Pos+1) == '[' {
			s.Go(n, slip, keep(n, n.Pos+1))
		}
	case c == '(':
		g.open(s, n, 1, pick(g.Python, 0, small), aTuple)
	case inList && closes(n.Stack, c) && n.Flags&empty != 0:
		g.pop(s, n, 1, 0)
		if c == ']' && g.at(n.Pos+1) == ']' && t.Only(schema.Array|schema.Null) {
			g.open(s, n, 0, slip, aList)
		}
	case inList && isClose(c) && n.Flags&empty != 0:
		g.pop(s, n, 0, slip)
		g.pop(s, n, 1, slip)
	case c == ']' && t.Allows(schema.Array) && n.Stack != nil && (!inList || t.Only(schema.Array|schema.Null)):
		g.open(s, n, 0, pick(t.Only(schema.Array|schema.Null), likely, slip), aList)
		g.valueLost(s, n, inList)
	case c == ':' || c == '=':
		s.Go(n, small, keep(n, n.Pos+1)) // doubled
	case c == ',' || c == ';':
		s.Go(n, likely, keep(n, n.Pos+1))
		if key, _ := g.keyAhead(g.blank(n.Pos + 1)); inList && n.Flags&empty != 0 && (key != "" || n.Stack.Up != nil && n.Stack.Up.Kind == aList) {
			g.pop(s, n, 0, likely)
		}
		g.valueLost(s, n, inList)
	case isClose(c):
		g.valueLost(s, n, inList)
	default:
		g.keyAgain(s, n, inList)
		g.scalar(s, n, c)
	}
	g.openerLost(s, n, c, t)
	if c == '{' || c == '[' || c == '(' || c == '<' {
		g.bare(s, n, pick(t.Only(schema.String|schema.Null), 0, slip))
	}
}

// wholeKey reports whether a key with a colon stands at i, its quotes in order.
func (g *look) wholeKey(i int) bool {
	size := g.quoteAt(i)
	key, quoted := g.keyAhead(i)
	return key != "" && (!quoted || g.has(i+size+len(key), g.text[i:i+size]))
}

// bare offers a text that has lost its first quote, or both.
// {"unit": celsius} has lost two quotes, {"unit": celsius"} one.
// In Python a bare word is a name, which nobody evaluates.
func (g *Args) bare(s *Search, n *Node, cost int) {
	if g.Python || g.ownQuote(n.Pos) > 0 {
		return // an expression, perhaps; a text in quotes
	}
	to := n.to(n.Pos, modeString)
	to.Flags |= sBare
	if guessed(g.text, n) || g.Quotes != nil && n.Pos > 0 && g.text[n.Pos-1] == ' ' {
		to.Flags |= unsure
	}
	cost += g.first(&to, habitBare, slip-small) + small
	s.Go(n, cost, to, `"`)
}

// guessed reports whether a text without quotes at n may be less than all of it, or no text: a comment or more than one
// blank stands in front of it, or it is words and a number or a literal where such a value fits too.
func guessed(text string, n *Node) bool {
	if n.Pos > 0 && text[n.Pos-1] == '(' {
		return true // a note, perhaps
	}
	if n.Pos > 1 && text[n.Pos-1] == ' ' && strings.IndexByte("[{(", text[n.Pos-2]) >= 0 {
		return true // the blank may be its
	}
	if before := text[:n.Pos]; strings.HasSuffix(before, "*/") || strings.HasSuffix(before, "-->") || strings.HasSuffix(before, "  ") {
		return true
	}
	before := strings.TrimRight(text[:n.Pos], " \t\n")
	if at := strings.LastIndexByte(before, '\n') + 1; strings.Contains(text[len(before):n.Pos], "\n") && !strings.HasSuffix(before, ":") {
		if behind := before[at:]; strings.Contains(behind, "//") || strings.Contains(behind, "-- ") || strings.Contains(behind, "#") {
			return true
		}
	}
	rest := text[n.Pos:min(n.Pos+maxKey, len(text))]
	if end := strings.IndexAny(rest, ",;}])\n\""); end >= 0 {
		rest = rest[:end]
	}
	t := typeOf(n.Want)
	if prefixed.MatchString(text[n.Pos:]) {
		return true // a string with a letter in front
	}
	if strings.HasPrefix(rest, "<|") || strings.HasPrefix(rest, "<｜") || strings.HasPrefix(rest, "</") {
		return true // a mark that is damaged
	}
	if t.Only(schema.String) || len(rest) == 0 {
		return false
	}
	if strings.IndexFunc(rest, func(r rune) bool { return r >= 0x80 || scan.IsWord(int(r)) }) < 0 {
		return true // signs alone
	}
	words := strings.Fields(rest)
	if len(words) == 0 {
		return true
	}
	last := words[len(words)-1:]
	word := strings.Join(last, "")
	value, _ := Scalar(strings.TrimRight(word, ".:"))
	return value != "" && (len(words) > 1 || strings.HasSuffix(word, ".") || strings.HasSuffix(word, ":")) || nearLiteral(rest) || !t.Known() && (scan.IsDigit(rest[0]) || rest[0] == '<')
}

// prefixed is the beginning of a string in another language.
var prefixed = regexp.MustCompile("^[rbuf@$L]\\\\?[\"'`]")

// nearLiteral reports whether a word is a literal with a letter left out, or one of another language.
func nearLiteral(word string) bool {
	for _, literal := range [...]string{"true", "false", "null", "none", "yes", "no", "on", "off"} {
		for i := range len(literal) + 1 {
			if strings.EqualFold(word, literal[:i]+literal[min(i+1, len(literal)):]) && len(word) > 1 {
				return true
			}
		}
	}
	return false
}

// valueLost reads a member whose value is lost. Nobody knows what it was, so nothing fits it.
func (g *Args) valueLost(s *Search, n *Node, inList bool) {
	if !inList && n.Stack != nil {
		to := n.behind(n.Pos)
		to.Flags |= lost
		s.Go(n, slip, to, "null")
	}
}

// keyAgain offers to pass a key, or the name of a type, that stands where the value is due.
func (g *Args) keyAgain(s *Search, n *Node, inList bool) {
	if key, _ := g.keyAhead(n.Pos); key != "" && !inList && n.Stack != nil && n.Stack.Kind == anObject {
		i := n.Pos + g.quoteAt(n.Pos) + len(key)
		i = g.blank(i + g.quoteAt(i))
		to := keep(n, i+g.colon(i))
		if front := strings.TrimRight(g.text[:n.Pos], " \n:=\"'"); !strings.HasSuffix(front, key) && !slices.Contains(typeNames, key) {
			to.Flags |= unsure // another member, perhaps, whose value this is
		}
		s.Go(n, slip, to)
	}
}

// typeNames are what models write between a key and its value.
var typeNames = []string{"string", "str", "text", "integer", "int", "number", "float", "boolean", "bool", "array", "list", "object", "dict", "value", "type"}

// keep is a place further on that expects the same.
func keep(n *Node, pos int) Place {
	p := n.stay(pos)
	p.Flags &^= line
	return p
}

// openerLost offers a list or an object whose opener is missing.
// [ in front of a text where the schema wants a list is likely, elsewhere possible.
// For an object a key must stand there, or any value would be one.
func (g *Args) openerLost(s *Search, n *Node, c int, t *schema.Type) {
	if n.Stack == nil || isClose(c) || n.Stack.Depth > 6 {
		return
	}
	if t.Allows(schema.Array) && c != '[' && n.Flags&empty == 0 {
		m := *n
		if !t.Only(schema.Array | schema.Null) {
			m.Flags |= unsure // nothing asks for a list
		}
		g.open(s, &m, 0, pick(t.Only(schema.Array|schema.Null), likely, slip), aList)
	}
	if key, _ := g.keyAhead(n.Pos); key != "" && t.Allows(schema.Object) {
		m := *n
		if n.Stack.Kind == aTuple && n.Flags&empty != 0 {
			m.Flags |= unsure // the parenthesis may stand for the brace
		}
		g.open(s, &m, 0, pick(t.Has(key), likely, slip), anObject)
	}
}

// junkWord offers to pass a word in front of a quote or a bracket, where none belongs.
// {"a": is "x"} and {"a": 1, and "b": 2} are of models that speak while they write.
// That the word belongs to the text behind it is the other reading.
func (g *Args) junkWord(s *Search, n *Node) {
	i := n.Pos
	for i < n.Pos+maxKey && g.at(i) >= 0 && scan.IsLetter(g.text[i]) {
		i++
	}
	next := g.space(i)
	end := next
	for end < next+maxKey && g.wordByte(end) {
		end++
	}
	value, _ := Scalar(g.text[next:end])
	if i > n.Pos && next > i && (g.stringAhead(next) || g.at(next) == '{' || g.at(next) == '[' || value != "") {
		s.Go(n, slip+small, keep(n, next))
	}
}

// scalar reads a string, a number, a word, or text without quotes.
// Numbers and words of other languages get JSON's spelling, once for all of the text.
// A letter in front of a quote is Python's, and means nothing for what the string says.
func (g *Args) scalar(s *Search, n *Node, c int) {
	g.openStrings(s, n, 0, false)
	if !g.Python {
		g.junkWord(s, n)
	}
	if scan.IsQuote(c) && g.space(n.Pos+1) > n.Pos+1 && g.stringAhead(g.space(n.Pos+1)) {
		s.Go(n, likely, keep(n, n.Pos+1))
	}
	if c == '\\' && scan.IsQuote(g.at(n.Pos+1)) {
		s.Go(n, slip, keep(n, n.Pos+1))
	}
	for _, size := range []int{pick(scan.IsQuote(c), 1, 0), g.ownQuote(n.Pos)} {
		next := n.Pos + size
		if size > 1 {
			next = g.space(next)
		}
		if size > 0 && g.has(next, g.text[n.Pos:n.Pos+size]) && (next == n.Pos+size || g.likelyEnd(next+size, n.Stack) == 0) {
			to := keep(n, next)
			s.Go(n, g.doubled(&to), to)
		}
	}
	if g.prefixed(s, n, c) {
		return
	}
	if n.Stack != nil && g.has(n.Pos, "...") {
		to := n.behind(n.Pos + 3)
		if n.Stack.Kind == anObject || n.Stack.Kind == aCall {
			to.Flags |= lost
			s.Go(n, small, to, "null")
			return
		}
		s.Go(n, small, to)
		return
	}
	end := n.Pos
	for end < n.Pos+maxKey && g.wordByte(end) {
		end++
	}
	word := g.text[n.Pos:end]
	behind := g.blank(end)
	ends := g.over(behind) || isClose(g.at(behind)) || g.at(behind) == ','
	value, own := Scalar(word)
	isWord := value != ""
	if isWord {
		to := n.behind(end)
		cost := pick(ends, 0, trifle)
		if !own && !g.Python {
			cost += g.first(&to, habitWords, small)
		}
		to.Flags |= g.halfQuoted(end, typeOf(n.Want), schema.KindOf(value))
		if !typeOf(n.Want).Allows(schema.KindOf(value)) && typeOf(n.Want).Allows(schema.String) {
			value = schema.Quote(word)
		}
		s.Go(n, cost, to, value)
	}
	if g.quoteAt(n.Pos) == 0 && g.ownQuote(n.Pos) == 0 && strings.IndexByte(",:;=}])<(\\", byte(c)) < 0 && !g.has(n.Pos, "- ") && !g.has(n.Pos, "--") {
		rest, _ := Scalar(strings.TrimRight(word, ".:;"))
		g.bare(s, n, pick(c == '#' || c == '/', habit, 0)+pick(rest != "" && (ends || !isWord), slip, 0))
	}
}

// halfQuoted is unsure where behind a word that ends at i a quote stands, and begins no key: the word may be a text that has
// lost its first quote, where one is allowed as well as what the word is.
func (g *look) halfQuoted(i int, t *schema.Type, word schema.Kinds) uint64 {
	if key, _ := g.keyAhead(i); g.quoteAt(i) > 0 && key == "" && t.Allows(schema.String) && t.Allows(word) {
		return unsure
	}
	return 0
}

func (g *look) wordByte(i int) bool {
	c := g.at(i)
	return scan.IsWord(c) || c == '+' || c == '-' || c == '.'
}

// noHoles reports whether the string of an f-string has nothing in it that would be evaluated.
// f"{x}" is an expression, and its text is not what was meant.
// No value means no call, which is less bad than a wrong one.
func noHoles(text string, i int, quote byte) bool {
	rest := text[i:min(i+maxAhead, len(text))]
	end := strings.IndexByte(rest, quote)
	return end >= 0 && strings.IndexByte(rest[:end], '{') < 0
}

// prefixed reads a letter in front of a quote, which is of Python or another language, and reports whether one stands there.
func (g *Args) prefixed(s *Search, n *Node, c int) bool {
	if next := g.at(n.Pos + 1); !g.Python && (next == '"' || next == '\'' || next == '`') && c >= 0 && strings.IndexByte("rbuf@$L", byte(c)) >= 0 {
		if c != 'f' && c != '$' || noHoles(g.text, n.Pos+2, byte(next)) {
			s.Go(n, habit, keep(n, n.Pos+1))
		}
		return true
	}
	if next := g.at(n.Pos + 1); g.Python && (next == '"' || next == '\'') && c >= 0 && strings.IndexByte("rbuf", byte(c)) >= 0 {
		if c != 'f' || noHoles(g.text, n.Pos+2, byte(next)) {
			g.openStrings(s, n, 1, c == 'r')
		}
		return true
	}
	return false
}
