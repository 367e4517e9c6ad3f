package adapters

import (
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"toolnorm/adapters/internal/scan"
	"toolnorm/chat/schema"
)

// delim is what opens and closes a string. A raw one knows no escapes inside.
type delim struct {
	open, close string
	raw         bool
	stops       *[256]bool // bytes inside that mean something
}

// stopsFor is the table of bytes at which copying a string stops.
func stopsFor(extra string) *[256]bool {
	t := new([256]bool)
	for c := range t {
		t[c] = c < ' ' || c == '"' || c == '\\' || c >= 0x80
	}
	for i := range len(extra) {
		t[extra[i]] = true
	}
	return t
}

var (
	plainStops  = stopsFor("")
	singleStops = stopsFor("'")
	tickStops   = stopsFor("`")
)

// delims are the string delimiters of sloppy JSON, longer ones before their beginnings.
var delims = []delim{
	{`"""`, `"""`, false, plainStops},
	{`'''`, `'''`, false, singleStops},
	{`"`, `"`, false, plainStops},
	{`'`, `'`, false, singleStops},
	{"`", "`", false, tickStops},
	{`\"`, `\"`, false, plainStops},
	{"“", "”", false, plainStops},
	{"‘", "’", false, plainStops},
	{"„", "“", false, plainStops},
}

// delimsOf are the delimiters of more than one byte in a family's quote line, strings between which know no escapes:
// <escape>text<escape>. It is nil without that line, whose presence alone says that keys are bare and words are Python's.
func delimsOf(quotes []string) []delim {
	if quotes == nil {
		return nil
	}
	own := make([]delim, 0, len(quotes))
	for _, q := range quotes {
		if len(q) > 1 {
			own = append(own, delim{q, q, true, stopsFor(q[:1])})
		}
	}
	return own
}

// quoteAt finds the string delimiter that stands at offset i.
func (d *argReader) quoteAt(i int) (delim, bool) {
	c := d.At(i)
	if c < 0 {
		return delim{}, false
	}
	for _, q := range d.quotes {
		if int(q.open[0]) == c && d.Has(i, q.open) {
			return q, true
		}
	}
	for _, q := range delims {
		if int(q.open[0]) != c {
			continue
		}
		if len(q.open) == 1 || d.Has(i, q.open) && (q.open != `"""` && q.open != `'''` || d.tripled(i)) {
			return q, true
		}
	}
	return delim{}, false
}

// tripled says whether three quotes open a string rather than being an empty one and a third.
func (d *argReader) tripled(i int) bool {
	n := i + 3
	c := d.At(n)
	return c >= 0 && c != ',' && c != '}' && c != ']' && c != ':'
}

// stringValue reads a string as t wants it: it streams where strings are allowed, and is held and turned into what the
// schema names where they are not.
func (d *argReader) stringValue(q delim, t *schema.Type) {
	if t.Allows(schema.String) && t.Enum() == nil {
		d.copyString(q)
		return
	}
	at := d.holdOn()
	d.copyString(q)
	value := string(d.held(at))
	if d.quoted > 0 && !t.Allows(schema.String) {
		d.call.doubt = true // several values, perhaps
	}
	if !d.call.broken {
		if fit := fitString(value, t); fit != value {
			d.takeBack(at)
			d.put(fit)
			d.repaired("types")
			d.call.doubt = d.call.doubt || d.At(d.Space(0)) == ']' && !d.inList() // the first element of a list, perhaps
		}
	}
	d.holdOff()
}

// fitString turns a JSON string into the type that the schema allows instead, if its text spells one.
func fitString(value string, t *schema.Type) string {
	if fit := t.Fit(value); fit != value || t.Allows(schema.String) {
		return fit
	}
	inner := unquote([]byte(value))
	for _, c := range []struct {
		open byte
		kind schema.Kinds
	}{{'{', schema.Object}, {'[', schema.Array}} {
		if inner != "" && inner[0] == c.open && t.Allows(c.kind) {
			if out, whole := repairAs(inner, t); whole {
				return out
			}
		}
	}
	if t.Only(schema.Array | schema.Null) {
		if item := fitString(value, t.Item()); t.Item().Allows(schema.KindOf(item)) {
			return "[" + item + "]"
		}
	}
	return value
}

// copyString reads a string and writes it as JSON spells it. A text that ends inside it breaks the call.
func (d *argReader) copyString(q delim) {
	own := len(d.quotes) > 0 && q.open == d.quotes[0].open || d.python && q.open == `'`
	if q.open != `"` && !own {
		d.repaired("quotes")
	}
	d.Pos += len(q.open)
	d.putByte('"')
	d.inner, d.quoted, d.escaped, d.stringAt, d.firstQuote = false, 0, 0, d.Pos, -1
	path := !q.raw && d.windowsPath()
	for {
		d.copyPlain(q)
		c := d.At(0)
		switch {
		case c < 0:
			d.call.broken = true
			d.repaired("truncated")
			d.putByte('"')
			return
		case c == int(q.close[0]) && d.Has(0, q.close) && d.closes(len(q.close)):
			d.Pos += len(q.close)
			d.call.doubt = d.call.doubt || d.quotesDoubted()
			next, joined := d.joined()
			if !joined {
				d.putByte('"')
				return
			}
			q = next
		case c == int(q.close[0]) && d.Has(0, q.close) && !q.raw && !d.inKey && d.doubledQuote(q):
			d.Pos += len(q.close)
			d.repaired("extra-closer")
		case c == int(q.close[0]) && d.Has(0, q.close) && !q.raw && !d.inKey:
			d.innerQuote(q)
		case c == '\\' && (q.raw || path):
			d.put(`\\`)
			d.Pos++
			if path {
				d.repaired("paths")
			}
		case c == '\\':
			d.escape()
		case c >= 0x80:
			d.rune()
		case c == '"':
			d.put(`\"`)
			d.Pos++
		case c < ' ':
			d.call.out = schema.AppendEscaped(d.call.out, string(rune(c)))
			d.Pos++
			if !q.raw {
				d.repaired("control-bytes")
			}
		default:
			d.call.doubt = d.call.doubt || d.quotes != nil && len(q.close) > 1 && d.Has(0, q.close) // no text has the family's own mark
			d.putByte(byte(c))
			d.Pos++
		}
	}
}

