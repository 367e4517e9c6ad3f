package pyexpr

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"toolnorm/internal/pyexpr/chars"
	"toolnorm/internal/pyexpr/number"
	"toolnorm/internal/pyexpr/py"
)

// Texts of values, as str and repr make them. They are what f-strings, % and messages are built from, so they have to be
// exact: quotes chosen as Python chooses them, floats in their shortest form, ints of up to 4,300 digits.

// text is a string that grows. Each growth is charged before it is made, so a representation can be cut off while it
// is written: a list that holds one long string a thousand times never becomes text.
type text struct {
	m *py.Account
	b strings.Builder
}

// add doubles the room when it is too small. strings.Builder would grow by itself, but then nobody would have been asked.
func (t *text) add(s string) {
	if t.b.Cap()-t.b.Len() < len(s) {
		size := max(2*t.b.Cap(), t.b.Len()+len(s), 32)
		t.m.AllocText(int64(size))
		t.b.Grow(size - t.b.Len())
	}
	t.b.WriteString(s)
}

// str is what str() makes of a value.
func str(m *py.Account, v value) string {
	if s, ok := v.(string); ok {
		return s
	}
	return repr(m, v)
}

// repr is what repr() makes of a value.
func repr(m *py.Account, v value) string {
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
	t := &text{m: m}
	t.repr(v)
	return t.b.String()
}

// convert does what !s, !r and !a ask for.
func convert(m *py.Account, v value, conversion byte) value {
	switch conversion {
	case 's':
		return str(m, v)
	case 'r':
		return repr(m, v)
	case 'a':
		return ascii(m, v)
	}
	return v
}

// ascii is repr with every character beyond ASCII as an escape.
func ascii(m *py.Account, v value) value {
	s := repr(m, v)
	if isASCII(s) {
		return s
	}
	t := &text{m: m}
	for _, r := range s {
		m.Step(1)
		t.add(asciiEscape(r))
	}
	return t.b.String()
}

// boolText is how Python writes a bool.
func boolText(v bool) string {
	if v {
		return "True"
	}
	return "False"
}

// repr writes a value. How deep it is nested is bounded by the source and the arguments, so this can be a recursion.
//
//	str((1,)) → '(1,)'
//	str([None, True, 1.0, 'a']) → "[None, True, 1.0, 'a']"
//	str({'a': [1]}) → "{'a': [1]}"
//	str(range(3)) → 'range(0, 3)'
//	str({'a': 1}.keys()) → "dict_keys(['a'])"
func (t *text) repr(v value) {
	t.m.Step(1)
	switch v := v.(type) {
	case string:
		t.quote(v)
	case list:
		t.items("[", v, "]")
	case tuple:
		if len(v) == 1 {
			t.items("(", v, ",)")
		} else {
			t.items("(", v, ")")
		}
	case *set:
		if len(v.items) == 0 {
			t.add("set()")
		} else {
			t.items("{", v.items, "}")
		}
	case *dict:
		t.series("{", len(v.keys), ", ", func(i int) {
			t.repr(v.keys[i])
			t.add(": ")
			t.repr(v.vals[i])
		}, "}")
	case span:
		t.add(v.String())
	case view:
		t.items(v.typeName()+"([", items(t.m, v), "])")
	case cut:
		t.items("slice(", []value{v.start, v.stop, v.step}, ")")
	case *function:
		if v.isType {
			t.add("<class '" + v.name + "'>")
		} else {
			t.add("<built-in function " + v.name + ">")
		}
	case *iterator, *lambda, *bound, *unboundMethod:
		py.Raise(py.TypeError, "a %s object has no text in expressions; use list(...) on what can be walked", typeName(v))
	default:
		t.add(repr(t.m, v))
	}
}

// items writes the texts of items between brackets.
func (t *text) items(open string, items []value, end string) {
	t.series(open, len(items), ", ", func(i int) { t.repr(items[i]) }, end)
}

// series writes n parts between brackets, and stops with the first that would go beyond the limit.
func (t *text) series(open string, n int, between string, part func(i int), end string) {
	t.add(open)
	for i := range n {
		if i > 0 {
			t.add(between)
		}
		part(i)
	}
	t.add(end)
}

// String writes a range as Python does, with the step only where it is not 1.
func (s span) String() string {
	stop := s.stop
	if s.step == 1 {
		return fmt.Sprintf("range(%d, %d)", s.start, stop)
	}
	return fmt.Sprintf("range(%d, %d, %d)", s.start, stop, s.step)
}

// quote writes a string as a literal: in double quotes only when it holds a single one and no double one.
//
//	str(['it']) → "['it']"
//	str(["it's"]) → '["it\'s"]'
//	str(['a"b']) → '[\'a"b\']'
//	str(['\n\x00é']) → "['\\n\\x00é']"
func (t *text) quote(s string) {
	quote := byte('\'')
	if strings.Contains(s, "'") && !strings.Contains(s, `"`) {
		quote = '"'
	}
	t.add(string(quote))
	from := 0
	for i, r := range s {
		escaped := escape(r, quote)
		if escaped == "" {
			continue
		}
		t.m.Step(1)
		t.add(s[from:i])
		t.add(escaped)
		from = i + len(string(r))
	}
	t.add(s[from:])
	t.add(string(quote))
}

// escape is how a character stands in a literal, or empty when it stands for itself.
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
	case r < ' ' || r == 0x7f:
		return `\x` + hexDigits(r, 2)
	case r < 0x7f || chars.Printable(r):
		return ""
	case r <= 0xff:
		return `\x` + hexDigits(r, 2)
	case r <= 0xffff:
		return `\u` + hexDigits(r, 4)
	}
	return `\U` + hexDigits(r, 8)
}

// asciiEscape is how a character beyond ASCII stands in the text of !a.
func asciiEscape(r rune) string {
	switch {
	case r < 0x80:
		return string(r)
	case r <= 0xff:
		return `\x` + hexDigits(r, 2)
	case r <= 0xffff:
		return `\u` + hexDigits(r, 4)
	}
	return `\U` + hexDigits(r, 8)
}

// hexDigits writes a character's number with n digits.
func hexDigits(r rune, n int) string {
	s := strconv.FormatInt(int64(r), 16)
	return strings.Repeat("0", n-len(s)) + s
}
