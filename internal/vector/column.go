package vector

import (
	"fmt"
	"math"
	"slices"
)

// mostNumbers is the largest number of dimensions that pgvector stores, which is more than any
// model makes.
const mostNumbers = 16_000

// Column implements sql.Scanner for a column of vectors that Bytes wrote. For an unusable vector it
// stores nil and calls the function Odd with the reason, so that the rest of the row can still be
// used.
type Column struct {
	Into *[]float32
	Odd  func(why string)
}

// Scan implements sql.Scanner: it decodes the vector. NULL, an empty value and an unusable vector
// become nil; for an unusable one it calls Odd. It never returns an error.
func (c Column) Scan(value any) error {
	*c.Into = nil
	b, isBytes := value.([]byte)
	if value == nil || isBytes && len(b) == 0 {
		return nil
	}
	v := Read(b)
	finite := func(x float32) bool { return !math.IsNaN(float64(x)) && !math.IsInf(float64(x), 0) }
	switch {
	case !isBytes:
		c.Odd("its vector is no blob")
	case len(b)%4 != 0 || len(v) > mostNumbers:
		c.Odd(fmt.Sprintf("its vector has %d bytes", len(b)))
	case slices.ContainsFunc(v, func(x float32) bool { return !finite(x) }):
		c.Odd("a number of its vector is not finite")
	case !slices.ContainsFunc(v, func(x float32) bool { return x != 0 }):
		c.Odd("its vector is all zeros")
	default:
		*c.Into = v
	}
	return nil
}
