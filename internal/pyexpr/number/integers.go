package number

import (
	"math"
	"math/big"
	bitwise "math/bits"

	"toolnorm/internal/pyexpr/py"
)

// Integers of any size within the limit. They are int64 as long as they fit, which is nearly
// always, and *big.Int beyond. Each operation computes in 64 bits with an overflow check first;
// then it bounds the size of the result from the sizes of the operands, charges that, and only then
// computes. The bound shows that `9**9**9` needs 1.2 billion bits, before anything is allocated.

// integers returns the result of an operator for two ints, each an int64 or a *big.Int; ok is false
// for an unknown operator.
func integers(m *py.Account, op string, a, b any) (v any, ok bool) {
	switch op {
	case "+":
		return Add(m, a, b), true
	case "-":
		return Sub(m, a, b), true
	case "*":
		return mulInts(m, a, b), true
	case "/":
		return trueDivide(m, a, b), true
	case "//":
		v, _ = divmodInts(m, a, b, "integer division or modulo by zero")
		return v, true
	case "%":
		_, v = divmodInts(m, a, b, "integer modulo by zero")
		return v, true
	case "**":
		return powInts(m, a, b), true
	case "<<", ">>":
		return shift(m, op, a, b), true
	case "&", "|", "^":
		return bitInts(m, op, a, b), true
	}
	return nil, false
}

// Add returns the sum of two ints. An overflow of int64 is detected by signs: a sum is greater than
// its first operand exactly if the second is positive.
func Add(m *py.Account, a, b any) any {
	x, ok1 := a.(int64)
	y, ok2 := b.(int64)
	if ok1 && ok2 {
		if sum := x + y; (sum > x) == (y > 0) {
			m.Alloc(py.BoxBytes)
			return sum
		}
	}
	m.AllocBits(max(Bits(a), Bits(b)) + 1)
	return makeInt(m, new(big.Int).Add(Big(a), Big(b)))
}

// Sub returns the difference of two ints. An overflow is detected as in Add.
func Sub(m *py.Account, a, b any) any {
	x, ok1 := a.(int64)
	y, ok2 := b.(int64)
	if ok1 && ok2 {
		if diff := x - y; (diff < x) == (y > 0) {
			m.Alloc(py.BoxBytes)
			return diff
		}
	}
	m.AllocBits(max(Bits(a), Bits(b)) + 1)
	return makeInt(m, new(big.Int).Sub(Big(a), Big(b)))
}

// makeInt returns a new integer, as an int64 if it fits, and charges steps by its length.
func makeInt(m *py.Account, n *big.Int) any {
	m.Step(int64(n.BitLen()) / 256)
	return Norm(n)
}

// mulInts returns the product of two ints. It multiplies their magnitudes to 128 bits to see
// whether the product fits into 64. For large factors the charge grows with the product of their
// lengths: two factors of 32,768 bits take 60 µs, the time of some hundred steps.
func mulInts(m *py.Account, a, b any) any {
	x, ok1 := a.(int64)
	y, ok2 := b.(int64)
	if ok1 && ok2 {
		high, low := bitwise.Mul64(Magnitude(x), Magnitude(y))
		if high == 0 && low <= math.MaxInt64 {
			m.Alloc(py.BoxBytes)
			return x * y
		}
	}
	p, q := Big(a), Big(b)
	n, k := int64(p.BitLen()), int64(q.BitLen())
	m.AllocBits(n + k)
	m.Step(n * k / 4096 / 16)
	return makeInt(m, new(big.Int).Mul(p, q))
}

