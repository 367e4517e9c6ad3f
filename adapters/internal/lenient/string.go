package lenient

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"toolnorm/adapters/internal/scan"
	"toolnorm/chat"
	"toolnorm/chat/schema"
)

// Delim is what opens and closes a string. A raw one knows no escapes inside. Open and Close differ
// for curly quotes only. Stops is what makes copying fast: all other bytes mean nothing and are
// copied in one piece, so a file of a megabyte in a string costs one look at each byte.
type Delim struct {
	Open, Close string
	Raw         bool
	Stops       *[256]bool // bytes inside that mean something
}

// StopsFor returns the table of bytes at which copying a string stops. Every string stops at
// control bytes and the double quote, which JSON has to escape, at the backslash, and at bytes of
// longer runes, which may be damaged. extra holds the first bytes of the string's own closer.
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

// newDelim returns a delimiter. Its closer's first byte stops copying, beside those that stop it in
// every string.
func newDelim(open, closer string, raw bool) Delim {
	return Delim{open, closer, raw, StopsFor(closer[:1])}
}

// delims are the string delimiters of sloppy JSON, longer ones before their beginnings.
var delims = []Delim{
	newDelim(`"""`, `"""`, false), // {"c": """a "b" c"""}
	newDelim(`'''`, `'''`, false), // the same in Python
	newDelim(`"`, `"`, false),
	newDelim(`'`, `'`, false),   // {'city': 'Rome'}
	newDelim("`", "`", false),   // {"c": `say "x"`}, as in JavaScript
	newDelim(`\"`, `\"`, false), // {\"a\": \"x\"}: an object that was escaped as if it stood in a string
	newDelim("“", "”", false),   // {“city”: “Bonn”}
	newDelim("‘", "’", false),   // {‘city’: ‘Bonn’}
	newDelim("„", "“", false),   // the German pair
}

// DelimsOf returns the delimiters of more than one byte in a family's quote line, strings between
// which know no escapes: <escape>text<escape>. It is nil without that line, whose presence alone
// says that keys are bare and words are Python's. FunctionGemma has <escape>, Gemma 4 <|"|>:
// between them every quote is text, which is what such delimiters are for. Quotes of one byte are
// among delims already.
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

// StringValue reads a string as t wants it: it streams where strings are allowed, and is held and
// turned into what the schema names where they are not. So a file that is written streams, and "3"
// for an integer becomes 3 before anybody has seen it. Texts that are listed in an enum are held as
// well: "Celsius" becomes the listed "celsius". One with quotes inside, where no string is wanted,
// may be several values in one.
func (r *Reader) StringValue(q Delim, t *schema.Type) {
	if t.Allows(schema.String) && t.Enum() == nil {
		r.strings().copyString(q)
		return
	}
	at := r.HoldOn()
	r.strings().copyString(q)
	value := string(r.Held(at))
	r.Out.doubt(r.quotes.quoted > 0 && !t.Allows(schema.String)) // several values, perhaps
	if !r.Out.Broken {
		if fits := fit(value, t, r.open.inList()); fits != value {
			r.TakeBack(at)
			r.Put(fits)
			r.Repaired("types")
			r.Out.doubt(r.At(r.Space(0)) == ']' && !r.open.inList()) // the first element of a list, perhaps
		}
	}
	r.HoldOff()
}

// fit turns a string, number or literal into the type that the schema allows instead, if its text
// spells one. An object or a list in a string, {"where": "{\"city\": \"Rome\"}"}, is read
// leniently, but counts only when it is whole: half an object would be another one. What fits the
// elements of a list becomes a list of one, {"ids": 3} is [3], unless it may be several: "bug, ui"
// stays the text that it is, which fits nowhere. In a list of lists a scalar has lost its brackets.
// The schema decides and nothing else: without one every value stays what it is.
func fit(value string, t *schema.Type, inList bool) string {
	if fits := t.Fit(value); fits != value || t.Allows(schema.KindOf(value)) {
		return fits
	}
	inner := scan.Unquote(value)
	if inner != "" && (inner[0] == '{' && t.Allows(schema.Object) || inner[0] == '[' && t.Allows(schema.Array)) {
		if out, whole := RepairAs(inner, t); whole {
			return out
		}
	}
	if !inList && t.Only(schema.Array|schema.Null) && value != "null" && !t.Endless() && !several(inner) {
		if item := fit(value, t.Item(), true); t.Item().Allows(schema.KindOf(item)) {
			return "[" + item + "]"
		}
	}
	return value
}

// several reports whether a text may list more than one thing.
// A text with a comma may be one thing, Rome, Italy, or two.
// Nobody can tell, so the model is asked.
func several(text string) bool {
	return strings.ContainsAny(strings.TrimSpace(text), ",;|\n[]{}<>、，；")
}

// stringReader reads one string of arguments and writes it as JSON spells it.
type stringReader struct {
	*copier
	*quotes
	ahead *lookahead
}

