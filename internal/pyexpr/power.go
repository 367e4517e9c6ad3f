package pyexpr

import "math"

// Powers of floats.

// power computes x ** y for finite x != 0 and y.
func power(_ *machine, x, y float64) (float64, error) {
	return math.Pow(x, y), nil
}
