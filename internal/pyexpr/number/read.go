package number

import (
	"math"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf8"

	"toolnorm/internal/pyexpr/chars"
	"toolnorm/internal/pyexpr/py"
)

// Reading of numbers, in literals and in the texts for int and float. Python counts the
// digits of all scripts as digits of a number: int('١٢') is 12, and so is int('１２') with full-width
// digits, which Korean and Japanese keyboards write.

// trimSpace removes the characters that int and float ignore around a number. These are all that
// Python counts as white space, such as U+00A0 and U+3000, except the four separators of ASCII.
//
//	int('\u30007\n') → 7
//	int('\x1c7') → ValueError: invalid literal for int() with base 10: '\x1c7'
func trimSpace(s string) string {
	return strings.TrimFunc(s, func(r rune) bool {
		return chars.Space(r) && (r < 0x1c || r > 0x1f)
	})
}

// PlainDigits returns a text with the decimal digits of every script replaced with ASCII ones,
// because int, float and the widths of formats accept them all.
//
//	int('١٢') → 12
//	int('１２') → 12
//	float('１.５') → 1.5
//	int('²') → ValueError: invalid literal for int() with base 10: '²'
func PlainDigits(s string) string {
	if strings.IndexFunc(s, func(r rune) bool { return r >= utf8.RuneSelf }) < 0 {
		return s
	}
	return strings.Map(func(r rune) rune {
		if d := chars.DigitValue(r); d >= 0 {
			return '0' + rune(d)
		}
		return r
	}, s)
}

// ParseInt parses an integer in a base as int does; with base 0 a prefix determines the base. ok is
// false if the text is not an integer. It raises a ValueError if there are too many digits.
//
//	int(' -1_000 ') → -1000
//	int('0x1f', 16) → 31
//	int('0b101', 0) → 5
//	int('1__0') → ValueError: invalid literal for int() with base 10: '1__0'
//	int('') → ValueError: invalid literal for int() with base 10: ''
//	int('z', 36) → 35
func ParseInt(m *py.Account, s string, base int) (n any, ok bool) {
	m.Scan(8 * len(s))
	digits, sign, base0 := intDigits(s, base)
	bare, ok := digitsOfBase(digits, base0)
	if !ok {
		return nil, false
	}
	powerOfTwo := base0&(base0-1) == 0
	if len(bare) > py.MostDigits && !powerOfTwo {
		py.Raise(py.ValueError,
			"Exceeds the limit (%d digits) for integer string conversion: value has %d digits; use sys.set_int_max_str_digits() to increase the limit", py.MostDigits, len(bare))
	}
	if n, err := strconv.ParseInt(sign+bare, base0, 64); err == nil {
		m.Alloc(py.BoxBytes)
		return n, true
	}
	m.AllocBits(int64(len(bare)) * 6)
	m.Step(int64(len(bare)) * int64(len(bare)) / 32_768)
	large, _ := new(big.Int).SetString(sign+bare, base0)
	if large.BitLen() > m.Limits.Bits {
		m.AllocBits(int64(large.BitLen()))
	}
	return Norm(large), true
}

// intDigits splits the text of an integer into its digits, its sign and its base, which is base0.
// The prefix of the digits, such as 0x, determines base0 if base is 0. For an invalid leading zero
// it returns no digits.
//
//	int('010') → 10
//	int('010', 0) → ValueError: invalid literal for int() with base 0: '010'
//	int('0o17', 0) → 15
//	int('0x', 16) → ValueError: invalid literal for int() with base 16: '0x'
func intDigits(s string, base int) (digits, sign string, base0 int) {
	digits = trimSpace(PlainDigits(s))
	if digits != "" && (digits[0] == '-' || digits[0] == '+') {
		sign, digits = strings.TrimPrefix(digits[:1], "+"), digits[1:]
	}
	if len(digits) > 1 && digits[0] == '0' {
		its := map[byte]int{'x': 16, 'o': 8, 'b': 2}[digits[1]|0x20]
		if its != 0 && (base == 0 || base == its) {
			if digits = digits[2:]; strings.HasPrefix(digits, "_") { // 0x_1f
				digits = digits[1:]
			}
			return digits, sign, its
		}
	}
	if base == 0 {
		if LeadingZero(digits + "0") {
			return "", sign, 10 // 012 is not a number where prefixes count
		}
		base = 10
	}
	return digits, sign, base
}

// digitsOfBase returns a text without the underscores between digits of a base. It returns false if
// there is any other character.
func digitsOfBase(s string, base int) (string, bool) {
	if s == "" {
		return "", false
	}
	for i := range len(s) {
		switch {
		case DigitValue(s[i]) < base:
		case s[i] != '_' || i == 0 || i+1 == len(s) || s[i-1] == '_':
			return "", false
		}
	}
	return strings.ReplaceAll(s, "_", ""), true
}

