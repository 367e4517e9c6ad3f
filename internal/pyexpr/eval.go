package pyexpr

import (
	"toolnorm/internal/pyexpr/object"
	"toolnorm/internal/pyexpr/py"
	"toolnorm/internal/pyexpr/syntax"
)

// The tree is evaluated recursively, node by node. Each node charges one step; longer work charges
// more where it is done. A variable is found by the number of frames between and its index there,
// both known from parsing, so no names are looked up while an expression runs: `num1 * num2` takes
// some hundred nanoseconds.

// value is any value that an expression computes with.
type value = object.Value

// frame holds the variables of one scope: the parameters, the targets of a comprehension, or the
// arguments of a lambda. A frame stays in memory as long as an inner scope uses it. For example, a
// generator may run later, when the variables around it have changed.
type frame struct {
	slots []value
	outer *frame
}

// unbound is the value of a comprehension's variable before its loop has set it.
type unbound struct{}

// eval returns the value of a node, with the variables of a frame. Errors are raised, which ends
// the run.
//
//	not [] → True
//	'yes' if 1 > 0 else 1 / 0 → 'yes'
//	1 if 0 else 2 if 0 else 3 → 3
func eval(m *py.Account, f *frame, n syntax.Node) value {
	switch n := n.(type) {
	case *syntax.Const: // no value is ever changed, so it can be the same one every time
		m.Step(1)
		return n.Value
	case *syntax.Name:
		return evalName(m, f, n)
	case *syntax.Placed:
		return evalPlaced(m, f, n)
	case *syntax.Not:
		v := eval(m, f, n.X)
		m.Step(1)
		return !object.Truth(v)
	case *syntax.Logic:
		return evalLogic(m, f, n)
	case *syntax.Cond:
		test := eval(m, f, n.Test)
		m.Step(1)
		if object.Truth(test) {
			return eval(m, f, n.Then)
		}
		return eval(m, f, n.Other)
	case *syntax.Unary: // -2**2 is -4: the power binds tighter, which the parser knows
		x := eval(m, f, n.X)
		m.Step(1)
		return object.Unary(m, n.Op, x)
	case *syntax.Binary:
		left, right := eval(m, f, n.Left), eval(m, f, n.Right)
		m.Step(1)
		return object.Operate(m, n.Op, left, right)
	case *syntax.Compare:
		return evalCompare(m, f, n)
	}
	return evalPart(m, f, n)
}

// evalPart returns the value of a node that accesses a part of a value, calls a function or makes a
// container.
func evalPart(m *py.Account, f *frame, n syntax.Node) value {
	switch n := n.(type) {
	case *syntax.Display:
		return evalDisplay(m, f, n)
	case *syntax.Dict:
		return evalDict(m, f, n)
	case *syntax.Subscript:
		x, i := eval(m, f, n.X), eval(m, f, n.Index)
		m.Step(1)
		if f, ok := x.(*function); ok && f.isType {
			py.Raise(py.TypeError, "type '%s' is not subscriptable in an expression", f.name)
		}
		return object.Subscript(m, x, i)
	case *syntax.Cut:
		return evalCut(m, f, n)
	// a method can be passed on, as in map(s.count, words), or called at once
	case *syntax.Attribute:
		x := eval(m, f, n.X)
		m.Step(1)
		return attribute(m, x, n.Name)
	case *syntax.Call:
		return evalCall(m, f, n)
	// the body sees the variables as they are when it is called, not as they were: Python binds
	// names late
	case *syntax.Lambda:
		m.Alloc(py.ListBytes)
		return &lambda{n, f}
	case *syntax.Comprehension:
		return evalComprehension(m, f, n)
	// "object is not iterable" is blamed on the iterable, where CPython blames the whole
	// comprehension
	case *syntax.Iter:
		return object.Iterate(m, eval(m, f, n.X))
	case *syntax.Joined:
		return evalJoined(m, f, n)
	}
	return evalField(m, f, n.(*syntax.Field))
}

// evalName returns the value of a variable in its frame, or raises an error if its loop has not set
// it yet.
func evalName(m *py.Account, f *frame, n *syntax.Name) value {
	for range n.Hops {
		f = f.outer
	}
	v := f.slots[n.Slot]
	if _, ok := v.(unbound); ok && n.Hops > 0 {
		py.Raise(py.NameError,
			"cannot access free variable '%s' where it is not associated with a value in enclosing scope", n.Name)
	} else if ok {
		py.Raise(py.UnboundLocalError,
			"cannot access local variable '%s' where it is not associated with a value", n.Name)
	}
	m.Step(1)
	return v
}

