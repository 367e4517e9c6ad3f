package pyexpr

import (
	"slices"

	"toolnorm/internal/pyexpr/object"
	"toolnorm/internal/pyexpr/py"
	"toolnorm/internal/pyexpr/syntax"
)

// Comprehensions. Each has its own scope, as in Python since 3.0 (and its own function until 3.12,
// which shows in messages). A generator is the same walk, but its consumer asks for the next
// element. All loops of a comprehension are in one walk with an index of the current loop, so
// nested loops need no recursion and no goroutine, and an abandoned generator leaves nothing
// running.

// evalComprehension returns the value of a comprehension. The first iterable is evaluated
// immediately and in the enclosing scope, even for a generator.
//
//	[x * 2 for x in range(3)] → [0, 2, 4]
//	[(x, y) for x in 'ab' for y in range(2) if y] → [('a', 1), ('b', 1)]
//	{k: v for k, v in [('a', 1)]} → {'a': 1}
//	sum(x for x in range(4)) → 6
//	[x for x in 5] → TypeError: 'int' object is not iterable
func evalComprehension(m *py.Account, f *frame, n *syntax.Comprehension) value {
	first := eval(m, f, n.Loops[0].In)
	m.Alloc(py.ListBytes + py.SlotBytes*int64(len(n.Names)+4*len(n.Loops)))
	inner := &frame{make([]value, len(n.Names)), f}
	for i := range inner.slots {
		inner.slots[i] = unbound{}
	}
	w := &walk{n: n, f: inner, iters: make([]*object.Iterator, len(n.Loops))}
	w.iters[0] = first.(*object.Iterator)
	return w.collect(m)
}

// collect returns the list, set, dict or generator of the comprehension.
func (w *walk) collect(m *py.Account) value {
	switch w.n.Kind {
	case syntax.ListKind:
		return object.List(object.Drain(m, &object.Iterator{Next: w.item}))
	case syntax.SetKind:
		return object.CollectSet(m, &object.Iterator{Next: w.item})
	case syntax.DictKind:
		return w.collectDict(m)
	}
	return &object.Iterator{Type: "generator", Next: w.item}
}

// collectDict returns the dict of the comprehension. It evaluates each key before its value, as
// Python has done since 3.8; the order matters if both raise an error.
func (w *walk) collectDict(m *py.Account) value {
	d := object.NewDict()
	for w.advance(m) {
		k := eval(m, w.f, w.n.Key)
		d.Set(m, k, eval(m, w.f, w.n.Value))
	}
	return d
}

// walk is the state of the loops of a comprehension. level is the index of the current loop, and
// iters[i] is nil until loop i has begun.
type walk struct {
	n     *syntax.Comprehension
	f     *frame
	iters []*object.Iterator
	level int
}

// item returns the next element, or false if there is none.
func (w *walk) item(m *py.Account) (value, bool) {
	if !w.advance(m) {
		return nil, false
	}
	return eval(m, w.f, w.n.Key), true
}

// advance moves to the next item of the innermost loop for which all conditions hold, and returns
// false at the end. From a loop that has such an item it goes to the next inner loop. From a loop
// that has ended it goes back to the next outer loop, which will begin it again. At the end the
// level is below zero, and stays there.
//
//	[x for x in [] for y in 1] → []
//	[x for x in [1, 2] for y in [3] if x > 1] → [2]
//	list(zip((x for x in [1, 2]), (y for y in [3, 4]))) → [(1, 3), (2, 4)]
func (w *walk) advance(m *py.Account) bool {
	last := len(w.n.Loops) - 1
	for w.level >= 0 {
		l := w.n.Loops[w.level]
		if w.iters[w.level] == nil {
			w.iters[w.level] = eval(m, w.f, l.In).(*object.Iterator)
		}
		m.Step(1)
		v, ok := w.iters[w.level].Next(m)
		if !ok {
			w.iters[w.level] = nil
			w.level--
			continue
		}
		assign(m, w.f, l.Target, v)
		switch holds := holdAll(m, w.f, l.Conditions); {
		case holds && w.level == last:
			return true
		case holds:
			w.level++
		}
	}
	return false
}

// holdAll reports whether all conditions of a loop are true.
func holdAll(m *py.Account, f *frame, conditions []syntax.Node) bool {
	return !slices.ContainsFunc(conditions, func(c syntax.Node) bool {
		return !object.Truth(eval(m, f, c))
	})
}

// assign stores an item in the target's slot, or unpacks it into the slots of a target with several
// names.
func assign(m *py.Account, f *frame, t syntax.Target, v value) {
	if t.Slot >= 0 {
		f.slots[t.Slot] = v
		return
	}
	items := unpack(m, v, len(t.Many))
	for i, one := range t.Many {
		assign(m, f, one, items[i])
	}
}

// unpack returns the items of v, and raises an error unless there are exactly n. It reads one more
// to detect that there are too many.
//
//	[a + b for a, b in [(1, 2), (3, 4)]] → [3, 7]
//	[a for a, (b, c) in [(1, (2, 3))]] → [1]
//	[a for a, b in [(1,)]] → ValueError: not enough values to unpack (expected 2, got 1)
//	[a for a, b in [(1, 2, 3)]] → ValueError: too many values to unpack (expected 2)
//	[a for a, b in [5]] → TypeError: cannot unpack non-iterable int object
func unpack(m *py.Account, v value, n int) []value {
	if !object.Iterable(v) {
		py.Raise(py.TypeError, "cannot unpack non-iterable %s object", object.TypeName(v))
	}
	it := object.Iterate(m, v)
	m.AllocItems(int64(n))
	items := make([]value, 0, n)
	for item := range it.Rest(m) {
		if len(items) == n {
			py.Raise(py.ValueError, "too many values to unpack (expected %d)", n)
		}
		items = append(items, item)
	}
	if len(items) < n {
		py.Raise(py.ValueError, "not enough values to unpack (expected %d, got %d)", n, len(items))
	}
	return items
}
