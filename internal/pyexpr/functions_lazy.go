package pyexpr

import (
	"toolnorm/internal/pyexpr/number"
	"toolnorm/internal/pyexpr/object"
	"toolnorm/internal/pyexpr/py"
)

// Functions that return an iterator: items are computed and charged only when they are asked for.

// enumerate returns an iterator over pairs of a number and an item. The numbers count from start,
// beyond 64 bits if necessary. Its arguments are not checked in one of the usual ways, because
// CPython checks them by hand for speed, with its own messages.
//
//	list(enumerate('ab')) → [(0, 'a'), (1, 'b')]
//	list(enumerate('ab', start=1)) → [(1, 'a'), (2, 'b')]
//	enumerate() → TypeError: enumerate() missing required argument 'iterable'
func enumerate(m *py.Account, a arguments) value {
	from, start := enumerateArguments(a)
	count := asInt(start)
	it := object.Iterate(m, from)
	return &object.Iterator{Type: "enumerate", Next: func(m *py.Account) (value, bool) {
		v, ok := it.Next(m)
		if !ok {
			return nil, false
		}
		pair := object.Tuple{count, v}
		count = number.Add(m, count, int64(1))
		m.AllocItems(2)
		return pair, true
	}}
}

// enumerateArguments returns the iterable and the start, each of which may be given by name. It
// raises an error for other arguments.
//
//	enumerate(start=1) → TypeError: 'start' is an invalid keyword argument for enumerate()
//	list(enumerate(start=1, iterable='a')) → [(1, 'a')]
//	enumerate('a', 'b') → TypeError: 'str' object cannot be interpreted as an integer
//	enumerate(1, 2, 3) → TypeError: enumerate() takes at most 2 arguments (3 given)
func enumerateArguments(a arguments) (from, start value) {
	total := len(a.pos) + len(a.names)
	switch {
	case total == 0:
		py.Raise(py.TypeError, "enumerate() missing required argument 'iterable'")
	case total > 2:
		py.Raise(py.TypeError, "enumerate() takes at most 2 arguments (%d given)", total)
	}
	slots := append(append([]value{}, a.pos...), a.named...)
	want := []string{"iterable", "start"}
	if len(a.names) == 2 && a.names[0] == "start" {
		want = []string{"start", "iterable"}
		slots[0], slots[1] = slots[1], slots[0]
	}
	for i, name := range a.names {
		if name != want[len(a.pos)+i] {
			py.Raise(py.TypeError, "'%s' is an invalid keyword argument for enumerate()", name)
		}
	}
	if total == 1 {
		return slots[0], int64(0)
	}
	return slots[0], slots[1]
}

// filter returns an iterator over the items for which the function returns a true value. If the
// function is None, these are the items that are true themselves.
//
//	list(filter(None, [0, 1, '', 'a'])) → [1, 'a']
//	list(filter(lambda x: x > 1, [1, 2, 3])) → [2, 3]
func filter(m *py.Account, a []value) value {
	it := object.Iterate(m, a[1])
	return &object.Iterator{Type: "filter", Next: func(m *py.Account) (value, bool) {
		for v := range it.Rest(m) {
			m.Step(1)
			keep := v
			if a[0] != nil {
				keep = call1(m, a[0], v)
			}
			if object.Truth(keep) {
				return v, true
			}
		}
		return nil, false
	}}
}

// mapOf returns an iterator over the results of a function that is called with one item of each
// iterable. It ends with the shortest iterable.
func mapOf(m *py.Account, a arguments) value {
	switch {
	case len(a.names) > 0:
		py.Raise(py.TypeError, "map() takes no keyword arguments")
	case len(a.pos) < 2:
		py.Raise(py.TypeError, "map() must have at least two arguments.")
	}
	its := iterateAll(m, a.pos[1:])
	return &object.Iterator{Type: "map", Next: func(m *py.Account) (value, bool) {
		row := zipRow(m, its, false)
		if row == nil {
			return nil, false
		}
		return call(m, a.pos[0], arguments{pos: row}), true
	}}
}

// iterateAll returns iterators over several values, and raises an error for the first that is not
// iterable.
func iterateAll(m *py.Account, values []value) []*object.Iterator {
	its := make([]*object.Iterator, len(values))
	for i, v := range values {
		its[i] = object.Iterate(m, v)
	}
	return its
}

// zip returns an iterator over rows with one item of each iterable. It ends with the shortest
// iterable. With strict=True, the iterator raises an error at its end if another iterable is
// longer.
//
//	list(zip([1, 2], 'ab')) → [(1, 'a'), (2, 'b')]
//	list(zip([1, 2], [3])) → [(1, 3)]
//	list(zip([1, 2], [3], strict=True)) → ValueError: zip() argument 2 is shorter than argument 1
//	list(zip()) → []
func zip(m *py.Account, a arguments) value {
	if len(a.names) > 1 {
		py.Raise(py.TypeError, "zip() takes at most 1 keyword argument (%d given)", len(a.names))
	}
	named := a.keywords("zip", "strict")
	strict := isGiven(named[0]) && object.Truth(named[0])
	its := iterateAll(m, a.pos)
	over := len(its) == 0
	return &object.Iterator{Type: "zip", Next: func(m *py.Account) (value, bool) {
		if over {
			return nil, false
		}
		row := zipRow(m, its, strict)
		over = row == nil
		return row, row != nil
	}}
}

// zipRow returns a row with the next item of each iterator, or nil if one has ended. If strict is
// true, it raises an error instead unless all have ended.
func zipRow(m *py.Account, its []*object.Iterator, strict bool) object.Tuple {
	m.AllocItems(int64(len(its)))
	row := make(object.Tuple, len(its))
	for i, it := range its {
		v, ok := it.Next(m)
		switch {
		case !ok && strict && i > 0:
			unlike(i, "shorter")
		case !ok && strict:
			longer(m, its[1:])
		}
		if !ok {
			return nil
		}
		row[i] = v
	}
	m.Step(1)
	return row
}

// longer raises an error if any iterator has another item. It is called when the first iterator of
// a strict zip has ended.
func longer(m *py.Account, its []*object.Iterator) {
	for i, it := range its {
		if _, ok := it.Next(m); ok {
			unlike(i+1, "longer")
		}
	}
}

// unlike raises the error of zip with strict=True. The iterator with index i is longer or shorter
// than those before it, as the parameter how says. If there are several before it, the message
// calls them "arguments 1-2".
func unlike(i int, how string) {
	if i == 1 {
		py.Raise(py.ValueError, "zip() argument 2 is %s than argument 1", how)
	}
	py.Raise(py.ValueError, "zip() argument %d is %s than arguments 1-%d", i+1, how, i)
}
