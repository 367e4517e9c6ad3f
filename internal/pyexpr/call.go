package pyexpr

import (
	"toolnorm/internal/pyexpr/object"
	"toolnorm/internal/pyexpr/py"
	"toolnorm/internal/pyexpr/syntax"
)

// Calls. A callee is any value, as in Python, though only four kinds of value can be called: the
// functions of the table, the methods of a value, the methods of a type (str.lower, as a key) and a
// lambda. No call can change or keep a value, so the order of calls shows only in which error comes
// first; it is Python's order, from left to right.

type (
	// lambda is a lambda with the frame in which it was made.
	lambda struct {
		n *syntax.Lambda
		f *frame
	}
	// arguments are the arguments of a call: values by position, then values by name.
	arguments struct {
		pos   []value
		names []string
		named []value
	}
)

// evalCall returns the result of a call. It evaluates the callee first, then the arguments in the
// order in which they are written, and only then checks whether the callee can be called at all. So
// `5(1/0)` is a ZeroDivisionError, as in CPython.
//
//	len([1, 2]) → 2
//	int('ff', base=16) → 255
//	5(1 / 0) → ZeroDivisionError: division by zero
//	'a'() → TypeError: 'str' object is not callable
func evalCall(m *py.Account, f *frame, n *syntax.Call) value {
	callee := eval(m, f, n.Callee)
	m.Step(1)
	pos := evalAll(m, f, n.Args)
	return call(m, callee, arguments{pos, n.Keywords, evalAll(m, f, n.Values)})
}

// TypeName returns the name of the type in messages.
func (l *lambda) TypeName() string { return "function" }

// Text returns the empty string, because Python's text contains an address.
func (l *lambda) Text() string { return "" }

// call returns the result of calling callee. It raises an error if callee cannot be called.
func call(m *py.Account, callee value, a arguments) value {
	switch c := callee.(type) {
	case *function:
		return c.run(m, c.bind(a))
	case *bound:
		return c.method.run(m, c.self, c.method.bind(a))
	case *unboundMethod:
		return c.call(m, a)
	case *lambda:
		return c.call(m, a.pos)
	}
	return py.Raise(py.TypeError, "'%s' object is not callable", object.TypeName(callee))
}

// call1 returns the result of calling callee with one argument, as for key functions and map.
func call1(m *py.Account, callee, arg value) value {
	m.Step(1)
	return call(m, callee, arguments{pos: []value{arg}})
}

// call evaluates the body in a new frame with the arguments, and raises an error if their number is
// wrong. There are no keyword arguments, because nothing passes them to a lambda.
//
//	sorted(['bb', 'a'], key=lambda s: len(s)) → ['a', 'bb']
//	list(map(lambda a, b: a * b, [1, 2], [3, 4])) → [3, 8]
//	list(map(lambda a: a, [1], [2])) → TypeError: <lambda>() takes 1 positional argument but 2 were given
//	list(map(lambda a, b: a, [1])) → TypeError: <lambda>() missing 1 required positional argument: 'b'
func (l *lambda) call(m *py.Account, pos []value) value {
	params := l.n.Params
	if len(pos) > len(params) {
		py.Raise(py.TypeError, "<lambda>() takes %d positional argument%s but %d %s given",
			len(params), plural(len(params)), len(pos),
			map[bool]string{true: "was", false: "were"}[len(pos) == 1])
	}
	if len(pos) < len(params) {
		missingArguments(params[len(pos):])
	}
	m.Alloc(py.ListBytes + py.SlotBytes*int64(len(pos)))
	return eval(m, &frame{append([]value(nil), pos...), l.f}, l.n.Body)
}

// missingArguments raises the error for missing arguments of a lambda, and lists their names as
// Python does: 'a', 'b', and 'c'.
func missingArguments(names []string) {
	text := ""
	for i, name := range names {
		switch {
		case i == 0:
		case len(names) == 2:
			text += " and "
		case i == len(names)-1:
			text += ", and "
		default:
			text += ", "
		}
		text += "'" + name + "'"
	}
	py.Raise(py.TypeError, "<lambda>() missing %d required positional argument%s: %s", len(names),
		plural(len(names)), text)
}

// plural returns "s" unless n is 1. CPython's messages add it to the noun after a count.
func plural(n int) string {
	if n == 1 {
		return ""
	}
	return "s"
}
