package pyexpr

import (
	"iter"

	"toolnorm/internal/pyexpr/object"
	"toolnorm/internal/pyexpr/py"
)

// Functions over sequences. What is lazy in Python is lazy here: enumerate, filter, map, reversed
// and zip are iterators, range is arithmetic. A range of a billion numbers costs nothing until its
// items are read, and each is charged then.

// sequenceFunctions returns the functions that iterate over their arguments or order them.
func sequenceFunctions() []*function {
	return []*function{
		fn("all", oneArg, 1, 1, all),
		fn("any", oneArg, 1, 1, anyOf),
		class(raw("enumerate", enumerate)),
		class(fn("filter", checked, 2, 2, filter)),
		fn("len", oneArg, 1, 1, lenOf),
		class(raw("map", mapOf)),
		raw("max", func(m *py.Account, a arguments) value { return extreme(m, "max", ">", a) }),
		raw("min", func(m *py.Account, a arguments) value { return extreme(m, "min", "<", a) }),
		class(fn("range", checked, 1, 3, rangeOf)),
		class(fn("reversed", checked, 1, 1, func(m *py.Account, a []value) value {
			return object.Reversed(m, a[0])
		})),
		raw("sorted", sorted),
		class(raw("zip", zip)),
	}
}

// all returns True if no item is false. It stops at the first false item.
func all(m *py.Account, a []value) value {
	return !search(m, a[0], false)
}

// anyOf implements any(...): it returns True if an item is true. It has another name because any is
// an identifier of Go.
func anyOf(m *py.Account, a []value) value { return search(m, a[0], true) }

// search reports whether an item has the truth value that the parameter want says, and stops at the
// first such item.
//
//	all([1, 'a', [0]]) → True
//	any([0, '', None]) → False
//	all([]) → True
//	any(5) → TypeError: 'int' object is not iterable
func search(m *py.Account, v value, want bool) bool {
	for item := range object.Each(m, v) {
		if object.Truth(item) == want {
			return true
		}
		m.Step(1)
	}
	return false
}

// lenOf returns the number of items of a container, or of characters of a string. It raises an
// error for other values. An iterator has no length, since all items would have to be read.
func lenOf(m *py.Account, a []value) value {
	n, ok := object.Length(a[0])
	if !ok {
		py.Raise(py.TypeError, "object of type '%s' has no len()", object.TypeName(a[0]))
	}
	if s, ok := a[0].(string); ok {
		m.Scan(len(s))
	}
	return n
}

// extreme implements min and max. The parameter name is the name of the function, and op is the
// operator by which the result compares with the other items.
//
//	max([3, 1, 2]) → 3
//	min(3, 1, 2) → 1
//	max(['aa', 'b'], key=len) → 'aa'
//	min([], default=0) → 0
//	max([]) → ValueError: max() arg is an empty sequence
//	max(1, 'a') → TypeError: '>' not supported between instances of 'str' and 'int'
func extreme(m *py.Account, name, op string, a arguments) value {
	if len(a.pos) == 0 {
		py.Raise(py.TypeError, "%s expected at least 1 argument, got 0", name)
	}
	named := a.keywords(name, "key", "default")
	key, otherwise := named[0], named[1]
	var from value = object.List(a.pos)
	if len(a.pos) == 1 {
		from = a.pos[0]
	} else if isGiven(otherwise) {
		py.Raise(py.TypeError,
			"Cannot specify a default for %s() with multiple positional arguments", name)
	}
	best, found := bestOf(m, object.Each(m, from), op, key)
	if found {
		return best
	}
	if !isGiven(otherwise) {
		py.Raise(py.ValueError, "%s() arg is an empty sequence", name)
	}
	return otherwise
}

// bestOf returns the first item that no other item precedes in the order of the operator op. The
// function key, if it is given, returns the value by which an item is compared. found is false if
// there are no items.
func bestOf(m *py.Account, items iter.Seq[value], op string, key value) (best value, found bool) {
	var bestKey value
	for v := range items {
		k := orderedBy(m, key, v)
		if !found || object.Order(m, op, k, bestKey) {
			best, bestKey, found = v, k, true
		}
	}
	return best, found
}

// rangeOf returns a range of 64-bit numbers. Python has wider ones as well, but none could be
// iterated within the limits, so they are an error.
//
//	list(range(3)) → [0, 1, 2]
//	list(range(5, 0, -2)) → [5, 3, 1]
//	range(10)[2:5] → range(2, 5)
//	range(1, 2, 0) → ValueError: range() arg 3 must not be zero
//	range(1.5) → TypeError: 'float' object cannot be interpreted as an integer
func rangeOf(m *py.Account, a []value) value {
	var parts [3]int64
	for i, v := range a {
		if !isGiven(v) {
			continue
		}
		n, small := asInt(v).(int64)
		if !small {
			py.Raise(py.LimitError, "a range beyond 64 bits is not available in expressions")
		}
		parts[i] = n
	}
	start, stop, step := parts[0], parts[1], parts[2]
	switch {
	case !isGiven(a[1]):
		start, stop, step = 0, start, 1
	case !isGiven(a[2]):
		step = 1
	case step == 0:
		py.Raise(py.ValueError, "range() arg 3 must not be zero")
	}
	return object.NewRange(m, start, stop, step)
}

// sorted returns a list of the items of an iterable in order. As in CPython, messages about wrong
// named arguments speak of sort(), not of sorted().
//
//	sorted([3, 1, 2]) → [1, 2, 3]
//	sorted('bca', reverse=True) → ['c', 'b', 'a']
//	sorted([1, 'a']) → TypeError: '<' not supported between instances of 'str' and 'int'
//	sorted([[2, 1], [1, 2]]) → [[1, 2], [2, 1]]
//	sorted({'b': 1, 'a': 2}) → ['a', 'b']
func sorted(m *py.Account, a arguments) value {
	if len(a.pos) != 1 {
		py.Raise(py.TypeError, "sorted expected 1 argument, got %d", len(a.pos))
	}
	walked := object.Items(m, a.pos[0])
	named := a.keywords("sort", "key", "reverse")
	reverse := isGiven(named[1]) && object.Truth(asInt(named[1]))
	return object.Sort(m, walked, func(v value) value { return orderedBy(m, named[0], v) }, reverse)
}

// orderedBy returns the value by which an item is ordered: the result of the key function or,
// without one, the item itself.
func orderedBy(m *py.Account, key, item value) value {
	if !isGiven(key) || key == nil {
		return item
	}
	return call1(m, key, item)
}