// copyPlain copies bytes of a string that mean nothing.
func (d *argReader) copyPlain(q delim) {
	w := d.Window()
	i := 0
	for i < len(w) {
		if c := w[i]; !q.stops[c] {
			i++
			continue
		} else if c < utf8.RuneSelf || q.close[0] >= utf8.RuneSelf {
			break
		}
		r, n := utf8.DecodeRune(w[i:])
		if r == utf8.RuneError && n <= 1 {
			break
		}
		i += n
	}
	d.putBytes(w[:i])
	d.Pos += i
}

// rune copies one character, or replaces one byte that begins none.
func (d *argReader) rune() {
	w := d.Window()
	for n := len(w); !utf8.FullRune(w) && d.At(n) >= 0; n++ {
		w = d.Window()
	}
	r, n := utf8.DecodeRune(w)
	if r == utf8.RuneError && n <= 1 {
		d.put("\uFFFD")
		d.Pos++
		d.repaired("utf-8")
		return
	}
	d.putBytes(w[:n])
	d.Pos += n
}

// windowsPath says whether the string that begins here is a path whose backslashes are not doubled.
func (d *argReader) windowsPath() bool {
	c := d.At(0)
	if c == '\\' {
		return d.At(1) == '\\' && scan.IsWord(d.At(2)) && d.sharePath(2)
	}
	if c < 0 || !scan.IsLetter(byte(c)) || d.At(1) != ':' || d.At(2) != '\\' {
		return false
	}
	switch third := d.At(3); third {
	case 'n', 'r', 't': // these are escapes too: only behind the letter of a drive that people have
		next := d.At(4)
		return next >= 'a' && next <= 'z' && (c <= 'Z' || c >= 'c' && c <= 'e')
	case 'u': // a character, when its digits follow
		for i := 4; i < 8; i++ {
			if !scan.IsHex(d.At(i)) {
				return true
			}
		}
		return false
	default:
		return scan.IsWord(third)
	}
}

// sharePath says whether a host's name and a single backslash stand at offset i.
func (d *argReader) sharePath(i int) bool {
	n := i
	for n < i+maxName && (scan.IsWord(d.At(n)) || d.At(n) == '-' || d.At(n) == '.') {
		n++
	}
	next := d.At(n + 1)
	return d.At(n) == '\\' && scan.IsWord(next) && strings.IndexByte("nrtbfu", byte(next)) < 0
}

// escape reads a backslash and what it escapes.
func (d *argReader) escape() {
	switch c := d.At(1); c {
	case -1:
		d.Pos++
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		if c == '"' {
			d.escaped++
		}
		d.putByte('\\')
		d.putByte(byte(c))
		d.Pos += 2
	case '\'', '`':
		d.putByte(byte(c))
		d.Pos += 2
		if !d.python || c != '\'' {
			d.repaired("escapes")
		}
	case 'u':
		d.unicodeEscape()
	default:
		d.put(`\\`)
		d.Pos++
		d.repaired("escapes")
	}
}

// unicodeEscape copies \uXXXX, or a pair of them that is one character; without four digits the backslash stands for itself.
func (d *argReader) unicodeEscape() {
	for i := 2; i < 6; i++ {
		if c := d.At(i); !scan.IsHex(c) {
			if c < 0 {
				d.Pos += i
				return
			}
			d.put(`\\`)
			d.Pos++
			d.repaired("escapes")
			return
		}
	}
	n, first := 6, d.unit(0)
	if utf16.IsSurrogate(first) {
		if utf16.DecodeRune(first, d.unit(6)) == '\uFFFD' { // half a character is none, and some readers fail at it
			d.put(`\ufffd`)
			d.Pos += n
			d.repaired("escapes")
			return
		}
		n = 12
	}
	d.putBytes(d.Slice(d.Pos, d.Pos+n))
	d.Pos += n
}

// unit is the half of a character that is spelled \uXXXX at offset i; 0: none is.
func (d *argReader) unit(i int) (r rune) {
	if d.At(i) != '\\' || d.At(i+1) != 'u' {
		return 0
	}
	for k := i + 2; k < i+6; k++ {
		c := d.At(k)
		if !scan.IsHex(c) {
			return 0
		}
		digit := c - '0'
		if c > '9' {
			digit = c | 0x20 - 'a' + 10
		}
		r = r<<4 | rune(digit)
	}
	return r
}

// joined steps over "+" and the opening of a string that is joined to the one just read; in Python they may just follow
// each other.
func (d *argReader) joined() (delim, bool) {
	n := d.Space(0)
	if d.At(n) == '+' {
		n += 1 + d.Space(n+1)
	} else if !d.python {
		return delim{}, false
	}
	q, ok := d.quoteAt(n)
	if ok {
		d.call.doubt = d.call.doubt || d.inList() && d.At(d.Space(0)) != '+' // a comma is missing, perhaps
		d.Pos += n + len(q.open)
		d.repaired("joined-strings")
	}
	return q, ok
}
