package number

import (
	"cmp"
	"math"
	"math/big"
)

// Order is the result of comparing two values. A NaN is unordered.
type Order int8

// The values of Order.
const (
	Less      Order = -1
	Same      Order = 0
	Greater   Order = 1
	Unordered Order = 2
)

// Fulfils reports whether an operator such as "<" is true for two values in this order. It returns
// false for Unordered and any operator, so a NaN is not even >= itself.
func (c Order) Fulfils(op string) bool {
	switch op {
	case "<":
		return c == Less
	case "<=":
		return c == Less || c == Same
	case ">":
		return c == Greater
	}
	return c == Greater || c == Same
}

// Compare returns the exact order of two numbers, without converting an int to a float, so 2**53+1
// is not 2.0**53. It returns false if one of the values is not a number.
func Compare(a, b any) (Order, bool) {
	i, aInt := Int(a)
	j, bInt := Int(b)
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
		if c != Unordered {
			c = -c
		}
		return c, true
	}
	return Same, false
}

// compareInts returns the order of two ints. It avoids big.Int if both fit into 64 bits, which is
// nearly always the case.
func compareInts(a, b any) Order {
	x, ok1 := a.(int64)
	y, ok2 := b.(int64)
	if !ok1 || !ok2 {
		return Order(Big(a).Cmp(Big(b)))
	}
	return Order(cmp.Compare(x, y))
}

// compareFloats returns the order of two floats according to IEEE 754: -0.0 equals 0.0, and a NaN
// is unordered.
func compareFloats(x, y float64) Order {
	if math.IsNaN(x) || math.IsNaN(y) {
		return Unordered
	}
	return Order(cmp.Compare(x, y))
}

// compareMixed returns the order of an int and a float.
//
//	2**53 + 1 == 2.0**53 → False
//	2**53 + 1 > 2.0**53 → True
//	10**400 > 1e308 → True
//	10**400 < float('inf') → True
//	1 < float('nan') → False
func compareMixed(n any, y float64) Order {
	i, small := n.(int64)
	switch {
	case math.IsNaN(y):
		return Unordered
	case small && Magnitude(i) <= exactInFloat, math.IsInf(y, 0):
		x := nearest(n)
		if math.IsInf(x, 0) { // too large for a float, and still less than infinity
			x = math.Copysign(math.MaxFloat64, float64(Big(n).Sign()))
		}
		return compareFloats(x, y)
	}
	floor := math.Floor(y)
	whole, _ := new(big.Float).SetFloat64(floor).Int(nil)
	c := Order(Big(n).Cmp(whole))
	if c == Same && y > floor {
		return Less
	}
	return c
}
