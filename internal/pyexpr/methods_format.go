package pyexpr

import (
	"errors"
	"strconv"
	"strings"
	"unicode/utf8"

	"toolnorm/internal/pyexpr/number"
	"toolnorm/internal/pyexpr/object"
	"toolnorm/internal/pyexpr/py"
)

// str.format: fields by number or name, with the specifications of f-strings. Attributes and
// indexes after the name (`{0.x}`, `{0[k]}`) are refused: in Python they give access to everything
// in an object.

// formatMethods returns the table entry of str.format.
func formatMethods() []*method {
	return []*method{{signature: signature{name: "format", style: free}, run: formatText}}
}

// template is the state while a format string is processed.
type template struct {
	m      *py.Account
	a      arguments
	auto   int  // the next automatic number
	manual bool // the format string has explicit numbers
	begun  bool // a field had a number, automatic or not
}

// formatText implements str.format: it returns the text with its fields replaced by the arguments.
//
//	'{} {}'.format(1, 'a') → '1 a'
//	'{1}-{0}'.format(1, 2) → '2-1'
//	'{a:>5}|{b!r}'.format(a=1, b='x') → "    1|'x'"
//	'{:{}}'.format(5, 4) → '   5'
//	'{{}}'.format() → '{}'
//	'{} {}'.format(1) → IndexError: Replacement index 1 out of range for positional args tuple
//	'{0} {}'.format(1) → ValueError: cannot switch from manual field specification to automatic field numbering
//	'{x}'.format(1) → KeyError: 'x'
//	'{'.format(1) → ValueError: Single '{' encountered in format string
//	'}'.format(1) → ValueError: Single '}' encountered in format string
func formatText(m *py.Account, self value, a arguments) value {
	t := &template{m: m, a: a}
	return t.render(self.(string), 2)
}

// render returns the text with its fields replaced. Specifications may contain fields themselves,
// one level deep; depth is the number of levels that are left.
//
//	'a{}b{}c'.format(1, 2) → 'a1b2c'
//	'{:>{w}}'.format('x', w=4) → '   x'
//	'{{{}}}'.format(1) → '{1}'
//	'{:{:{}}}'.format(1, 2, 3) → ValueError: Max string recursion exceeded
func (t *template) render(s string, depth int) string {
	out := object.NewText(t.m)
	for s != "" {
		t.m.Step(1)
		i := strings.IndexAny(s, "{}")
		if i < 0 {
			i = len(s)
		}
		out.Add(s[:i])
		if s = s[i:]; s == "" {
			break
		}
		if len(s) > 1 && s[0] == s[1] {
			out.Add(s[:1])
			s = s[2:]
			continue
		}
		if s[0] == '}' {
			py.Raise(py.ValueError, "Single '}' encountered in format string")
		}
		r := &fieldReader{rest: s[1:]}
		if r.rest == "" {
			py.Raise(py.ValueError, "Single '{' encountered in format string")
		}
		r.read()
		out.Add(t.field(r, depth))
		s = r.rest
	}
	return out.String()
}

// fieldReader splits a field, name!c:spec, into its parts as CPython's parse_field does.
type fieldReader struct {
	rest       string
	name, spec string
	conversion rune
}

// read reads one field up to its closing brace and stores its parts in r. It raises an error if the
// field is malformed.
func (r *fieldReader) read() {
	c := r.untilMark()
	switch {
	case c == '{':
		py.Raise(py.ValueError, "unexpected '{' in field name")
	case c == 0:
		py.Raise(py.ValueError, "expected '}' before end of string")
	case c == '}':
		return
	case c == '!':
		if r.rest == "" {
			py.Raise(py.ValueError, "end of string while looking for conversion specifier")
		}
		var size int
		r.conversion, size = utf8.DecodeRuneInString(r.rest)
		if r.rest = r.rest[size:]; r.rest != "" {
			c, r.rest = rune(r.rest[0]), r.rest[1:]
			if c == '}' {
				return
			}
			if c != ':' {
				py.Raise(py.ValueError, "expected ':' after conversion specifier")
			}
		}
	}
	r.readSpec()
}

