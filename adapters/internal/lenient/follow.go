package lenient

import (
	"bytes"
	"strings"

	"toolnorm/adapters/internal/scan"
)

// MaxKey bounds how far is looked for a key behind a quote, in bytes.
const MaxKey = 128

// closes says whether a quote closes its string: whether what stands at offset i, behind it, can follow a value. Every
// closing quote of valid JSON passes; an inner quote of prose or code does not.
// The rule is the opposite of what a parser does: it does not say what a quote is, but whether the text goes on as it must if
// it were the end. So no valid JSON is changed, and {"say": "a "b" c"} still has one reading.
func (r *Reader) closes(i int) bool {
	if r.inKey { // no key holds a quote, and what follows one is a colon or a slip of its own
		return true
	}
	defer r.Out.UnseeEnd()()
	return r.valueFollows(i)
}

// valueFollows says whether what stands at offset i can follow a value of the innermost container.
// It climbs out of the containers as their closers come: behind "Rome"}}, only a member of the object around them can stand.
// Outside of all, the recogniser says what may follow (Outside.CallEnds).
func (r *Reader) valueFollows(i int) bool {
	for depth := len(r.stack); depth > 0; depth-- {
		i += r.Space(i)
		c := r.At(i)
		kind := r.stack[depth-1].kind
		switch {
		case c < 0:
			// the text ends: with this quote, as far as anybody knows
			return true
		case r.CommaAt(i) > 0:
			// …", "days": 3: what stands behind the comma must be a member
			return r.memberFollows(i+r.CommaAt(i), kind)
		case scan.IsCloser(c):
			// …"]} closes from here outwards
			open := depth
			if depth = r.openedBy(c, open) + 1; depth == 0 {
				return r.behindSurplus(i, open)
			}
			i++
		case c == '+':
			// "x" + "y"
			return r.joins(i + 1)
		case c == '/' || c == '#':
			// …" // the town
			return r.Comment(i) > 0
		case kind != '{':
			// a list, a set, a Python call: a comma may be missing
			return r.IsMark(i) || r.nextString(i) || kind != CallArgs && r.nextItem(i)
		default:
			// an object: so may one here, in front of a key
			return r.plainKey(i) || r.IsMark(i)
		}
	}
	return r.argumentsEnd(i)
}

// behindSurplus says whether what stands behind the closers at offset i, the first of which closes none of the containers up
// to open, can follow a value: a member that their schemas know, or the end.
// In {"a": "x"], "b": 1} the bracket closes nothing, and the quote in front is an end all the same, since a parameter follows.
// Where the text has a bracket open, "run [a"], the closer may be the text's: a doubt.
// Only parameters that the schema names count here, and only quoted ones, since a text may hold a bracket and a comma too.
func (r *Reader) behindSurplus(i, open int) bool {
	i = r.closersEnd(i)
	if r.At(i) != ',' {
		return r.At(i) < 0 || r.IsMark(i)
	}
	i += 1 + r.Space(i+1)
	key, _ := r.KeyAt(i)
	parameter := r.StartsString(i) && known(key, r.stack[:open])
	r.doubt(parameter && bytes.ContainsAny(r.behind(), "[{(")) // the closer may be that of a bracket inside
	return parameter
}

// nextString says whether in Python a string that is joined to the one just read stands at offset i. A quote that can close
// the value is no opening one.
// f(a='x' 'y') joins them as Python does. Of two quotes that touch, as behind a quoted word at a string's end, the second ends
// the value.
func (r *Reader) nextString(i int) bool {
	q, ok := r.QuoteAt(i)
	if !ok || !r.Python {
		return false
	}
	end := i + len(q.Open)
	if r.At(i-1) == r.At(i) && !r.StartsString(end+r.Space(end)) && r.valueFollows(end) {
		return false
	}
	return r.joins(i)
}

// nextItem says whether an element stands at offset i, behind white space, although no comma does: a whole one that another
// element or a closer follows. Behind quotes that are not escaped, what looks like one is more likely prose.
// ["a" "b"] lost its comma. White space must stand between, since ["a""b"] may be a doubled quote.
func (r *Reader) nextItem(i int) bool {
	if r.inner || !scan.IsSpace(r.At(i-1)) {
		return false
	}
	// ["a" {"b": 1}]
	if c := r.At(i); c == '{' || c == '[' {
		return true
	}
	if key, value := r.KeyAt(i); value > 0 {
		return known(key, r.stack)
	}
	n := r.itemEnd(i)
	return n > i && (r.At(n) == ',' || scan.IsCloser(r.At(n)) || r.StartsString(n) && scan.IsSpace(r.At(n-1)))
}

// maxItem bounds how far is looked for the end of an element, in bytes.
// A longer element than that is no reason to believe that a comma was lost in front of it.
const maxItem = 512

