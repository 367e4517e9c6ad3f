package object

import (
	"strings"

	"toolnorm/internal/pyexpr/number"
	"toolnorm/internal/pyexpr/py"
)

// The conversions of %: how each letter formats its argument.

// convert returns an argument, formatted as a conversion letter such as d or s asks for. For an
// unknown letter it raises an error, whose message contains the letter's offset, which is the
// parameter at.
func (f *percentFormat) convert(letter rune, v Value, s spec, at int) string {
	switch letter {
	case 's', 'r', 'a':
		return f.text(letter, v, s)
	case 'c':
		return f.char(v, s)
	case 'd', 'i', 'u', 'x', 'X', 'o':
		return f.integer(letter, v, s)
	case 'e', 'E', 'f', 'F', 'g', 'G':
		return f.float(letter, v, s)
	}
	shown := letter
	if letter < 32 || letter > 126 {
		shown = '?'
	}
	py.Raise(py.ValueError, "unsupported format character '%c' (0x%x) at index %d", shown, letter,
		at)
	return ""
}

// text returns the value v as text in the form of the specification s. It is for the letters s, r
// and a.
func (f *percentFormat) text(letter rune, v Value, s spec) string {
	s.fill = ' '
	return fit(f.m, Convert(f.m, v, byte(letter)).(string), s)
}

// char returns the character with a number, or a text of one character. It raises an error for
// other values.
//
//	'%c' % 44032 → '가'
//	'%c' % 'ab' → TypeError: %c requires int or char
//	'%c' % -1 → OverflowError: %c arg not in range(0x110000)
//	'%c' % 1.5 → TypeError: %c requires int or char
func (f *percentFormat) char(v Value, s spec) string {
	s.fill = ' '
	if t, ok := v.(string); ok {
		if Runes(t) != 1 {
			py.Raise(py.TypeError, "%%c requires int or char")
		}
		return pad(f.m, t, s)
	}
	n, ok := number.Int(v)
	if !ok {
		py.Raise(py.TypeError, "%%c requires int or char")
	}
	r, small := n.(int64)
	if !small {
		r = -1 // out of range as well
	}
	return pad(f.m, charOf(r), s)
}

// integer returns a number in the base of the letter. A float is truncated for %d, and is an error
// for the other letters.
//
//	'%d' % 3.99 → '3'
//	'%x' % 3.5 → TypeError: %x format: an integer is required, not float
//	'%i %u' % (True, 2) → '1 2'
//	'%d' % '5' → TypeError: %d format: a real number is required, not str
//	'%d' % None → TypeError: %d format: a real number is required, not NoneType
func (f *percentFormat) integer(letter rune, v Value, s spec) string {
	n, ok := number.Int(v)
	if x, isFloat := v.(float64); isFloat && strings.ContainsRune("diu", letter) {
		n, ok = number.Truncate(f.m, x), true
	}
	if !ok {
		if strings.ContainsRune("xXo", letter) {
			py.Raise(py.TypeError, "%%%c format: an integer is required, not %s", letter,
				TypeName(v))
		}
		py.Raise(py.TypeError, "%%%c format: a real number is required, not %s", letter,
			TypeName(v))
	}
	s.typ = letter
	if strings.ContainsRune("diu", letter) {
		s.typ, s.alternate = 'd', false
	}
	return f.digits(n, s).layout(f.m, f.signed(s))
}

// digits returns a number with at least as many digits as the precision.
//
//	'%#x %#o' % (255, 8) → '0xff 0o10'
//	'%.5d' % -42 → '-00042'
//	'%08x' % 255 → '000000ff'
//	'%-#6X|' % 10 → '0XA   |'
func (f *percentFormat) digits(n Value, s spec) numeral {
	all := inBase(f.m, n, s)
	all.digits = Fill(f.m, all.digits, '0', max(s.precision-int64(len(all.digits)), 0), 0)
	return all
}

// signed returns the specification s. If the flag 0 asks for leading zeros, the result puts them
// after the sign of the number.
func (f *percentFormat) signed(s spec) spec {
	if s.fill == '0' && s.align == '>' {
		s.align = '='
	}
	return s
}

// float returns a number in the form of a float. An int that is too large for a float is an
// OverflowError.
//
//	'%e' % 0 → '0.000000e+00'
//	'%G' % 1e-10 → '1E-10'
//	'%f' % 'a' → TypeError: must be real number, not str
//	'%+.1f' % -0.05 → '-0.1'
//	'%10.3e|' % 12345.678 → ' 1.235e+04|'
func (f *percentFormat) float(letter rune, v Value, s spec) string {
	if !number.Is(v) {
		py.Raise(py.TypeError, "must be real number, not %s", TypeName(v))
	}
	s.typ = letter
	return formatFloat(f.m, number.Float(v), "float", f.signed(s))
}
