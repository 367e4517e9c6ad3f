package pyexpr

import (
	"math"
	"math/big"
	"strconv"

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
	n, ok := integer(a[0])
	if !ok {
		py.Raise(py.TypeError, "bad operand type for abs(): '%s'", typeName(a[0]))
	}
	if toBig(n).Sign() < 0 {
		return subInts(m, int64(0), n)
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
	i, ok1 := integer(a[0])
	j, ok2 := integer(a[1])
	if ok1 && ok2 {
		q, r := divmodInts(m, i, j, "integer division or modulo by zero")
		return tuple{q, r}
	}
	if !isNumber(a[0]) || !isNumber(a[1]) {
		unsupported("divmod()", a[0], a[1])
	}
	x, y := number(a[0]), number(a[1])
	if y == 0 {
		py.Raise(py.ZeroDivisionError, "float divmod()")
	}
	m.Step(remainderSteps(x, y))
	q, r := divmodFloats(x, y)
	m.AllocItems(4)
	return tuple{q, r}
}

// isNumber says that a value is an int, a bool or a float.
func isNumber(v value) bool {
	_, isInt := integer(v)
	_, isFloat := v.(float64)
	return isInt || isFloat
}

// number is a number as a float.
func number(v value) float64 {
	if x, ok := v.(float64); ok {
		return x
	}
	n, _ := integer(v)
	return toFloat(n)
}

// pow is ** with two arguments, and modular with three, where the result stays as small as the modulus.
func pow(m *py.Account, a []value) value {
	if !given(a[2]) || a[2] == nil {
		return operate(m, "**", a[0], a[1])
	}
	return powMod(m, a[0], a[1], a[2])
}

// powMod is pow(a, b, c). Its size is that of c; its work grows with the bits of all three.
//
//	pow(3, 4, 5) → 1
//	pow(3, -1, 7) → 5
//	pow(2, -1, 4) → ValueError: base is not invertible for the given modulus
//	pow(2, 3, 0) → ValueError: pow() 3rd argument cannot be 0
//	pow(3, 2, -5) → -1
func powMod(m *py.Account, a, b, c value) value {
	x, ok1 := integer(a)
	n, ok2 := integer(b)
	mod, ok3 := integer(c)
	if !ok1 || !ok2 || !ok3 {
		for _, v := range []value{a, b, c} {
			if _, isFloat := v.(float64); !isFloat {
				if _, isInt := integer(v); !isInt {
					py.Raise(py.TypeError, "unsupported operand type(s) for ** or pow(): '%s', '%s', '%s'", typeName(a), typeName(b), typeName(c))
				}
			}
		}
		py.Raise(py.TypeError, "pow() 3rd argument not allowed unless all arguments are integers")
	}
	base, exp, modulus := toBig(x), toBig(n), toBig(mod)
	if modulus.Sign() == 0 {
		py.Raise(py.ValueError, "pow() 3rd argument cannot be 0")
	}
	words := int64(modulus.BitLen()+base.BitLen())/64 + 1
	m.Step(int64(exp.BitLen()+1) * words * words / 64)
	m.AllocBits(int64(base.BitLen() + 24*modulus.BitLen()))
	positive := new(big.Int).Abs(modulus)
	if exp.Sign() < 0 {
		base = new(big.Int).ModInverse(new(big.Int).Mod(base, positive), positive)
		if base == nil {
			py.Raise(py.ValueError, "base is not invertible for the given modulus")
		}
		exp = new(big.Int).Neg(exp)
	}
	r := new(big.Int).Exp(new(big.Int).Mod(base, positive), exp, positive)
	if modulus.Sign() < 0 && r.Sign() != 0 {
		r.Add(r, modulus)
	}
	return norm(r)
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
	digits := a[1]
	whole := !given(digits) || digits == nil
	x, isFloat := a[0].(float64)
	n, isInt := integer(a[0])
	switch {
	case !isFloat && !isInt:
		py.Raise(py.TypeError, "type %s doesn't define __round__ method", typeName(a[0]))
	case whole && isInt:
		return n
	case whole:
		return truncate(m, math.RoundToEven(x))
	}
	d := asInt(digits)
	if isInt {
		return roundInt(m, n, d)
	}
	places := clamp(d)
	if isFloat && math.IsNaN(x) || math.IsInf(x, 0) {
		return x
	}
	m.Step(roundSteps(x, places))
	return roundFloat(x, places)
}

// roundSteps is what roundFloat costs: 600 digits are written and read again for round(1.1e300, 300), in some 12 µs.
func roundSteps(x float64, places int64) int64 {
	return min(max(places, -places), 323)/8 + int64(max(0, exponentOf(x)))/24 // three bits a digit
}

// asInt reads an int or bool where nothing else will do.
func asInt(v value) value {
	if n, ok := integer(v); ok {
		return n
	}
	return py.Raise(py.TypeError, "'%s' object cannot be interpreted as an integer", typeName(v))
}

// roundInt rounds to a power of ten, half to even. Digits behind the point change nothing.
//
//	round(15, -1) → 20
//	round(25, -1) → 20
//	round(-15, -1) → -20
//	round(5, -5) → 0
func roundInt(m *py.Account, n, d value) value {
	places, ok := d.(int64)
	if !ok && toBig(d).Sign() < 0 || ok && -places > int64(m.Limits.Bits) {
		return int64(0) // beyond every number that fits the limits
	}
	if toBig(d).Sign() >= 0 {
		return n
	}
	unit := powInts(m, int64(10), -places)
	_, rest := divmodInts(m, n, unit, "")
	down := new(big.Int).Sub(toBig(n), toBig(rest))
	twice := new(big.Int).Lsh(toBig(rest), 1)
	c := twice.Cmp(toBig(unit))
	odd := new(big.Int).Quo(down, toBig(unit)).Bit(0) == 1
	if c > 0 || c == 0 && odd {
		down.Add(down, toBig(unit))
	}
	return norm(down)
}

// roundFloat rounds the decimal expansion of x, which is exact, half to even.
//
//	round(12345.678, -2) → 12300.0
//	round(0.5, 0) → 0.0
//	round(1.005, 2) → 1.0
func roundFloat(x float64, places int64) value {
	switch {
	case places > 323: // no float has more digits
		return x
	case places < -308:
		return math.Copysign(0, x)
	case places >= 0:
		r, err := strconv.ParseFloat(strconv.FormatFloat(x, 'f', int(places), 64), 64)
		if err != nil {
			py.Raise(py.OverflowError, "rounded value too large to represent")
		}
		return r
	}
	unit := new(big.Int).Exp(big.NewInt(10), big.NewInt(-places), nil)
	whole, _ := new(big.Float).SetFloat64(math.Abs(x)).Int(nil)
	q, rest := new(big.Int).QuoRem(whole, unit, new(big.Int))
	c := rest.Lsh(rest, 1).Cmp(unit)
	if c > 0 || c == 0 && (q.Bit(0) == 1 || math.Abs(x) != math.Trunc(math.Abs(x))) {
		q.Add(q, big.NewInt(1))
	}
	r, _ := new(big.Float).SetInt(q.Mul(q, unit)).Float64()
	if math.IsInf(r, 0) {
		py.Raise(py.OverflowError, "rounded value too large to represent")
	}
	return math.Copysign(r, x)
}

// truncate is a float without its fraction, as an int.
//
//	int(-3.9) → -3
//	int(1e20) → 100000000000000000000
//	int(float('nan')) → ValueError: cannot convert float NaN to integer
//	int(float('inf')) → OverflowError: cannot convert float infinity to integer
func truncate(m *py.Account, x float64) value {
	switch {
	case math.IsNaN(x):
		py.Raise(py.ValueError, "cannot convert float NaN to integer")
	case math.IsInf(x, 0):
		py.Raise(py.OverflowError, "cannot convert float infinity to integer")
	case math.Abs(x) < 1<<62:
		m.Alloc(py.BoxBytes)
		return int64(x)
	}
	n, _ := new(big.Float).SetFloat64(x).Int(nil)
	m.AllocBits(int64(n.BitLen()))
	return norm(n)
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
