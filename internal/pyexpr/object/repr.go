package object

import (
	"fmt"
	"math/big"
	"strings"
	"unicode/utf8"

	"toolnorm/internal/pyexpr/chars"
	"toolnorm/internal/pyexpr/number"
	"toolnorm/internal/pyexpr/py"
)

// Texts of values, as str and repr make them. f-strings, % and messages are built from them, so
// they have to be exact: quotes chosen as Python chooses them, floats in their shortest form, ints
// of up to 4,300 digits.

// Text is a string that grows. Memory is charged before it grows, so a representation can be
// stopped while it is written. For example, a list that contains one long string a thousand times
// never becomes a text.
type Text struct {
	m *py.Account
	b strings.Builder
}

// NewText returns an empty text.
func NewText(m *py.Account) *Text { return &Text{m: m} }

// String returns the text so far.
func (t *Text) String() string { return t.b.String() }

// Add appends a string. If the buffer is too small it is doubled explicitly, since strings.Builder
// would grow without being charged.
func (t *Text) Add(s string) {
	if t.b.Cap()-t.b.Len() < len(s) {
		size := max(2*t.b.Cap(), t.b.Len()+len(s), 32)
		t.m.AllocText(int64(size))
		t.b.Grow(size - t.b.Len())
	}
	t.b.WriteString(s)
}

// Str returns str(v). It raises an error if v has no text.
func Str(m *py.Account, v Value) string {
	if s, ok := v.(string); ok {
		return s
	}
	return Repr(m, v)
}

// Repr returns repr(v). It raises an error if v has no text.
func Repr(m *py.Account, v Value) string {
	switch v := v.(type) {
	case nil:
		return "None"
	case bool:
		return boolText(v)
	case int64, *big.Int:
		return number.Decimal(m, v)
	case float64:
		m.Alloc(py.BoxBytes + 24)
		return number.FloatText(v)
	}
	t := &Text{m: m}
	t.repr(v)
	return t.b.String()
}

// Convert returns a value after the conversion !s, !r or !a, or the value itself for any other.
func Convert(m *py.Account, v Value, conversion byte) Value {
	switch conversion {
	case 's':
		return Str(m, v)
	case 'r':
		return Repr(m, v)
	case 'a':
		return ascii(m, v)
	}
	return v
}

// ascii returns the repr of v with escapes for all characters outside ASCII.
func ascii(m *py.Account, v Value) Value {
	s := Repr(m, v)
	if IsASCII(s) {
		return s
	}
	t := &Text{m: m}
	for _, r := range s {
		m.Step(1)
		if r < utf8.RuneSelf {
			t.Add(string(r))
		} else {
			t.Add(numberEscape(r))
		}
	}
	return t.b.String()
}

// boolText returns how Python writes a bool.
func boolText(v bool) string {
	if v {
		return "True"
	}
	return "False"
}

// repr appends the repr of a value. It may be recursive, since the source and the arguments bound
// the nesting.
//
//	str((1,)) → '(1,)'
//	str([None, True, 1.0, 'a']) → "[None, True, 1.0, 'a']"
//	str({'a': [1]}) → "{'a': [1]}"
//	str(range(3)) → 'range(0, 3)'
//	str({'a': 1}.keys()) → "dict_keys(['a'])"
func (t *Text) repr(v Value) {
	t.m.Step(1)
	switch v := v.(type) {
	case string:
		t.quote(v)
	case List:
		t.items("[", v, "]")
	case Tuple:
		if len(v) == 1 {
			t.items("(", v, ",)")
		} else {
			t.items("(", v, ")")
		}
	case *Set:
		if len(v.items) == 0 {
			t.Add("set()")
		} else {
			t.items("{", v.items, "}")
		}
	case *Dict:
		t.series("{", len(v.keys), ", ", func(i int) {
			t.repr(v.keys[i])
			t.Add(": ")
			t.repr(v.vals[i])
		}, "}")
	case span:
		t.Add(v.String())
	case View:
		t.items(v.typeName()+"([", Items(t.m, v), "])")
	case Cut:
		t.items("slice(", []Value{v.Start, v.Stop, v.Step}, ")")
	case nil, bool, int64, *big.Int, float64:
		t.Add(Repr(t.m, v))
	default:
		c, _ := v.(Callable)
		if c == nil || c.Text() == "" {
			py.Raise(py.TypeError,
				"a %s object has no text in expressions; use list(...) on what can be walked",
				TypeName(v))
		}
		t.Add(c.Text())
	}
}

