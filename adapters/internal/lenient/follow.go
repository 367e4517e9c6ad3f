package lenient

import (
	"bytes"
	"strings"

	"toolnorm/adapters/internal/scan"
)

// MaxKey bounds how far the reader looks for a key after a quotation mark, in bytes.
const MaxKey = 128

// lookahead examines the text after the current position, with regard to the open containers. It
// consumes nothing. If the text can be read in two ways, it notes a doubt (see Output.Doubt).
type lookahead struct {
	*Text
	out     *Output
	open    stack
	outside Outside
	quotes  *quotes // the quotation marks of the current string
}

// isMark reports whether a tag that can end or follow a call, such as </tool_call>, is at offset i.
// Inside a container a fence (```) counts as well, because at the end of the fence the model has
// stopped writing the call.
func (a *lookahead) isMark(i int) bool {
	return a.outside != nil && a.outside.CallMark(i) || len(a.open) > 0 && a.Has(i, "```")
}

// argumentsEnd reports whether the text at offset i can follow the complete arguments. In a reply
// the code that has found the call decides this. A document, which has no such code, any text can
// follow.
func (a *lookahead) argumentsEnd(i int) bool { return a.outside == nil || a.outside.CallEnds(i) }

// valueFollows reports whether the text at offset i can follow a value of the innermost container.
// A closing bracket in that text closes a container, so the text after it must fit the next outer
// one: after "Rome"}}, only a member of the outer object can follow. After the outermost container
// Outside.CallEnds decides, because it knows how the call is written.
func (a *lookahead) valueFollows(i int) bool {
	for depth := len(a.open); depth > 0; depth-- {
		i += a.Space(i)
		c := a.At(i)
		kind := a.open[depth-1].kind
		switch {
		case c < 0:
			// the text ends after this quote
			return true
		case a.CommaAt(i) > 0:
			// …", "days": 3: the comma must be followed by a member
			return a.memberFollows(i+a.CommaAt(i), kind)
		case scan.IsCloser(c):
			// …"]} closes containers from the innermost outwards
			open := depth
			if depth = a.open.openedBy(c, open) + 1; depth == 0 {
				return a.behindSurplus(i, open)
			}
			i++
		case c == '+':
			// "x" + "y"
			return a.joins(i + 1)
		case c == '/' || c == '#':
			// …" // the town
			return a.Comment(i) > 0
		case kind != '{':
			// a list, a set, a Python call: a comma may be missing
			return a.isMark(i) || a.nextString(i) || kind != CallArgs && a.nextItem(i)
		default:
			// an object: a comma may be missing before a key
			return a.plainKey(i) || a.isMark(i)
		}
	}
	return a.argumentsEnd(i)
}

// behindSurplus reports whether the text after the closing brackets at offset i can follow a value,
// although the first of them closes none of the open containers. The parameter open is the number
// of these containers. The text must be a member in the schema of one of them, or the end. In {"a":
// "x"], "b": 1} the bracket closes nothing, but the quotation mark before it ends the string,
// because a parameter follows. Only keys in quotation marks count, because a text may also contain
// a bracket and a comma. If the string has an open bracket, as in "run [a"], the closing bracket
// may belong to the string, which is a doubt (see Output.Doubt).
func (a *lookahead) behindSurplus(i, open int) bool {
	i = a.closersEnd(i)
	if a.At(i) != ',' {
		return a.At(i) < 0 || a.isMark(i)
	}
	i += 1 + a.Space(i+1)
	key, _ := a.KeyAt(i)
	parameter := a.StartsString(i) && a.open[:open].knows(key)
	// it may close a bracket of the string
	a.out.doubt(parameter && bytes.ContainsAny(a.quotes.behind(a.Text), "[{("))
	return parameter
}

// nextString reports whether a string begins at offset i that continues the string before it, as in
// Python's f(a='x' 'y'). It returns false if the text is not a Python call, or if no value can end
// after the second string. It also returns false if the last quotation mark of f(a="say "hi"") is
// at offset i, because the mark before it ends a quoted word and the last one ends the value.
func (a *lookahead) nextString(i int) bool {
	q, ok := a.QuoteAt(i)
	if !ok || !a.Python {
		return false
	}
	end := i + len(q.Open)
	if a.At(i-1) == a.At(i) && !a.StartsString(end+a.Space(end)) && a.valueFollows(end) {
		return false
	}
	return a.joins(i)
}

