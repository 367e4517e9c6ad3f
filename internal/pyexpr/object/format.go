package object

import (
	"math"
	"math/big"
	"strings"
	"unicode/utf8"

	"toolnorm/internal/pyexpr/number"
	"toolnorm/internal/pyexpr/py"
)

// Formatting of values by a specification, `{x:>8,.2f}`. The layout of a number is always sign,
// prefix (0x), digits with separators, rest (point, fraction, exponent, percent); padding goes
// around it, or between prefix and digits for '='. The steps and their checks follow CPython's
// formatter_unicode.c one by one, since its messages depend on their order: {1.5:,.2d} reports the
// d before the precision.

// Format returns format(v, spec), which f-strings and str.format use. It raises an error if the
// specification does not fit the value.
//
//	f'{5:03d}' → '005'
//	f'{"x":>3}' → '  x'
//	f'{None:5}' → TypeError: unsupported format string passed to NoneType.__format__
//	f'{[1]!s:>5}' → '  [1]'
func Format(m *py.Account, v Value, spec string) string {
	if spec == "" {
		return Str(m, v)
	}
	switch v := v.(type) {
	case string:
		return formatString(m, v, spec)
	case bool, int64, *big.Int:
		n, _ := number.Int(v)
		return formatInt(m, n, TypeName(v), spec)
	case float64:
		return formatFloat(m, v, "float", parseSpec(spec, "float", 0, '>'))
	}
	py.Raise(py.TypeError, "unsupported format string passed to %s.__format__", TypeName(v))
	return ""
}

// formatString returns a text, padded or cut. The precision is the maximum number of characters.
// The width counts code points, though a terminal shows a Hangul character with double width.
//
//	f'{"abcdef":.3}' → 'abc'
//	f'{"a":*^5}' → '**a**'
//	f'{"a":+}' → ValueError: Sign not allowed in string format specifier
//	f'{"a":=5}' → ValueError: '=' alignment not allowed in string format specifier
//	f'{"a":d}' → ValueError: Unknown format code 'd' for object of type 'str'
func formatString(m *py.Account, v, spec string) string {
	s := parseSpec(spec, "str", 's', '<')
	const within = "not allowed in string format specifier"
	switch {
	case s.typ != 's':
		unknownCode(s.typ, "str")
	case s.sign == ' ':
		py.Raise(py.ValueError, "Space %s", within)
	case s.sign != 0:
		py.Raise(py.ValueError, "Sign %s", within)
	case s.noNegativeZero:
		py.Raise(py.ValueError, "Negative zero coercion (z) %s", within)
	case s.alternate:
		py.Raise(py.ValueError, "Alternate form (#) %s", within)
	case s.align == '=':
		py.Raise(py.ValueError, "'=' alignment %s", within)
	}
	return fit(m, v, s)
}

// fit returns a text, cut to the precision and padded to the width.
func fit(m *py.Account, v string, s spec) string {
	m.Scan(len(v))
	if s.precision >= 0 && s.precision < int64(len(v)) {
		v = v[:ByteAt(v, int(s.precision))]
	}
	return pad(m, v, s)
}

// unknownCode raises the error for a type letter that a type does not have.
func unknownCode(c rune, typ string) {
	if c > 32 && c < 128 {
		py.Raise(py.ValueError, "Unknown format code '%c' for object of type '%s'", c, typ)
	}
	py.Raise(py.ValueError, "Unknown format code '\\x%x' for object of type '%s'", c, typ)
}

// pad returns a text, padded to the width according to the alignment.
//
//	f'{"한국":>4}|' → '  한국|'
//	f'{"a":^4}|' → ' a  |'
//	f'{"abc":2}|' → 'abc|'
func pad(m *py.Account, v string, s spec) string {
	missing := max(s.width-int64(Runes(v)), 0)
	left := int64(0)
	switch s.align {
	case '>':
		left = missing
	case '^':
		left = missing / 2
	}
	return Fill(m, v, s.fill, left, missing-left)
}

