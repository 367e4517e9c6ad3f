package lenient

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"toolnorm/adapters/internal/scan"
	"toolnorm/chat"
	"toolnorm/chat/schema"
)

// Delim is a pair of delimiters around a string, such as quotation marks. A raw string has no
// escapes. Stops has the bytes at which copying stops, for one look-up for each byte.
type Delim struct {
	Open, Close string
	Raw         bool
	Stops       *[256]bool // bytes in the string that are not simply copied
	Angles      bool       // copying also stops at « and ＜
}

// StopsFor returns the table of bytes at which copying a string stops. Every string stops at
// control bytes and the double quotation mark, which JSON has to escape, at the backslash, and at
// bytes of longer runes, which may be damaged. The parameter extra has the first bytes of closing
// delimiters.
func StopsFor(extra string) *[256]bool {
	t := new([256]bool)
	for c := range t {
		t[c] = c < ' ' || c == '"' || c == '\\' || c >= 0x80
	}
	for i := range len(extra) {
		t[extra[i]] = true
	}
	return t
}

// newDelim returns a pair of delimiters around strings. Copying stops at the bytes that stop every
// string (see StopsFor), and at the first byte of closer. A raw string has no escapes.
func newDelim(open, closer string, raw bool) Delim {
	return Delim{Open: open, Close: closer, Raw: raw, Stops: StopsFor(closer[:1])}
}

// delims are the string delimiters of sloppy JSON. A longer one comes before any that it begins
// with.
var delims = []Delim{
	newDelim(`"""`, `"""`, false), // {"c": """a "b" c"""}
	newDelim(`'''`, `'''`, false), // the same in Python
	newDelim(`"`, `"`, false),
	newDelim(`'`, `'`, false), // {'city': 'Rome'}
	newDelim("`", "`", false), // {"c": `say "x"`}, as in JavaScript
	// {\"a\": \"x\"}: an object that was escaped as if it were in a string
	newDelim(`\"`, `\"`, false),
	newDelim("“", "”", false), // {“city”: “Bonn”}
	newDelim("‘", "’", false), // {‘city’: ‘Bonn’}
	newDelim("„", "“", false), // the German pair
}

// DelimsOf returns the string delimiters of more than one byte in quotes, which is the quote line
// of a model family. For example, FunctionGemma writes <escape>text<escape>, and the delimiter of
// Gemma 4 is <|"|>. Strings between them have no escapes, and every quotation mark in them is text.
// Delimiters of one byte are left out, because delims has them. The result is nil only if quotes is
// nil. Any other result, even an empty one, allows keys without marks and Python's None.
func DelimsOf(quotes []string) []Delim {
	if quotes == nil {
		return nil
	}
	own := make([]Delim, 0, len(quotes))
	for _, q := range quotes {
		if len(q) > 1 {
			own = append(own, newDelim(q, q, true))
		}
	}
	return own
}

// StringValue reads a string and writes it in the type t. If t allows any string, it is sent while
// it is read, as the content of a file is. Otherwise it is held back until it is converted: "3" for
// an integer becomes 3, and for an enum "Celsius" becomes the listed "celsius". If t allows no
// string, a string with quotation marks in it may be several values (Output.Doubt).
func (r *Reader) StringValue(q Delim, t *schema.Type) {
	if t.Allows(schema.String) && t.Enum() == nil {
		r.copyText(q)
		return
	}
	at := r.HoldOn()
	r.strings().copyString(q)
	value := string(r.Held(at))
	r.Out.doubt(r.quotes.quoted > 0 && !t.Allows(schema.String)) // perhaps several values
	if !r.Out.Broken {
		if fits := fit(value, t, r.open.inList()); fits != value {
			r.TakeBack(at)
			r.Put(fits)
			r.Repaired("types")
			// perhaps the first element of a list
			r.Out.doubt(r.At(r.Space(0)) == ']' && !r.open.inList())
		}
	}
	r.HoldOff()
}

