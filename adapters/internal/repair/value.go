package repair

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"toolnorm/adapters/internal/scan"
	"toolnorm/chat/schema"
)

// valueReader reads the value that is expected at the current place of a text, or whatever the
// model has written instead of a value.
type valueReader struct {
	here
	c      int          // the byte at the place, or -1
	t      *schema.Type // the expected type; nil if unknown
	inList bool         // the innermost container is a list or a set
}

// newValueReader returns a reader of the value that is expected at h, which is a node of the
// search.
func newValueReader(h here) *valueReader {

	return &valueReader{h, h.at(h.n.Pos), typeOf(h.n.Want), h.n.inList()}
}

// inList reports whether the innermost container has elements instead of members.
func (n *Node) inList() bool {
	return n.Stack != nil && n.Stack.Kind != anObject && n.Stack.Kind != aCall
}

// read adds to the search the ways to read a value, or a text in place of a value. The first byte
// decides which values are possible. One way is that an opening bracket is missing before that
// byte. A value that the schema does not allow costs more but is not an error, because types may be
// converted later.
func (x *valueReader) read() {
	switch {
	case x.over(x.n.Pos):
		return
	case x.c == '{':
		x.brace()
	case x.c == '[':
		x.open(x.n, 1, 0, aList)
		if x.t.Known() && !x.t.Allows(schema.Array) {
			x.step(slip, keep(x.n, x.n.Pos+1)) // a surplus bracket
		}
		if x.at(x.n.Pos+1) == '[' {
			x.step(slip, keep(x.n, x.n.Pos+1))
		}
	case x.c == '(':
		x.open(x.n, 1, pick(x.python, 0, small), aTuple)
	case x.inList && closes(x.n.Stack, x.c) && x.n.Flags&empty != 0:
		x.n.pop(x.s, 1, 0)
		if x.c == ']' && x.at(x.n.Pos+1) == ']' && x.t.Only(schema.Array|schema.Null) {
			x.open(x.n, 0, slip, aList)
		}
	case x.inList && scan.IsCloser(x.c) && x.n.Flags&empty != 0:
		x.n.pop(x.s, 0, slip)
		x.n.pop(x.s, 1, slip)
	case x.c == ']' && x.t.Allows(schema.Array) && x.n.Stack != nil &&
		(!x.inList || x.t.Only(schema.Array|schema.Null)):
		if x.inList && x.at(x.blank(x.n.Pos+1)) == ',' {
			x.n.Flags |= unsure // perhaps a surplus bracket
		}
		x.open(x.n, 0, pick(x.t.Only(schema.Array|schema.Null), likely, slip), aList)
		x.open(x.n, 1, slip, aList) // it was written in place of the opener
		x.valueLost()
	case x.c == ':' || x.c == '=': // doubled
		x.step(small, keep(x.n, x.n.Pos+1))
	case x.c == ',' || x.c == ';':
		x.step(likely, keep(x.n, x.n.Pos+1))
		if key, _ := x.keyAhead(x.blank(x.n.Pos + 1)); x.inList && x.n.Flags&empty != 0 &&
			(key != "" || x.n.Stack.Up != nil && x.n.Stack.Up.Kind == aList) {
			x.n.pop(x.s, 0, likely)
		}
		x.valueLost()
	case scan.IsCloser(x.c):
		x.valueLost()
	default:
		x.keyAgain()
		x.scalar()
	}
	x.openerLost()
	if x.c == '{' || x.c == '[' || x.c == '(' || x.c == '<' {
		x.bare(pick(x.t.Only(schema.String|schema.Null), 0, slip))
	}
}

// brace adds to the search the readings of an opening brace: it begins an object, or a set that was
// written for a list, or it is surplus.
func (x *valueReader) brace() {
	x.open(x.n, 1, pick(x.t.Allows(schema.Object), 0, likely), anObject)
	if x.at(x.n.Pos+1) == '{' {
		x.open(x.n, 2, pick(x.t.Known(), habit, slip), anObject)
	}
	if x.t.Known() && !x.t.Allows(schema.Object) {
		x.step(slip, keep(x.n, x.n.Pos+1)) // a surplus brace
	}
	if x.t.Allows(schema.Array) && !x.wholeKey(x.blank(x.n.Pos+1)) {
		meant := x.t.Only(schema.Array|schema.Null) || x.python && !x.t.Known()
		x.open(x.n, 1, pick(meant, small, slip), aSet)
	}
}

// wholeKey reports whether a key with its colon is at offset i. Its quotation marks must be
// correct, or both missing.
func (g *look) wholeKey(i int) bool {
	size := g.quoteAt(i)
	key, quoted := g.keyAhead(i)
	return key != "" && (!quoted || g.has(i+size+len(key), g.text[i:i+size]))
}

