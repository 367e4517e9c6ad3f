package lenient

import (
	"bytes"
	"strings"

	"toolnorm/adapters/internal/scan"
)

// MaxKey bounds how far the reader looks for a key after a quote, in bytes.
const MaxKey = 128

// lookahead looks at the text that follows the current position, and knows the open containers. It
// consumes nothing; if the text can be read in two ways, it notes a doubt.
type lookahead struct {
	*Text
	out     *Output
	open    stack
	outside Outside
	quotes  *quotes // of the current string
}

// isMark reports whether there is a mark at offset i that can end or follow a call. Inside a
// container a fence is such a mark: at the end of the fence the model has stopped writing the call.
func (a *lookahead) isMark(i int) bool {
	return a.outside != nil && a.outside.CallMark(i) || len(a.open) > 0 && a.Has(i, "```")
}

// argumentsEnd reports whether the text at offset i can follow the whole arguments; any text can
// follow a document.
func (a *lookahead) argumentsEnd(i int) bool { return a.outside == nil || a.outside.CallEnds(i) }

// valueFollows reports whether the text at offset i can follow a value of the innermost container.
// It leaves the containers as their closers come: after "Rome"}}, only a member of the object
// around them can follow. Outside of all containers the recogniser decides (Outside.CallEnds).
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

// behindSurplus reports whether the text after the closers at offset i can follow a value, although
// the first of them closes none of the open containers: the text must be a member that their
// schemas know, or the end. In {"a": "x"], "b": 1} the bracket closes nothing, but the quote before
// it ends the string, since a parameter follows. If the string has an open bracket, "run [a"], the
// closer may belong to the string, which is a doubt. Only quoted keys that the schemas know count,
// since a text may contain a bracket and a comma too.
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

// nextString reports whether a string at offset i is joined to the one just read, as Python does:
// f(a='x' 'y'). Of two adjacent quotes, as after a quoted word at the end of a string, the second
// may be the one that ends the value, and then no string follows.
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

// nextItem reports whether an element follows at offset i without a comma, as in ["a" "b"]. It must
// be whole, and be followed by another element or a closer. After unescaped quotes, what looks like
// an element is more likely prose. White space must come before it, since ["a""b"] may have a
// doubled quote.
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

// plainKey reports whether a key follows at offset i without a comma, as in {"a": 1 "b": 2}, where
// only the key shows that the value has ended. A quoted key must be a plain word, or known to the
// schema. A bare word is a key only under the conditions of isKey, since prose contains them too:
// "see "b", and c: d".
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

// joins reports whether a short string that ends a value follows at offset i: the right side of a
// concatenation. A right side that does not end within MaxKey bytes counts as one.
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

// memberFollows reports whether a next member of a container of the kind can begin at offset i,
// after a comma. In {"msg": "Hello, "she" said", …} a word follows the comma, not a key. In a list
// any value can follow a comma, so there the test is weaker, and itemLost notes a doubt.
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

// keyFollows reports whether a key and its colon follow at offset i.
func (a *lookahead) keyFollows(i int) bool { return a.isKey(a.lookForKey(i)) }

// isKey reports whether a possible key is one. A bare word is a key only if a bare key came before
// it, if the family or Python writes keys so, or if the tool has such a parameter. Otherwise the
// string "see "b", and c: d" would end at b. After unescaped quotes in a string, the next quote is
// more likely another of them than the end of the string. So then a quoted key in the outermost
// object must be a parameter, too, unless the schema lists none.
func (a *lookahead) isKey(k aKey) bool {
	t := a.out.Typ
	switch {
	case k.quoted:
		return k.follows && (!a.quotes.inner || len(a.open) != 1 || len(t.Members()) == 0 ||
			t.Has(k.text))
	// keys have quotes here, so a bare key has to be a parameter
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
