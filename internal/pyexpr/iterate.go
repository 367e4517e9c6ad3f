package pyexpr

import (
	"iter"
	"unicode/utf8"

	"toolnorm/internal/pyexpr/py"
)

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
func iterate(m *py.Account, v value) *iterator {
	m.Alloc(py.ListBytes)
	switch v := v.(type) {
	case *iterator:
		return v
	case string:
		return &iterator{"str_iterator", overText(v)}
	case list:
		return &iterator{"list_iterator", overItems(v)}
	case tuple:
		return &iterator{"tuple_iterator", overItems(v)}
	case *dict:
		return &iterator{"dict_keyiterator", overItems(v.keys)}
	case *set:
		return &iterator{"set_iterator", overItems(v.items)}
	case span:
		return &iterator{"range_iterator", overSpan(v)}
	case view:
		return &iterator{"dict_iterator", v.over()}
	}
	py.Raise(py.TypeError, "'%s' object is not iterable", typeName(v))
	return nil
}

// each walks the items of a value.
func each(m *py.Account, v value) iter.Seq[value] { return iterate(m, v).rest(m) }

// rest walks what an iterator has not given yet. Whoever breaks off has used up the items so far, and no more.
func (it *iterator) rest(m *py.Account) iter.Seq[value] {
	return func(yield func(value) bool) {
		for v, ok := it.next(m); ok && yield(v); v, ok = it.next(m) {
		}
	}
}

// overItems walks a slice. Nothing changes a list while it is walked, so the slice itself will do.
func overItems(items []value) func(*py.Account) (value, bool) {
	i := 0
	return func(*py.Account) (value, bool) {
		if i >= len(items) {
			return nil, false
		}
		i++
		return items[i-1], true
	}
}

// overText walks code points. Each is a string of its own, which shares the bytes of the whole.
func overText(s string) func(*py.Account) (value, bool) {
	return func(m *py.Account) (value, bool) {
		if s == "" {
			return nil, false
		}
		_, size := utf8.DecodeRuneInString(s)
		c := s[:size]
		s = s[size:]
		m.Alloc(py.BoxBytes)
		return c, true
	}
}

// overSpan counts. The number is computed from the index, as start + i*step, so that no rounding or overflow adds up.
func overSpan(s span) func(*py.Account) (value, bool) {
	i := int64(0)
	return func(m *py.Account) (value, bool) {
		if i >= s.n {
			return nil, false
		}
		i++
		m.Alloc(py.BoxBytes)
		return s.start + (i-1)*s.step, true
	}
}

// over walks a view of a dict.
func (v view) over() func(*py.Account) (value, bool) {
	switch v.kind {
	case "key":
		return overItems(v.d.keys)
	case "value":
		return overItems(v.d.vals)
	}
	i := 0
	return func(m *py.Account) (value, bool) {
		if i >= len(v.d.keys) {
			return nil, false
		}
		i++
		m.AllocItems(2)
		return tuple{v.d.keys[i-1], v.d.vals[i-1]}, true
	}
}

// drain collects the items of an iterator. The slice is grown by hand, so that what it takes is charged before it is taken.
//
//	list(x for x in 'abc') → ['a', 'b', 'c']
//	tuple({'a': 1}) → ('a',)
//	list(range(3, 0, -1)) → [3, 2, 1]
//	list(5) → TypeError: 'int' object is not iterable
func drain(m *py.Account, it *iterator) []value {
	items := []value{}
	for v := range it.rest(m) {
		items = grow(m, items, v)
	}
	return items
}

// grow appends an item and charges the new slice where one is needed.
func grow(m *py.Account, items []value, v value) []value {
	m.Step(1)
	if len(items) == cap(items) {
		size := max(4, 2*cap(items))
		m.Alloc(int64(size) * py.SlotBytes)
		items = append(make([]value, 0, size), items...)
	}
	return append(items, v)
}

// items are those of any iterable. A list's and a tuple's are given as they are, and must not be changed.
func items(m *py.Account, v value) []value {
	switch v := v.(type) {
	case list:
		return v
	case tuple:
		return v
	}
	return drain(m, iterate(m, v))
}

// collectSet makes a set of an iterator's items.
func collectSet(m *py.Account, it *iterator) *set {
	s := newSet()
	for v := range it.rest(m) {
		m.Step(1)
		s.add(m, v)
	}
	return s
}
