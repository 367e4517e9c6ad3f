package lenient

import (
	"strings"

	"toolnorm/adapters/internal/scan"
)

// Text is a text that is looked at by offsets from where it is read. Its methods take nothing of it
// and note nothing.
type Text struct {
	scan.Buffer
	style
}

// style is how the arguments of one call are written.
type style struct {
	Quotes     []Delim // delimiters of {pseudo}; nil in JSON
	Python     bool    // inside a Python call
	Positional bool    // the last value of the Python call has no name
	noColons   bool    // a key without a colon was seen
	bareKeys   bool    // a key without quotes was seen
}

// QuoteAt finds the string delimiter that stands at offset i. A family's own come first. It looks
// at one byte before it compares anything, since it is asked nearly everywhere: JSON's delims begin
// with one of three quotes, with a backslash, or with 0xE2, as all curly ones do in UTF-8.
func (x *Text) QuoteAt(i int) (Delim, bool) {
	c := x.At(i)
	if x.Quotes == nil && !scan.IsQuote(c) && c != '\\' && c != 0xE2 {
		return Delim{}, false
	}
	for _, list := range [...][]Delim{x.Quotes, delims} {
		for k := range list {
			if q := &list[k]; int(q.Open[0]) == c && x.Has(i, q.Open) && (q.Open != `"""` && q.Open != `'''` || x.tripled(i)) {
				return *q, true
			}
		}
	}
	return Delim{}, false
}

// tripled reports whether three quotes open a string rather than being an empty one and a third.
// {"a": """} would otherwise swallow the rest: the empty string and a quote too many are more
// likely there.
func (x *Text) tripled(i int) bool {
	n := i + 3
	c := x.At(n)
	return c >= 0 && c != ',' && c != '}' && c != ']' && c != ':'
}

// StartsString reports whether a string begins at offset n. It is QuoteAt for callers that do not
// mind which quote it is.
func (x *Text) StartsString(n int) bool {
	_, ok := x.QuoteAt(n)
	return ok
}

// CommaAt returns the length of the comma at offset i, which is the plain one or the full-width one
// of Chinese models, or 0 when there is none. Inside strings the latter is text.
func (x *Text) CommaAt(i int) int {
	if x.At(i) == ',' {
		return 1
	}
	if x.Has(i, "，") {
		return len("，")
	}
	return 0
}

// ColonAt returns the length of what stands for a colon at offset i, or 0 when nothing does: a
// colon, the equals sign of Python, or the full-width colon of Chinese models.
func (x *Text) ColonAt(i int) int {
	switch {
	case x.At(i) == ':' || x.At(i) == '=':
		return 1
	case x.Has(i, "："):
		return len("：")
	}
	return 0
}

// Comment returns the length of the comment at offset i, or 0 when there is none. A # opens one as
// in Python, which in JSON text is a colour ("#fff") or a heading as often. So it must end its
// line, within four times MaxKey bytes, and hold no quote: what quotes something is more likely the
// rest of a string. A comment of two signs that does not end within the bound ends there, and one
// that the text's end cuts ends with it.
func (x *Text) Comment(i int) int {
	line := x.At(i) == '#' || x.Has(i, "//")
	if !line && !x.Has(i, "/*") {
		return 0
	}
	for n := 1; n < 4*MaxKey; n++ {
		switch c := x.At(i + n); {
		case line && c == '\n':
			return n + 1
		case line && (c < 0 || scan.IsQuote(c)):
			return 0
		case c < 0:
			return n
		case !line && n > 1 && x.Has(i+n, "*/"):
			return n + 2
		}
	}
	if line {
		return 0
	}
	return 4 * MaxKey
}

// oddSpaceAt returns the length of the odd space at offset i, or 0 when there is none. It looks
// only: a phrase without quotes may hold a no-break space, which is not a repair.
func (x *Text) oddSpaceAt(i int) int {
	if x.At(i) < 0x80 {
		return 0
	}
	for _, s := range scan.OddSpaces {
		if x.Has(i, s) {
			return len(s)
		}
	}
	return 0
}

// closeOf returns the offset of the quote that closes a string whose text begins at offset i, at
// most that many bytes on; what is escaped closes nothing. Without one it is where the text ended,
// or the bound, and ok is false. The bound is what keeps looking ahead linear: each quote of a long
// text may be asked about.
func (x *Text) closeOf(i int, quote string, most int) (n int, ok bool) {
	for n = i; n < i+most && x.At(n) >= 0; n++ {
		if x.Has(n, quote) {
			return n, true
		}
		if x.At(n) == '\\' && x.At(n+1) >= 0 {
			n++
		}
	}
	return n, false
}

