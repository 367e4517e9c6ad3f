// Package number computes with Python's numbers: an int is an int64, or a *big.Int beyond 64 bits,
// a float a float64, and a bool counts as an int. It reads and writes them as CPython does. An
// operation that makes a number larger is charged before it runs.
package number

import (
	"math/big"

	"toolnorm/internal/pyexpr/py"
)

// Norm returns a big integer as an int64 if it fits, and unchanged otherwise.
func Norm(n *big.Int) any {
	if n.IsInt64() {
		return n.Int64()
	}
	return n
}

// Int returns an int or bool as an int; it returns false for any other value.
func Int(v any) (any, bool) {
	switch v := v.(type) {
	case int64, *big.Int:
		return v, true
	case bool:
		if v {
			return int64(1), true
		}
		return int64(0), true
	}
	return nil, false
}

// Big returns an int or a bool as a *big.Int, and 0 for any other value. The result may be v itself
// and must not be changed.
func Big(v any) *big.Int {
	switch v := v.(type) {
	case *big.Int:
		return v
	case int64:
		return big.NewInt(v)
	case bool:
		if v {
			return big.NewInt(1)
		}
	}
	return new(big.Int)
}

// Bits returns the length of an integer in bits, or 64 for every int64.
func Bits(v any) int64 {
	switch v := v.(type) {
	case *big.Int:
		return int64(v.BitLen())
	case bool:
		return 1
	default:
		return 64
	}
}

// Is reports whether a value is an int, a bool or a float.
func Is(v any) bool {
	_, isInt := Int(v)
	_, isFloat := v.(float64)
	return isInt || isFloat
}

// Float returns a number as a float. It raises an OverflowError if an int is larger than every
// float.
func Float(v any) float64 {
	if x, ok := v.(float64); ok {
		return x
	}
	n, _ := Int(v)
	return toFloat(n)
}

// Clamp returns an integer, limited to 62 bits so that adding a length cannot overflow.
func Clamp(n any) int64 {
	const most = 1 << 62
	switch n := n.(type) {
	case int64:
		return min(max(n, -most), most)
	case *big.Int:
		return int64(n.Sign()) * most
	}
	return 0
}

// Magnitude returns |n|. It is unsigned, because that of the least int64 does not fit into an
// int64.
func Magnitude(n int64) uint64 {
	if n < 0 {
		return -uint64(n)
	}
	return uint64(n)
}

// Operate returns the result of an operator for two numbers. ok is false if one of them is not a
// number, or if the operator is not defined for floats.
func Operate(m *py.Account, op string, a, b any) (v any, ok bool) {
	i, aInt := Int(a)
	j, bInt := Int(b)
	if aInt && bInt {
		v, ok = integers(m, op, i, j)
		if x, isBool := a.(bool); isBool && ok {
			if y, isBool := b.(bool); isBool {
				v = boolean(op, x, y, v)
			}
		}
		return v, ok
	}
	x, aFloat := a.(float64)
	y, bFloat := b.(float64)
	if !aFloat && !aInt || !bFloat && !bInt {
		return nil, false
	}
	switch op { // before the conversion, which can overflow
	case "+", "-", "*", "/", "//", "%", "**":
	default:
		return nil, false
	}
	if aInt {
		x = toFloat(i)
	} else if bInt {
		y = toFloat(j)
	}
	return floats(m, op, x, y), true
}

// boolean returns the result of &, | or ^ for two bools as a bool. For any other operator it
// returns the last argument.
func boolean(op string, x, y bool, otherwise any) any {
	switch op {
	case "&":
		return x && y
	case "|":
		return x || y
	case "^":
		return x != y
	}
	return otherwise
}

// Divmod returns a // b and a % b. For a division by zero it has its own messages.
func Divmod(m *py.Account, a, b any) (any, any) {
	i, ok1 := Int(a)
	j, ok2 := Int(b)
	if ok1 && ok2 {
		return divmodInts(m, i, j, "integer division or modulo by zero")
	}
	x, y := Float(a), Float(b)
	if y == 0 {
		py.Raise(py.ZeroDivisionError, "float divmod()")
	}
	m.Step(remainderSteps(x, y))
	m.AllocItems(4)
	return divmodFloats(x, y)
}