// itemEnd is the offset behind the string, number or literal at offset i and the white space behind it; i when none stands
// there or its end is far.
// It knows nothing of quotes inside: the first closing one ends the element, since it is only asked whether one could stand
// here.
func (r *Reader) itemEnd(i int) int {
	n := i
	if q, ok := r.QuoteAt(i); ok {
		if n, ok = r.closeOf(i+len(q.Open), q.Close, maxItem); !ok {
			return i
		}
		n += len(q.Close)
	} else {
		n = r.wordEnd(i, "+-.", "")
		if _, ok := parseLiteral(string(r.Slice(r.Pos+i, r.Pos+n))); !ok {
			return i
		}
	}
	return n + r.Space(n)
}

// Comment is the length of the comment that stands at offset i, 0 when none does.
// A # opens one as in Python, which in JSON text is a colour ("#fff") or a heading as often. So it must end its line, within
// four times MaxKey bytes, and hold no quote: what quotes something is more likely the rest of a string. One of two signs
// that does not end within the bound ends there, and one that the text's end cuts ends with it.
func (r *Reader) Comment(i int) int {
	line := r.At(i) == '#' || r.Has(i, "//")
	if !line && !r.Has(i, "/*") {
		return 0
	}
	for n := 1; n < 4*MaxKey; n++ {
		switch c := r.At(i + n); {
		case line && c == '\n':
			return n + 1
		case line && (c < 0 || scan.IsQuote(c)):
			return 0
		case c < 0:
			return n
		case !line && n > 1 && r.Has(i+n, "*/"):
			return n + 2
		}
	}
	if line {
		return 0
	}
	return 4 * MaxKey
}

// plainKey says whether a key stands at offset i although no comma does: it must be a plain word, quoted or not.
// {"a": 1 "b": 2}: after a value that lost its comma, only a key says that the value has ended. Prose does not have one:
// "see "b", and c: d" needs a bare key before it is believed (keyFollows).
func (r *Reader) plainKey(i int) bool {
	c := r.At(i)
	if c != '"' && c != '\'' {
		return r.keyFollows(i)
	}
	k := r.lookForKey(i)
	plain := k.closed && strings.TrimFunc(k.text, func(c rune) bool { return scan.IsWord(int(c)) || c == '-' || c == '.' }) == ""
	return k.text != "" && (k.value > 0 && known(k.text, r.stack) || k.follows && plain)
}

// joins says whether a short string that ends a value stands at offset i: the right side of a concatenation.
// A right side that does not end within MaxKey bytes is believed: closing at every plus sign in a program text is worse.
func (r *Reader) joins(i int) bool {
	i += r.Space(i)
	q, ok := r.QuoteAt(i)
	if !ok {
		return false
	}
	n, ok := r.closeOf(i+len(q.Open), q.Close, MaxKey)
	if !ok {
		return true
	}
	n += len(q.Close)
	next := n + r.Space(n)
	return r.At(next) == '+' || r.Python && r.StartsString(next) || r.valueFollows(n) // a chain is believed, or looking ahead has no end
}

// closeOf is the offset of the quote that closes a string whose text begins at offset i, at most that many bytes on; what is
// escaped closes nothing. Without one it is where the text ended, or the bound.
// The bound is what keeps looking ahead linear: each quote of a long text may be asked about.
func (r *Reader) closeOf(i int, quote string, most int) (n int, ok bool) {
	for n = i; n < i+most && r.At(n) >= 0; n++ {
		if r.Has(n, quote) {
			return n, true
		}
		if r.At(n) == '\\' && r.At(n+1) >= 0 {
			n++
		}
	}
	return n, false
}

// CommaAt is the length of the comma at offset i, which is the plain or the full-width one of Chinese models; 0: none stands
// there. Inside strings the latter is text.
func (r *Reader) CommaAt(i int) int {
	if r.At(i) == ',' {
		return 1
	}
	if r.Has(i, "，") {
		return len("，")
	}
	return 0
}

// memberFollows says whether a next member of a container of the kind can stand at offset i, behind a comma.
// {"msg": "Hello, "she" said", …}: behind the comma in such a text stands a word, not a key. In a list any value may stand,
// so there the test is weaker, and a doubt takes over (itemLost).
func (r *Reader) memberFollows(i int, kind byte) bool {
	i += r.Space(i)
	for r.At(i) == ',' || r.Comment(i) > 0 { // "Nice", // the town⏎"days": 5
		i += max(1, r.Comment(i))
		i += r.Space(i)
	}
	if r.At(i) < 0 || scan.IsCloser(r.At(i)) { // a trailing comma
		return true
	}
	k := r.lookForKey(i)
	if k.value > 0 && known(k.text, r.stack) {
		return true
	}
	if kind == '{' || kind == CallArgs {
		return r.isKey(k) || kind == CallArgs && r.Positional && r.elementFollows(i)
	}
	return r.elementFollows(i)
}