// untilMark reads the name and returns the character that ends it, one of {}:!, or 0 at the end of
// the text. Inside brackets these characters belong to the name.
func (r *fieldReader) untilMark() rune {
	for i := 0; i < len(r.rest); i++ {
		switch c := r.rest[i]; c {
		case '[':
			for i < len(r.rest)-1 && r.rest[i] != ']' {
				i++
			}
		case '{', '}', ':', '!':
			r.name, r.rest = r.rest[:i], r.rest[i+1:]
			return rune(c)
		}
	}
	return 0
}

// readSpec reads the specification up to its closing brace, and raises an error if there is none.
// Braces inside the specification must come in pairs.
func (r *fieldReader) readSpec() {
	depth := 1
	for i := range len(r.rest) {
		switch r.rest[i] {
		case '{':
			depth++
		case '}':
			depth--
		}
		if depth == 0 {
			r.spec, r.rest = r.rest[:i], r.rest[i+1:]
			return
		}
	}
	py.Raise(py.ValueError, "unmatched '{' in format spec")
}

// field returns the text for a field name!c:spec.
//
//	'{!r}'.format('a') → "'a'"
//	'{!x}'.format('a') → ValueError: Unknown conversion specifier x
//	'{!r:>5}'.format('a') → "  'a'"
//	'{!rr}'.format('a') → ValueError: expected ':' after conversion specifier
//	'{!'.format('a') → ValueError: end of string while looking for conversion specifier
//	'{:{}'.format('a') → ValueError: unmatched '{' in format spec
//	'{:.2f}'.format(1) → '1.00'
func (t *template) field(r *fieldReader, depth int) string {
	if depth == 0 {
		py.Raise(py.ValueError, "Max string recursion exceeded")
	}
	if strings.ContainsAny(r.name, "[.") {
		py.Raise(py.ValueError,
			"attributes and indexes are not available in the fields of format: {%s}", r.name)
	}
	v := t.lookup(r.name)
	if r.conversion != 0 && !strings.ContainsRune("sra", r.conversion) {
		unknownConversion(r.conversion)
	}
	v = object.Convert(t.m, v, byte(r.conversion))
	spec := r.spec
	if strings.ContainsAny(spec, "{}") {
		spec = t.render(spec, depth-1)
	}
	return object.Format(t.m, v, spec)
}

// unknownConversion raises the error for a letter c that is not a conversion. If c is not a visible
// ASCII character, the message has its number in hexadecimal.
func unknownConversion(c rune) {
	if c > 32 && c < 127 {
		py.Raise(py.ValueError, "Unknown conversion specifier %c", c)
	}
	py.Raise(py.ValueError, "Unknown conversion specifier \\x%x", c)
}

// lookup returns the argument that a field names; an empty name means the next number. It raises an
// error if there is no such argument, or if numbers are mixed with empty names.
//
//	'{0}{1}{0}'.format('a', 'b') → 'aba'
//	'{a}{}'.format(1, a=2) → '21'
//	'{} {0}'.format(1) → ValueError: cannot switch from automatic field numbering to manual field specification
//	'{2}'.format(1) → IndexError: Replacement index 2 out of range for positional args tuple
//	'{name}'.format(name='n') → 'n'
func (t *template) lookup(name string) value {
	n, err := strconv.ParseUint(number.PlainDigits(name), 10, 63)
	if errors.Is(err, strconv.ErrRange) {
		py.Raise(py.ValueError, "Too many decimal digits in format string")
	}
	numbered := err == nil
	if name != "" && !numbered {
		for i, k := range t.a.names {
			if k == name {
				return t.a.named[i]
			}
		}
		py.Raise(py.KeyError, "%s", object.Repr(t.m, name))
	}
	if t.begun && t.manual != numbered {
		if numbered {
			py.Raise(py.ValueError,
				"cannot switch from automatic field numbering to manual field specification")
		}
		py.Raise(py.ValueError,
			"cannot switch from manual field specification to automatic field numbering")
	}
	t.begun, t.manual = true, numbered
	if !numbered {
		n = uint64(t.auto)
		t.auto++
	}
	if n >= uint64(len(t.a.pos)) {
		py.Raise(py.IndexError, "Replacement index %d out of range for positional args tuple", n)
	}
	return t.a.pos[n]
}
