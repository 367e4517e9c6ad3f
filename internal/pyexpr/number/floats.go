package number

import (
	"math"

	"toolnorm/internal/pyexpr/power"
	"toolnorm/internal/pyexpr/py"
)

// floats returns the result of an operator for two floats. Errors have CPython 3.11's messages,
// which name the operation only in some cases.
//
//	0.1 + 0.2 → 0.30000000000000004
//	7.5 // 2 → 3.0
//	1.0 / 0 → ZeroDivisionError: float division by zero
//	1.0 % 0 → ZeroDivisionError: float modulo
//	1e308 * 10 → inf
func floats(m *py.Account, op string, x, y float64) any {
	m.Alloc(py.BoxBytes)
	switch op {
	case "+":
		return x + y
	case "-":
		return x - y
	case "*":
		return x * y
	case "/":
		if y == 0 {
			py.Raise(py.ZeroDivisionError, "float division by zero")
		}
		return x / y
	case "//":
		if y == 0 {
			py.Raise(py.ZeroDivisionError, "float floor division by zero")
		}
		q, _ := divmodFloats(x, y)
		m.Step(remainderSteps(x, y))
		return q
	case "%":
		if y == 0 {
			py.Raise(py.ZeroDivisionError, "float modulo")
		}
		m.Step(remainderSteps(x, y))
		return modFloats(x, y)
	}
	return powFloats(m, x, y)
}

// remainderSteps returns the cost of a remainder in steps. math.Mod subtracts once for each bit or
// two by which the exponents differ, which takes some 20 µs for 1e308 and 1e-308.
func remainderSteps(x, y float64) int64 {
	return max(0, int64(exponentOf(x)-exponentOf(y))/16)
}

// exponentOf returns the exponent of a float as a power of two.
func exponentOf(x float64) int {
	_, exponent := math.Frexp(x)
	return exponent
}

// modFloats returns the remainder with the divisor's sign, even if the remainder is zero.
//
//	-7.5 % 2 → 0.5
//	7.5 % -2 → -0.5
//	5 % -5.0 → -0.0
//	-1 % float('inf') → inf
func modFloats(x, y float64) float64 {
	mod := math.Mod(x, y)
	if mod == 0 {
		return math.Copysign(0, y)
	}
	if (y < 0) != (mod < 0) {
		mod += y
	}
	return mod
}

// divmodFloats returns x // y and x % y as CPython's float_divmod does. The quotient is computed
// from the remainder, and then rounded down with a correction for the rounding of the division.
func divmodFloats(x, y float64) (float64, float64) {
	mod := math.Mod(x, y)
	div := (x - mod) / y
	if mod != 0 {
		if (y < 0) != (mod < 0) {
			mod += y
			div--
		}
	} else {
		mod = math.Copysign(0, y)
	}
	if div == 0 {
		return math.Copysign(0, x/y), mod
	}
	floor := math.Floor(div)
	if div-floor > 0.5 {
		floor++
	}
	return floor, mod
}

// powFloats returns x ** y as CPython's float_pow does. It raises an error if the result would be
// complex or too large, or if 0.0 is raised to a negative power.
//
//	2.0 ** 0.5 → 1.4142135623730951
//	1.1 ** 10 → 2.5937424601000023
//	10.0 ** -2 → 0.01
//	2.5 ** 1.5 → 3.952847075210474
//	(-2.0) ** 3 → -8.0
//	2.0 ** -1074 → 5e-324
//	4 ** 0.5 → 2.0
//	2 ** -1 → 0.5
//	0.0 ** -1 → ZeroDivisionError: 0.0 cannot be raised to a negative power
//	2.0 ** 5000 → OverflowError: (34, 'Numerical result out of range')
func powFloats(m *py.Account, x, y float64) any {
	work := int64(1)
	if y != math.Trunc(y) {
		work = 16 // a logarithm and an exponential, 2 µs
	}
	m.Step(work)
	switch {
	case y == 0 || x == 1:
		return 1.0
	case x == 0 && y < 0:
		py.Raise(py.ZeroDivisionError, "0.0 cannot be raised to a negative power")
	case math.IsNaN(x) || math.IsNaN(y) || math.IsInf(x, 0) || math.IsInf(y, 0) || x == 0:
		return math.Pow(x, y)
	case x < 0 && y != math.Floor(y):
		py.Raise(py.ValueError,
			"a negative number raised to a fraction is complex, and complex numbers are not available in expressions")
	}
	r := power.Float(x, y)
	if math.IsInf(r, 0) {
		py.Raise(py.OverflowError, "(34, 'Numerical result out of range')")
	}
	return r
}