// ParseFloat parses a float as float does, with blanks around it, underscores between digits, and
// digits of any script. ok is false if the text is not a number.
//
//	float(' 1_0.5e1 ') → 105.0
//	float('-inf') → -inf
//	float('1__0') → ValueError: could not convert string to float: '1__0'
//	float('abc') → ValueError: could not convert string to float: 'abc'
//	float('1e400') → inf
func ParseFloat(m *py.Account, s string) (x float64, ok bool) {
	m.Step(4 + int64(len(s))/16) // six passes over the text, and the reading itself
	text := trimSpace(PlainDigits(s))
	bare, ok := withoutUnderscores(text)
	switch strings.ToLower(strings.TrimLeft(bare, "+-")) {
	case "inf", "infinity", "nan":
		ok = ok && len(strings.TrimLeft(bare, "+-")) >= len(bare)-1
	default:
		ok = ok && strings.Trim(bare, "0123456789+-.eE") == ""
	}
	if strings.EqualFold(strings.TrimLeft(bare, "+-"), "nan") {
		bare = "nan" // which Go reads without a sign alone
	}
	x, err := strconv.ParseFloat(bare, 64)
	if ok && (err == nil || math.IsInf(x, 0)) {
		m.Step(readSteps(bare, x))
		return x, true
	}
	return 0, false
}

// readSteps returns the cost of parsing a float in steps, in addition to the cost of reading its
// text. Numbers of many digits, and subnormal ones, are parsed by shifting a decimal for each few
// bits of the exponent, which takes some 30 µs for 2.2250738585072011e-308.
func readSteps(text string, x float64) int64 {
	exponent := exponentOf(x)
	if len(text) < 17 && exponent > -1000 {
		return 0
	}
	return int64(max(exponent, -exponent)) / 8
}

// withoutUnderscores returns a text without its underscores, as in 1_000. It returns false if an
// underscore is not between two digits.
func withoutUnderscores(s string) (string, bool) {
	for i := range len(s) {
		if s[i] == '_' && (i == 0 || i+1 == len(s) || !IsDigit(s[i-1]) || !IsDigit(s[i+1])) {
			return s, false
		}
	}
	return strings.ReplaceAll(s, "_", ""), true
}

// LeadingZero reports whether an integer literal has a leading zero, like an octal number in C. It
// returns false for literals of zeros only, which are valid.
//
//	00 → 0
//	0_0 → 0
//	0777 → SyntaxError: leading zeros in decimal integer literals are not permitted; use an 0o prefix for octal integers
//	00.5 → 0.5
func LeadingZero(s string) bool {
	return s[0] == '0' && strings.Trim(s, "0_") != ""
}

// DigitValue returns the value of a digit in a base up to 36, or 99 for any other character.
func DigitValue(c byte) int {
	switch {
	case IsDigit(c):
		return int(c - '0')
	case c >= 'a' && c <= 'z':
		return int(c-'a') + 10
	case c >= 'A' && c <= 'Z':
		return int(c-'A') + 10
	}
	return 99
}

// Literal returns the value of a literal that the lexer has accepted. It raises a SyntaxError if a
// decimal integer has too many digits.
//
//	123456789012345678901234567890 → 123456789012345678901234567890
//	0xFFFFFFFFFFFFFFFFFF → 4722366482869645213695
//	1e400 → inf
func Literal(text string) any {
	text = strings.ReplaceAll(text, "_", "")
	based := len(text) > 1 && text[0] == '0' && !IsDigit(text[1]) &&
		strings.IndexByte("xXoObB", text[1]) >= 0
	if !based && strings.ContainsAny(text, ".eE") {
		f, _ := strconv.ParseFloat(text, 64) // too large is infinity, as in Python
		return f
	}
	if !based && len(text) > py.MostDigits {
		py.Raise(py.SyntaxError,
			"Exceeds the limit (%d digits) for integer string conversion: value has %d digits; use sys.set_int_max_str_digits() to increase the limit - Consider hexadecimal for huge integer literals to avoid decimal conversion limits.", py.MostDigits, len(text))
	}
	base := 0
	if !based {
		base = 10 // 00 is a decimal zero to Python
	}
	if n, err := strconv.ParseInt(text, base, 64); err == nil {
		return n
	}
	n, _ := new(big.Int).SetString(text, base)
	return n // of 64 bits or more
}

// IsDigit reports whether a byte is an ASCII digit. Literals have no other digits.
func IsDigit(c byte) bool { return c >= '0' && c <= '9' }
