package pyexpr

// Comprehensions. Each is a scope of its own, as Python 3 has it since 3.0 (and until 3.12 as a function of its own, which its
// messages still show). A generator is the same walk, only that somebody else asks for the next element. All loops of one
// comprehension stand in one walk with an index for the current one, so nested loops take no recursion and no goroutine,
// and a generator that is dropped half-way leaves nothing behind.

// compKind is what a comprehension makes.
type compKind uint8

const (
	compList compKind = iota
	compSet
	compDict
	compGenerator
)

type (
	// compNode is a comprehension or generator. Its names are the slots of its frame.
	compNode struct {
		kind     compKind
		key, val node // val is a dict's
		loops    []*loop
		names    []string
	}
	loop struct {
		target     target
		in         node
		conditions []node
	}
	// target is where a loop puts an item: a slot, or several targets that it is unpacked into.
	target struct {
		slot int
		many []target
	}
	// iterNode computes an iterable and begins to walk it.
	iterNode struct{ x node }
)

// eval raises "object is not iterable" at the iterable, where CPython blames the whole comprehension.
func (n *iterNode) eval(m *machine, f *frame) value {
	v := n.x.eval(m, f)
	return iterate(m, v)
}

// eval walks the loops. The first iterable is computed at once and outside, even for a generator.
//
//	[x * 2 for x in range(3)] → [0, 2, 4]
//	[(x, y) for x in 'ab' for y in range(2) if y] → [('a', 1), ('b', 1)]
//	{k: v for k, v in [('a', 1)]} → {'a': 1}
//	sum(x for x in range(4)) → 6
//	[x for x in 5] → TypeError: 'int' object is not iterable
func (n *compNode) eval(m *machine, f *frame) value {
	first := n.loops[0].in.eval(m, f)
	m.alloc(listBytes + slotBytes*int64(len(n.names)+4*len(n.loops)))
	inner := &frame{make([]value, len(n.names)), f}
	for i := range inner.slots {
		inner.slots[i] = unbound{}
	}
	w := &walk{n: n, f: inner, iters: make([]*iterator, len(n.loops))}
	w.iters[0] = first.(*iterator)
	return n.collect(m, w)
}

// collect makes what the comprehension is for.
func (n *compNode) collect(m *machine, w *walk) value {
	switch n.kind {
	case compList:
		return list(drain(m, &iterator{next: w.item}))
	case compSet:
		return collectSet(m, &iterator{next: w.item})
	case compDict:
		return n.collectDict(m, w)
	}
	return &iterator{typ: "generator", next: w.item}
}

// collectDict computes the key before the value, as Python does since 3.8; seen where both raise an error.
func (n *compNode) collectDict(m *machine, w *walk) value {
	d := newDict()
	for w.advance(m) {
		k := n.key.eval(m, w.f)
		d.set(m, k, n.val.eval(m, w.f))
	}
	return d
}

// walk is where the loops of a comprehension stand. iters[i] is nil while loop i has not begun.
type walk struct {
	n     *compNode
	f     *frame
	iters []*iterator
	level int
}

// item gives the next element.
func (w *walk) item(m *machine) (value, bool) {
	if !w.advance(m) {
		return nil, false
	}
	return w.n.key.eval(m, w.f), true
}

// advance moves to the next turn of the innermost loop whose conditions hold. It is the loop over loops: a loop that has an item
// and whose conditions hold hands over to the next one inside; one that has ended gives back to the one outside, and is
// begun afresh from there. A level below zero is the end of the walk, and stays it.
//
//	[x for x in [] for y in 1] → []
//	[x for x in [1, 2] for y in [3] if x > 1] → [2]
//	list(zip((x for x in [1, 2]), (y for y in [3, 4]))) → [(1, 3), (2, 4)]
func (w *walk) advance(m *machine) bool {
	last := len(w.n.loops) - 1
	for w.level >= 0 {
		l := w.n.loops[w.level]
		if w.iters[w.level] == nil {
			w.iters[w.level] = l.in.eval(m, w.f).(*iterator)
		}
		m.step(1)
		v, ok := w.iters[w.level].next(m)
		if !ok {
			w.iters[w.level] = nil
			w.level--
			continue
		}
		l.target.assign(m, w.f, v)
		switch holds := l.holds(m, w.f); {
		case holds && w.level == last:
			return true
		case holds:
			w.level++
		}
	}
	return false
}

// holds says whether all conditions of a loop do.
func (l *loop) holds(m *machine, f *frame) bool {
	for _, c := range l.conditions {
		if !truth(c.eval(m, f)) {
			return false
		}
	}
	return true
}

// assign puts an item into its slot, or its items into theirs.
func (t target) assign(m *machine, f *frame, v value) {
	if t.slot >= 0 {
		f.slots[t.slot] = v
		return
	}
	items := unpack(m, v, len(t.many))
	for i, one := range t.many {
		one.assign(m, f, items[i])
	}
}

// unpack takes exactly n items of v. One more is enough to know that there are too many.
//
//	[a + b for a, b in [(1, 2), (3, 4)]] → [3, 7]
//	[a for a, (b, c) in [(1, (2, 3))]] → [1]
//	[a for a, b in [(1,)]] → ValueError: not enough values to unpack (expected 2, got 1)
//	[a for a, b in [(1, 2, 3)]] → ValueError: too many values to unpack (expected 2)
//	[a for a, b in [5]] → TypeError: cannot unpack non-iterable int object
func unpack(m *machine, v value, n int) []value {
	if !iterable(v) {
		raise(TypeError, "cannot unpack non-iterable %s object", typeName(v))
	}
	it := iterate(m, v)
	m.allocItems(int64(n))
	items := make([]value, 0, n)
	for item := range it.rest(m) {
		if len(items) == n {
			raise(ValueError, "too many values to unpack (expected %d)", n)
		}
		items = append(items, item)
	}
	if len(items) < n {
		raise(ValueError, "not enough values to unpack (expected %d, got %d)", n, len(items))
	}
	return items
}