// copyString reads a string and writes it as JSON spells it. A text that ends inside it breaks the
// call. Which quote closes it is decided where it stands, by what follows (closes); Python's single
// quotes and a family's own delimiters are no defect, any other but the double quote is noted. A
// Windows path is recognised at the first byte and then holds to the end, since \t in C:\temp
// cannot be told from a tab once it is in the middle of a text.
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
			s.Out.doubt(path && s.At(1) == '\\' && s.Pos > s.at) // C:\a\\b: some are doubled
			s.Put(`\\`)
			s.Pos++
			if path {
				s.Repaired("paths")
			}
		case c == '\\':
			s.escape()
		case c >= 0x80: // perhaps cut, perhaps no UTF-8
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
			s.Out.doubt(closer && s.Quotes != nil) // no text has the family's own mark
			s.PutByte(byte(c))
			s.Pos++
		}
	}
}

// CopyPlain copies bytes of a string that mean nothing. Whole runes of UTF-8 mean nothing either,
// but where the string's own closer begins with such a byte, as ” does. One that the buffer cuts is
// left to Rune, which waits for the rest of it.
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
		_, n := utf8.DecodeRune(w[i:])
		if n == 1 { // a longer rune is cut, or none
			break
		}
		i += n
	}
	cp.putBytes(w[:i])
	cp.Pos += i
}

// Rune copies one character, or replaces one byte that begins none. It asks for more bytes only
// while those it has begin a rune, so no split of the text can damage one. Models with byte tokens
// write half a character where they are cut; strict JSON readers refuse such bytes, so each becomes
// U+FFFD.
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
// doubled. \n \t \b \f \r \u are escapes that JSON knows, so only the front of the string is
// evidence: a drive and :\, or \\host\. With C:\\temp the first backslash is doubled, and the
// string is in order. What looks like evidence and may be an escape as well, "d:\n", counts if the
// drive is a common one and a lower-case letter follows.
func (x *Text) windowsPath() bool {
	c := x.At(0)
	if c == '\\' {
		return x.At(1) == '\\' && scan.IsWord(x.At(2)) && x.sharePath(2)
	}
	if !scan.IsLetter(byte(c)) || x.At(1) != ':' || x.At(2) != '\\' {
		return false
	}
	switch third := x.At(3); third {
	case 'n', 'r', 't': // these are escapes too: only behind the letter of a drive that people have
		next := x.At(4)
		return next >= 'a' && next <= 'z' && (c <= 'Z' || c >= 'c' && c <= 'e')
	case 'u': // a character, when its digits follow
		_, digits := x.unit(2)
		return digits < 6
	default:
		return scan.IsWord(third)
	}
}

// sharePath reports whether a host's name and a single backslash follow at offset i. In order
// \\host\share is written \\\\host\\share; the single backslash before share tells that none is
// doubled. Where it makes an escape of the letter after it, as in \\host\new, both readings are
// possible and nothing is changed.
func (x *Text) sharePath(i int) bool {
	n := x.wordEnd(i, "-.", "")
	next := x.At(n + 1)
	return x.At(n) == '\\' && scan.IsWord(next) && strings.IndexByte("nrtbfu", byte(next)) < 0
}

// escape reads a backslash and what it escapes. An escape that JSON knows is copied as it is, so \/
// and \u00e9 stay as the model spelled them. \' and \` are of other languages, {"m": "don\'t"}; any
// other backslash was meant as one, {"re": "\w+\d"}.
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
	default:
		s.doubled()
	}
}

// doubled writes a backslash that stands for itself, as JSON wants it.
func (cp *copier) doubled() {
	cp.Put(`\\`)
	cp.Pos++
	cp.Repaired("escapes")
}

// unicodeEscape copies \uXXXX, or a pair of them that is one character; without four digits the
// backslash stands for itself. Half a pair (\ud83d alone) becomes U+FFFD: encoding/json reads it as
// that, others refuse the whole document.
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
		if utf16.DecodeRune(first, second) == '\uFFFD' { // half a character is none, and some readers fail at it
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

// unit returns the half of a character that is spelled \uXXXX at offset i, and how many bytes of
// that are there; a whole one has six. \ud83d\ude00 is one character in two halves; either of them
// alone is not a character.
func (x *Text) unit(i int) (half rune, n int) {
	if !x.Has(i, `\u`) {
		return 0, 0
	}
	for n = 2; n < 6 && scan.IsHex(x.At(i+n)); n++ {
	}
	code, _ := strconv.ParseUint(string(x.Slice(x.Pos+i+2, x.Pos+i+n)), 16, 16)
	return rune(code), n
}

// joined steps over "+" and the opening of a string that is joined to the one just read; in Python
// they may just follow each other. {"a": "x" + "y"} is JavaScript's or Python's way to break a long
// text; 'a' 'b' is Python's alone. In a list the latter is as likely a comma that is missing, and
// then a doubt.
func (s *stringReader) joined() (Delim, bool) {
	n := s.Space(0)
	if s.At(n) == '+' {
		n += 1 + s.Space(n+1)
	} else if !s.Python {
		return Delim{}, false
	}
	q, ok := s.QuoteAt(n)
	if ok {
		s.Out.doubt(s.ahead.open.inList() && s.At(s.Space(0)) != '+') // a comma is missing, perhaps
		s.Pos += n + len(q.Open)
		s.Repaired("joined-strings")
	}
	return q, ok
}