// fit converts a string, a number, or a word such as true to a type that the schema allows, if its
// text is a value of that type. Otherwise it returns the value unchanged. An object or a list in a
// string, as in {"where": "{\"city\": \"Rome\"}"}, may have errors, but must be complete, because
// half an object would be another one. A value that fits the elements of a list becomes a list of
// one element, [3] for {"ids": 3}. If its text may list several elements, it does not: "bug, ui"
// remains a string, which the schema check refuses. If inList is true, the value is an element of a
// list and does not become a list itself.
func fit(value string, t *schema.Type, inList bool) string {
	if fits := t.Fit(value); fits != value || t.Allows(schema.KindOf(value)) {
		return fits
	}
	inner := scan.Unquote(value)
	if inner != "" && (inner[0] == '{' && t.Allows(schema.Object) ||
		inner[0] == '[' && t.Allows(schema.Array)) {
		if out, whole := RepairAs(inner, t); whole {
			return out
		}
	}
	if !inList && t.Only(schema.Array|schema.Null) && value != "null" && !t.Endless() &&
		!several(inner) {
		if item := fit(value, t.Item(), true); t.Item().Allows(schema.KindOf(item)) {
			return "[" + item + "]"
		}
	}
	return value
}

// several reports whether a text may list more than one thing. A text with a comma may be one
// thing, as Rome, Italy, or two. Callers do not convert such a text, and the model is asked again.
func several(text string) bool {
	return strings.ContainsAny(strings.TrimSpace(text), ",;|\n[]{}<>、，；")
}

// stringReader reads one string in the arguments of a call and writes it as a JSON string.
type stringReader struct {
	*copier
	*quotes
	ahead *lookahead
}

// copyString reads a string and writes it as a JSON string. If the text ends inside the string, the
// call is cut. Whether a quotation mark closes the string is decided by closes, from the text after
// it. Delimiters other than the double mark are recorded as a repair, except for Python's single
// mark and the model family's own. A Windows path is recognised at its first bytes, for the whole
// string, because in the middle of a text the \t of C:\temp looks like a tab.
func (s *stringReader) copyString(q Delim) {
	own := len(s.Quotes) > 0 && q.Open == s.Quotes[0].Open || s.Python && q.Open == `'`
	if q.Open != `"` && !own {
		s.Repaired("quotes")
	}
	s.Pos += len(q.Open)
	s.PutByte('"')
	s.inner, s.quoted, s.escaped, s.at = false, 0, 0, s.Pos
	path := !q.Raw && s.windowsPath()
	for {
		s.CopyPlain(q)
		c, closer := s.At(0), s.Has(0, q.Close)
		switch {
		case c < 0:
			s.Out.Broken = true
			s.Repaired("truncated")
			s.PutByte('"')
			return
		case closer && s.closes(len(q.Close)):
			s.Pos += len(q.Close)
			s.Out.doubt(s.quotesDoubted())
			next, joined := s.joined()
			if !joined {
				s.PutByte('"')
				return
			}
			q = next
		case closer && !q.Raw && s.doubledQuote(q):
			s.Pos += len(q.Close)
			s.Repaired("extra-closer")
		case closer && !q.Raw:
			s.innerQuote(q)
		case c == '\\' && (q.Raw || path): // C:\temp: doubled, or it would become a tab
			s.Out.doubt(path && s.At(1) == '\\' && s.Pos > s.at) // C:\a\\b: not all are doubled
			s.Put(`\\`)
			s.Pos++
			if path {
				s.Repaired("paths")
			}
		case c == '\\':
			s.escape()
		case c >= 0x80: // may be cut, or not UTF-8
			s.Rune()
		case c == '"': // text in a string of another kind: {'a': 'say "x"'}
			s.Put(`\"`)
			s.Pos++
		case c < ' ': // a line break inside quotes, where JSON wants \n
			s.Out.JSON = chat.AppendEscaped(s.Out.JSON, string(rune(c)))
			s.Pos++
			if !q.Raw {
				s.Repaired("control-bytes")
			}
		default:
			s.Out.doubt(closer && s.Quotes != nil) // no text contains the family's own delimiter
			s.PutByte(byte(c))
			s.Pos++
		}
	}
}

