package number

import (
	"math"
	"math/big"
	"strconv"
	"strings"

	"toolnorm/internal/pyexpr/py"
)

// Digits of floats. Go's strconv gives correctly rounded digits for every precision, as CPython's
// dtoa does; only the notation differs: Python keeps a point in 1.0, and has the alternate forms.

// FloatDigits returns the text of a float that is not negative, as CPython's PyOS_double_to_string
// does. The parameter letter is the letter of a format, or r for the shortest text. If dot0 is
// true, .0 is added to a text without a point. If alternate is true, the point is kept, and format
// g keeps its zeros. For a NaN and an infinity it returns "nan" and "inf". It raises an error if
// the text exceeds the account's limits.
func FloatDigits(m *py.Account, x float64, letter rune, precision int, alternate,
	dot0 bool) string {
	upper := letter == 'E' || letter == 'F' || letter == 'G'
	m.AllocText(2*int64(precision) + 400) // 1e308 has 309 digits before its point
	m.Step(int64(12 + precision/16))      // strconv takes some µs for a number with 300 digits
	text := ""
	switch {
	case math.IsNaN(x):
		text = "nan"
	case math.IsInf(x, 0):
		text = "inf"
	default:
		text = finiteDigits(x, letter|0x20, precision, alternate, dot0)
	}
	if upper {
		text = strings.ToUpper(text)
	}
	return text
}

// finiteDigits returns the text of a finite float for the letter of a format. The letter r stands
// for the form of repr, which has no precision.
//
//	f'{0.1}' → '0.1'
//	f'{1e16}' → '1e+16'
//	f'{2.5:.0f}' → '2'
//	f'{3.5:.0f}' → '4'
//	f'{1e300:.3e}' → '1.000e+300'
//	f'{5.0:#.0f}' → '5.'
func finiteDigits(x float64, letter rune, precision int, alternate, dot0 bool) string {
	switch letter {
	case 'f':
		return withPoint(strconv.FormatFloat(x, 'f', precision, 64), alternate)
	case 'e':
		return withPoint(strconv.FormatFloat(x, 'e', precision, 64), alternate)
	case 'r':
		s := strconv.FormatFloat(x, 'e', -1, 64)
		digits, point := split(s)
		if point > -4 && point <= 16 {
			return fixedPoint(digits, point, alternate, dot0)
		}
		return withPoint(s, alternate)
	}
	return general(x, max(precision, 1), alternate, dot0)
}

// general returns a float with precision significant digits. It has an exponent if the point would
// be too far away.
//
//	f'{123456789.0:g}' → '1.23457e+08'
//	f'{0.00001:g}' → '1e-05'
//	f'{123.0:.3}' → '1.23e+02'
//	f'{1.0:#g}' → '1.00000'
//	f'{0.0:g}' → '0'
func general(x float64, precision int, alternate, dot0 bool) string {
	s := strconv.FormatFloat(x, 'e', precision-1, 64)
	digits, point := split(s)
	most := precision
	if dot0 {
		most--
	}
	if !alternate {
		digits = digits[:1] + strings.TrimRight(digits[1:], "0")
	}
	if point > -4 && point <= most {
		return fixedPoint(digits, point, alternate, dot0)
	}
	_, exponent, _ := strings.Cut(s, "e")
	mantissa := digits[:1]
	if len(digits) > 1 {
		mantissa += "." + digits[1:]
	}
	return withPoint(mantissa+"e"+exponent, alternate)
}

// split returns the digits in a text such as d.ddde±xx, and how many of them are before the point:
// 0 for 0.d, 1 for d.d.
func split(s string) (string, int) {
	mantissa, exponent, _ := strings.Cut(s, "e")
	n, _ := strconv.Atoi(exponent)
	return strings.Replace(mantissa, ".", "", 1), n + 1
}

// fixedPoint returns a number without an exponent. The parameter digits has its digits, and point
// says how many of them come before the decimal point. If point is not positive, zeros are added in
// front; if there are not enough digits, zeros are added at the end. Without a fraction the result
// has no decimal point, unless dot0 adds .0 or alternate adds the point alone. The fraction of a
// zero is dropped, unless alternate is true. Other zeros in the fraction are kept.
//
//	f'{100.0:g}' → '100'
//	f'{1e5:g}' → '100000'
//	f'{1e6:g}' → '1e+06'
//	f'{0.0001:g}' → '0.0001'
func fixedPoint(digits string, point int, alternate, dot0 bool) string {
	whole, fraction := "0", ""
	switch {
	case point <= 0:
		fraction = strings.Repeat("0", -point) + digits
	case point >= len(digits):
		whole = digits + strings.Repeat("0", point-len(digits))
	default:
		whole, fraction = digits[:point], digits[point:]
	}
	if strings.Trim(digits, "0") == "" && !alternate {
		fraction = "" // zero has no digits
	}
	whole = strings.TrimLeft(whole, "0")
	if whole == "" {
		whole = "0"
	}
	switch {
	case fraction != "":
		return whole + "." + fraction
	case dot0:
		return whole + ".0"
	case alternate:
		return whole + "."
	}
	return whole
}

// withPoint returns s with a point added if it has none and alternate is true.
func withPoint(s string, alternate bool) string {
	if !alternate || strings.Contains(s, ".") {
		return s
	}
	mantissa, exponent, ok := strings.Cut(s, "e")
	if ok {
		return mantissa + ".e" + exponent
	}
	return mantissa + "."
}

// FloatText returns the shortest text from which the same float can be parsed. It has an exponent
// from 1e16 up and below 1e-4.
//
//	str(1e16) → '1e+16'
//	str(123456789012345.0) → '123456789012345.0'
//	str(0.0001) → '0.0001'
//	str(0.00001) → '1e-05'
//	str(-0.0) → '-0.0'
func FloatText(x float64) string {
	switch {
	case math.IsNaN(x):
		return "nan"
	case math.IsInf(x, 1):
		return "inf"
	case math.IsInf(x, -1):
		return "-inf"
	}
	text := finiteDigits(math.Abs(x), 'r', 0, false, true)
	if math.Signbit(x) {
		return "-" + text
	}
	return text
}

// Decimal returns an int in decimal. It raises a ValueError if that has more than MostDigits
// digits.
//
//	str(-5) → '-5'
//	str(10**30) → '1000000000000000000000000000000'
//	str(10**5000) → ValueError: Exceeds the limit (4300 digits) for integer string conversion; use sys.set_int_max_str_digits() to increase the limit
func Decimal(m *py.Account, v any) string {
	n, ok := v.(*big.Int)
	if !ok {
		m.Alloc(py.BoxBytes + 20)
		return strconv.FormatInt(v.(int64), 10)
	}
	if n.BitLen() > py.MostDigits*10/3 { // log2(10) is 3.32, so this certainly has more digits
		tooManyDigits()
	}
	m.AllocText(int64(n.BitLen()))
	s := n.Text(10)
	if len(strings.TrimPrefix(s, "-")) > py.MostDigits {
		tooManyDigits()
	}
	m.Step(int64(len(s)) * int64(len(s)) / 32_768)
	return s
}

// tooManyDigits raises CPython's error word for word. The setting that it names does not exist
// here, but a search for the message finds explanations.
func tooManyDigits() {
	py.Raise(py.ValueError,
		"Exceeds the limit (%d digits) for integer string conversion; use sys.set_int_max_str_digits() to increase the limit", py.MostDigits)
}
