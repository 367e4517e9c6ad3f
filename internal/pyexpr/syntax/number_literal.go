package syntax

import (
	"slices"
	"strings"

	"toolnorm/internal/pyexpr/number"
	"toolnorm/internal/pyexpr/py"
)

// number reads a numeric literal. It raises the errors of CPython's tokenizer, which checks the
// letter after the digits.
//
//	1_000 + .5 + 1. → 1001.5
//	1e3 → 1000.0
//	012 → SyntaxError: leading zeros in decimal integer literals are not permitted; use an 0o prefix for octal integers
func (l *lexer) number() {
	rest := l.src[l.pos:]
	if rest[0] == '0' && len(rest) > 1 {
		switch rest[1] {
		case 'x', 'X':
			l.radix(16, "hexadecimal")
			return
		case 'o', 'O':
			l.radix(8, "octal")
			return
		case 'b', 'B':
			l.radix(2, "binary")
			return
		}
	}
	n := digits(rest)
	whole := n
	if n < len(rest) && rest[n] == '.' {
		fraction := digits(rest[n+1:])
		n += 1 + fraction
	}
	n = exponent(rest, n)
	if n < len(rest) && (rest[n] == 'j' || rest[n] == 'J') {
		py.Raise(py.SyntaxError, "complex numbers are not available in expressions")
	}
	if n == whole && number.LeadingZero(rest[:n]) {
		py.Raise(py.SyntaxError,
			"leading zeros in decimal integer literals are not permitted; use an 0o prefix for octal integers")
	}
	l.endNumber(n, "decimal")
}

// digits returns the length of the run of decimal digits at the start of s. There may be single
// underscores between digits; it raises an error for others.
//
//	1__0 → SyntaxError: invalid decimal literal
//	1_ → SyntaxError: invalid decimal literal
//	1_000_000 → 1000000
func digits(s string) (n int) {
	for n < len(s) {
		switch {
		case number.IsDigit(s[n]):
			n++
		case s[n] == '_' && (n == 0 || n+1 == len(s) || !number.IsDigit(s[n+1])):
			py.Raise(py.SyntaxError, "invalid decimal literal")
		case s[n] == '_':
			n++
		default:
			return n
		}
	}
	return n
}

// exponent returns the offset after an exponent at rest[n:], or n if there is none. For example,
// `1else` has none, though it begins like one.
//
//	1e → SyntaxError: invalid decimal literal
//	1e+ → SyntaxError: invalid decimal literal
//	1e-3 → 0.001
//	1e1_0 → 10000000000.0
func exponent(rest string, n int) int {
	if n >= len(rest) || rest[n] != 'e' && rest[n] != 'E' {
		return n
	}
	k := n + 1
	signed := k < len(rest) && (rest[k] == '+' || rest[k] == '-')
	if signed {
		k++
	}
	if k >= len(rest) || !number.IsDigit(rest[k]) {
		if signed {
			py.Raise(py.SyntaxError, "invalid decimal literal")
		}
		return n
	}
	return k + digits(rest[k:])
}

// afterNumber are the keywords that may follow a number without a blank.
var afterNumber = []string{"and", "else", "for", "if", "in", "is", "not", "or"}

// endNumber adds the token for a literal of n bytes. It raises an error if a letter follows, unless
// it begins a keyword such as `if`.
//
//	1if 1 else 2 → 1
//	1abc → SyntaxError: invalid decimal literal
//	0xfg → SyntaxError: invalid hexadecimal literal
func (l *lexer) endNumber(n int, base string) {
	rest := l.src[l.pos+n:]
	if letters := nameLength(rest); letters > 0 || strings.HasPrefix(rest, "_") {
		if !slices.ContainsFunc(afterNumber, func(word string) bool {
			return strings.HasPrefix(rest, word)
		}) {
			py.Raise(py.SyntaxError, "invalid %s literal", base)
		}
	}
	l.add(tokenNumber, l.pos+n)
}

// radix reads a literal that begins with 0x, 0o or 0b. It raises an error for invalid digits.
//
//	0xff → 255
//	0o17 → 15
//	0b101 → 5
//	0x → SyntaxError: invalid hexadecimal literal
//	0b12 → SyntaxError: invalid digit '2' in binary literal
//	0o8 → SyntaxError: invalid digit '8' in octal literal
//	0x_f → 15
func (l *lexer) radix(base int, name string) {
	rest := l.src[l.pos:]
	n := 2
	for n < len(rest) {
		if rest[n] == '_' {
			n++
		}
		start := n
		for n < len(rest) && number.DigitValue(rest[n]) < base {
			n++
		}
		if n < len(rest) && number.IsDigit(rest[n]) {
			py.Raise(py.SyntaxError, "invalid digit '%c' in %s literal", rest[n], name)
		}
		if n == start {
			py.Raise(py.SyntaxError, "invalid %s literal", name)
		}
		if n == len(rest) || rest[n] != '_' {
			break
		}
	}
	if n == 2 {
		py.Raise(py.SyntaxError, "invalid %s literal", name)
	}
	l.endNumber(n, name)
}
