package pyexpr

// Functions that give an iterator: nothing is computed before somebody walks it, and each item is charged then.

// enumerate counts from start, beyond 64 bits if need be. Its argument check is not of the usual four kinds: CPython wrote
// it by hand for speed, with messages of its own.
//
//	list(enumerate('ab')) → [(0, 'a'), (1, 'b')]
//	list(enumerate('ab', start=1)) → [(1, 'a'), (2, 'b')]
//	enumerate() → TypeError: enumerate() missing required argument 'iterable'
func enumerate(m *machine, a arguments) (value, error) {
	from, start, err := enumerateArguments(a)
	if err != nil {
		return nil, err
	}
	count, ok := integer(start)
	if !ok {
		return nil, notInt(start)
	}
	it, err := iterate(m, from)
	if err != nil {
		return nil, err
	}
	return &iterator{"enumerate", func(m *machine) (value, bool, error) {
		v, ok, err := it.next(m)
		if err != nil || !ok {
			return nil, false, err
		}
		pair := tuple{count, v}
		if count, err = addInts(m, count, int64(1)); err != nil {
			return nil, false, err
		}
		return pair, true, m.allocItems(2)
	}}, nil
}

// enumerateArguments finds the iterable and the start, of which each may be named.
//
//	enumerate(start=1) → TypeError: 'start' is an invalid keyword argument for enumerate()
//	list(enumerate(start=1, iterable='a')) → [(1, 'a')]
//	enumerate('a', 'b') → TypeError: 'str' object cannot be interpreted as an integer
//	enumerate(1, 2, 3) → TypeError: enumerate() takes at most 2 arguments (3 given)
func enumerateArguments(a arguments) (from, start value, err error) {
	total := len(a.pos) + len(a.names)
	switch {
	case total == 0:
		return nil, nil, raise(TypeError, "enumerate() missing required argument 'iterable'")
	case total > 2:
		return nil, nil, raise(TypeError, "enumerate() takes at most 2 arguments (%d given)", total)
	}
	slots := append(append([]value{}, a.pos...), a.named...)
	want := []string{"iterable", "start"}
	if len(a.names) == 2 && a.names[0] == "start" {
		want = []string{"start", "iterable"}
		slots[0], slots[1] = slots[1], slots[0]
	}
	for i, name := range a.names {
		if name != want[len(a.pos)+i] {
			return nil, nil, raise(TypeError, "'%s' is an invalid keyword argument for enumerate()", name)
		}
	}
	if total == 1 {
		return slots[0], int64(0), nil
	}
	return slots[0], slots[1], nil
}

// filter keeps the items for which the function is true, or which are true themselves where it is None.
//
//	list(filter(None, [0, 1, '', 'a'])) → [1, 'a']
//	list(filter(lambda x: x > 1, [1, 2, 3])) → [2, 3]
func filter(m *machine, a []value) (value, error) {
	it, err := iterate(m, a[1])
	if err != nil {
		return nil, err
	}
	return &iterator{"filter", func(m *machine) (value, bool, error) {
		for {
			v, ok, err := it.next(m)
			if err != nil || !ok {
				return nil, false, err
			}
			if err := m.step(1); err != nil {
				return nil, false, err
			}
			keep := v
			if a[0] != nil {
				if keep, err = call1(m, a[0], v); err != nil {
					return nil, false, err
				}
			}
			if truth(keep) {
				return v, true, nil
			}
		}
	}}, nil
}

// mapOf calls a function with an item of each iterable; it ends with the shortest.
func mapOf(m *machine, a arguments) (value, error) {
	switch {
	case len(a.names) > 0:
		return nil, raise(TypeError, "map() takes no keyword arguments")
	case len(a.pos) < 2:
		return nil, raise(TypeError, "map() must have at least two arguments.")
	}
	its, err := iterateAll(m, a.pos[1:])
	if err != nil {
		return nil, err
	}
	return &iterator{"map", func(m *machine) (value, bool, error) {
		if err := m.allocItems(int64(len(its))); err != nil {
			return nil, false, err
		}
		args := make([]value, len(its))
		for i, it := range its {
			v, ok, err := it.next(m)
			if err != nil || !ok {
				return nil, false, err
			}
			args[i] = v
		}
		if err := m.step(1); err != nil {
			return nil, false, err
		}
		v, err := call(m, a.pos[0], arguments{pos: args})
		return v, err == nil, err
	}}, nil
}

// iterateAll begins to walk several values; the first that cannot be walked is the error.
func iterateAll(m *machine, values []value) ([]*iterator, error) {
	its := make([]*iterator, len(values))
	for i, v := range values {
		it, err := iterate(m, v)
		if err != nil {
			return nil, err
		}
		its[i] = it
	}
	return its, nil
}

// zip makes rows of an item each. With strict=True unlike lengths are an error, found where the shorter one ends.
//
//	list(zip([1, 2], 'ab')) → [(1, 'a'), (2, 'b')]
//	list(zip([1, 2], [3])) → [(1, 3)]
//	list(zip([1, 2], [3], strict=True)) → ValueError: zip() argument 2 is shorter than argument 1
//	list(zip()) → []
func zip(m *machine, a arguments) (value, error) {
	strict := false
	if len(a.names) > 1 {
		return nil, raise(TypeError, "zip() takes at most 1 keyword argument (%d given)", len(a.names))
	}
	for i, name := range a.names {
		if name != "strict" {
			return nil, raise(TypeError, "'%s' is an invalid keyword argument for zip()", name)
		}
		strict = truth(a.named[i])
	}
	its, err := iterateAll(m, a.pos)
	if err != nil {
		return nil, err
	}
	over := len(its) == 0
	return &iterator{"zip", func(m *machine) (value, bool, error) {
		if over {
			return nil, false, nil
		}
		row, err := zipRow(m, its, strict)
		over = row == nil
		return row, row != nil, err
	}}, nil
}

// zipRow takes an item of each iterator, or is nil when one of them has ended.
func zipRow(m *machine, its []*iterator, strict bool) (tuple, error) {
	if err := m.allocItems(int64(len(its))); err != nil {
		return nil, err
	}
	row := make(tuple, len(its))
	for i, it := range its {
		v, ok, err := it.next(m)
		switch {
		case err != nil:
			return nil, err
		case !ok && strict && i > 0:
			return nil, unlike(i, "shorter")
		case !ok && strict:
			return nil, longer(m, its[1:])
		case !ok:
			return nil, nil
		}
		row[i] = v
	}
	return row, m.step(1)
}

// longer complains of an iterator that goes on where the first one of a strict zip has ended.
func longer(m *machine, its []*iterator) error {
	for i, it := range its {
		if _, ok, err := it.next(m); err != nil {
			return err
		} else if ok {
			return unlike(i+1, "longer")
		}
	}
	return nil
}

// unlike is strict zip's message, which speaks of "arguments 1-2" when two went before.
func unlike(i int, how string) error {
	if i == 1 {
		return raise(ValueError, "zip() argument 2 is %s than argument 1", how)
	}
	return raise(ValueError, "zip() argument %d is %s than arguments 1-%d", i+1, how, i)
}
