package pyexpr

// The tree is walked by calls, node by node. Each node charges one step, whatever it does; what takes longer charges more where
// it is done. A variable is found by how many frames out it is and its place there, both known since parsing, so no
// names are looked up while an expression runs: `num1 * num2` takes some hundred nanoseconds.

// node is a part of the tree. eval computes it within a frame.
type node interface {
	eval(m *machine, f *frame) value
}

// frame holds the variables of one scope: the parameters, a comprehension's targets, a lambda's arguments. Scopes that
// are still open behind it (a generator is run later, where its maker's variables may have moved on) keep it alive.
type frame struct {
	slots []value
	outer *frame
}

type (
	constNode struct{ v value }

	// nameNode is a variable, hops frames out. A target that its loop has not reached yet is unbound.
	nameNode struct {
		name       string
		pos        int
		hops, slot int
		global     *function
	}
	notNode struct{ x node }
	// logicNode is `and` or `or`: it gives an operand, not a bool.
	logicNode struct {
		or          bool
		left, right node
	}
	condNode  struct{ then, test, other node }
	listNode  struct{ items []node }
	tupleNode struct{ items []node }
	setNode   struct{ items []node }
	dictNode  struct{ keys, vals []node }
)

// eval gives the constant. Nothing changes a value, so it can be the same one every time.
func (n *constNode) eval(m *machine, _ *frame) value {
	m.step(1)
	return n.v
}

// eval goes out to the frame and takes what the variable holds. A function's name holds the function.
func (n *nameNode) eval(m *machine, f *frame) value {
	if n.global != nil {
		m.step(1)
		return n.global
	}
	for range n.hops {
		f = f.outer
	}
	v := f.slots[n.slot]
	if _, ok := v.(unbound); ok {
		n.unbound()
	}
	m.step(1)
	return v
}

// unbound explains a target that is read before its loop gave it a value.
func (n *nameNode) unbound() {
	if n.hops > 0 {
		raise(NameError, "cannot access free variable '%s' where it is not associated with a value in enclosing scope", n.name)
	}
	raise(UnboundLocalError, "cannot access local variable '%s' where it is not associated with a value", n.name)
}

// eval asks for the truth, which every value has.
func (n *notNode) eval(m *machine, f *frame) value {
	v := n.x.eval(m, f)
	m.step(1)
	return !truth(v)
}

// eval stops at the first operand that settles it, and gives that operand: `x or 'none'` is x unless x is empty.
//
//	'' or 'none' → 'none'
//	0 and 1 / 0 → 0
//	1 and 2 → 2
//	not [] → True
func (n *logicNode) eval(m *machine, f *frame) value {
	v := n.left.eval(m, f)
	if truth(v) == n.or {
		m.step(1)
		return v
	}
	return n.right.eval(m, f)
}

// eval computes the test, and then one of the two others only.
//
//	'yes' if 1 > 0 else 1 / 0 → 'yes'
//	1 if 0 else 2 if 0 else 3 → 3
func (n *condNode) eval(m *machine, f *frame) value {
	v := n.test.eval(m, f)
	m.step(1)
	if truth(v) {
		return n.then.eval(m, f)
	}
	return n.other.eval(m, f)
}

// evalAll computes nodes from the left to the right.
func evalAll(m *machine, f *frame, nodes []node) []value {
	m.allocItems(int64(len(nodes)))
	all := make([]value, len(nodes))
	for i, n := range nodes {
		v := n.eval(m, f)
		all[i] = v
	}
	return all
}

// eval makes a list that nobody changes.
func (n *listNode) eval(m *machine, f *frame) value {
	return list(evalAll(m, f, n.items))
}

// eval makes a tuple. The empty one is a value like any other.
func (n *tupleNode) eval(m *machine, f *frame) value {
	return tuple(evalAll(m, f, n.items))
}

// eval computes all items before it hashes the first one, as CPython's BUILD_SET does: {[], 1/0} is a ZeroDivisionError.
func (n *setNode) eval(m *machine, f *frame) value {
	all := evalAll(m, f, n.items)
	s := newSet()
	for _, v := range all {
		s.add(m, v)
	}
	return s
}

// eval computes each key before its value, and all of them before the first is hashed, as CPython's BUILD_MAP does. A key
// that occurs again keeps its place and changes its value.
func (n *dictNode) eval(m *machine, f *frame) value {
	size := int64(2 * len(n.keys))
	m.allocItems(size)
	all := make([]value, 0, size)
	for i := range n.keys {
		for _, part := range []node{n.keys[i], n.vals[i]} {
			all = append(all, part.eval(m, f))
		}
	}
	d := newDict()
	for i := 0; i < len(all); i += 2 {
		d.set(m, all[i], all[i+1])
	}
	m.alloc(listBytes)
	return d
}

// placed runs a part of which an error is to be blamed on the source at pos, when nothing within it is.
type placed struct {
	inner node
	pos   int
}

// eval says where an error would be while the part runs. What is around it is to blame again when it has come to its end, so at
// any time the machine has the place of the innermost part at work.
func (n *placed) eval(m *machine, f *frame) value {
	around := m.pos
	m.pos = n.pos
	v := n.inner.eval(m, f)
	m.pos = around
	return v
}
