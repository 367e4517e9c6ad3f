package object

import (
	"math/big"

	"toolnorm/internal/pyexpr/number"
	"toolnorm/internal/pyexpr/py"
)

// Operators between two values. Numbers are tried first, then the operators of other types.
// Messages name the types in the order of the operands, and for + of a string they speak of
// concatenation. @ is parsed and always refused: no type supports it, but an error that says so is
// better than a syntax error.

// Unary returns -v, +v or ~v. It raises a TypeError if the operator does not support v.
//
//	-True → -1
//	~5 → -6
//	-'a' → TypeError: bad operand type for unary -: 'str'
//	~1.5 → TypeError: bad operand type for unary ~: 'float'
func Unary(m *py.Account, op string, v Value) Value {
	if x, ok := v.(float64); ok && op != "~" {
		if op == "-" {
			return -x
		}
		return x
	}
	i, ok := number.Int(v)
	if !ok {
		py.Raise(py.TypeError, "bad operand type for unary %s: '%s'", op, TypeName(v))
	}
	switch op {
	case "-":
		return number.Sub(m, int64(0), i)
	case "~":
		return number.Sub(m, int64(-1), i)
	}
	return i
}

// Operate returns a op b for an arithmetic or bitwise operator. It raises a TypeError if the
// operator does not support the types. Numbers are tried first, since most expressions consist of
// them.
//
//	7 / 2 → 3.5
//	'a' + 'b' → 'ab'
//	1 + 'a' → TypeError: unsupported operand type(s) for +: 'int' and 'str'
//	'a' + 1 → TypeError: can only concatenate str (not "int") to str
//	[1] + (2,) → TypeError: can only concatenate list (not "tuple") to list
//	1 @ 2 → TypeError: unsupported operand type(s) for @: 'int' and 'int'
//	'a' ** 2 → TypeError: unsupported operand type(s) for ** or pow(): 'str' and 'int'
func Operate(m *py.Account, op string, a, b Value) Value {
	if v, ok := number.Operate(m, op, a, b); ok {
		return v
	}
	switch op {
	case "+":
		return concat(m, a, b)
	case "*":
		return repeat(m, a, b)
	case "%":
		if format, ok := a.(string); ok {
			return percent(m, format, b)
		}
	case "|", "&", "^", "-":
		if v, ok := setOperator(m, op, a, b); ok {
			return v
		}
	}
	return RaiseUnsupported(op, a, b)
}

// RaiseUnsupported raises Python's error for two values whose types an operator does not support.
func RaiseUnsupported(op string, a, b Value) Value {
	if op == "**" {
		op = "** or pow()"
	}
	return py.Raise(py.TypeError, "unsupported operand type(s) for %s: '%s' and '%s'", op,
		TypeName(a), TypeName(b))
}

// concat returns two texts, lists or tuples joined. It raises a TypeError for other values.
func concat(m *py.Account, a, b Value) Value {
	switch x := a.(type) {
	case string:
		if y, ok := b.(string); ok {
			m.AllocText(int64(len(x) + len(y)))
			return x + y
		}
	case List:
		if y, ok := b.(List); ok {
			return List(join(m, x, y))
		}
	case Tuple:
		if y, ok := b.(Tuple); ok {
			return Tuple(join(m, x, y))
		}
	default:
		return RaiseUnsupported("+", a, b)
	}
	return py.Raise(py.TypeError, "can only concatenate %[1]s (not \"%[2]s\") to %[1]s",
		TypeName(a), TypeName(b))
}

// join returns the concatenation of two slices.
func join(m *py.Account, x, y []Value) []Value {
	n := len(x) + len(y)
	m.AllocItems(int64(n))
	return append(append(make([]Value, 0, n), x...), y...)
}

// times returns how often a sequence is to be repeated, which is never negative. It raises an
// OverflowError for a count beyond 64 bits.
func times(v Value) int64 {
	switch v := v.(type) {
	case int64:
		return max(v, 0)
	case *big.Int:
		py.Raise(py.OverflowError, "cannot fit 'int' into an index-sized integer")
	}
	return 0
}

// repeat returns a * b, where one operand must be a text or a sequence and the other a count. It
// raises a TypeError otherwise.
//
//	'ab' * 2 → 'abab'
//	2 * [1] → [1, 1]
//	'a' * -1 → ''
//	'a' * 1.5 → TypeError: can't multiply sequence by non-int of type 'float'
//	'a' * 'b' → TypeError: can't multiply sequence by non-int of type 'str'
func repeat(m *py.Account, a, b Value) Value {
	count, counts := number.Int(b)
	items, other := a, b
	if !isSequence(a) {
		count, counts = number.Int(a)
		items, other = b, a
	}
	switch {
	case !isSequence(items):
		RaiseUnsupported("*", a, b)
	case !counts:
		py.Raise(py.TypeError, "can't multiply sequence by non-int of type '%s'", TypeName(other))
	}
	return repeated(m, items, times(count))
}

// isSequence reports whether v can be repeated with *.
func isSequence(v Value) bool {
	switch v.(type) {
	case string, List, Tuple:
		return true
	}
	return false
}
