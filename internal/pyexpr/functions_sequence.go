package pyexpr

import (
	"math"
	"math/big"
)

// Functions over sequences. What Python computes lazily is lazy here: enumerate, filter, map, reversed and zip are iterators,
// range is arithmetic. A thousand million numbers cost nothing until they are walked, and are charged as they are.

// sequenceFunctions are those that walk or order what they are given.
func sequenceFunctions() []*function {
	return []*function{
		fn("all", oneArg, 1, 1, all),
		fn("any", oneArg, 1, 1, anyOf),
		class(raw("enumerate", enumerate)),
		class(fn("filter", checked, 2, 2, filter)),
		fn("len", oneArg, 1, 1, lenOf),
		class(raw("map", mapOf)),
		raw("max", func(m *machine, a arguments) (value, error) { return extreme(m, "max", ">", a) }),
		raw("min", func(m *machine, a arguments) (value, error) { return extreme(m, "min", "<", a) }),
		class(fn("range", checked, 1, 3, rangeOf)),
		class(fn("reversed", checked, 1, 1, reversed)),
		raw("sorted", sorted),
		class(raw("zip", zip)),
	}
}

// all is true when no item is false; it stops at the first one.
func all(m *machine, a []value) (value, error) {
	found, err := search(m, a[0], false)
	return !found, err
}

// anyOf is any(...): true when an item is. `any` is Go's own word, hence the name.
func anyOf(m *machine, a []value) (value, error) { return search(m, a[0], true) }

// search says whether an item has the truth that is looked for.
func search(m *machine, v value, want bool) (bool, error) {
	it, err := iterate(m, v)
	if err != nil {
		return false, err
	}
	for {
		item, ok, err := it.next(m)
		if err != nil || !ok {
			return false, err
		}
		if truth(item) == want {
			return true, nil
		}
		if err := m.step(1); err != nil {
			return false, err
		}
	}
}

// lenOf counts: items of a container, code points of a string. An iterator has no length, since it would have to be used up.
func lenOf(m *machine, a []value) (value, error) {
	n, ok := length(a[0])
	if !ok {
		return nil, raise(TypeError, "object of type '%s' has no len()", typeName(a[0]))
	}
	if s, ok := a[0].(string); ok {
		return n, m.scan(len(s))
	}
	return n, nil
}

