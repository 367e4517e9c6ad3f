package vector

import (
	"fmt"
	"math"
	"slices"
)

// mostNumbers is how many numbers of a vector pgvector keeps, and more than any model makes.
const mostNumbers = 16_000

// Column reads a column of vectors as Bytes writes them, for database/sql. An odd one is left out:
// Odd is told why, and the rest of its row can be used.
type Column struct {
	Into *[]float32
	Odd  func(why string)
}

// Scan reads the value of a column. It reports a vector that cannot be used to Odd, and reads it as
// nil.
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
