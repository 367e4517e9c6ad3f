package object

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"toolnorm/internal/pyexpr/chars"
	"toolnorm/internal/pyexpr/number"
	"toolnorm/internal/pyexpr/py"
)

// spec is a parsed format specification, [[fill]align][sign][z][#][0][width][,_][.precision][type].
type spec struct {
	fill             rune
	align, sign      rune
	noNegativeZero   bool
	alternate        bool
	width, precision int64 // -1: not given
	grouping         rune  // ',' or '_'
	typ              rune  // the type letter, or the default one
}

// specReader parses a specification from the left.
type specReader struct{ rest string }

// peek returns the n-th of the characters that are still to be read, counted from 0. It returns -1
// if there are fewer.
func (r *specReader) peek(n int) rune {
	rest := r.rest
	for range n {
		_, size := utf8.DecodeRuneInString(rest)
		rest = rest[size:]
	}
	if rest == "" {
		return -1
	}
	c, _ := utf8.DecodeRuneInString(rest)
	return c
}

// skip moves past the next character and returns it.
func (r *specReader) skip() rune {
	c, size := utf8.DecodeRuneInString(r.rest)
	r.rest = r.rest[size:]
	return c
}

// accept moves past the next character and returns it, if it is one of those in the parameter any.
// Otherwise it returns 0 and does not move.
func (r *specReader) accept(any string) rune {
	if c := r.peek(0); c > 0 && strings.ContainsRune(any, c) {
		return r.skip()
	}
	return 0
}

// parseSpec parses a specification. The parameter of is the name of the value's type for messages,
// and typ and align are the defaults. It raises a ValueError if the specification is invalid. The
// checks are in CPython's order, so that the same one of two faults is reported.
//
//	f'{5:<4}' → '5   '
//	f'{5:^4}' → ' 5  '
//	f'{5:=+4}' → '+  5'
//	f'{5:04}' → '0005'
//	f'{-5:x>6}' → 'xxxx-5'
//	f'{5:４}' → '   5'
//	f'{5:abc}' → ValueError: Invalid format specifier 'abc' for object of type 'int'
//	f'{5:.}' → ValueError: Format specifier missing precision
func parseSpec(text, of string, typ, align rune) spec {
	s := spec{fill: ' ', align: align, typ: typ, precision: -1}
	r := &specReader{text}
	filled, aligned := false, false
	if c := r.peek(1); c > 0 && strings.ContainsRune("<>=^", c) {
		s.fill, s.align = r.skip(), r.skip()
		filled, aligned = true, true
	} else if c := r.accept("<>=^"); c != 0 {
		s.align, aligned = c, true
	}
	s.sign = r.accept(" +-")
	s.noNegativeZero = r.accept("z") != 0
	s.alternate = r.accept("#") != 0
	if !filled && r.accept("0") != 0 {
		s.fill = '0'
		if !aligned && align == '>' {
			s.align = '='
		}
	}
	s.width = r.number(chars.Decimal, "Too many decimal digits in format string")
	s.separators(r)
	if r.accept(".") != 0 {
		s.precision = r.number(chars.Decimal, "Too many decimal digits in format string")
		if s.precision < 0 {
			py.Raise(py.ValueError, "Format specifier missing precision")
		}
	}
	if r.rest != "" {
		s.typ = r.skip()
	}
	if r.rest != "" {
		py.Raise(py.ValueError, "Invalid format specifier '%s' for object of type '%s'", text, of)
	}
	s.checkGrouping()
	return s
}

// number parses a width or precision, and returns -1 if there is none. Its digits are the
// characters for which digit returns true. tooLarge is the message for a number that does not fit
// into 64 bits.
func (r *specReader) number(digit func(rune) bool, tooLarge string) int64 {
	rest := strings.TrimLeftFunc(r.rest, digit)
	text := r.rest[:len(r.rest)-len(rest)]
	if text == "" {
		return -1
	}
	v, err := strconv.ParseInt(number.PlainDigits(text), 10, 64)
	if err != nil {
		py.Raise(py.ValueError, "%s", tooLarge)
	}
	r.rest = rest
	return v
}

// separators parses the grouping character. It raises an error if there are two.
func (s *spec) separators(r *specReader) {
	s.grouping = r.accept(",")
	if c := r.accept("_"); c != 0 {
		if s.grouping != 0 {
			py.Raise(py.ValueError, "Cannot specify both ',' and '_'.")
		}
		s.grouping = c
	}
	if s.grouping == '_' && r.peek(0) == ',' {
		py.Raise(py.ValueError, "Cannot specify both ',' and '_'.")
	}
}

// checkGrouping raises an error for a type letter that does not support the grouping. Decimal types
// support it, and with '_' binary types do as well.
//
//	f'{5:,x}' → ValueError: Cannot specify ',' with 'x'.
//	f'{5:,_}' → ValueError: Cannot specify both ',' and '_'.
//	f'{5:,s}' → ValueError: Cannot specify ',' with 's'.
func (s *spec) checkGrouping() {
	switch {
	case s.grouping == 0, s.typ == 0, strings.ContainsRune("defgEG%F", s.typ):
		return
	case s.grouping == '_' && strings.ContainsRune("boxX", s.typ):
		return
	case s.typ > 32 && s.typ < 128:
		py.Raise(py.ValueError, "Cannot specify '%c' with '%c'.", s.grouping, s.typ)
	}
	py.Raise(py.ValueError, "Cannot specify '%c' with '\\x%x'.", s.grouping, s.typ)
}