// enumerate counts from start, beyond 64 bits if need be. Its argument check is not of the usual four kinds: CPython wrote
// it by hand for speed, with messages of its own.
func enumerate(m *machine, a arguments) (value, error) {
	total := len(a.pos) + len(a.names)
	s := signature{name: "enumerate", style: keyworded, min: 1, max: 2, params: []string{"iterable", "start"}}
	if total == 0 {
		return nil, raise(TypeError, "enumerate() missing required argument 'iterable'")
	}
	if total > 2 {
		return nil, raise(TypeError, "enumerate() takes at most 2 arguments (%d given)", total)
	}
	if err := s.checkNames(a); err != nil {
		return nil, err
	}
	slots, err := s.bindNames(a)
	if err != nil {
		return nil, raise(TypeError, "enumerate() missing required argument 'iterable'")
	}
	var count value = int64(0)
	if given(slots[1]) {
		n, ok := integer(slots[1])
		if !ok {
			return nil, notInt(slots[1])
		}
		count = n
	}
	it, err := iterate(m, slots[0])
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

// filter keeps the items for which the function is true, or which are true themselves where it is None.
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
func zip(m *machine, a arguments) (value, error) {
	strict := false
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

// extreme is min or max.
func extreme(m *machine, name, op string, a arguments) (value, error) {
	if len(a.pos) == 0 {
		return nil, raise(TypeError, "%s expected at least 1 argument, got 0", name)
	}
	var key, otherwise value = nil, absent{}
	for i, n := range a.names {
		switch n {
		case "key":
			key = a.named[i]
		case "default":
			otherwise = a.named[i]
		default:
			return nil, raise(TypeError, "'%s' is an invalid keyword argument for %s()", n, name)
		}
	}
	if len(a.names) > 2 {
		return nil, raise(TypeError, "%s() takes at most 2 keyword arguments (%d given)", name, len(a.names))
	}
	var from value = list(a.pos)
	if len(a.pos) == 1 {
		from = a.pos[0]
	} else if given(otherwise) {
		return nil, raise(TypeError, "Cannot specify a default for %s() with multiple positional arguments", name)
	}
	it, err := iterate(m, from)
	if err != nil {
		return nil, err
	}
	best, found, err := it.best(m, op, key)
	if err != nil || found {
		return best, err
	}
	if !given(otherwise) {
		return nil, raise(ValueError, "%s() arg is an empty sequence", name)
	}
	return otherwise, nil
}

// best is the first item that no later one stands before.
func (it *iterator) best(m *machine, op string, key value) (best value, found bool, err error) {
	var bestKey value
	for {
		v, ok, err := it.next(m)
		if err != nil || !ok {
			return best, found, err
		}
		k := v
		if key != nil {
			if k, err = call1(m, key, v); err != nil {
				return nil, false, err
			}
		}
		better := !found
		if found {
			if better, err = order(m, op, k, bestKey); err != nil {
				return nil, false, err
			}
		}
		if better {
			best, bestKey, found = v, k, true
		}
	}
}

// rangeOf makes a range of 64-bit numbers; a wider one, which Python has, could not be walked within any limit.
func rangeOf(m *machine, a []value) (value, error) {
	var parts [3]int64
	for i, v := range a {
		if !given(v) {
			continue
		}
		n, ok := integer(v)
		if !ok {
			return nil, notInt(v)
		}
		if _, wide := n.(*big.Int); wide {
			return nil, raise(LimitError, "a range beyond 64 bits is not available in expressions")
		}
		parts[i], _ = n.(int64)
	}
	start, stop, step := parts[0], parts[1], parts[2]
	switch {
	case !given(a[1]):
		start, stop, step = 0, start, 1
	case !given(a[2]):
		step = 1
	case step == 0:
		return nil, raise(ValueError, "range() arg 3 must not be zero")
	}
	n := between(start, stop, step)
	if n < 0 || magnitude(start) > math.MaxInt64/2 || magnitude(stop) > math.MaxInt64/2 || magnitude(step) > math.MaxInt64/2 {
		return nil, raise(LimitError, "a range beyond 62 bits is not available in expressions")
	}
	return span{start, stop, step, n}, m.alloc(listBytes)
}

// reversed walks backwards what has an order and an end. The names of the types are CPython's, which has one for each source.
func reversed(m *machine, a []value) (value, error) {
	switch v := a[0].(type) {
	case string:
		if err := m.alloc(int64(len(v)) * 20); err != nil {
			return nil, err
		}
		all, err := items(m, v)
		return &iterator{"reversed", backwards(all)}, err
	case list:
		return &iterator{"list_reverseiterator", backwards(v)}, nil
	case tuple:
		return &iterator{"reversed", backwards(v)}, nil
	case *dict:
		return &iterator{"dict_reversekeyiterator", backwards(v.keys)}, nil
	case span:
		return &iterator{"range_iterator", overSpan(span{start: v.start + (v.n-1)*v.step, step: -v.step, n: v.n})}, nil
	case view:
		it, err := iterate(m, v)
		if err != nil {
			return nil, err
		}
		all, err := drain(m, it)
		return &iterator{"dict_reverse" + v.kind + "iterator", backwards(all)}, err
	}
	return nil, raise(TypeError, "'%s' object is not reversible", typeName(a[0]))
}

// backwards walks items from the last to the first.
func backwards(items []value) func(*machine) (value, bool, error) {
	i := len(items)
	return func(*machine) (value, bool, error) {
		if i == 0 {
			return nil, false, nil
		}
		i--
		return items[i], true, nil
	}
}

// sorted makes a list of any iterable's items in order. Its keywords belong to list.sort, and so do their messages.
func sorted(m *machine, a arguments) (value, error) {
	if len(a.pos) != 1 {
		return nil, raise(TypeError, "sorted expected 1 argument, got %d", len(a.pos))
	}
	walked, err := items(m, a.pos[0])
	if err != nil {
		return nil, err
	}
	var key, reverse value = nil, false
	for i, name := range a.names {
		switch name {
		case "key":
			key = a.named[i]
		case "reverse":
			reverse = a.named[i]
		default:
			return nil, raise(TypeError, "'%s' is an invalid keyword argument for sort()", name)
		}
	}
	r, ok := integer(reverse)
	if !ok {
		return nil, notInt(reverse)
	}
	return sortItems(m, walked, key, truth(r))
}