// CopyPlain copies the bytes up to the next one that needs a decision. Whole UTF-8 runes are copied
// as well, unless the string's closing delimiter begins with a byte beyond ASCII, as ” does. A rune
// that is incomplete in the buffer is left to Rune, which waits for the rest of it.
func (cp *copier) CopyPlain(q Delim) {
	w := cp.Window()
	i := 0
	for i < len(w) {
		if c := w[i]; !q.Stops[c] {
			i++
			continue
		} else if c < utf8.RuneSelf || q.Close[0] >= utf8.RuneSelf {
			break
		}
		r, n := utf8.DecodeRune(w[i:])
		if n == 1 || q.Angles && (r == '«' || r == '＜') { // a rune that is cut, or an invalid byte
			break
		}
		i += n
	}
	cp.putBytes(w[:i])
	cp.Pos += i
}

// Rune copies one character, or replaces one invalid byte by U+FFFD. It waits for more bytes while
// those in the buffer begin a rune, so chunk borders never damage a character. Models with byte
// tokens write half a character when they are cut, and strict JSON readers refuse such bytes.
func (cp *copier) Rune() {
	w := cp.Window()
	for n := len(w); !utf8.FullRune(w) && cp.At(n) >= 0; n++ {
		w = cp.Window()
	}
	_, n := utf8.DecodeRune(w)
	if n == 1 {
		cp.Put("\uFFFD")
		cp.Pos++
		cp.Repaired("utf-8")
		return
	}
	cp.putBytes(w[:n])
	cp.Pos += n
}

// windowsPath reports whether the string that begins here is a path whose backslashes are not
// doubled. JSON has the escapes \n \t \b \f \r \u, so only the beginning of the string is evidence:
// a drive and :\, or \\host\. In C:\\temp the first backslash is doubled, so there is nothing to
// repair. A beginning such as "d:\n", which may be an escape, counts if the drive is a common one
// and a small letter follows.
func (x *Text) windowsPath() bool {
	c := x.At(0)
	if c == '\\' {
		return x.At(1) == '\\' && scan.IsWord(x.At(2)) && x.sharePath(2)
	}
	if !scan.IsLetter(byte(c)) || x.At(1) != ':' || x.At(2) != '\\' {
		return false
	}
	switch third := x.At(3); third {
	case 'n', 'r', 't': // these are escapes too, so the drive must be a common one
		next := x.At(4)
		return next >= 'a' && next <= 'z' && (c <= 'Z' || c >= 'c' && c <= 'e')
	case 'u': // an escape if its four digits follow
		_, digits := x.unit(2)
		return digits < 6
	default:
		return scan.IsWord(third)
	}
}

// sharePath reports whether the text at offset i is a host's name and a share after a single
// backslash, as in \\host\share. JSON has to double each backslash (\\\\host\\share), so the single
// one shows that none is doubled. If the backslash and the next letter form an escape, as in
// \\host\new, either may be meant, and the result is false.
func (x *Text) sharePath(i int) bool {
	n := x.wordEnd(i, "-.", "")
	next := x.At(n + 1)
	return x.At(n) == '\\' && scan.IsWord(next) && strings.IndexByte("nrtbfu", byte(next)) < 0
}

