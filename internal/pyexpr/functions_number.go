package pyexpr

import (
	"math"

	"toolnorm/internal/pyexpr/number"
	"toolnorm/internal/pyexpr/py"
)

// numberFunctions are those that compute with numbers.
func numberFunctions() []*function {
	return []*function{
		fn("abs", oneArg, 1, 1, abs),
		fn("divmod", checked, 2, 2, divmod),
		named("pow", 2, 0, []string{"base", "exp", "mod"}, pow),
		named("round", 1, 0, []string{"number", "ndigits"}, round),
		named("sum", 1, 1, []string{"", "start"}, sum),
	}
}

// abs keeps the type: abs(-2.0) is 2.0, abs(True) is 1. The least int64 becomes a big integer.
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
		py.Raise(py.TypeError, "bad operand type for abs(): '%s'", typeName(a[0]))
	}
	if number.Big(n).Sign() < 0 {
		return number.Sub(m, int64(0), n)
	}
	return n
}

// divmod is (a // b, a % b) in one go, with messages of its own for a zero.
//
//	divmod(7, -2) → (-4, -1)
//	divmod(7.5, 2) → (3.0, 1.5)
//	divmod(1, 0) → ZeroDivisionError: integer division or modulo by zero
//	divmod('a', 1) → TypeError: unsupported operand type(s) for divmod(): 'str' and 'int'
func divmod(m *py.Account, a []value) value {
	if !number.Is(a[0]) || !number.Is(a[1]) {
		unsupported("divmod()", a[0], a[1])
	}
	q, r := number.Divmod(m, a[0], a[1])
	return tuple{q, r}
}

// pow is ** with two arguments, and modular with three, where the result stays as small as the modulus.
func pow(m *py.Account, a []value) value {
	if !given(a[2]) || a[2] == nil {
		return operate(m, "**", a[0], a[1])
	}
	ints, numbers := true, true
	for _, v := range a {
		_, isInt := number.Int(v)
		ints, numbers = ints && isInt, numbers && number.Is(v)
	}
	switch {
	case !numbers:
		py.Raise(py.TypeError, "unsupported operand type(s) for ** or pow(): '%s', '%s', '%s'", typeName(a[0]), typeName(a[1]), typeName(a[2]))
	case !ints:
		py.Raise(py.TypeError, "pow() 3rd argument not allowed unless all arguments are integers")
	}
	return number.PowMod(m, a[0], a[1], a[2])
}

// round goes half to even: round(2.5) is 2, round(0.5) is 0. Without digits the result is an int, with them, even with 0,
// a float stays one. round(2.675, 2) is 2.67, since the float nearest to 2.675 lies below it.
//
//	round(2.5) → 2
//	round(-3.5) → -4
//	round(2.675, 2) → 2.67
//	round(1234, -2) → 1200
//	round(1.5, 0) → 2.0
//	round('a') → TypeError: type str doesn't define __round__ method
func round(m *py.Account, a []value) value {
	x, isFloat := a[0].(float64)
	whole := !given(a[1]) || a[1] == nil
	switch {
	case !number.Is(a[0]):
		py.Raise(py.TypeError, "type %s doesn't define __round__ method", typeName(a[0]))
	case whole && isFloat:
		return number.Truncate(m, math.RoundToEven(x))
	case whole:
		return asInt(a[0])
	}
	return number.Round(m, a[0], asInt(a[1]))
}

// asInt reads an int or bool where nothing else will do.
func asInt(v value) value {
	if n, ok := number.Int(v); ok {
		return n
	}
	return py.Raise(py.TypeError, "'%s' object cannot be interpreted as an integer", typeName(v))
}

// sum adds from the left. CPython 3.11 adds floats plainly; the compensated sum came with 3.12.
//
//	sum([1, 2, 3]) → 6
//	sum([0.1] * 3) → 0.30000000000000004
//	sum([[1], [2]], []) → [1, 2]
//	sum(['a', 'b']) → TypeError: unsupported operand type(s) for +: 'int' and 'str'
//	sum(['a'], '') → TypeError: sum() can't sum strings [use ''.join(seq) instead]
func sum(m *py.Account, a []value) value {
	var total value = int64(0)
	if given(a[1]) {
		total = a[1]
	}
	it := iterate(m, a[0])
	if isString(total) {
		py.Raise(py.TypeError, "sum() can't sum strings [use ''.join(seq) instead]")
	}
	for {
		v, ok := it.next(m)
		if !ok {
			return total
		}
		m.Step(1)
		total = operate(m, "+", total, v)
	}
}