// wordEnd returns the offset after the word at offset i, up to MaxKey bytes: what can occur in a
// name, and the bytes of also; where also is empty, everything but the bytes of stops, as some
// families write their keys.
func (x *Text) wordEnd(i int, also, stops string) int {
	for n := i; n < i+MaxKey; n++ {
		c := x.At(n)
		if also != "" && scan.IsWord(c) { // as nearly all are
			continue
		}
		if c < 0 || strings.IndexByte(stops, byte(c)) >= 0 || also != "" && strings.IndexByte(also, byte(c)) < 0 {
			return n
		}
	}
	return i + MaxKey
}

// itemEnd returns the offset after the string, number or literal at offset i and the white space
// that follows it, or i when there is none or its end is far. It knows nothing of quotes inside:
// the first closing one ends the element, since it is only asked whether one could be there.
func (x *Text) itemEnd(i int) int {
	n := i
	if q, ok := x.QuoteAt(i); ok {
		if n, ok = x.closeOf(i+len(q.Open), q.Close, maxItem); !ok {
			return i
		}
		n += len(q.Close)
	} else {
		n = x.wordEnd(i, "+-.", "")
		if _, ok := parseLiteral(string(x.Slice(x.Pos+i, x.Pos+n))); !ok {
			return i
		}
	}
	return n + x.Space(n)
}

// maxItem bounds how far is looked for the end of an element, in bytes.
// A longer element than that is no reason to believe that a comma was lost in front of it.
const maxItem = 512

// elementFollows reports whether a value that has no name can begin at offset i. Bare words do not
// count: they are what prose after a quote is made of. A minus sign or a digit is enough: which
// number it is, its own reader finds out.
func (x *Text) elementFollows(i int) bool {
	c := x.At(i)
	if _, ok := x.QuoteAt(i); ok || c == '{' || c == '[' || c == '(' || c == '-' || c >= '0' && c <= '9' {
		return true
	}
	// literals of JSON and Python, and dots for "and so on"
	for _, w := range []string{"true", "false", "null", "True", "False", "None", "..."} {
		if x.Has(i, w) {
			return true
		}
	}
	return false
}

// aKey is what may be a member's key and was only looked at: nothing is consumed, and no repair is
// noted.
type aKey struct {
	text    string
	at      int  // the offset where it stands
	value   int  // the offset behind its colon; 0: none follows
	quoted  bool // it begins with a quote
	closed  bool // and is closed
	follows bool // a colon does follow, or nothing says that it would not
}

// lookForKey looks for a key at offset i, a plain word or a quoted text, and the colon behind it. A
// key is at most MaxKey bytes long, so that a quote in a long text costs no more. Behind a text
// that is cut a colon may follow as well, and where a key had none before, {"a" 1}, others may lack
// theirs too: then a closing quote is enough.
func (x *Text) lookForKey(i int) (k aKey) {
	k.at = i
	q, quoted := x.QuoteAt(i)
	from := i + len(q.Open)
	n := from
	if k.quoted = quoted; quoted {
		n, k.closed = x.closeOf(from, q.Close, MaxKey)
	} else {
		n = x.wordEnd(from, "-", "")
	}
	k.text = string(x.Slice(x.Pos+from, x.Pos+n))
	if quoted != k.closed {
		k.follows = x.At(n) < 0 // cut inside what looks like a key
		return k
	}
	n += len(q.Close)
	n += x.Space(n)
	if size := x.ColonAt(n); size > 0 {
		k.value = n + size
	}
	k.follows = k.value > 0 || x.At(n) < 0 || x.noColons
	return k
}

// KeyAt returns the key at offset i that a colon follows, and the offset after that, or 0 where
// there is none.
func (x *Text) KeyAt(i int) (key string, value int) {
	if k := x.lookForKey(i); k.text != "" && k.value > 0 {
		return k.text, k.value
	}
	return "", 0
}

// closersEnd returns the offset after the closer at offset i, those that follow it, and white
// space.
func (x *Text) closersEnd(i int) int {
	for range maxRun + 1 {
		if !scan.IsCloser(x.At(i)) {
			break
		}
		i += 1 + x.Space(i+1)
	}
	return i
}

// maxRun bounds how many closers in a row are looked at, so that time is linear.
// A longer run is read as if nothing followed it.
const maxRun = 8
