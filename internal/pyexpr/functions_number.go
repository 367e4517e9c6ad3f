package pyexpr

import (
	"math"
	"unicode/utf8"

	"toolnorm/internal/pyexpr/number"
	"toolnorm/internal/pyexpr/object"
	"toolnorm/internal/pyexpr/py"
)

// numberFunctions returns the functions for numbers, including those that convert between numbers
// and characters.
func numberFunctions() []*function {
	return []*function{
		fn("abs", oneArg, 1, 1, abs),
		fn("divmod", checked, 2, 2, divmod),
		withNames("pow", 2, 0, []string{"base", "exp", "mod"}, pow),
		withNames("round", 1, 0, []string{"number", "ndigits"}, round),
		withNames("sum", 1, 1, []string{"", "start"}, sum),
		fn("ord", oneArg, 1, 1, ord),
		fn("chr", oneArg, 1, 1, chr),
		fn("bin", oneArg, 1, 1, func(m *py.Account, a []value) value {
			return inBase(m, a[0], 2, "0b")
		}),
		fn("oct", oneArg, 1, 1, func(m *py.Account, a []value) value {
			return inBase(m, a[0], 8, "0o")
		}),
		fn("hex", oneArg, 1, 1, func(m *py.Account, a []value) value {
			return inBase(m, a[0], 16, "0x")
		}),
	}
}

// abs returns the absolute value, as a float for a float and as an int otherwise, even for a bool.
// For the least int64 it returns a big integer.
//
//	abs(-2) → 2
//	abs(-2.5) → 2.5
//	abs(True) → 1
//	abs('a') → TypeError: bad operand type for abs(): 'str'
func abs(m *py.Account, a []value) value {
	if x, ok := a[0].(float64); ok {
		return math.Abs(x)
	}
	n, ok := number.Int(a[0])
	if !ok {
		py.Raise(py.TypeError, "bad operand type for abs(): '%s'", object.TypeName(a[0]))
	}
	if number.Big(n).Sign() < 0 {
		return number.Sub(m, int64(0), n)
	}
	return n
}

// divmod returns (a // b, a % b). For a division by zero it has its own messages.
//
//	divmod(7, -2) → (-4, -1)
//	divmod(7.5, 2) → (3.0, 1.5)
//	divmod(1, 0) → ZeroDivisionError: integer division or modulo by zero
//	divmod('a', 1) → TypeError: unsupported operand type(s) for divmod(): 'str' and 'int'
func divmod(m *py.Account, a []value) value {
	if !number.Is(a[0]) || !number.Is(a[1]) {
		object.RaiseUnsupported("divmod()", a[0], a[1])
	}
	q, r := number.Divmod(m, a[0], a[1])
	return object.Tuple{q, r}
}

// pow returns a**b or, with three arguments, that power modulo the third. In the second case all
// intermediate results are smaller than the modulus.
func pow(m *py.Account, a []value) value {
	if !isGiven(a[2]) || a[2] == nil {
		return object.Operate(m, "**", a[0], a[1])
	}
	ints, numbers := true, true
	for _, v := range a {
		_, isInt := number.Int(v)
		ints, numbers = ints && isInt, numbers && number.Is(v)
	}
	switch {
	case !numbers:
		py.Raise(py.TypeError, "unsupported operand type(s) for ** or pow(): '%s', '%s', '%s'",
			object.TypeName(a[0]), object.TypeName(a[1]), object.TypeName(a[2]))
	case !ints:
		py.Raise(py.TypeError, "pow() 3rd argument not allowed unless all arguments are integers")
	}
	return number.PowMod(m, a[0], a[1], a[2])
}

// round returns a number rounded half to even, so round(2.5) is 2 and round(0.5) is 0. Without
// digits the result is an int. With digits, even with 0, the result for a float is a float.
// round(2.675, 2) is 2.67, because the float nearest to 2.675 is smaller than 2.675.
//
//	round(2.5) → 2
//	round(-3.5) → -4
//	round(2.675, 2) → 2.67
//	round(1234, -2) → 1200
//	round(1.5, 0) → 2.0
//	round('a') → TypeError: type str doesn't define __round__ method
func round(m *py.Account, a []value) value {
	x, isFloat := a[0].(float64)
	whole := !isGiven(a[1]) || a[1] == nil
	switch {
	case !number.Is(a[0]):
		py.Raise(py.TypeError, "type %s doesn't define __round__ method", object.TypeName(a[0]))
	case whole && isFloat:
		return number.Truncate(m, math.RoundToEven(x))
	case whole:
		return asInt(a[0])
	}
	return number.Round(m, a[0], asInt(a[1]))
}

// asInt returns an int or bool as an int, and raises an error for other values.
func asInt(v value) value {
	if n, ok := number.Int(v); ok {
		return n
	}
	return py.Raise(py.TypeError, "'%s' object cannot be interpreted as an integer",
		object.TypeName(v))
}

// sum returns the sum of the items, added from the left. As in CPython 3.11, floats are simply
// added; the compensated sum came with 3.12.
//
//	sum([1, 2, 3]) → 6
//	sum([0.1] * 3) → 0.30000000000000004
//	sum([[1], [2]], []) → [1, 2]
//	sum(['a', 'b']) → TypeError: unsupported operand type(s) for +: 'int' and 'str'
//	sum(['a'], '') → TypeError: sum() can't sum strings [use ''.join(seq) instead]
func sum(m *py.Account, a []value) value {
	var total value = int64(0)
	if isGiven(a[1]) {
		total = a[1]
	}
	it := object.Iterate(m, a[0])
	if object.IsString(total) {
		py.Raise(py.TypeError, "sum() can't sum strings [use ''.join(seq) instead]")
	}
	for v := range it.Rest(m) {
		m.Step(1)
		total = object.Operate(m, "+", total, v)
	}
	return total
}

// ord returns the number of a character. It raises an error, which includes the length, for a
// string that is not one character.
//
//	ord('가') → 44032
//	ord('ab') → TypeError: ord() expected a character, but string of length 2 found
//	ord(1) → TypeError: ord() expected string of length 1, but int found
func ord(m *py.Account, a []value) value {
	s, ok := a[0].(string)
	if !ok {
		py.Raise(py.TypeError, "ord() expected string of length 1, but %s found",
			object.TypeName(a[0]))
	}
	if n := object.Runes(s); n != 1 {
		py.Raise(py.TypeError, "ord() expected a character, but string of length %d found", n)
	}
	r, _ := utf8.DecodeRuneInString(s)
	m.Scan(len(s))
	return int64(r)
}

// chr returns the character with a number. As in CPython, two ranges are checked: first that of C's
// int, then that of Unicode. Surrogates, U+D800 to U+DFFF, are errors here as well, because they
// cannot be encoded as UTF-8, so no result could contain one.
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

// inBase returns an integer in base 2, 8 or 16 with a prefix.
//
//	hex(255) → '0xff'
//	bin(-5) → '-0b101'
//	oct(8) → '0o10'
//	hex(1.5) → TypeError: 'float' object cannot be interpreted as an integer
func inBase(m *py.Account, v value, base int, prefix string) value {
	b := number.Big(asInt(v))
	m.AllocText(2 * int64(b.BitLen()+8))
	text := b.Text(base)
	if text[0] == '-' {
		return "-" + prefix + text[1:]
	}
	return prefix + text
}
