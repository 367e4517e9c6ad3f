package pyexpr

import (
	"math"
	"math/big"
)

// ordering is how two values stand to each other; a NaN is unordered.
type ordering int8

const (
	less      ordering = -1
	same      ordering = 0
	greater   ordering = 1
	unordered ordering = 2
)

// compareNumbers compares exactly, without turning an int into a float: 2**53+1 is not 2.0**53. ok is false when one
// of them is no number.
func compareNumbers(a, b value) (ordering, bool) {
	i, aInt := integer(a)
	j, bInt := integer(b)
	x, aFloat := a.(float64)
	y, bFloat := b.(float64)
	switch {
	case aInt && bInt:
		return compareInts(i, j), true
	case aFloat && bFloat:
		return compareFloats(x, y), true
	case aInt && bFloat:
		return compareMixed(i, y), true
	case aFloat && bInt:
		c := compareMixed(j, x)
		if c != unordered {
			c = -c
		}
		return c, true
	}
	return same, false
}

// compareInts avoids the big form while both fit into 64 bits, which is nearly always.
func compareInts(a, b value) ordering {
	x, ok1 := a.(int64)
	y, ok2 := b.(int64)
	if !ok1 || !ok2 {
		return ordering(toBig(a).Cmp(toBig(b)))
	}
	switch {
	case x < y:
		return less
	case x > y:
		return greater
	}
	return same
}

// compareFloats is IEEE's comparison: -0.0 equals 0.0, NaN nothing.
func compareFloats(x, y float64) ordering {
	switch {
	case x < y:
		return less
	case x > y:
		return greater
	case x == y:
		return same
	}
	return unordered
}

// compareMixed compares an int with a float.
//
//	2**53 + 1 == 2.0**53 → False
//	2**53 + 1 > 2.0**53 → True
//	10**400 > 1e308 → True
//	10**400 < float('inf') → True
//	1 < float('nan') → False
func compareMixed(n value, y float64) ordering {
	i, small := n.(int64)
	switch {
	case math.IsNaN(y):
		return unordered
	case small && magnitude(i) <= exactInFloat, math.IsInf(y, 0):
		x := nearest(n)
		if math.IsInf(x, 0) { // too large for a float, and still less than infinity
			x = math.Copysign(math.MaxFloat64, float64(toBig(n).Sign()))
		}
		return compareFloats(x, y)
	}
	floor := math.Floor(y)
	whole, _ := new(big.Float).SetFloat64(floor).Int(nil)
	c := ordering(toBig(n).Cmp(whole))
	if c == same && y > floor {
		return less
	}
	return c
}