// divmodInts returns the quotient, rounded down, and the remainder, which has the divisor's sign.
// The parameter zero is the message for a division by zero.
//
//	-7 // 2 → -4
//	-7 % 2 → 1
//	7 // -2 → -4
//	1 // 0 → ZeroDivisionError: integer division or modulo by zero
//	1 % 0 → ZeroDivisionError: integer modulo by zero
func divmodInts(m *py.Account, a, b any, zero string) (any, any) {
	x, ok1 := a.(int64)
	y, ok2 := b.(int64)
	if ok2 && y == 0 {
		py.Raise(py.ZeroDivisionError, "%s", zero)
	}
	if ok1 && ok2 && (x != math.MinInt64 || y != -1) {
		q, r := x/y, x%y
		if r != 0 && (r < 0) != (y < 0) {
			q, r = q-1, r+y
		}
		m.Alloc(2 * py.BoxBytes)
		return q, r
	}
	p, d := Big(a), Big(b)
	m.AllocBits(int64(p.BitLen() + d.BitLen()))
	m.Step(int64(p.BitLen()) * int64(d.BitLen()) / 4096 / 16)
	q, r := new(big.Int).QuoRem(p, d, new(big.Int))
	if r.Sign() != 0 && r.Sign() != d.Sign() {
		q.Sub(q, big.NewInt(1))
		r.Add(r, d)
	}
	return Norm(q), Norm(r)
}

// exactInFloat is the magnitude up to which a float represents every integer exactly.
const exactInFloat = 1 << 53

// trueDivide returns the float nearest to the exact quotient, which may differ from the quotient of
// the nearest floats.
//
//	6 / 3 → 2.0
//	1 / 3 → 0.3333333333333333
//	10**400 / 10**399 → 10.0
//	10**400 / 3 → OverflowError: integer division result too large for a float
//	1 / 0 → ZeroDivisionError: division by zero
func trueDivide(m *py.Account, a, b any) any {
	x, ok1 := a.(int64)
	y, ok2 := b.(int64)
	if ok2 && y == 0 {
		py.Raise(py.ZeroDivisionError, "division by zero")
	}
	if ok1 && ok2 && Magnitude(x) <= exactInFloat && Magnitude(y) <= exactInFloat {
		m.Alloc(py.BoxBytes)
		return float64(x) / float64(y)
	}
	p, q := Big(a), Big(b)
	if p.Sign() == 0 {
		return math.Copysign(0, float64(q.Sign()))
	}
	m.AllocBits(int64(p.BitLen() + q.BitLen()))
	if p.BitLen()-q.BitLen() > 1025 {
		py.Raise(py.OverflowError, "integer division result too large for a float")
	}
	if q.BitLen()-p.BitLen() > 1100 {
		return math.Copysign(0, float64(p.Sign()*q.Sign()))
	}
	f, _ := quotient(p, q)
	if math.IsInf(f, 0) {
		py.Raise(py.OverflowError, "integer division result too large for a float")
	}
	m.Step(int64(p.BitLen()+q.BitLen()) / 256)
	return f
}

// quotient returns the float nearest to p/q, and whether the float equals p/q. The first 66 bits of
// the quotient, and whether there is a remainder, determine the rounding. Computing these costs
// less than an exact fraction, which would be reduced first.
func quotient(p, q *big.Int) (float64, bool) {
	shift := max(q.BitLen()-p.BitLen()+1100, 0)
	n := new(big.Int).Lsh(new(big.Int).Abs(p), uint(shift))
	n, rest := n.QuoRem(n, new(big.Int).Abs(q), new(big.Int))
	if rest.Sign() != 0 {
		n.Lsh(n, 1).SetBit(n, 0, 1)
		shift++
	}
	f := new(big.Float).SetPrec(uint(max(n.BitLen(), 64))).SetInt(n)
	f.SetMantExp(f, -shift)
	if p.Sign()*q.Sign() < 0 {
		f.Neg(f)
	}
	v, accuracy := f.Float64()
	return v, accuracy == big.Exact
}

// toFloat returns the float nearest to an int. It raises an OverflowError if the int is larger than
// every float.
func toFloat(n any) float64 {
	f := nearest(n)
	if math.IsInf(f, 0) {
		py.Raise(py.OverflowError, "int too large to convert to float")
	}
	return f
}

