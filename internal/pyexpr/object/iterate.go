package object

import (
	"iter"
	"unicode/utf8"

	"toolnorm/internal/pyexpr/py"
)

// span is a range of n numbers, which begins at start and continues in steps of step. stop is only
// used for display.
type span struct{ start, stop, step, n int64 }

// Iterable reports whether a value can be iterated.
func Iterable(v Value) bool {
	switch v.(type) {
	case string, List, Tuple, *Dict, *Set, span, View, *Iterator:
		return true
	}
	return false
}

// Iterate returns an iterator over the items of a value. It raises a TypeError if the value is not
// iterable.
//
//	list('한a') → ['한', 'a']
//	list({'a': 1, 'b': 2}) → ['a', 'b']
//	list({'a': 1}.items()) → [('a', 1)]
//	[x for x in None] → TypeError: 'NoneType' object is not iterable
func Iterate(m *py.Account, v Value) *Iterator {
	m.Alloc(py.ListBytes)
	switch v := v.(type) {
	case *Iterator:
		return v
	case string:
		return &Iterator{"str_iterator", overText(v)}
	case List:
		return &Iterator{"list_iterator", overItems(v)}
	case Tuple:
		return &Iterator{"tuple_iterator", overItems(v)}
	case *Dict:
		return &Iterator{"dict_keyiterator", overItems(v.keys)}
	case *Set:
		return &Iterator{"set_iterator", overItems(v.items)}
	case span:
		return &Iterator{"range_iterator", overSpan(v)}
	case View:
		return &Iterator{"dict_iterator", v.over()}
	}
	py.Raise(py.TypeError, "'%s' object is not iterable", TypeName(v))
	return nil
}

// Each returns a sequence of the items of a value. It raises a TypeError if the value is not
// iterable.
func Each(m *py.Account, v Value) iter.Seq[Value] { return Iterate(m, v).Rest(m) }

// Rest returns a sequence of the remaining items of an iterator. If a loop over it breaks, the
// items after that remain.
func (it *Iterator) Rest(m *py.Account) iter.Seq[Value] {
	return func(yield func(Value) bool) {
		for v, ok := it.Next(m); ok && yield(v); v, ok = it.Next(m) {
		}
	}
}

// overItems returns a function for Iterator.Next that goes through the items of a slice. It needs
// no copy, since nothing ever changes a list.
func overItems(items []Value) func(*py.Account) (Value, bool) {
	i := 0
	return func(*py.Account) (Value, bool) {
		if i >= len(items) {
			return nil, false
		}
		i++
		return items[i-1], true
	}
}

// overText returns a function for Iterator.Next that goes through the characters of a string. Each
// is a string that shares the bytes of the whole.
func overText(s string) func(*py.Account) (Value, bool) {
	return func(m *py.Account) (Value, bool) {
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

// overSpan returns a function for Iterator.Next that goes through a range. Each number is computed
// from its index, as start + i*step, so that no overflow accumulates.
func overSpan(s span) func(*py.Account) (Value, bool) {
	i := int64(0)
	return func(m *py.Account) (Value, bool) {
		if i >= s.n {
			return nil, false
		}
		i++
		m.Alloc(py.BoxBytes)
		return s.start + (i-1)*s.step, true
	}
}

// over returns a function for Iterator.Next that goes through a view of a dict.
func (v View) over() func(*py.Account) (Value, bool) {
	switch v.kind {
	case "key":
		return overItems(v.d.keys)
	case "value":
		return overItems(v.d.vals)
	}
	i := 0
	return func(m *py.Account) (Value, bool) {
		if i >= len(v.d.keys) {
			return nil, false
		}
		i++
		m.AllocItems(2)
		return Tuple{v.d.keys[i-1], v.d.vals[i-1]}, true
	}
}

// Drain returns the remaining items of an iterator. It grows the slice explicitly, so that memory
// is charged before it is allocated.
//
//	list(x for x in 'abc') → ['a', 'b', 'c']
//	tuple({'a': 1}) → ('a',)
//	list(range(3, 0, -1)) → [3, 2, 1]
//	list(5) → TypeError: 'int' object is not iterable
func Drain(m *py.Account, it *Iterator) []Value {
	items := []Value{}
	for v := range it.Rest(m) {
		items = Grow(m, items, v)
	}
	return items
}

// Grow returns items with v appended, and charges the memory if a new slice is needed.
func Grow(m *py.Account, items []Value, v Value) []Value {
	m.Step(1)
	if len(items) == cap(items) {
		size := max(4, 2*cap(items))
		m.Alloc(int64(size) * py.SlotBytes)
		items = append(make([]Value, 0, size), items...)
	}
	return append(items, v)
}

// Items returns the items of any iterable. Those of a list or a tuple are not copied, and must not
// be changed.
func Items(m *py.Account, v Value) []Value {
	switch v := v.(type) {
	case List:
		return v
	case Tuple:
		return v
	}
	return Drain(m, Iterate(m, v))
}

// CollectSet returns a set of the items of an iterator. It raises a TypeError for an item that
// cannot be hashed.
func CollectSet(m *py.Account, it *Iterator) *Set {
	s := NewSet()
	for v := range it.Rest(m) {
		m.Step(1)
		s.Add(m, v)
	}
	return s
}

// Reversed returns an iterator over the items of a value in reverse order. It raises a TypeError if
// the value has no order. The iterator's type has the same name as in CPython, which depends on the
// value.
//
//	list(reversed([1, 2, 3])) → [3, 2, 1]
//	''.join(reversed('abc')) → 'cba'
//	reversed({1}) → TypeError: 'set' object is not reversible
func Reversed(m *py.Account, v Value) *Iterator {
	switch v := v.(type) {
	case string:
		m.Alloc(int64(len(v)) * 20)
		return &Iterator{"reversed", backwards(Items(m, v))}
	case List:
		return &Iterator{"list_reverseiterator", backwards(v)}
	case Tuple:
		return &Iterator{"reversed", backwards(v)}
	case *Dict:
		return &Iterator{"dict_reversekeyiterator", backwards(v.keys)}
	case span:
		return &Iterator{"range_iterator",
			overSpan(span{start: v.start + (v.n-1)*v.step, step: -v.step, n: v.n})}
	case View:
		return &Iterator{"dict_reverse" + v.kind + "iterator", backwards(Items(m, v))}
	}
	py.Raise(py.TypeError, "'%s' object is not reversible", TypeName(v))
	return nil
}

// backwards returns a function for Iterator.Next that goes through the items of a slice from the
// last to the first.
func backwards(items []Value) func(*py.Account) (Value, bool) {
	i := len(items)
	return func(*py.Account) (Value, bool) {
		if i == 0 {
			return nil, false
		}
		i--
		return items[i], true
	}
}