// bare adds to the search, for the given additional cost, the reading in which a string without its
// first quotation mark begins here. {"unit": celsius"} has lost one mark, and {"unit": celsius}
// both. In Python it adds nothing, because a bare word is a name there, which is not evaluated.
func (x *valueReader) bare(cost int) {
	if x.python || x.ownQuote(x.n.Pos) > 0 {
		return // perhaps an expression; a string in the family's quotes
	}
	to := x.n.to(x.n.Pos, modeString)
	to.Flags |= sBare
	// directly behind a quote of the family, the text may belong to the string that it closes
	if guessed(x.text, x.n) || x.ownQuotes && x.n.Pos > 0 &&
		strings.IndexByte(" >", x.text[x.n.Pos-1]) >= 0 {
		to.Flags |= unsure
	}
	cost += to.first(habitBare, slip-small) + small
	x.step(cost, to, `"`)
}

// guessed reports whether it is uncertain that a string without quotation marks begins at n, or
// where exactly. That is so if a comment or several blanks come before it, if it begins with odd
// signs, or if it ends with a number or a word such as true where such a value is possible as well.
func guessed(text string, n *Node) bool {
	if n.Pos > 0 && text[n.Pos-1] == '(' {
		return true // perhaps a note
	}
	if n.Pos > 1 && text[n.Pos-1] == ' ' && strings.IndexByte("[{(", text[n.Pos-2]) >= 0 {
		return true // the blank may belong to it
	}
	if before := text[:n.Pos]; strings.HasSuffix(before, "*/") ||
		strings.HasSuffix(before, "-->") || strings.HasSuffix(before, "  ") {
		return true
	}
	before := strings.TrimRight(text[:n.Pos], " \t\n")
	if at := strings.LastIndexByte(before, '\n') + 1; strings.Contains(text[len(before):n.Pos],
		"\n") && !strings.HasSuffix(before, ":") {
		if behind := before[at:]; strings.Contains(behind, "//") ||
			strings.Contains(behind, "-- ") || strings.Contains(behind, "#") {
			return true
		}
	}
	rest := text[n.Pos:min(n.Pos+maxKey, len(text))]
	if end := strings.IndexAny(rest, ",;}])\n\""); end >= 0 {
		rest = rest[:end]
	}
	t := typeOf(n.Want)
	if prefixed.MatchString(text[n.Pos:]) {
		return true // a string with a prefix letter
	}
	if first, _ := utf8.DecodeRuneInString(rest); rest != "" && !unicode.IsLetter(first) &&
		!unicode.IsDigit(first) && !strings.ContainsRune("/.~$#@_-<({[", first) {
		return true // a sign in the place of its quote
	}
	if strings.HasPrefix(rest, "<|") || strings.HasPrefix(rest, "<｜") ||
		strings.HasPrefix(rest, "</") {
		return true // a damaged mark
	}
	if rest != "" && strings.IndexFunc(rest, func(r rune) bool {
		return r >= 0x80 ||
			scan.IsWord(int(r))
	}) < 0 {
		return true // only signs
	}
	if t.Only(schema.String) || len(rest) == 0 {
		return false
	}
	words := strings.Fields(rest)
	if len(words) == 0 {
		return true
	}
	if value, _ := Scalar(strings.TrimFunc(rest, unicode.IsPunct)); value != "" &&
		t.Allows(schema.KindOf(value)) {
		return true // a number and a surplus sign
	}
	last := words[len(words)-1:]
	word := strings.Join(last, "")
	value, _ := Scalar(strings.TrimRight(word, ".:"))
	return value != "" && (len(words) > 1 || strings.HasSuffix(word, ".") ||
		strings.HasSuffix(word, ":")) || nearLiteral(rest) ||
		!t.Known() && (scan.IsDigit(rest[0]) || rest[0] == '<')
}

// prefixed matches the beginning of a string with a prefix letter, as other languages have it.
var prefixed = regexp.MustCompile("^[rbuf@$L]\\\\?[\"'`]")

// nearLiteral reports whether a word is true, false or null, or such a word of another language,
// whole or with one letter missing.
func nearLiteral(word string) bool {
	for _, literal := range [...]string{"true", "false", "null", "none", "yes", "no", "on", "off"} {
		for i := range len(literal) + 1 {
			if strings.EqualFold(word, literal[:i]+literal[min(i+1, len(literal)):]) &&
				len(word) > 1 {
				return true
			}
		}
	}
	return false
}

// valueLost adds to the search the reading in which the value of a member is missing. The value
// becomes null, and the reading gets the flag lost.
func (x *valueReader) valueLost() {
	if !x.inList && x.n.Stack != nil {
		to := x.n.behind(x.n.Pos)
		to.Flags |= lost
		x.step(slip, to, "null")
	}
}

