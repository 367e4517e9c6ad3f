package lenient

import (
	"slices"
	"strings"

	"toolnorm/adapters/internal/scan"
)

// Text is a text and the current position in it. Its methods examine offsets from that position.
// They consume nothing and record no repairs.
type Text struct {
	scan.Buffer
	style
}

// style says how the arguments of one call are written, for example in Python or with keys without
// quotation marks.
type style struct {
	Quotes     []Delim // the family's own delimiters in {pseudo}; nil in JSON
	Python     bool    // inside a Python call
	Positional bool    // the last value of the Python call has no name
	noColons   bool    // a key without a colon was read
	bareKeys   bool    // a key without quotation marks was read
}

// QuoteAt returns the string delimiter at offset i, and false if there is none. A model family's
// own delimiters come first. QuoteAt is called at nearly every offset, so it looks at one byte
// first: delims begin with one of three quotation marks, with a backslash, or with 0xE2, the first
// byte of all curly quotation marks in UTF-8.
func (x *Text) QuoteAt(i int) (Delim, bool) {
	c := x.At(i)
	if x.Quotes == nil && !scan.IsQuote(c) && c != '\\' && c != 0xE2 {
		return Delim{}, false
	}
	for _, list := range [...][]Delim{x.Quotes, delims} {
		for k := range list {
			if q := &list[k]; int(q.Open[0]) == c && x.Has(i, q.Open) &&
				(q.Open != `"""` && q.Open != `'''` || x.tripled(i)) {
				return *q, true
			}
		}
	}
	return Delim{}, false
}

// tripled reports whether three quotation marks at offset i open a string. They do not in {"a":
// """}, where an empty string and a surplus mark are more likely. As an opening delimiter they
// would swallow the rest.
func (x *Text) tripled(i int) bool {
	n := i + 3
	c := x.At(n)
	return c >= 0 && c != ',' && c != '}' && c != ']' && c != ':'
}

// StartsString reports whether a string delimiter, such as a quotation mark, is at offset n.
// QuoteAt also returns the delimiter.
func (x *Text) StartsString(n int) bool {
	_, ok := x.QuoteAt(n)
	return ok
}

// CommaAt returns the length of the comma at offset i, or 0 if there is none. Besides the ASCII
// comma, those of East Asian and Arabic scripts count. Callers look only outside of strings.
func (x *Text) CommaAt(i int) int {
	if x.At(i) == ',' {
		return 1
	}
	for _, comma := range [...]string{"，", "、", "،"} {
		if x.Has(i, comma) {
			return len(comma)
		}
	}
	return 0
}

// ColonAt returns the length of the colon at offset i, or 0 if there is none. The equals sign of
// Python and the full-width colon of Chinese models count as colons.
func (x *Text) ColonAt(i int) int {
	switch {
	case x.At(i) == ':' || x.At(i) == '=':
		return 1
	case x.Has(i, "："):
		return len("：")
	}
	return 0
}

// Comment returns the length of the comment at offset i, or 0 if there is none. A # opens a comment
// in Python, but in JSON it is as often part of a colour ("#fff") or a heading. So a comment with #
// or // must end with its line, within four times MaxKey bytes, and contain no quotation mark,
// because text with a mark is more likely the rest of a string. A comment with /* that does not end
// within the bound, or before the end of the text, ends there.
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

// oddSpaceAt returns the length of the space at offset i that JSON does not allow between tokens,
// such as a no-break space (see scan.OddSpaces), or 0 if there is none. It does not record a
// repair, because in a text without quotation marks such a space may be data.
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

// closeOf returns the offset of the quotation mark that closes a string whose text begins at offset
// i. Escaped marks do not count. If there is no such mark in the next most bytes, ok is false, and
// n is where these bytes or the text end. The bound makes looking ahead linear, because closeOf may
// be called for each quotation mark of a long text.
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

// wordEnd returns the offset after the word at offset i, which has at most MaxKey bytes. It returns
// i if there is no word. A word consists of word bytes and the bytes in the parameter extra. If
// extra is empty, it consists of all bytes except those in the parameter stops, as keys do in some
// model families.
func (x *Text) wordEnd(i int, extra, stops string) int {
	for n := i; n < i+MaxKey; n++ {
		c := x.At(n)
		if extra != "" && scan.IsWord(c) { // most bytes
			continue
		}
		if c < 0 || strings.IndexByte(stops, byte(c)) >= 0 ||
			extra != "" && strings.IndexByte(extra, byte(c)) < 0 {
			return n
		}
	}
	return i + MaxKey
}

// itemEnd returns the offset after the element of a list at offset i and the white space after it.
// The element must be a string, a number or a word such as true. It returns i if there is none, or
// if its end is too far away. A string ends at the first quotation mark of its kind, because
// callers only ask whether an element is possible.
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

// maxItem bounds how far itemEnd looks for the end of a quoted element, in bytes. A longer element
// is no evidence that a comma before it was lost.
const maxItem = 512

// elementFollows reports whether a value without a key can begin at offset i. A minus sign or a
// digit is enough evidence of a number. Words without quotation marks do not count, other than
// true, false, null and Python's spellings, because any prose after a quotation mark begins with a
// word.
func (x *Text) elementFollows(i int) bool {
	c := x.At(i)
	if _, ok := x.QuoteAt(i); ok || c == '{' || c == '[' || c == '(' || c == '-' ||
		c >= '0' && c <= '9' {
		return true
	}
	// literals of JSON and Python, and dots for "and so on"
	return slices.ContainsFunc([]string{"true", "false", "null", "True", "False", "None", "..."},
		func(w string) bool { return x.Has(i, w) })
}

// aKey is a possible key of a member, found by looking ahead.
type aKey struct {
	text    string
	at      int  // the offset at which it begins
	value   int  // the offset after its colon, or 0 if there is no colon
	quoted  bool // it has an opening quotation mark
	closed  bool // it also has a closing quotation mark
	follows bool // a colon follows, or may follow
}

// lookForKey looks at offset i for a key and the colon after it. A key is a plain word or a quoted
// text. If there is none, the text in the result is "". A key has at most MaxKey bytes, so that a
// quotation mark in a long text costs little. The field follows of the result is true if a colon
// follows. It is also true at the end of the text, where the colon may still come, and if the colon
// of an earlier key was missing, as in {"a" 1}.
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
		k.follows = x.At(n) < 0 // the text is cut inside a possible key
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

// KeyAt returns the key at offset i and the offset after its colon. It returns "" and 0 if there is
// no key with a colon.
func (x *Text) KeyAt(i int) (key string, value int) {
	if k := x.lookForKey(i); k.text != "" && k.value > 0 {
		return k.text, k.value
	}
	return "", 0
}

// closersEnd returns the offset after the closing brackets at offset i and the white space around
// them, or i if there are none.
func (x *Text) closersEnd(i int) int {
	for range maxRun + 1 {
		if !scan.IsCloser(x.At(i)) {
			break
		}
		i += 1 + x.Space(i+1)
	}
	return i
}

// maxRun bounds how many closing brackets in a row closersEnd examines, so that the time is linear.
const maxRun = 8