// evalPlaced returns the value of a part of the expression. While it evaluates the part, errors are
// reported at the position of the part. Afterwards it restores the position of the surrounding
// part, so the account always has the position of the innermost part that is being evaluated.
func evalPlaced(m *py.Account, f *frame, n *syntax.Placed) value {
	around := m.Pos
	m.Pos = n.Pos
	v := eval(m, f, n.Inner)
	m.Pos = around
	return v
}

// evalLogic returns the first operand that decides the result of `and` or `or`, and does not
// evaluate the operands after it. For example, `x or 'none'` is x unless x is empty.
//
//	'' or 'none' → 'none'
//	0 and 1 / 0 → 0
//	1 and 2 → 2
func evalLogic(m *py.Account, f *frame, n *syntax.Logic) value {
	v := eval(m, f, n.Left)
	if object.Truth(v) == n.Or {
		m.Step(1)
		return v
	}
	return eval(m, f, n.Right)
}

// evalAll returns the values of nodes, evaluated from left to right.
func evalAll(m *py.Account, f *frame, nodes []syntax.Node) []value {
	m.AllocItems(int64(len(nodes)))
	all := make([]value, len(nodes))
	for i, n := range nodes {
		all[i] = eval(m, f, n)
	}
	return all
}

// evalDisplay returns a list, a tuple or a set. As in CPython's BUILD_SET, all items of a set are
// evaluated before the first is hashed, so {[], 1/0} is a ZeroDivisionError.
func evalDisplay(m *py.Account, f *frame, n *syntax.Display) value {
	all := evalAll(m, f, n.Items)
	switch n.Kind {
	case syntax.ListKind:
		return object.List(all)
	case syntax.TupleKind:
		return object.Tuple(all)
	}
	s := object.NewSet()
	for _, v := range all {
		s.Add(m, v)
	}
	return s
}

// evalDict returns a dict. Each key is evaluated before its value, and all of them before the first
// key is hashed, as in CPython's BUILD_MAP. If a key occurs again, its value is replaced and its
// place stays.
func evalDict(m *py.Account, f *frame, n *syntax.Dict) value {
	m.AllocItems(int64(2 * len(n.Keys)))
	all := make([]value, 0, 2*len(n.Keys))
	for i := range n.Keys {
		all = append(all, eval(m, f, n.Keys[i]), eval(m, f, n.Values[i]))
	}
	d := object.NewDict()
	for i := 0; i < len(all); i += 2 {
		d.Set(m, all[i], all[i+1])
	}
	m.Alloc(py.ListBytes)
	return d
}

// evalCut returns a slice with the parts that are present. Their types are checked only when the
// slice is applied, because a dict complains about a slice as a key and not about its parts.
func evalCut(m *py.Account, f *frame, n *syntax.Cut) value {
	var parts [3]value
	for i, part := range []syntax.Node{n.Start, n.Stop, n.Step} {
		if part != nil {
			parts[i] = eval(m, f, part)
		}
	}
	m.Alloc(py.ListBytes)
	return object.Cut{Start: parts[0], Stop: parts[1], Step: parts[2]}
}

// evalCompare returns the result of a chain such as `a < b < c`. As in Python, b is evaluated once,
// and c only if a < b is true. A chain may mix all operators, as in `1 < 2 in [2] == True`, and
// each operator compares its two neighbours.
//
//	1 < 2 < 3 → True
//	1 < 3 > 2 → True
//	1 < 2 in [2] → True
//	3 < 2 < 1 / 0 → False
func evalCompare(m *py.Account, f *frame, n *syntax.Compare) value {
	left := eval(m, f, n.First)
	for i, op := range n.Ops {
		right := eval(m, f, n.Rest[i])
		m.Step(1)
		if !object.Compare(m, op, left, right) {
			return false
		}
		left = right
	}
	return true
}

// evalJoined returns the joined parts of an f-string. As the text grows, its memory is charged to
// the account.
func evalJoined(m *py.Account, f *frame, n *syntax.Joined) value {
	t := object.NewText(m)
	for _, part := range n.Parts {
		t.Add(eval(m, f, part).(string))
	}
	m.Alloc(py.BoxBytes)
	return t.String()
}

// evalField returns the text of a field in an f-string. It evaluates the value first and then the
// parts of the specification, which may contain fields of their own: {x:{w}.{p}}.
//
//	f'{1 + 1}' → '2'
//	f'{"a"!r}' → "'a'"
//	f'{"é"!a}' → "'\\xe9'"
//	f'{5:{3}}' → '  5'
//	f'{2.5:{6}.{2}f}' → '  2.50'
func evalField(m *py.Account, f *frame, n *syntax.Field) value {
	v := eval(m, f, n.X)
	m.Step(1)
	v = object.Convert(m, v, n.Conversion)
	spec := ""
	if n.Spec != nil {
		spec = eval(m, f, n.Spec).(string)
	}
	return object.Format(m, v, spec)
}