// nearest returns the float nearest to an int, or an infinity if the int is larger than every
// float.
func nearest(n any) float64 {
	if n, ok := n.(int64); ok {
		return float64(n)
	}
	f, _ := new(big.Float).SetInt(Big(n)).Float64()
	return f
}

// powInts returns a ** b, which is a float if b is negative. The size of the result, about bits(a)
// * b, is charged before the result is computed.
//
//	2 ** 10 → 1024
//	-2 ** 2 → -4
//	2 ** 3 ** 2 → 512
//	(-1) ** 10**30 → 1
func powInts(m *py.Account, a, b any) any {
	n, small := b.(int64)
	if Big(b).Sign() < 0 {
		return powFloats(m, toFloat(a), toFloat(b))
	}
	base := Big(a)
	if base.BitLen() <= 1 { // 0, 1 and -1 stay small whatever the exponent is
		return powUnit(base.Sign(), Big(b))
	}
	size, ok := py.Product(int64(base.BitLen()-1), n)
	if !small || !ok {
		m.AllocBits(math.MaxInt64)
	}
	m.AllocBits(size)
	upper, _ := py.Product(int64(base.BitLen()), n)
	m.Alloc(4 * (py.BigBytes + upper/8))
	m.Step(upper * upper / 4096 / 64)
	r := new(big.Int).Exp(base, Big(b), nil)
	if r.BitLen() > m.Limits.Bits {
		m.AllocBits(int64(r.BitLen()))
	}
	return Norm(r)
}

// powUnit returns sign ** n, where sign is 0, 1 or -1.
func powUnit(sign int, n *big.Int) any {
	switch {
	case n.Sign() == 0 || sign == 1:
		return int64(1)
	case sign == 0:
		return int64(0)
	case n.Bit(0) == 0:
		return int64(1)
	}
	return int64(-1)
}

// shift returns a << b or a >> b. A left shift is charged by the size of its result.
//
//	1 << 10 → 1024
//	-5 >> 1 → -3
//	1 << -1 → ValueError: negative shift count
//	5 >> 10**30 → 0
func shift(m *py.Account, op string, a, b any) any {
	if Big(b).Sign() < 0 {
		py.Raise(py.ValueError, "negative shift count")
	}
	x := Big(a)
	n, small := b.(int64)
	switch {
	case x.Sign() == 0:
		return int64(0)
	case op == "<<" && (!small || n > int64(m.Limits.Bits)):
		m.AllocBits(math.MaxInt64)
	case op == "<<":
		m.AllocBits(int64(x.BitLen()) + n)
		return makeInt(m, new(big.Int).Lsh(x, uint(n)))
	case !small || n > int64(x.BitLen()):
		if x.Sign() < 0 {
			return int64(-1)
		}
		return int64(0)
	}
	m.AllocBits(int64(x.BitLen()))
	return makeInt(m, new(big.Int).Rsh(x, uint(n)))
}

// bitInts returns a & b, a | b or a ^ b. Negative numbers count as two's complement of infinite
// length, as in Python and in big.Int.
//
//	6 & 3 → 2
//	6 | 3 → 7
//	6 ^ 3 → 5
//	-1 & 2**70 → 1180591620717411303424
//	True & False → False
func bitInts(m *py.Account, op string, a, b any) any {
	x, ok1 := a.(int64)
	y, ok2 := b.(int64)
	if ok1 && ok2 {
		switch op {
		case "&":
			m.Alloc(py.BoxBytes)
			return x & y
		case "|":
			m.Alloc(py.BoxBytes)
			return x | y
		}
		m.Alloc(py.BoxBytes)
		return x ^ y
	}
	m.AllocBits(max(Bits(a), Bits(b)) + 64)
	r := new(big.Int)
	switch op {
	case "&":
		r.And(Big(a), Big(b))
	case "|":
		r.Or(Big(a), Big(b))
	default:
		r.Xor(Big(a), Big(b))
	}
	return makeInt(m, r)
}