// items appends the reprs of items between brackets.
func (t *Text) items(open string, items []Value, end string) {
	t.series(open, len(items), ", ", func(i int) { t.repr(items[i]) }, end)
}

// series appends n parts, written by the function part, with brackets around them and a separator
// between them.
func (t *Text) series(open string, n int, between string, part func(i int), end string) {
	t.Add(open)
	for i := range n {
		if i > 0 {
			t.Add(between)
		}
		part(i)
	}
	t.Add(end)
}

// String returns a range as Python writes it, with the step only if that is not 1.
func (s span) String() string {
	if s.step == 1 {
		return fmt.Sprintf("range(%d, %d)", s.start, s.stop)
	}
	return fmt.Sprintf("range(%d, %d, %d)", s.start, s.stop, s.step)
}

// quote appends a string as a literal. It has double quotes only if it contains a single quote and
// no double quote.
//
//	str(['it']) → "['it']"
//	str(["it's"]) → '["it\'s"]'
//	str(['a"b']) → '[\'a"b\']'
//	str(['\n\x00é']) → "['\\n\\x00é']"
func (t *Text) quote(s string) {
	quote := byte('\'')
	if strings.Contains(s, "'") && !strings.Contains(s, `"`) {
		quote = '"'
	}
	t.Add(string(quote))
	from := 0
	for i, r := range s {
		escaped := escape(r, quote)
		if escaped == "" {
			continue
		}
		t.m.Step(1)
		t.Add(s[from:i])
		t.Add(escaped)
		from = i + len(string(r))
	}
	t.Add(s[from:])
	t.Add(string(quote))
}

// escape returns the escape for a character in a literal, or "" if it needs none.
//
//	str(['\t\\']) → "['\\t\\\\']"
//	str(['\x7f\xa0\u200b']) → "['\\x7f\\xa0\\u200b']"
//	str(['한é']) → "['한é']"
//	str(['"' + "'"]) → '[\'"\\\'\']'
func escape(r rune, quote byte) string {
	switch {
	case r == rune(quote) || r == '\\':
		return `\` + string(r)
	case r == '\n':
		return `\n`
	case r == '\r':
		return `\r`
	case r == '\t':
		return `\t`
	case r >= ' ' && r < 0x7f || r > 0x7f && chars.Printable(r):
		return ""
	}
	return numberEscape(r)
}

// numberEscape returns the shortest of Python's numeric escapes for a character.
func numberEscape(r rune) string {
	switch {
	case r <= 0xff:
		return fmt.Sprintf(`\x%02x`, r)
	case r <= 0xffff:
		return fmt.Sprintf(`\u%04x`, r)
	}
	return fmt.Sprintf(`\U%08x`, r)
}

// ParseInt returns the integer that a text represents in a base, as Python's int does; with base 0
// a prefix of the text determines the base. It raises a ValueError if the text is not an integer.
func ParseInt(m *py.Account, s string, base int) Value {
	n, ok := number.ParseInt(m, s, base)
	if !ok {
		text := Repr(m, s)
		if utf8.RuneCountInString(text) > 200 { // CPython's %.200R
			text = text[:ByteAt(text, 200)]
		}
		py.Raise(py.ValueError, "invalid literal for int() with base %d: %s", base, text)
	}
	return n
}
