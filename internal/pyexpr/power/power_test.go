package power

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// nearest reports whether r is the float nearest to x ** (n/4), by exact arithmetic: r is when x^n
// lies between the fourth powers of the midpoints beside it.
func nearest(x float64, n int, r float64) bool {
	exact := func(f float64) *big.Rat { return new(big.Rat).SetFloat64(f) }
	pow := func(b *big.Rat, n int) *big.Rat {
		p := big.NewRat(1, 1)
		for range n {
			p.Mul(p, b)
		}
		return p
	}
	want := pow(exact(x), max(n, -n))
	if n < 0 {
		want.Inv(want)
	}
	middle := func(a, b float64) *big.Rat {
		m := new(big.Rat).Add(exact(a), exact(b))
		return pow(m.Quo(m, big.NewRat(2, 1)), 4)
	}
	return middle(math.Nextafter(r, 0), r).Cmp(want) <= 0 && middle(r, math.Nextafter(r, math.Inf(1))).Cmp(want) >= 0
}

// TestPowersAreTheNearestFloats compares with exact fractions: quarters as exponents reach every
// part of the computation.
func TestPowersAreTheNearestFloats(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 5000 {
		x := math.Exp(random.Float64()*20 - 10)
		n := random.IntN(81) - 40
		if n == 0 {
			continue
		}
		if r := Float(x, float64(n)/4); !nearest(x, n, r) {
			t.Fatalf("Float(%v, %v) = %v, which is not the nearest float", x, float64(n)/4, r)
		}
	}
}