// Fill returns a text with fill characters around it. The parameters left and right are the numbers
// of fill characters before and after the text. The memory is charged before it is allocated.
func Fill(m *py.Account, v string, fill rune, left, right int64) string {
	if left+right == 0 {
		return v
	}
	total := m.Times(int64(utf8.RuneLen(fill)), left+right)
	m.AllocText(total + int64(len(v)))
	var b strings.Builder
	b.Grow(int(total) + len(v))
	for range left {
		b.WriteRune(fill)
	}
	b.WriteString(v)
	for range right {
		b.WriteRune(fill)
	}
	return b.String()
}

// formatInt returns an int in the form of a specification. If the type letter is one for floats,
// the int is converted first.
//
//	f'{255:#x}' → '0xff'
//	f'{255:b}' → '11111111'
//	f'{-5:+d}' → '-5'
//	f'{5: d}' → ' 5'
//	f'{5:.2f}' → '5.00'
//	f'{5:.2d}' → ValueError: Precision not allowed in integer format specifier
//	f'{5:s}' → ValueError: Unknown format code 's' for object of type 'int'
func formatInt(m *py.Account, n Value, typ, text string) string {
	s := parseSpec(text, typ, 'd', '>')
	if strings.ContainsRune("eEfFgG%", s.typ) {
		return formatFloat(m, number.Float(n), typ, s)
	}
	if !strings.ContainsRune("bcdoxXn", s.typ) {
		unknownCode(s.typ, typ)
	}
	switch {
	case s.precision >= 0:
		py.Raise(py.ValueError, "Precision not allowed in integer format specifier")
	case s.noNegativeZero:
		py.Raise(py.ValueError,
			"Negative zero coercion (z) not allowed in integer format specifier")
	case s.typ == 'c':
		return formatChar(m, n, s)
	}
	return inBase(m, n, s).layout(m, s)
}

// formatChar returns the character whose code point is n, in the form of a specification.
//
//	f'{97:c}' → 'a'
//	f'{97:+c}' → ValueError: Sign not allowed with integer format specifier 'c'
//	f'{-1:c}' → OverflowError: %c arg not in range(0x110000)
func formatChar(m *py.Account, n Value, s spec) string {
	switch {
	case s.sign != 0:
		py.Raise(py.ValueError, "Sign not allowed with integer format specifier 'c'")
	case s.alternate:
		py.Raise(py.ValueError, "Alternate form (#) not allowed with integer format specifier 'c'")
	}
	r, small := n.(int64)
	if !small {
		py.Raise(py.OverflowError, "Python int too large to convert to C long")
	}
	return numeral{rest: charOf(r)}.layout(m, s)
}

// charOf returns the character whose code point is n, for the letter c. It raises an error if there
// is none.
func charOf(n int64) string {
	if n < 0 || n > utf8.MaxRune {
		py.Raise(py.OverflowError, "%%c arg not in range(0x110000)")
	}
	if !utf8.ValidRune(rune(n)) {
		py.Raise(py.ValueError, "a surrogate is no character of its own: %d", n)
	}
	return string(rune(n))
}

// inBase returns an int in the base of a specification's letter, with a prefix if the specification
// asks for one.
func inBase(m *py.Account, n Value, s spec) (all numeral) {
	base := map[rune]int{'b': 2, 'o': 8, 'x': 16, 'X': 16}[s.typ]
	if base == 0 {
		all.digits = number.Decimal(m, n)
	} else {
		m.AllocText(number.Bits(n) + 2)
		all.digits = number.Big(n).Text(base)
	}
	all.digits, all.negative = strings.CutPrefix(all.digits, "-")
	if s.typ == 'X' {
		all.digits = strings.ToUpper(all.digits)
	}
	if base != 0 && s.alternate {
		all.prefix = "0" + string(s.typ)
	}
	return all
}

