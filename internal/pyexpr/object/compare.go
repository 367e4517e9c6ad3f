package object

import (
	"cmp"
	"slices"
	"strings"

	"toolnorm/internal/pyexpr/number"
	"toolnorm/internal/pyexpr/py"
)

// Comparison. Two values of any types can be compared for equality; only <, <=, > and >= refuse
// different types. A comparison is charged by what it reads: a step for each item, and for each 64
// bytes of text. So a comparison of two long lists that share their beginnings, repeated in a loop,
// ends at the limit and not after minutes.

// Compare reports whether a op b is true, where op is a comparison, is or in, or the negation of
// these. It raises an error for types that cannot be compared in this way.
func Compare(m *py.Account, op string, a, b Value) bool {
	switch op {
	case "==":
		return Equal(m, a, b)
	case "!=":
		return !Equal(m, a, b)
	case "is":
		return identical(a, b)
	case "is not":
		return !identical(a, b)
	case "in":
		return contains(m, b, a)
	case "not in":
		return !contains(m, b, a)
	}
	return Order(m, op, a, b)
}

// identical reports whether a is b. It returns true only for two equal values out of None, True and
// False.
//
//	None is None → True
//	0 is not None → True
//	(1 < 2) is True → True
//	1 is True → False
func identical(a, b Value) bool {
	switch a := a.(type) {
	case nil:
		return b == nil
	case bool:
		y, ok := b.(bool)
		return ok && a == y
	}
	return false
}

// Equal reports whether a == b.
//
//	1 == 1.0 == True → True
//	'1' == 1 → False
//	[1, [2]] == [1.0, [2.0]] → True
//	(1,) == [1] → False
//	{'a': 1, 'b': 2} == {'b': 2, 'a': 1} → True
//	range(0, 5, 2) == range(0, 6, 2) → True
func Equal(m *py.Account, a, b Value) bool {
	m.Step(1)
	if c, ok := number.Compare(a, b); ok {
		return c == number.Same
	}
	switch x := a.(type) {
	case nil:
		return b == nil
	case string:
		y, ok := b.(string)
		m.Scan(len(x))
		return ok && x == y
	case List:
		y, ok := b.(List)
		return ok && equalItems(m, x, y)
	case Tuple:
		y, ok := b.(Tuple)
		return ok && equalItems(m, x, y)
	case *Dict:
		y, ok := b.(*Dict)
		return ok && equalDicts(m, x, y)
	case *Set, View:
		return equalSets(m, a, b)
	case span:
		y, ok := b.(span)
		return ok && (x == y ||
			x.n == y.n && (x.n == 0 || x.start == y.start && (x.n == 1 || x.step == y.step)))
	case *Iterator, Callable:
		return x == b
	}
	return false
}

// equalItems reports whether two slices have equal items. If their lengths differ, no item needs to
// be compared. Comparisons for equality raise no errors, so none is missed.
func equalItems(m *py.Account, x, y []Value) bool {
	return slices.EqualFunc(x, y, func(a, b Value) bool { return Equal(m, a, b) })
}

// equalDicts reports whether two dicts have the same entries, in any order.
func equalDicts(m *py.Account, x, y *Dict) bool {
	if len(x.keys) != len(y.keys) {
		return false
	}
	for i, k := range x.keys {
		if v, ok := y.Get(m, k); !ok || !Equal(m, x.vals[i], v) {
			return false
		}
	}
	return true
}

// Order reports whether a op b is true, where op is <, <=, > or >=. It raises a TypeError if the
// types have no order.
//
//	'a' < 'b' → True
//	[1, 2] < [1, 3] → True
//	(1,) < (1, 0) → True
//	1 < 'a' → TypeError: '<' not supported between instances of 'int' and 'str'
//	None <= None → TypeError: '<=' not supported between instances of 'NoneType' and 'NoneType'
//	{1} < {1, 2} → True
func Order(m *py.Account, op string, a, b Value) bool {
	m.Step(1)
	if c, ok := number.Compare(a, b); ok {
		return c.Fulfils(op)
	}
	switch x := a.(type) {
	case string:
		if y, ok := b.(string); ok { // UTF-8 has the order of code points
			m.Scan(min(len(x), len(y)))
			return number.Order(strings.Compare(x, y)).Fulfils(op)
		}
	case List:
		if y, ok := b.(List); ok {
			return orderItems(m, op, x, y)
		}
	case Tuple:
		if y, ok := b.(Tuple); ok {
			return orderItems(m, op, x, y)
		}
	case *Set, View:
		if ok, known := orderSets(m, op, a, b); known {
			return ok
		}
	}
	py.Raise(py.TypeError, "'%s' not supported between instances of '%s' and '%s'", op, TypeName(a),
		TypeName(b))
	return false
}

// orderItems reports whether x op y is true, by the first pair of items that differ, or by the
// lengths if there is none.
func orderItems(m *py.Account, op string, x, y []Value) bool {
	for i := range min(len(x), len(y)) {
		if !Equal(m, x[i], y[i]) {
			return Order(m, op, x[i], y[i])
		}
	}
	return number.Order(cmp.Compare(len(x), len(y))).Fulfils(op)
}

// contains reports whether v is in x. It raises a TypeError if x cannot contain values.
//
//	'ell' in 'hello' → True
//	1 in 'hello' → TypeError: 'in <string>' requires string as left operand, not int
//	2.0 in range(5) → True
//	'k' in {'k': 1} → True
//	3 not in (1, 2) → True
//	1 in 5 → TypeError: argument of type 'int' is not iterable
func contains(m *py.Account, x, v Value) bool {
	switch x := x.(type) {
	case string:
		s, ok := v.(string)
		if !ok {
			py.Raise(py.TypeError, "'in <string>' requires string as left operand, not %s",
				TypeName(v))
		}
		m.Scan(4 * (len(x) + len(s)))
		return strings.Contains(x, s)
	case *Dict:
		_, ok := x.Get(m, v)
		return ok
	case *Set:
		if _, ok := v.(*Set); ok { // only a frozenset could be in a set, and there are none here
			return false
		}
		return x.has(m, v)
	case span:
		return x.has(m, v)
	case View:
		if x.kind != "value" {
			return x.has(m, v)
		}
	}
	if !Iterable(x) {
		py.Raise(py.TypeError, "argument of type '%s' is not iterable", TypeName(x))
	}
	return Iterate(m, x).has(m, v)
}

// has reads items until one equals v, and reports whether one did. As in Python this consumes the
// items, so after `2 in g` the call `list(g)` gives the items after the 2.
func (it *Iterator) has(m *py.Account, v Value) bool {
	for item := range it.Rest(m) {
		if Equal(m, item, v) {
			return true
		}
	}
	return false
}

// has reports whether v is one of the numbers of a range. For an int it computes the answer instead
// of going through the range.
func (s span) has(m *py.Account, v Value) bool {
	i, ok := number.Int(v)
	if !ok {
		return Iterate(m, s).has(m, v)
	}
	n, ok := i.(int64)
	if !ok || s.n == 0 {
		return false
	}
	last := s.start + (s.n-1)*s.step
	if s.step > 0 { // differences may not fit into an int64
		return n >= s.start && n <= last && (uint64(n)-uint64(s.start))%uint64(s.step) == 0
	}
	return n <= s.start && n >= last && (uint64(s.start)-uint64(n))%-uint64(s.step) == 0
}