// nextItem reports whether another element of a list follows at offset i without a comma, as in
// ["a" "b"]. It must be complete, and a third element or a closing bracket must follow it. The
// result is false without white space before the element, because ["a""b"] may have a doubled mark.
// It is also false if the current string has unescaped quotation marks, because the text is then
// more likely prose.
func (a *lookahead) nextItem(i int) bool {
	if a.quotes.inner || !scan.IsSpace(a.At(i-1)) {
		return false
	}
	// ["a" {"b": 1}]
	if c := a.At(i); c == '{' || c == '[' {
		return true
	}
	if key, value := a.KeyAt(i); value > 0 {
		return a.open.knows(key)
	}
	n := a.itemEnd(i)
	return n > i && (a.At(n) == ',' || scan.IsCloser(a.At(n)) ||
		a.StartsString(n) && scan.IsSpace(a.At(n-1)))
}

// plainKey reports whether the text at offset i is a key before which the comma is missing, as in
// {"a": 1 "b": 2}. Only the key shows there that the value has ended, so the test is strict. A
// quoted key must be a plain word, or a name in the schema. A bare word must meet the conditions of
// isKey, because prose contains bare words as well.
func (a *lookahead) plainKey(i int) bool {
	c := a.At(i)
	if c != '"' && c != '\'' {
		return a.keyFollows(i)
	}
	k := a.lookForKey(i)
	plain := k.closed &&
		strings.TrimFunc(k.text, func(c rune) bool {
			return scan.IsWord(int(c)) || c == '-' ||
				c == '.'
		}) == ""
	return k.text != "" && (k.value > 0 && a.open.knows(k.text) || k.follows && plain)
}

// joins reports whether the right side of a concatenation follows at offset i: a string after which
// a value can end. If the string does not end within MaxKey bytes, what follows it is not checked,
// and the result is true.
func (a *lookahead) joins(i int) bool {
	i += a.Space(i)
	q, ok := a.QuoteAt(i)
	if !ok {
		return false
	}
	n, ok := a.closeOf(i+len(q.Open), q.Close, MaxKey)
	if !ok {
		return true
	}
	n += len(q.Close)
	next := n + a.Space(n)
	// a chain is not followed further, to bound the look-ahead
	return a.At(next) == '+' || a.Python && a.StartsString(next) || a.valueFollows(n)
}

// memberFollows reports whether the text at offset i, after a comma, can be another member of a
// container of this kind. In {"msg": "Hello, "she" said", …} it is not, because a word follows the
// comma, not a key. In a list any value can follow a comma, so this test is weaker there, and
// itemLost notes a doubt.
func (a *lookahead) memberFollows(i int, kind byte) bool {
	i += a.Space(i)
	for a.At(i) == ',' || a.Comment(i) > 0 { // "Nice", // the town⏎"days": 5
		i += max(1, a.Comment(i))
		i += a.Space(i)
	}
	if a.At(i) < 0 || scan.IsCloser(a.At(i)) { // a trailing comma
		return true
	}
	k := a.lookForKey(i)
	if k.value > 0 && a.open.knows(k.text) {
		return true
	}
	if kind == '{' || kind == CallArgs {
		return a.isKey(k) || kind == CallArgs && a.Positional && a.elementFollows(i)
	}
	return a.elementFollows(i)
}

// keyFollows reports whether a key with a colon after it is at offset i.
func (a *lookahead) keyFollows(i int) bool { return a.isKey(a.lookForKey(i)) }

// isKey reports whether a possible key k really is one. A colon or an equals sign must follow the
// key, or the text must end before one can follow. A key without quotation marks must also meet one
// of three conditions: another such key came before it; the model family or Python writes keys so;
// the tool has such a parameter. Other words do not count, because a word and a colon in prose
// would end the string before them.
//
// If a string has unescaped quotation marks, the next mark is more likely another of these than the
// end of the string. In that case a quoted key in the outermost object must also be a parameter,
// unless the schema lists none.
func (a *lookahead) isKey(k aKey) bool {
	t := a.out.Typ
	switch {
	case k.quoted:
		return k.follows && (!a.quotes.inner || len(a.open) != 1 || len(t.Members()) == 0 ||
			t.Has(k.text))
	// keys have quotation marks here, so a bare key has to be a parameter
	case a.Quotes == nil && !a.bareKeys && !a.Python:
		return k.value > 0 && t.Has(k.text)
	}
	also := "- "
	if a.Quotes != nil {
		also = ""
	}
	n := a.wordEnd(k.at, also, ":=,}\n\"")
	c := a.At(n)
	return c < 0 || n > k.at && (c == ':' || c == '=') // cut inside a possible key, or a key
}
