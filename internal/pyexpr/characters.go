package pyexpr

import (
	"math/big"
	"strconv"
	"strings"
	"unicode/utf8"

	"toolnorm/internal/pyexpr/chars"
	"toolnorm/internal/pyexpr/py"
	"toolnorm/internal/pyexpr/syntax"
)

// Characters beyond ASCII, in the few places where an expression asks what they are. Python counts the digits of all scripts
// as digits of a number: int('١٢') is 12, and so is int('１２') with full-width digits, which Korean and Japanese keyboards write.

// trimSpace removes what int and float ignore around a number: every character that Python counts as blank, which is more
// than ASCII's six, U+00A0 and U+3000 among them.
func trimSpace(s string) string { return strings.TrimFunc(s, chars.Space) }

// plainDigits writes the decimal digits of every script as ASCII ones: int and float read them all.
//
//	int('١٢') → 12
//	int('１２') → 12
//	float('１.５') → 1.5
//	int('²') → ValueError: invalid literal for int() with base 10: '²'
func plainDigits(s string) string {
	if isASCII(s) {
		return s
	}
	return strings.Map(func(r rune) rune {
		if d := chars.DigitValue(r); d >= 0 {
			return '0' + rune(d)
		}
		return r
	}, s)
}

// parseInt reads what int accepts in a base; 0 means that a prefix says which.
//
//	int(' -1_000 ') → -1000
//	int('0x1f', 16) → 31
//	int('0b101', 0) → 5
//	int('1__0') → ValueError: invalid literal for int() with base 10: '1__0'
//	int('') → ValueError: invalid literal for int() with base 10: ''
//	int('z', 36) → 35
func parseInt(m *py.Account, s string, base int) value {
	m.Scan(8 * len(s))
	digits, sign, base0 := intDigits(s, base)
	bare, ok := digitsOfBase(digits, base0)
	if !ok {
		notInBase(m, s, base)
	}
	powerOfTwo := base0&(base0-1) == 0
	if len(bare) > py.MostDigits && !powerOfTwo {
		py.Raise(py.ValueError, "Exceeds the limit (%d digits) for integer string conversion: value has %d digits; use sys.set_int_max_str_digits() to increase the limit", py.MostDigits, len(bare))
	}
	if n, err := strconv.ParseInt(sign+bare, base0, 64); err == nil {
		m.Alloc(py.BoxBytes)
		return n
	}
	m.AllocBits(int64(len(bare)) * 6)
	m.Step(int64(len(bare)) * int64(len(bare)) / 32_768)
	n, _ := new(big.Int).SetString(sign+bare, base0)
	if n.BitLen() > m.Limits.Bits {
		m.AllocBits(int64(n.BitLen()))
		return nil
	}
	return norm(n)
}

// intDigits splits an integer's text into its digits, its sign and its base.
//
//	int('010') → 10
//	int('010', 0) → ValueError: invalid literal for int() with base 0: '010'
//	int('0o17', 0) → 15
//	int('0x', 16) → ValueError: invalid literal for int() with base 16: '0x'
func intDigits(s string, base int) (digits, sign string, base0 int) {
	digits = trimSpace(plainDigits(s))
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
		if syntax.LeadingZero(digits + "0") {
			return "", sign, 10 // 012 is no number where prefixes count
		}
		base = 10
	}
	return digits, sign, base
}

// digitsOfBase removes underscores between digits of a base; ok is false when anything is no digit.
func digitsOfBase(s string, base int) (string, bool) {
	if s == "" {
		return "", false
	}
	for i := range len(s) {
		switch {
		case syntax.DigitValue(s[i]) < base:
		case s[i] != '_' || i == 0 || i+1 == len(s) || s[i-1] == '_':
			return "", false
		}
	}
	return strings.ReplaceAll(s, "_", ""), true
}

// notInBase is what int says of a text that is no integer.
func notInBase(m *py.Account, s string, base int) {
	text := repr(m, s)
	if n := utf8.RuneCountInString(text); n > 200 { // CPython's %.200R
		text = text[:byteAt(text, 200)]
	}
	py.Raise(py.ValueError, "invalid literal for int() with base %d: %s", base, text)
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
