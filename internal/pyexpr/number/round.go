package number

import (
	"math"
	"math/big"
	"strconv"

	"toolnorm/internal/pyexpr/py"
)

// PowMod returns pow(a, b, c). Its memory is charged by the size of c, and its time by the lengths
// of all three.
//
//	pow(3, 4, 5) → 1
//	pow(3, -1, 7) → 5
//	pow(2, -1, 4) → ValueError: base is not invertible for the given modulus
//	pow(2, 3, 0) → ValueError: pow() 3rd argument cannot be 0
//	pow(3, 2, -5) → -1
func PowMod(m *py.Account, a, b, c any) any {
	base, exp, modulus := Big(a), Big(b), Big(c)
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
	return Norm(r)
}

// Round returns a number rounded half to even, to the given number of digits after the point. The
// type stays the same.
func Round(m *py.Account, v, digits any) any {
	if n, ok := Int(v); ok {
		return roundInt(m, n, digits)
	}
	x, places := v.(float64), Clamp(digits)
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return x
	}
	m.Step(roundSteps(x, places))
	return roundFloat(x, places)
}

// roundSteps returns the cost of roundFloat in steps. For round(1.1e300, 300), 600 digits are
// written and parsed again, which takes some 12 µs.
func roundSteps(x float64, places int64) int64 {
	// three bits for each digit
	return min(max(places, -places), 323)/8 + int64(max(0, exponentOf(x)))/24
}

// roundInt returns n, an int, rounded half to even. If d is negative, the result is a multiple of
// ten to the power of -d; otherwise it is n.
//
//	round(15, -1) → 20
//	round(25, -1) → 20
//	round(-15, -1) → -20
//	round(5, -5) → 0
func roundInt(m *py.Account, n, d any) any {
	places, ok := d.(int64)
	if !ok && Big(d).Sign() < 0 || ok && -places > int64(m.Limits.Bits) {
		return int64(0) // beyond every number that fits the limits
	}
	if Big(d).Sign() >= 0 {
		return n
	}
	unit := powInts(m, int64(10), -places)
	_, rest := divmodInts(m, n, unit, "")
	down := new(big.Int).Sub(Big(n), Big(rest))
	twice := new(big.Int).Lsh(Big(rest), 1)
	c := twice.Cmp(Big(unit))
	odd := new(big.Int).Quo(down, Big(unit)).Bit(0) == 1
	if c > 0 || c == 0 && odd {
		down.Add(down, Big(unit))
	}
	return Norm(down)
}

// roundFloat returns a float rounded half to even. It rounds the decimal expansion of x, which is
// exact.
//
//	round(12345.678, -2) → 12300.0
//	round(0.5, 0) → 0.0
//	round(1.005, 2) → 1.0
func roundFloat(x float64, places int64) any {
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

// Truncate returns a float without its fraction, as an int. It raises an error for NaN and the
// infinities.
//
//	int(-3.9) → -3
//	int(1e20) → 100000000000000000000
//	int(float('nan')) → ValueError: cannot convert float NaN to integer
//	int(float('inf')) → OverflowError: cannot convert float infinity to integer
func Truncate(m *py.Account, x float64) any {
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
	return Norm(n)
}
