package pyexpr

import "math"

// power computes x ** y for finite x != 0 and y.
func power(_ *machine, x, y float64) (float64, error) {
	return math.Pow(x, y), nil
}
