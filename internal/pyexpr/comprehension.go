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
func (n *iterNode) eval(m *machine, f *frame) (value, error) {
	v, err := n.x.eval(m, f)
	if err != nil {
		return nil, err
	}
	return iterate(m, v)
}

// eval walks the loops. The first iterable is computed at once and outside, even for a generator.
//
//	[x * 2 for x in range(3)] → [0, 2, 4]
//	[(x, y) for x in 'ab' for y in range(2) if y] → [('a', 1), ('b', 1)]
//	{k: v for k, v in [('a', 1)]} → {'a': 1}
//	sum(x for x in range(4)) → 6
//	[x for x in 5] → TypeError: 'int' object is not iterable
func (n *compNode) eval(m *machine, f *frame) (value, error) {
	first, err := n.loops[0].in.eval(m, f)
	if err != nil {
		return nil, err
	}
	if err := m.alloc(listBytes + slotBytes*int64(len(n.names)+4*len(n.loops))); err != nil {
		return nil, err
	}
	inner := &frame{make([]value, len(n.names)), f}
	for i := range inner.slots {
		inner.slots[i] = unbound{}
	}
	w := &walk{n: n, f: inner, iters: make([]*iterator, len(n.loops))}
	w.iters[0] = first.(*iterator)
	return n.collect(m, w)
}

// collect makes what the comprehension is for.
func (n *compNode) collect(m *machine, w *walk) (value, error) {
	switch n.kind {
	case compList:
		items, err := drain(m, &iterator{next: w.item})
		return list(items), err
	case compSet:
		return collectSet(m, &iterator{next: w.item})
	case compDict:
		return n.collectDict(m, w)
	}
	return &iterator{typ: "generator", next: w.item}, nil
}

// collectDict computes the key before the value, as Python does since 3.8; seen where both raise an error.
func (n *compNode) collectDict(m *machine, w *walk) (value, error) {
	d := newDict()
	for {
		ok, err := w.advance(m)
		if err != nil {
			return nil, err
		}
		if !ok {
			return d, nil
		}
		k, err := n.key.eval(m, w.f)
		if err != nil {
			return nil, err
		}
		v, err := n.val.eval(m, w.f)
		if err != nil {
			return nil, err
		}
		if err := d.set(m, k, v); err != nil {
			return nil, err
		}
	}
}

// walk is where the loops of a comprehension stand. iters[i] is nil while loop i has not begun.
type walk struct {
	n     *compNode
	f     *frame
	iters []*iterator
	level int
	over  bool
}

// item gives the next element.
func (w *walk) item(m *machine) (value, bool, error) {
	ok, err := w.advance(m)
	if err != nil || !ok {
		return nil, false, err
	}
	v, err := w.n.key.eval(m, w.f)
	return v, err == nil, err
}

// advance moves to the next turn of the innermost loop whose conditions hold. After an error or the end there is no more.
func (w *walk) advance(m *machine) (bool, error) {
	if w.over {
		return false, nil
	}
	ok, err := w.turn(m)
	w.over = !ok || err != nil
	return ok, err
}

// turn is the loop over loops: a loop that has an item and whose conditions hold hands over to the next one inside; one that
// has ended gives back to the one outside, and is begun afresh from there. A level below zero is the end of the walk.
//
//	[x for x in [] for y in 1] → []
//	[x for x in [1, 2] for y in [3] if x > 1] → [2]
//	list(zip((x for x in [1, 2]), (y for y in [3, 4]))) → [(1, 3), (2, 4)]
func (w *walk) turn(m *machine) (bool, error) {
	last := len(w.n.loops) - 1
	for w.level >= 0 {
		l := w.n.loops[w.level]
		if w.iters[w.level] == nil {
			v, err := l.in.eval(m, w.f)
			if err != nil {
				return false, err
			}
			w.iters[w.level] = v.(*iterator)
		}
		ok, err := w.step(m, l)
		switch {
		case err != nil:
			return false, err
		case !ok:
			w.iters[w.level] = nil
			w.level--
			continue
		}
		holds, err := l.holds(m, w.f)
		switch {
		case err != nil:
			return false, err
		case holds && w.level == last:
			return true, nil
		case holds:
			w.level++
		}
	}
	return false, nil
}

// step takes the next item of a loop.
func (w *walk) step(m *machine, l *loop) (bool, error) {
	if err := m.step(1); err != nil {
		return false, err
	}
	v, ok, err := w.iters[w.level].next(m)
	if err != nil || !ok {
		return false, err
	}
	return true, l.target.assign(m, w.f, v)
}

// holds says whether all conditions of a loop do.
func (l *loop) holds(m *machine, f *frame) (bool, error) {
	for _, c := range l.conditions {
		v, err := c.eval(m, f)
		if err != nil || !truth(v) {
			return false, err
		}
	}
	return true, nil
}

// assign puts an item into its slot, or its items into theirs.
func (t target) assign(m *machine, f *frame, v value) error {
	if t.slot >= 0 {
		f.slots[t.slot] = v
		return nil
	}
	items, err := unpack(m, v, len(t.many))
	if err != nil {
		return err
	}
	for i, one := range t.many {
		if err := one.assign(m, f, items[i]); err != nil {
			return err
		}
	}
	return nil
}

// unpack takes exactly n items of v. One more is enough to know that there are too many.
//
//	[a + b for a, b in [(1, 2), (3, 4)]] → [3, 7]
//	[a for a, (b, c) in [(1, (2, 3))]] → [1]
//	[a for a, b in [(1,)]] → ValueError: not enough values to unpack (expected 2, got 1)
//	[a for a, b in [(1, 2, 3)]] → ValueError: too many values to unpack (expected 2)
//	[a for a, b in [5]] → TypeError: cannot unpack non-iterable int object
func unpack(m *machine, v value, n int) ([]value, error) {
	if !iterable(v) {
		return nil, raise(TypeError, "cannot unpack non-iterable %s object", typeName(v))
	}
	it, err := iterate(m, v)
	if err != nil {
		return nil, err
	}
	if err := m.allocItems(int64(n)); err != nil {
		return nil, err
	}
	items := make([]value, 0, n)
	for {
		item, ok, err := it.next(m)
		switch {
		case err != nil:
			return nil, err
		case !ok && len(items) < n:
			return nil, raise(ValueError, "not enough values to unpack (expected %d, got %d)", n, len(items))
		case !ok:
			return items, nil
		case len(items) == n:
			return nil, raise(ValueError, "too many values to unpack (expected %d)", n)
		}
		items = append(items, item)
	}
}
