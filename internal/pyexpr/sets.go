package pyexpr

// Sets, and the views of dicts that count as sets. The operators are strict where the methods of Python are not: {1} | [2] is an
// error. Only views take any iterable, which is CPython's inconsistency and kept.

// setOf is a set, or the keys or items of a dict as one: those views compare and join as sets do.
func setOf(v value) (*set, bool) {
	switch v := v.(type) {
	case *set:
		return v, true
	case view:
		if v.kind == "key" {
			return &set{v.d.keys, v.d.index}, true
		}
	}
	return nil, false
}

// asSet is setOf for items views too, which have to be hashed first.
func asSet(m *machine, v value) (*set, bool, error) {
	if w, ok := v.(view); ok && w.kind == "item" {
		it, err := iterate(m, w)
		if err != nil {
			return nil, true, err
		}
		s, err := collectSet(m, it)
		if err != nil {
			return nil, true, err
		}
		return s.(*set), true, nil
	}
	s, ok := setOf(v)
	return s, ok, nil
}

// within says whether all items of x are in y. An items view looks its values up by key, so that they need no hash.
func within(m *machine, x, y value) (bool, error) {
	it, err := iterate(m, x)
	if err != nil {
		return false, err
	}
	for {
		v, ok, err := it.next(m)
		if err != nil || !ok {
			return err == nil, err
		}
		if err := m.step(1); err != nil {
			return false, err
		}
		if ok, err := contains(m, y, v); err != nil || !ok {
			return false, err
		}
	}
}

// has says whether a key or an entry is in the dict.
func (v view) has(m *machine, item value) (bool, error) {
	if v.kind == "key" {
		_, ok, err := v.d.get(m, item)
		return ok, err
	}
	pair, ok := item.(tuple)
	if !ok || len(pair) != 2 {
		return false, nil
	}
	found, ok, err := v.d.get(m, pair[0])
	if err != nil || !ok {
		return false, err
	}
	return equal(m, found, pair[1])
}

// setLike says that a value compares as a set does: sets, and the keys and items of dicts, but not their values.
func setLike(v value) bool {
	w, isView := v.(view)
	_, isSet := v.(*set)
	return isSet || isView && w.kind != "value"
}

// equalSets compares without order. Equal numbers of items make one direction enough; the direction is that of the view
// when only one of them is a view, since Python asks the view then.
//
//	{'a': 1}.keys() == {'a'} → True
//	{'a': 1}.items() == {('a', 1)} → True
//	{'a': [1]}.items() == {'a': [1]}.items() → True
//	{'a': 1}.values() == {'a': 1}.values() → False
func equalSets(m *machine, x, y value) (bool, error) {
	if !setLike(x) || !setLike(y) {
		return false, nil
	}
	n, _ := length(x)
	k, _ := length(y)
	if n != k {
		return false, nil
	}
	if _, ok := y.(view); ok {
		if _, ok := x.(view); !ok {
			x, y = y, x
		}
	}
	return within(m, x, y)
}

// orderSets compares sets by inclusion; known is false when one of them is none.
//
//	{1} <= {1, 2} → True
//	{1} < {1} → False
//	{1} > [1] → TypeError: '>' not supported between instances of 'set' and 'list'
//	{'a': 1}.keys() <= {'a', 'b'} → True
func orderSets(m *machine, op string, x, y value) (holds, known bool, err error) {
	if !setLike(x) || !setLike(y) {
		return false, false, nil
	}
	if op == ">" || op == ">=" {
		x, y = y, x
	}
	n, _ := length(x)
	k, _ := length(y)
	if n > k || (op == "<" || op == ">") && n == k {
		return false, true, nil
	}
	holds, err = within(m, x, y)
	return holds, true, err
}

// setOperator computes | & ^ - of two sets, and | of two dicts. ok is false when the operator does not join the two.
// A view joins with any iterable, a set only with a set.
//
//	sorted({1, 2} | {3}) → [1, 2, 3]
//	sorted({1, 2} & {2}) → [2]
//	sorted({1, 2} ^ {2, 3}) → [1, 3]
//	{'a': 1} | {'b': 2} → {'a': 1, 'b': 2}
//	{1} | [2] → TypeError: unsupported operand type(s) for |: 'set' and 'list'
func setOperator(m *machine, op string, a, b value) (v value, ok bool, err error) {
	if x, isDict := a.(*dict); isDict && op == "|" {
		y, isDict := b.(*dict)
		if !isDict {
			return nil, false, nil
		}
		v, err := mergeDicts(m, x, y)
		return v, true, err
	}
	_, leftView := a.(view)
	_, rightView := b.(view)
	x, ok1, err := asSet(m, a)
	if err != nil {
		return nil, true, err
	}
	y, ok2, err := asSet(m, b)
	if err != nil {
		return nil, true, err
	}
	if !ok1 && !(rightView && ok2) || !ok2 && !(leftView && ok1) {
		return nil, false, nil
	}
	if !ok1 {
		x, err = anySet(m, a)
	} else if !ok2 {
		y, err = anySet(m, b)
	}
	if err != nil {
		return nil, true, err
	}
	v, err = joinSets(m, op, x, y)
	return v, true, err
}

// anySet is the set of any iterable's items.
func anySet(m *machine, v value) (*set, error) {
	it, err := iterate(m, v)
	if err != nil {
		return nil, err
	}
	s, err := collectSet(m, it)
	if err != nil {
		return nil, err
	}
	return s.(*set), nil
}

// joinSets computes a set of the items of x and y.
func joinSets(m *machine, op string, x, y *set) (value, error) {
	s := newSet()
	put := func(from, other *set, want bool) error {
		for _, v := range from.items {
			if err := m.step(1); err != nil {
				return err
			}
			in, err := other.has(m, v)
			if err != nil {
				return err
			}
			if in == want {
				if err := s.add(m, v); err != nil {
					return err
				}
			}
		}
		return nil
	}
	empty := newSet()
	var err error
	switch op {
	case "|":
		if err = put(x, empty, false); err == nil {
			err = put(y, empty, false)
		}
	case "&":
		err = put(x, y, true)
	case "-":
		err = put(x, y, false)
	case "^":
		if err = put(x, y, false); err == nil {
			err = put(y, x, false)
		}
	}
	return s, err
}

// mergeDicts is a dict with the entries of both; the right one's win.
func mergeDicts(m *machine, x, y *dict) (value, error) {
	d := newDict()
	if err := d.update(m, x); err != nil {
		return nil, err
	}
	return d, d.update(m, y)
}
