package pyexpr

import "unicode/utf8"

// span is a range: n numbers from start in steps. stop is only shown.
type span struct{ start, stop, step, n int64 }

// iterable says whether a value can be walked.
func iterable(v value) bool {
	switch v.(type) {
	case string, list, tuple, *dict, *set, span, view, *iterator:
		return true
	}
	return false
}

// iterate begins to walk a value.
//
//	list('한a') → ['한', 'a']
//	list({'a': 1, 'b': 2}) → ['a', 'b']
//	list({'a': 1}.items()) → [('a', 1)]
//	[x for x in None] → TypeError: 'NoneType' object is not iterable
func iterate(m *machine, v value) (*iterator, error) {
	if err := m.alloc(listBytes); err != nil {
		return nil, err
	}
	switch v := v.(type) {
	case *iterator:
		return v, nil
	case string:
		return &iterator{"str_iterator", overText(v)}, nil
	case list:
		return &iterator{"list_iterator", overItems(v)}, nil
	case tuple:
		return &iterator{"tuple_iterator", overItems(v)}, nil
	case *dict:
		return &iterator{"dict_keyiterator", overItems(v.keys)}, nil
	case *set:
		return &iterator{"set_iterator", overItems(v.items)}, nil
	case span:
		return &iterator{"range_iterator", overSpan(v)}, nil
	case view:
		return &iterator{"dict_iterator", v.over()}, nil
	}
	return nil, raise(TypeError, "'%s' object is not iterable", typeName(v))
}

// overItems walks a slice. Nothing changes a list while it is walked, so the slice itself will do.
func overItems(items []value) func(*machine) (value, bool, error) {
	i := 0
	return func(*machine) (value, bool, error) {
		if i >= len(items) {
			return nil, false, nil
		}
		i++
		return items[i-1], true, nil
	}
}

// overText walks code points. Each is a string of its own, which shares the bytes of the whole.
func overText(s string) func(*machine) (value, bool, error) {
	return func(m *machine) (value, bool, error) {
		if s == "" {
			return nil, false, nil
		}
		_, size := utf8.DecodeRuneInString(s)
		c := s[:size]
		s = s[size:]
		return c, true, m.alloc(boxBytes)
	}
}

// overSpan counts. The number is computed from the index, as start + i*step, so that no rounding or overflow adds up.
func overSpan(s span) func(*machine) (value, bool, error) {
	i := int64(0)
	return func(m *machine) (value, bool, error) {
		if i >= s.n {
			return nil, false, nil
		}
		i++
		return s.start + (i-1)*s.step, true, m.alloc(boxBytes)
	}
}

// over walks a view of a dict.
func (v view) over() func(*machine) (value, bool, error) {
	switch v.kind {
	case "key":
		return overItems(v.d.keys)
	case "value":
		return overItems(v.d.vals)
	}
	i := 0
	return func(m *machine) (value, bool, error) {
		if i >= len(v.d.keys) {
			return nil, false, nil
		}
		i++
		return tuple{v.d.keys[i-1], v.d.vals[i-1]}, true, m.allocItems(2)
	}
}

// drain collects the items of an iterator. The slice is grown by hand, so that what it takes is charged before it is taken.
//
//	list(x for x in 'abc') → ['a', 'b', 'c']
//	tuple({'a': 1}) → ('a',)
//	list(range(3, 0, -1)) → [3, 2, 1]
//	list(5) → TypeError: 'int' object is not iterable
func drain(m *machine, it *iterator) ([]value, error) {
	items := []value{}
	for {
		v, ok, err := it.next(m)
		if err != nil || !ok {
			return items, err
		}
		if items, err = grow(m, items, v); err != nil {
			return nil, err
		}
	}
}

// grow appends an item and charges the new slice where one is needed.
func grow(m *machine, items []value, v value) ([]value, error) {
	if err := m.step(1); err != nil {
		return nil, err
	}
	if len(items) == cap(items) {
		size := max(4, 2*cap(items))
		if err := m.alloc(int64(size) * slotBytes); err != nil {
			return nil, err
		}
		items = append(make([]value, 0, size), items...)
	}
	return append(items, v), nil
}

// items are those of any iterable. A list's and a tuple's are given as they are, and must not be changed.
func items(m *machine, v value) ([]value, error) {
	switch v := v.(type) {
	case list:
		return v, nil
	case tuple:
		return v, nil
	}
	it, err := iterate(m, v)
	if err != nil {
		return nil, err
	}
	return drain(m, it)
}

// collectSet makes a set of an iterator's items.
func collectSet(m *machine, it *iterator) (value, error) {
	s := newSet()
	for {
		v, ok, err := it.next(m)
		if err != nil || !ok {
			return s, err
		}
		if err := m.step(1); err != nil {
			return nil, err
		}
		if err := s.add(m, v); err != nil {
			return nil, err
		}
	}
}
