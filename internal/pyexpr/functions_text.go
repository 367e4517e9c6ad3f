package pyexpr

import (
	"unicode/utf8"

	"toolnorm/internal/pyexpr/number"
	"toolnorm/internal/pyexpr/py"
)

// textFunctions are those between numbers and characters.
func textFunctions() []*function {
	return []*function{
		fn("ord", oneArg, 1, 1, ord),
		fn("chr", oneArg, 1, 1, chr),
		fn("bin", oneArg, 1, 1, func(m *py.Account, a []value) value { return based(m, a[0], 2, "0b") }),
		fn("oct", oneArg, 1, 1, func(m *py.Account, a []value) value { return based(m, a[0], 8, "0o") }),
		fn("hex", oneArg, 1, 1, func(m *py.Account, a []value) value { return based(m, a[0], 16, "0x") }),
	}
}

// ord is the number of a character; a string of any other length is an error that says how long it is.
//
//	ord('가') → 44032
//	ord('ab') → TypeError: ord() expected a character, but string of length 2 found
//	ord(1) → TypeError: ord() expected string of length 1, but int found
func ord(m *py.Account, a []value) value {
	s, ok := a[0].(string)
	if !ok {
		py.Raise(py.TypeError, "ord() expected string of length 1, but %s found", typeName(a[0]))
	}
	if n := runes(s); n != 1 {
		py.Raise(py.TypeError, "ord() expected a character, but string of length %d found", n)
	}
	r, _ := utf8.DecodeRuneInString(s)
	m.Scan(len(s))
	return int64(r)
}

// chr is the character of a number. The range checks are CPython's two: first that of C's int, then that of Unicode.
// Surrogates, U+D800 to U+DFFF, are refused: they cannot be written as UTF-8, so no result could hold one.
//
//	chr(44032) → '가'
//	chr(-1) → ValueError: chr() arg not in range(0x110000)
//	chr('a') → TypeError: 'str' object cannot be interpreted as an integer
func chr(_ *py.Account, a []value) value {
	n, small := asInt(a[0]).(int64)
	switch {
	case !small || n != int64(int32(n)):
		py.Raise(py.OverflowError, "Python int too large to convert to C int")
	case n < 0 || n > utf8.MaxRune:
		py.Raise(py.ValueError, "chr() arg not in range(0x110000)")
	case !utf8.ValidRune(rune(n)):
		py.Raise(py.ValueError, "a surrogate is no character of its own: chr(%d)", n)
	}
	return string(rune(n))
}

// based writes an integer in base 2, 8 or 16 with its prefix.
//
//	hex(255) → '0xff'
//	bin(-5) → '-0b101'
//	oct(8) → '0o10'
//	hex(1.5) → TypeError: 'float' object cannot be interpreted as an integer
func based(m *py.Account, v value, base int, prefix string) value {
	b := number.Big(asInt(v))
	m.AllocText(2 * int64(b.BitLen()+8))
	text := b.Text(base)
	if text[0] == '-' {
		return "-" + prefix + text[1:]
	}
	return prefix + text
}
