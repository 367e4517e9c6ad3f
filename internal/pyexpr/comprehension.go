package pyexpr

import (
	"toolnorm/internal/pyexpr/object"
	"toolnorm/internal/pyexpr/py"
	"toolnorm/internal/pyexpr/syntax"
)

// Comprehensions. Each is a scope of its own, as Python 3 has it since 3.0 (and until 3.12 as a
// function of its own, which its messages still show). A generator is the same walk, only that
// somebody else asks for the next element. All loops of one comprehension stand in one walk with an
// index for the current one, so nested loops take no recursion and no goroutine, and a generator
// that is dropped half-way leaves nothing behind.

// evalComprehension walks the loops. The first iterable is computed at once and outside, even for a
// generator.
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

// collect makes what the comprehension is for.
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

// collectDict computes the key before the value, as Python does since 3.8; seen where both raise an
// error.
func (w *walk) collectDict(m *py.Account) value {
	d := object.NewDict()
	for w.advance(m) {
		k := eval(m, w.f, w.n.Key)
		d.Set(m, k, eval(m, w.f, w.n.Value))
	}
	return d
}

// walk is where the loops of a comprehension stand. iters[i] is nil while loop i has not begun.
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

// advance moves to the next turn of the innermost loop whose conditions hold. It is the loop over
// loops: a loop that has an item and whose conditions hold hands over to the next one inside; one
// that has ended gives back to the one outside, and is begun afresh from there. A level below zero
// is the end of the walk, and stays it.
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

// holdAll reports whether all conditions of a loop do.
func holdAll(m *py.Account, f *frame, conditions []syntax.Node) bool {
	for _, c := range conditions {
		if !object.Truth(eval(m, f, c)) {
			return false
		}
	}
	return true
}

// assign puts an item into its slot, or its items into theirs.
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

// unpack returns exactly n items of v. One more is enough to know that there are too many.
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
