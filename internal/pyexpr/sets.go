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

// equalSets compares without order. Equal numbers of items make one direction enough.
func equalSets(m *machine, x, y *set) (bool, error) {
	if len(x.items) != len(y.items) {
		return false, nil
	}
	return within(m, x, y)
}

// within says whether all items of x are in y.
func within(m *machine, x, y *set) (bool, error) {
	for _, v := range x.items {
		if err := m.step(1); err != nil {
			return false, err
		}
		if ok, err := y.has(m, v); err != nil || !ok {
			return false, err
		}
	}
	return true, nil
}

// equalView compares a view with what may equal it: a view of values equals nothing, the others are sets.
//
//	{'a': 1}.keys() == {'a'} → True
//	{'a': 1}.items() == {('a', 1)} → True
//	{'a': 1}.values() == {'a': 1}.values() → False
func equalView(m *machine, x view, b value) (bool, error) {
	left, ok, err := asSet(m, x)
	if err != nil || !ok {
		return false, err
	}
	right, ok, err := asSet(m, b)
	if err != nil || !ok {
		return false, err
	}
	return equalSets(m, left, right)
}

// orderSets compares sets by inclusion; known is false when one of them is none.
//
//	{1} <= {1, 2} → True
//	{1} < {1} → False
//	{1} > [1] → TypeError: '>' not supported between instances of 'set' and 'list'
//	{'a': 1}.keys() <= {'a', 'b'} → True
func orderSets(m *machine, op string, a, b value) (holds, known bool, err error) {
	x, ok1, err := asSet(m, a)
	if err != nil {
		return false, true, err
	}
	y, ok2, err := asSet(m, b)
	if err != nil || !ok1 || !ok2 {
		return false, err != nil, err
	}
	if op == ">" || op == ">=" {
		x, y = y, x
	}
	if len(x.items) > len(y.items) || (op == "<" || op == ">") && len(x.items) == len(y.items) {
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
