package lenient

import (
	"bytes"
	"strings"

	"toolnorm/adapters/internal/scan"
)

// MaxKey bounds how far is looked for a key behind a quote, in bytes.
const MaxKey = 128

// lookahead looks at what follows the place that is read, in the containers that are open there. It
// consumes nothing; where what follows can be read in two ways it notes a doubt.
type lookahead struct {
	*Text
	out     *Output
	open    stack
	outside Outside
	quotes  *quotes // of the string that is read
}

// isMark reports whether a mark that can end or follow a call stands at offset i. A fence ends what
// is open. A fence counts inside a container only: at its end the model has stopped writing the
// call, whatever is still open.
func (a *lookahead) isMark(i int) bool {
	return a.outside != nil && a.outside.CallMark(i) || len(a.open) > 0 && a.Has(i, "```")
}

// argumentsEnd reports whether the text at offset i can follow the arguments as a whole; after a
// document anything can.
func (a *lookahead) argumentsEnd(i int) bool { return a.outside == nil || a.outside.CallEnds(i) }

// valueFollows reports whether the text at offset i can follow a value of the innermost container.
// It climbs out of the containers as their closers come: after "Rome"}}, only a member of the
// object around them is possible. Outside of all, the recogniser says what may follow
// (Outside.CallEnds).
func (a *lookahead) valueFollows(i int) bool {
	for depth := len(a.open); depth > 0; depth-- {
		i += a.Space(i)
		c := a.At(i)
		kind := a.open[depth-1].kind
		switch {
		case c < 0:
			// the text ends: with this quote, as far as anybody knows
			return true
		case a.CommaAt(i) > 0:
			// …", "days": 3: what stands behind the comma must be a member
			return a.memberFollows(i+a.CommaAt(i), kind)
		case scan.IsCloser(c):
			// …"]} closes from here outwards
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
			// an object: so may one here, in front of a key
			return a.plainKey(i) || a.isMark(i)
		}
	}
	return a.argumentsEnd(i)
}

// behindSurplus reports whether the text after the closers at offset i, the first of which closes
// none of the containers up to open, can follow a value: a member that their schemas know, or the
// end. In {"a": "x"], "b": 1} the bracket closes nothing, and the quote before it is an end all the
// same, since a parameter follows. Where the text has a bracket open, "run [a"], the closer may be
// the text's: a doubt. Only parameters that the schema names count here, and only quoted ones,
// since a text may hold a bracket and a comma too.
func (a *lookahead) behindSurplus(i, open int) bool {
	i = a.closersEnd(i)
	if a.At(i) != ',' {
		return a.At(i) < 0 || a.isMark(i)
	}
	i += 1 + a.Space(i+1)
	key, _ := a.KeyAt(i)
	parameter := a.StartsString(i) && a.open[:open].knows(key)
	a.out.doubt(parameter && bytes.ContainsAny(a.quotes.behind(a.Text), "[{(")) // the closer may be that of a bracket inside
	return parameter
}

// nextString reports whether a string at offset i is joined to the one just read, as Python does:
// f(a='x' 'y'). A quote that can close the value is not an opening one: of two quotes that touch,
// as after a quoted word at a string's end, the second ends the value.
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

// nextItem reports whether an element follows at offset i, after white space, although no comma
// does: a whole one that another element or a closer follows. After quotes that are not escaped,
// what looks like an element is more likely prose. ["a" "b"] lost its comma. White space must come
// between, since ["a""b"] may be a doubled quote.
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
	return n > i && (a.At(n) == ',' || scan.IsCloser(a.At(n)) || a.StartsString(n) && scan.IsSpace(a.At(n-1)))
}

// plainKey reports whether a key follows at offset i although no comma does: it must be a plain
// word, quoted or not. {"a": 1 "b": 2}: after a value that lost its comma, only a key says that the
// value has ended. Prose does not have one: "see "b", and c: d" needs a bare key before it is
// believed (keyFollows).
func (a *lookahead) plainKey(i int) bool {
	c := a.At(i)
	if c != '"' && c != '\'' {
		return a.keyFollows(i)
	}
	k := a.lookForKey(i)
	plain := k.closed && strings.TrimFunc(k.text, func(c rune) bool { return scan.IsWord(int(c)) || c == '-' || c == '.' }) == ""
	return k.text != "" && (k.value > 0 && a.open.knows(k.text) || k.follows && plain)
}

// joins reports whether a short string that ends a value follows at offset i: the right side of a
// concatenation. A right side that does not end within MaxKey bytes is believed: closing at every
// plus sign in a program text is worse.
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
	return a.At(next) == '+' || a.Python && a.StartsString(next) || a.valueFollows(n) // a chain is believed, or looking ahead has no end
}

// memberFollows reports whether a next member of a container of the kind can begin at offset i,
// after a comma. {"msg": "Hello, "she" said", …}: a word follows the comma in such a text, not a
// key. In a list any value is possible, so there the test is weaker, and a doubt takes over
// (itemLost).
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

// isKey reports whether what may be a key is one. A bare word is a key only where one was bare
// before, the family or Python writes them so, or the tool knows it. Without this, "see "b", and c:
// d" would end at b. Where a string has shown quotes that are not escaped, the next one is more
// likely one of them than its end: then a quoted key must be a parameter, too, unless no schema
// could confirm any.
func (a *lookahead) isKey(k aKey) bool {
	t := a.out.Typ
	switch {
	case k.quoted:
		return k.follows && (!a.quotes.inner || len(a.open) != 1 || len(t.Members()) == 0 || t.Has(k.text))
	// quotes are the rule here: a bare key has to be a parameter
	case a.Quotes == nil && !a.bareKeys && !a.Python:
		return k.value > 0 && t.Has(k.text)
	}
	also := "- "
	if a.Quotes != nil {
		also = ""
	}
	n := a.wordEnd(k.at, also, ":=,}\n\"")
	c := a.At(n)
	return c < 0 || n > k.at && (c == ':' || c == '=') // cut inside what looks like a key, or a key
}