// elementFollows says whether a value that has no name can stand at offset i.
// Bare words do not count: they are what prose behind a quote is made of.
// A sign of minus or a digit is enough: which number it is, its own reader finds out.
func (r *Reader) elementFollows(i int) bool {
	c := r.At(i)
	if _, ok := r.QuoteAt(i); ok || c == '{' || c == '[' || c == '(' || c == '-' || c >= '0' && c <= '9' {
		return true
	}
	// literals of JSON and Python, and dots for "and so on"
	for _, w := range []string{"true", "false", "null", "True", "False", "None", "..."} {
		if r.Has(i, w) {
			return true
		}
	}
	return false
}

// keyFollows says whether a key and its colon stand at offset i.
func (r *Reader) keyFollows(i int) bool { return r.isKey(r.lookForKey(i)) }

// isKey says whether what may be a key is one.
// A bare word is a key only where one was bare before, the family or Python writes them so, or the tool knows it. Without
// this, "see "b", and c: d" would end at b. Where a string has shown quotes that are not escaped, the next one is more likely
// one of them than its end: then a quoted key must be a parameter, too, unless no schema could confirm any.
func (r *Reader) isKey(k aKey) bool {
	t := r.Out.Typ
	switch {
	case k.quoted:
		return k.follows && (!r.inner || len(r.stack) != 1 || len(t.Members()) == 0 || t.Has(k.text))
	// quotes are the rule here: a bare key has to be a parameter
	case r.Quotes == nil && !r.bareKeys && !r.Python:
		return k.value > 0 && t.Has(k.text)
	}
	also := "- "
	if r.Quotes != nil {
		also = ""
	}
	n := r.wordEnd(k.at, also, ":=,}\n\"")
	c := r.At(n)
	return c < 0 || n > k.at && (c == ':' || c == '=') // cut inside what looks like a key, or a key
}

// wordEnd is the offset behind the word at offset i, up to MaxKey bytes: what can stand in a name, and the bytes of also;
// where also is empty, everything but the bytes of stops, as some families write their keys.
func (r *Reader) wordEnd(i int, also, stops string) int {
	for n := i; n < i+MaxKey; n++ {
		c := r.At(n)
		if also != "" && scan.IsWord(c) { // as nearly all are
			continue
		}
		if c < 0 || strings.IndexByte(stops, byte(c)) >= 0 || also != "" && strings.IndexByte(also, byte(c)) < 0 {
			return n
		}
	}
	return i + MaxKey
}

// aKey is what may be a member's key and was only looked at: nothing is consumed, and no repair is noted.
type aKey struct {
	text    string
	at      int  // the offset where it stands
	value   int  // the offset behind its colon; 0: none follows
	quoted  bool // it begins with a quote
	closed  bool // and is closed
	follows bool // a colon does follow, or nothing says that it would not
}

// lookForKey looks for a key at offset i, a plain word or a quoted text, and the colon behind it.
// A key is at most MaxKey bytes long, so that a quote in a long text costs no more. Behind a text that is cut a colon may
// follow as well, and where a key had none before, {"a" 1}, others may lack theirs too: then a closing quote is enough.
func (r *Reader) lookForKey(i int) (k aKey) {
	k.at = i
	q, quoted := r.QuoteAt(i)
	from := i + len(q.Open)
	n := from
	if k.quoted = quoted; quoted {
		n, k.closed = r.closeOf(from, q.Close, MaxKey)
	} else {
		n = r.wordEnd(from, "-", "")
	}
	k.text = string(r.Slice(r.Pos+from, r.Pos+n))
	if quoted != k.closed {
		k.follows = r.At(n) < 0 // cut inside what looks like a key
		return k
	}
	n += len(q.Close)
	n += r.Space(n)
	if size := r.ColonAt(n); size > 0 {
		k.value = n + size
	}
	k.follows = k.value > 0 || r.At(n) < 0 || r.noColons
	return k
}

// KeyAt is the key at offset i behind which a colon stands, and the offset behind that; 0 where there is none.
func (r *Reader) KeyAt(i int) (key string, value int) {
	if k := r.lookForKey(i); k.text != "" && k.value > 0 {
		return k.text, k.value
	}
	return "", 0
}

// ColonAt is the length of what stands for a colon at offset i, 0 when nothing does. What stands for it: the sign of
// equality of Python, and the full-width colon of Chinese models.
func (r *Reader) ColonAt(i int) int {
	switch {
	case r.At(i) == ':' || r.At(i) == '=':
		return 1
	case r.Has(i, "："):
		return len("：")
	}
	return 0
}

// StartsString says whether a string begins at offset n.
// It is QuoteAt for those who do not mind which quote it is.
func (r *Reader) StartsString(n int) bool {
	_, ok := r.QuoteAt(n)
	return ok
}
