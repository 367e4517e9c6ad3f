package object

import "toolnorm/internal/pyexpr/py"

// Sets, and the views of dicts that count as sets. The operators are strict where the methods of
// Python are not: {1} | [2] is an error. Only views accept any iterable, an inconsistency of
// CPython that is kept.

// setOf returns v as a set if v is a set or the view of a dict's keys or items, because these views
// have the operators of sets. Otherwise it returns false. It raises a TypeError for an items view
// with a value that cannot be hashed.
func setOf(m *py.Account, v Value) (*Set, bool) {
	switch v := v.(type) {
	case *Set:
		return v, true
	case View:
		switch v.kind {
		case "key":
			return &Set{v.d.keys, v.d.index}, true
		case "item":
			return CollectSet(m, Iterate(m, v)), true
		}
	}
	return nil, false
}

// within reports whether all items of x are in y. If y is an items view, it looks up each item by
// its key, so the values need not be hashable.
func within(m *py.Account, x, y Value) bool {
	for v := range Each(m, x) {
		m.Step(1)
		if !contains(m, y, v) {
			return false
		}
	}
	return true
}

// has reports whether a keys view has a key, or an items view has a pair.
func (v View) has(m *py.Account, item Value) bool {
	if v.kind == "key" {
		_, ok := v.d.Get(m, item)
		return ok
	}
	pair, ok := item.(Tuple)
	if !ok || len(pair) != 2 {
		return false
	}
	found, ok := v.d.Get(m, pair[0])
	return ok && Equal(m, found, pair[1])
}

// setLike reports whether a value is compared like a set: a set, or the keys or items of a dict,
// but not the values.
func setLike(v Value) bool {
	w, isView := v.(View)
	_, isSet := v.(*Set)
	return isSet || isView && w.kind != "value"
}

// equalSets reports whether two sets or views have the same items. It returns false if one of them
// is neither. If the numbers of items are equal, it is enough to look up the items of one in the
// other. If only one is a view, its items are looked up in the other, as in Python.
//
//	{'a': 1}.keys() == {'a'} → True
//	{'a': 1}.items() == {('a', 1)} → True
//	{'a': [1]}.items() == {'a': [1]}.items() → True
//	{'a': 1}.values() == {'a': 1}.values() → False
func equalSets(m *py.Account, x, y Value) bool {
	if !setLike(x) || !setLike(y) {
		return false
	}
	n, _ := Length(x)
	k, _ := Length(y)
	if n != k {
		return false
	}
	if _, ok := y.(View); ok {
		if _, ok := x.(View); !ok {
			x, y = y, x
		}
	}
	return within(m, x, y)
}

// orderSets reports whether a set includes another one, as the operator op (<, <=, > or >=)
// requires. known is false if one of the values is not a set.
//
//	{1} <= {1, 2} → True
//	{1} < {1} → False
//	{1} > [1] → TypeError: '>' not supported between instances of 'set' and 'list'
//	{'a': 1}.keys() <= {'a', 'b'} → True
func orderSets(m *py.Account, op string, x, y Value) (holds, known bool) {
	if !setLike(x) || !setLike(y) {
		return false, false
	}
	if op == ">" || op == ">=" {
		x, y = y, x
	}
	n, _ := Length(x)
	k, _ := Length(y)
	if n > k || (op == "<" || op == ">") && n == k {
		return false, true
	}
	return within(m, x, y), true
}

// setOperator returns the result of | & ^ - for two sets, or of | for two dicts. ok is false if the
// operator does not support the two. A view can be combined with any iterable, but a set only with
// a set.
//
//	sorted({1, 2} | {3}) → [1, 2, 3]
//	sorted({1, 2} & {2}) → [2]
//	sorted({0, 1} & {0.0}) → [0.0]
//	sorted({1, 2} ^ {2, 3}) → [1, 3]
//	{'a': 1} | {'b': 2} → {'a': 1, 'b': 2}
//	{1} | [2] → TypeError: unsupported operand type(s) for |: 'set' and 'list'
func setOperator(m *py.Account, op string, a, b Value) (v Value, ok bool) {
	if x, isDict := a.(*Dict); isDict && op == "|" {
		y, isDict := b.(*Dict)
		if !isDict {
			return nil, false
		}
		d := NewDict() // the entries of both; those of the right one win
		d.Update(m, x)
		d.Update(m, y)
		return d, true
	}
	_, leftView := a.(View)
	_, rightView := b.(View)
	x, ok1 := setOf(m, a)
	y, ok2 := setOf(m, b)
	if !ok1 && !(rightView && ok2) || !ok2 && !(leftView && ok1) {
		return nil, false
	}
	if !ok1 {
		x = CollectSet(m, Iterate(m, a))
	} else if !ok2 {
		y = CollectSet(m, Iterate(m, b))
	}
	// What both hold is taken from the smaller one: {0, 1} & {0.0} has 0.0.
	d := len(x.items) - len(y.items)
	if op == "&" && ok2 && (!ok1 || d < 0 || d == 0 && leftView && !rightView) {
		x, y = y, x
	}
	return joinSets(m, op, x, y), true
}

// joinSets returns the result of | & ^ or - for two sets. The values of & are those of y.
func joinSets(m *py.Account, op string, x, y *Set) *Set {
	s := NewSet()
	put := func(from, other *Set, want bool) {
		for _, v := range from.items {
			m.Step(1)
			if other.has(m, v) == want {
				s.Add(m, v)
			}
		}
	}
	switch op {
	case "|":
		put(x, NewSet(), false)
		put(y, NewSet(), false)
	case "&":
		put(y, x, true)
	case "-":
		put(x, y, false)
	case "^":
		put(x, y, false)
		put(y, x, false)
	}
	return s
}