// escape reads a backslash and the character after it. An escape that JSON knows is copied
// unchanged, so \/ and \u00e9 remain as the model spelled them. \' and \` are escapes of other
// languages, as in {"m": "don\'t"}. Any other backslash is text, as in {"re": "\w+\d"}.
func (s *stringReader) escape() {
	switch c := s.At(1); c {
	case -1: // the text ends in a backslash: what it escapes never came
		s.Pos++
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		if c == '"' {
			s.escaped++
		}
		s.PutByte('\\')
		s.PutByte(byte(c))
		s.Pos += 2
	case '\'', '`':
		s.PutByte(byte(c))
		s.Pos += 2
		if !s.Python || c != '\'' {
			s.Repaired("escapes")
		}
	case 'u':
		s.unicodeEscape()
	case 'x':
		s.byteEscape()
	default:
		s.Out.doubt(c == '$' || c == '#') // \$ is what the text says, or a dollar sign
		s.doubled()
	}
}

// doubled writes a backslash that is part of the text, which JSON writes as two.
func (cp *copier) doubled() {
	cp.Put(`\\`)
	cp.Pos++
	cp.Repaired("escapes")
}

// unicodeEscape copies \uXXXX, or a surrogate pair of two. Without four digits the backslash is
// text. Half a pair (\ud83d alone) becomes U+FFFD, because encoding/json reads it so, and other
// readers refuse the whole document.
func (cp *copier) unicodeEscape() {
	first, n := cp.unit(0)
	switch {
	case n < 6 && cp.At(n) < 0: // cut within the digits
		cp.Pos += n
		return
	case n < 6:
		cp.doubled()
		return
	case utf16.IsSurrogate(first):
		second, _ := cp.unit(6)
		// half a character, which some readers refuse
		if utf16.DecodeRune(first, second) == '\uFFFD' {
			cp.Put(`\ufffd`)
			cp.Pos += n
			cp.Repaired("escapes")
			return
		}
		n = 12
	}
	cp.putBytes(cp.Slice(cp.Pos, cp.Pos+n))
	cp.Pos += n
}

// byteEscape reads \xXX, which JSON does not have. In Python it is the character with this number.
// Elsewhere it is so only from \xa0 on, as in S\xe3o, and if no other \x follows, as in bytes of
// UTF-8. In all other cases it may be part of a pattern or of a program (see Output.Doubt).
func (s *stringReader) byteEscape() {
	if s.At(3) < 0 || !scan.IsHex(s.At(2)) || !scan.IsHex(s.At(3)) {
		s.doubled()
		return
	}
	code, _ := strconv.ParseUint(string(s.Slice(s.Pos+2, s.Pos+4)), 16, 8)
	if !s.Python && (code < 0xa0 || s.Has(4, `\x`)) {
		s.Out.doubt(true)
		s.doubled()
		return
	}
	s.Pos += 4
	s.Put(fmt.Sprintf(`\u%04x`, code))
	if !s.Python {
		s.Repaired("escapes")
	}
}

// unit returns the UTF-16 code unit of the escape \uXXXX at offset i, and the escape's length. The
// length is 6, or 0 if the escape is not complete or there is none.
func (x *Text) unit(i int) (half rune, n int) {
	if !x.Has(i, `\u`) {
		return 0, 0
	}
	for n = 2; n < 6 && scan.IsHex(x.At(i+n)); n++ {
	}
	code, _ := strconv.ParseUint(string(x.Slice(x.Pos+i+2, x.Pos+i+n)), 16, 16)
	return rune(code), n
}

// joined consumes the sign + and the opening quotation mark of a string that continues the current
// one, as in {"a": "x" + "y"}. It returns that mark, and false if no such string follows.
// JavaScript and Python break long texts in this way. Python also joins 'a' 'b' without a sign. In
// a list two strings without a sign are a doubt, because a comma may be missing.
func (s *stringReader) joined() (Delim, bool) {
	n := s.Space(0)
	if s.At(n) == '+' {
		n += 1 + s.Space(n+1)
	} else if !s.Python {
		return Delim{}, false
	}
	q, ok := s.QuoteAt(n)
	if ok {
		s.Out.doubt(s.ahead.open.inList() && s.At(s.Space(0)) != '+') // perhaps a comma is missing
		s.Pos += n + len(q.Open)
		s.Repaired("joined-strings")
	}
	return q, ok
}