// keyAgain adds to the search the reading in which a key, or the name of a type, stands before a
// value and is skipped.
func (x *valueReader) keyAgain() {
	if key, _ := x.keyAhead(x.n.Pos); key != "" && !x.inList && x.n.Stack != nil &&
		x.n.Stack.Kind == anObject {
		i := x.n.Pos + x.quoteAt(x.n.Pos) + len(key)
		i = x.blank(i + x.quoteAt(i))
		to := keep(x.n, i+x.colon(i))
		if front := strings.TrimRight(x.text[:x.n.Pos], " \n:=\"'"); !strings.HasSuffix(front,
			key) && !slices.Contains(typeNames, key) {
			to.Flags |= unsure // perhaps another member, whose value follows
		}
		x.step(slip, to)
	}
}

// typeNames are words that models write between a key and its value.
var typeNames = []string{"string", "str", "text", "integer", "int", "number", "float", "boolean",
	"bool", "array", "list", "object", "dict", "value", "type"}

// keep returns the state of the reading n at offset pos, with the same mode, but without the flag
// that a line break came before.
func keep(n *Node, pos int) Place {
	p := n.stay(pos)
	p.Flags &^= line
	return p
}

// openerLost adds to the search the readings in which an opening bracket is missing at the current
// place: the [ of a list or the { of an object. A missing [ is likely where the schema demands a
// list, and possible where it allows one. A { can be missing only before a key.
func (x *valueReader) openerLost() {
	if x.n.Stack == nil || scan.IsCloser(x.c) || x.n.Stack.Depth > 6 {
		return
	}
	if x.t.Allows(schema.Array) && x.c != '[' && x.n.Flags&empty == 0 {
		m := *x.n
		if !x.t.Only(schema.Array | schema.Null) {
			m.Flags |= unsure // the schema does not want a list
		}
		x.open(&m, 0, pick(x.t.Only(schema.Array|schema.Null), likely, slip), aList)
	}
	if key, _ := x.keyAhead(x.n.Pos); key != "" && x.t.Allows(schema.Object) {
		m := *x.n
		if x.n.Stack.Kind == aTuple && x.n.Flags&empty != 0 {
			m.Flags |= unsure // the parenthesis may be in place of the brace
		}
		x.open(&m, 0, pick(x.t.Has(key), likely, slip), anObject)
	}
}

// junkWord adds to the search the reading in which a word before a value or a key has no meaning
// and is skipped, as in {"a": is "x"} and {"a": 1, and "b": 2}. Another reading takes the word as
// part of the text that follows.
func (x *here) junkWord() {
	i := x.n.Pos
	for i < x.n.Pos+maxKey && x.at(i) >= 0 && scan.IsLetter(x.text[i]) {
		i++
	}
	next := x.space(i)
	end := next
	for end < next+maxKey && x.wordByte(end) {
		end++
	}
	value, _ := Scalar(x.text[next:end])
	if i > x.n.Pos && next > i && (x.stringAhead(next) || x.at(next) == '{' || x.at(next) == '[' ||
		value != "") {
		x.step(slip+small, keep(x.n, next))
	}
}

// prefixed reads the prefix letter of a string, as in Python's r"…", and reports whether there is
// one.
func (x *valueReader) prefixed() bool {
	if next := x.at(x.n.Pos + 1); !x.python && (next == '"' || next == '\'' || next == '`') &&
		x.c >= 0 && strings.IndexByte("rbuf@$L", byte(x.c)) >= 0 {
		if x.c != 'f' && x.c != '$' || isPlain(x.text, x.n.Pos+2, byte(next)) {
			x.step(habit, keep(x.n, x.n.Pos+1))
		}
		return true
	}
	if next := x.at(x.n.Pos + 1); x.python && (next == '"' || next == '\'') && x.c >= 0 &&
		strings.IndexByte("rbuf", byte(x.c)) >= 0 {
		if x.c != 'f' || isPlain(x.text, x.n.Pos+2, byte(next)) {
			x.openStrings(1, x.c == 'r')
		}
		return true
	}
	return false
}

// open adds to the search, at the given cost, the reading that goes on inside a container of the
// given kind. The container's opening bracket has size bytes, or 0 if it is missing. The type that
// the node n expects says which keys and elements follow. Nothing is added for containers deeper
// than maxDepth.
func (x *valueReader) open(n *Node, size, cost int, kind byte) {
	to := n.to(n.Pos+size, modeValue)
	t := typeOf(n.Want)
	if t.Only(schema.String | schema.Null) {
		if x.python {
			return // source text is not a string there
		}
		to.Flags |= unsure // the source text may be the string that was meant
	}
	to.Stack = x.s.Enter(n.Stack, kind, t)
	if to.Stack.Depth > maxDepth {
		return
	}
	if kind == anObject {
		to.Mode = modeKey
		x.s.Go(n, cost, to, "{")
		return
	}
	to.Flags |= empty
	to.Want = t.Item()
	x.s.Go(n, cost, to, "[")
}
