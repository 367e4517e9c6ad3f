package pyexpr

import (
	"math"
	"math/big"
	"strconv"
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
func abs(m *machine, a []value) (value, error) {
	if x, ok := a[0].(float64); ok {
		return math.Abs(x), nil
	}
	n, ok := integer(a[0])
	if !ok {
		return nil, raise(TypeError, "bad operand type for abs(): '%s'", typeName(a[0]))
	}
	if toBig(n).Sign() < 0 {
		return subInts(m, int64(0), n)
	}
	return n, nil
}

// divmod is (a // b, a % b) in one go, with messages of its own for a zero.
//
//	divmod(7, -2) → (-4, -1)
//	divmod(7.5, 2) → (3.0, 1.5)
//	divmod(1, 0) → ZeroDivisionError: integer division or modulo by zero
//	divmod('a', 1) → TypeError: unsupported operand type(s) for divmod(): 'str' and 'int'
func divmod(m *machine, a []value) (value, error) {
	i, ok1 := integer(a[0])
	j, ok2 := integer(a[1])
	if ok1 && ok2 {
		q, r, err := divmodInts(m, i, j, "integer division or modulo by zero")
		return tuple{q, r}, err
	}
	x, err1 := number(a[0])
	y, err2 := number(a[1])
	switch {
	case err1 == errNoNumber || err2 == errNoNumber:
		return nil, unsupported("divmod()", a[0], a[1])
	case err1 != nil:
		return nil, err1
	case err2 != nil:
		return nil, err2
	case y == 0:
		return nil, raise(ZeroDivisionError, "float divmod()")
	}
	if err := m.step(remainderSteps(x, y)); err != nil {
		return nil, err
	}
	q, r := divmodFloats(x, y)
	return tuple{q, r}, m.allocItems(4)
}

// errNoNumber is what number answers for a value that is none.
var errNoNumber = raise(TypeError, "must be real number")

// number is a number as a float.
func number(v value) (float64, error) {
	if x, ok := v.(float64); ok {
		return x, nil
	}
	n, ok := integer(v)
	if !ok {
		return 0, errNoNumber
	}
	return toFloat(n)
}

// pow is ** with two arguments, and modular with three, where the result stays as small as the modulus.
func pow(m *machine, a []value) (value, error) {
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
func powMod(m *machine, a, b, c value) (value, error) {
	x, ok1 := integer(a)
	n, ok2 := integer(b)
	mod, ok3 := integer(c)
	if !ok1 || !ok2 || !ok3 {
		for _, v := range []value{a, b, c} {
			if _, isFloat := v.(float64); !isFloat {
				if _, isInt := integer(v); !isInt {
					return nil, raise(TypeError, "unsupported operand type(s) for ** or pow(): '%s', '%s', '%s'", typeName(a), typeName(b), typeName(c))
				}
			}
		}
		return nil, raise(TypeError, "pow() 3rd argument not allowed unless all arguments are integers")
	}
	base, exp, modulus := toBig(x), toBig(n), toBig(mod)
	if modulus.Sign() == 0 {
		return nil, raise(ValueError, "pow() 3rd argument cannot be 0")
	}
	words := int64(modulus.BitLen()+base.BitLen())/64 + 1
	if err := m.step(int64(exp.BitLen()+1) * words * words / 64); err != nil {
		return nil, err
	}
	if err := m.allocBits(int64(base.BitLen() + 24*modulus.BitLen())); err != nil {
		return nil, err
	}
	positive := new(big.Int).Abs(modulus)
	if exp.Sign() < 0 {
		base = new(big.Int).ModInverse(new(big.Int).Mod(base, positive), positive)
		if base == nil {
			return nil, raise(ValueError, "base is not invertible for the given modulus")
		}
		exp = new(big.Int).Neg(exp)
	}
	r := new(big.Int).Exp(new(big.Int).Mod(base, positive), exp, positive)
	if modulus.Sign() < 0 && r.Sign() != 0 {
		r.Add(r, modulus)
	}
	return norm(r), nil
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
func round(m *machine, a []value) (value, error) {
	digits := a[1]
	whole := !given(digits) || digits == nil
	x, isFloat := a[0].(float64)
	n, isInt := integer(a[0])
	switch {
	case !isFloat && !isInt:
		return nil, raise(TypeError, "type %s doesn't define __round__ method", typeName(a[0]))
	case whole && isInt:
		return n, nil
	case whole:
		return truncate(m, math.RoundToEven(x))
	}
	d, ok := integer(digits)
	if !ok {
		return nil, notInt(digits)
	}
	if isInt {
		return roundInt(m, n, d)
	}
	places := clamp(d)
	if isFloat && math.IsNaN(x) || math.IsInf(x, 0) {
		return x, nil
	}
	if err := m.step(roundSteps(x, places)); err != nil {
		return nil, err
	}
	return roundFloat(x, places)
}

// roundSteps is what roundFloat costs: 600 digits are written and read again for round(1.1e300, 300), in some 12 µs.
func roundSteps(x float64, places int64) int64 {
	return min(max(places, -places), 323)/8 + int64(max(0, exponentOf(x)))/24 // three bits a digit
}

// notInt is what Python says where it needs an integer.
func notInt(v value) error {
	return raise(TypeError, "'%s' object cannot be interpreted as an integer", typeName(v))
}

// roundInt rounds to a power of ten, half to even. Digits behind the point change nothing.
//
//	round(15, -1) → 20
//	round(25, -1) → 20
//	round(-15, -1) → -20
//	round(5, -5) → 0
func roundInt(m *machine, n, d value) (value, error) {
	places, ok := d.(int64)
	if !ok && toBig(d).Sign() < 0 || ok && -places > int64(m.limits.Bits) {
		return int64(0), nil // beyond every number that fits the limits
	}
	if toBig(d).Sign() >= 0 {
		return n, nil
	}
	unit, err := powInts(m, int64(10), -places)
	if err != nil {
		return nil, err
	}
	_, rest, err := divmodInts(m, n, unit, "")
	if err != nil {
		return nil, err
	}
	down := new(big.Int).Sub(toBig(n), toBig(rest))
	twice := new(big.Int).Lsh(toBig(rest), 1)
	c := twice.Cmp(toBig(unit))
	odd := new(big.Int).Quo(down, toBig(unit)).Bit(0) == 1
	if c > 0 || c == 0 && odd {
		down.Add(down, toBig(unit))
	}
	return norm(down), nil
}

// roundFloat rounds the decimal expansion of x, which is exact, half to even.
//
//	round(12345.678, -2) → 12300.0
//	round(0.5, 0) → 0.0
//	round(1.005, 2) → 1.0
func roundFloat(x float64, places int64) (value, error) {
	switch {
	case places > 323: // no float has more digits
		return x, nil
	case places < -308:
		return math.Copysign(0, x), nil
	case places >= 0:
		r, err := strconv.ParseFloat(strconv.FormatFloat(x, 'f', int(places), 64), 64)
		if err != nil {
			return nil, raise(OverflowError, "rounded value too large to represent")
		}
		return r, nil
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
		return nil, raise(OverflowError, "rounded value too large to represent")
	}
	return math.Copysign(r, x), nil
}

// truncate is a float without its fraction, as an int.
//
//	int(-3.9) → -3
//	int(1e20) → 100000000000000000000
//	int(float('nan')) → ValueError: cannot convert float NaN to integer
//	int(float('inf')) → OverflowError: cannot convert float infinity to integer
func truncate(m *machine, x float64) (value, error) {
	switch {
	case math.IsNaN(x):
		return nil, raise(ValueError, "cannot convert float NaN to integer")
	case math.IsInf(x, 0):
		return nil, raise(OverflowError, "cannot convert float infinity to integer")
	case math.Abs(x) < 1<<62:
		return int64(x), m.alloc(boxBytes)
	}
	n, _ := new(big.Float).SetFloat64(x).Int(nil)
	return norm(n), m.allocBits(int64(n.BitLen()))
}

// sum adds from the left. CPython 3.11 adds floats plainly; the compensated sum came with 3.12.
//
//	sum([1, 2, 3]) → 6
//	sum([0.1] * 3) → 0.30000000000000004
//	sum([[1], [2]], []) → [1, 2]
//	sum(['a', 'b']) → TypeError: unsupported operand type(s) for +: 'int' and 'str'
//	sum(['a'], '') → TypeError: sum() can't sum strings [use ''.join(seq) instead]
func sum(m *machine, a []value) (value, error) {
	var total value = int64(0)
	if given(a[1]) {
		total = a[1]
	}
	it, err := iterate(m, a[0])
	if err != nil {
		return nil, err
	}
	if isString(total) {
		return nil, raise(TypeError, "sum() can't sum strings [use ''.join(seq) instead]")
	}
	for {
		v, ok, err := it.next(m)
		if err != nil || !ok {
			return total, err
		}
		if err := m.step(1); err != nil {
			return nil, err
		}
		if total, err = operate(m, "+", total, v); err != nil {
			return nil, err
		}
	}
}