// formatFloat returns a float in the form of a specification. typ is the name of the original type,
// for messages.
//
//	f'{3.14159:.2f}' → '3.14'
//	f'{0.256:.1%}' → '25.6%'
//	f'{1e10:g}' → '1e+10'
//	f'{1234.5:e}' → '1.234500e+03'
//	f'{3.0}' → '3.0'
//	f'{1.5:d}' → ValueError: Unknown format code 'd' for object of type 'float'
func formatFloat(m *py.Account, x float64, typ string, s spec) string {
	letter, precision := s.typ, s.precision
	dot0 := false
	switch letter {
	case 0:
		dot0, letter = true, 'g'
		if precision < 0 {
			letter, precision = 'r', 0
		}
	case 'n':
		letter = 'g'
	case '%':
		letter, x = 'f', x*100
	case 'e', 'E', 'f', 'F', 'g', 'G':
	default:
		unknownCode(letter, typ)
	}
	if precision < 0 {
		precision = 6
	}
	if precision > math.MaxInt32 {
		py.Raise(py.ValueError, "precision too big")
	}
	text := number.FloatDigits(m, math.Abs(x), letter, int(precision), s.alternate, dot0)
	negative := math.Signbit(x) && !math.IsNaN(x)
	if s.noNegativeZero && zeroText(text) {
		negative = false
	}
	whole := len(text) - len(strings.TrimLeft(text, "0123456789"))
	rest := text[whole:]
	if s.typ == '%' {
		rest += "%"
	}
	return numeral{negative: negative, digits: text[:whole], rest: rest}.layout(m, s)
}

// zeroText reports whether a formatted number has only zeros before its exponent.
func zeroText(s string) bool {
	mantissa, _, _ := strings.Cut(strings.ToLower(s), "e")
	return strings.Trim(mantissa, "0.") == ""
}

// numeral holds the parts of a formatted number. Padding and separators are inserted between them.
type numeral struct {
	negative             bool
	prefix, digits, rest string // 0x, the digits before the point, everything after them
}

// layout returns the parts of a number together with its sign, separators and padding.
//
//	f'{-5:+06}' → '-00005'
//	f'{255:#010x}' → '0x000000ff'
//	f'{-1.5:=8}' → '-    1.5'
//	f'{5:<5}|' → '5    |'
//	f'{float("inf"):06}' → '000inf'
//	f'{True:5}' → '    1'
func (n numeral) layout(m *py.Account, s spec) string {
	sign := ""
	switch {
	case n.negative:
		sign = "-"
	case s.sign == '+' || s.sign == ' ':
		sign = string(s.sign)
	}
	bare := int64(len(sign) + len(n.prefix) + Runes(n.rest))
	least := int64(0)
	if s.fill == '0' && s.align == '=' {
		least = s.width - bare
	}
	digits := group(m, n.digits, s, least)
	head, body := sign+n.prefix, digits+n.rest
	m.AllocText(int64(len(head) + 2*len(body)))
	if s.align == '=' {
		return head + Fill(m, body, s.fill, max(s.width-bare-int64(len(digits)), 0), 0)
	}
	return pad(m, head+body, s)
}

// group returns digits with a separator after every three, or four for binary bases. It adds zeros
// before them until there are as many characters as the parameter least says. The zeros are grouped
// as well, and because a number cannot begin with a separator, there may be one character more.
//
//	f'{1234567:,}' → '1,234,567'
//	f'{1234567.891:,.2f}' → '1,234,567.89'
//	f'{1234:010,}' → '00,001,234'
//	f'{1234:08,}' → '0,001,234'
//	f'{65535:_x}' → 'ffff'
func group(m *py.Account, digits string, s spec, least int64) string {
	if digits == "" {
		return ""
	}
	if s.grouping == 0 {
		return Fill(m, digits, '0', max(least-int64(len(digits)), 0), 0)
	}
	size := int64(3)
	if strings.ContainsRune("boxX", s.typ) {
		size = 4
	}
	m.AllocText(2*max(least, 0) + 4*int64(len(digits)))
	var groups []string
	for {
		left := int64(len(digits))
		n := min(size, max(left, least, 1))
		taken := min(left, n)
		groups = append(groups, strings.Repeat("0", int(n-taken))+digits[left-taken:])
		digits = digits[:left-taken]
		least -= n
		if digits == "" && least <= 0 {
			break
		}
		least--
	}
	var b strings.Builder
	for i := len(groups) - 1; i >= 0; i-- {
		b.WriteString(groups[i])
		if i > 0 {
			b.WriteRune(s.grouping)
		}
	}
	m.Step(int64(len(groups)))
	return b.String()
}
