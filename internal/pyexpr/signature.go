package pyexpr

import (
	"slices"

	"toolnorm/internal/pyexpr/py"
)

// style is one of the ways in which CPython's C functions check their arguments. They differ only
// in their messages, which authors of expressions see. The comment of each constant has its
// message.
type style uint8

const (
	noArgs    style = iota // str.upper() takes no arguments (1 given)
	oneArg                 // str.join() takes exactly one argument (0 given)
	checked                // replace expected at least 2 arguments, got 1
	parsed                 // find() takes at least 1 argument (0 given)
	keyworded              // split() takes at most 2 arguments (3 given); arguments may be named
	free                   // the function checks its arguments itself
)

// signature describes which arguments a function or method takes, and how they are checked.
type signature struct {
	name     string // its name in messages: "split"
	full     string // with its type: "str.split"
	style    style
	min, max int
	params   []string // names for style keyworded; the first posOnly cannot be used as names
	posOnly  int
}

// absent is the value of an optional argument that was not given.
type absent struct{}

// isGiven reports whether an optional argument was given.
func isGiven(v value) bool {
	_, no := v.(absent)
	return !no
}

// keywords returns the values of the named arguments in the order of names, with the value absent
// for a missing one. It raises an error for an argument with another name; the parameter of is the
// function's name for the message. It is for functions that check their arguments themselves.
func (a arguments) keywords(of string, names ...string) []value {
	values := slices.Repeat([]value{absent{}}, len(names))
	for i, name := range a.names {
		at := slices.Index(names, name)
		if at < 0 {
			py.Raise(py.TypeError, "'%s' is an invalid keyword argument for %s()", name, of)
		}
		values[at] = a.named[i]
	}
	return values
}

// bind returns the arguments by position, up to the largest number that the function takes. The
// value absent stands for each argument that is missing. It raises an error that says what is wrong
// if the arguments do not fit.
//
//	len() → TypeError: len() takes exactly one argument (0 given)
//	'a'.nope() → AttributeError: 'str' object has no attribute 'nope'
//	divmod(1) → TypeError: divmod expected 2 arguments, got 1
//	abs(x=1) → TypeError: abs() takes no keyword arguments
func (s *signature) bind(a arguments) arguments {
	if s.style == free {
		return a
	}
	if s.style == keyworded {
		return arguments{pos: s.bindNames(a)}
	}
	n := len(a.pos)
	switch {
	case len(a.names) > 0:
		py.Raise(py.TypeError, "%s() takes no keyword arguments", s.full)
	case s.style == noArgs && n > 0:
		py.Raise(py.TypeError, "%s() takes no arguments (%d given)", s.full, n)
	case s.style == oneArg && n != 1:
		py.Raise(py.TypeError, "%s() takes exactly one argument (%d given)", s.full, n)
	case s.style == checked && (n < s.min || n > s.max):
		s.wrongCount(n)
	case s.style == parsed && (n < s.min || n > s.max):
		bound, limit := "at least", s.min
		if n > s.max {
			bound, limit = "at most", s.max
		}
		py.Raise(py.TypeError, "%s() takes %s %d argument%s (%d given)", s.name, bound, limit,
			plural(limit), n)
	}
	if n == s.max || s.style == noArgs || s.style == oneArg {
		return a
	}
	return arguments{pos: s.fill(a.pos)}
}

// wrongCount raises the error of CPython's _PyArg_CheckPositional for n arguments.
func (s *signature) wrongCount(n int) {
	bound, limit := "", s.min
	switch {
	case s.min == s.max:
	case n < s.min:
		bound = "at least "
	default:
		bound, limit = "at most ", s.max
	}
	py.Raise(py.TypeError, "%s expected %s%d argument%s, got %d", s.name, bound, limit,
		plural(limit), n)
}

// fill returns the arguments followed by absent for each that is missing.
func (s *signature) fill(pos []value) []value {
	slots := append(make([]value, 0, s.max), pos...)
	for len(slots) < s.max {
		slots = append(slots, absent{})
	}
	return slots
}

// bindNames returns the arguments by position, for a function whose arguments may also be given by
// name. It raises an error if they do not fit, with the checks in CPython's order.
//
//	round(number=2.5) → 2
//	round() → TypeError: round() missing required argument 'number' (pos 1)
//	round(1, 2, 3) → TypeError: round() takes at most 2 arguments (3 given)
//	round(1, x=2) → TypeError: 'x' is an invalid keyword argument for round()
//	round(1, number=2) → TypeError: argument for round() given by name ('number') and position (1)
//	pow(2, exp=3) → 8
func (s *signature) bindNames(a arguments) []value {
	total := len(a.pos) + len(a.names)
	switch {
	case total > s.max:
		which := ""
		if len(a.pos) == 0 {
			which = "keyword "
		}
		py.Raise(py.TypeError, "%s() takes at most %d %sargument%s (%d given)", s.name, s.max,
			which, plural(s.max), total)
	case len(a.pos) < s.posOnly:
		py.Raise(py.TypeError, "%s() takes at least %d positional argument%s (%d given)", s.name,
			s.posOnly, plural(s.posOnly), len(a.pos))
	}
	slots := s.fill(a.pos)
	for i, name := range a.names {
		if at := slices.Index(s.params, name); at >= max(len(a.pos), s.posOnly) {
			slots[at] = a.named[i]
		}
	}
	for i := range s.min {
		if !isGiven(slots[i]) {
			py.Raise(py.TypeError, "%s() missing required argument '%s' (pos %d)", s.name,
				s.params[i], i+1)
		}
	}
	s.checkNames(a)
	return slots
}

// checkNames raises an error for a name that the function does not have, or for an argument that
// was given twice.
func (s *signature) checkNames(a arguments) {
	for _, name := range a.names {
		switch at := slices.Index(s.params, name); {
		case at < s.posOnly:
			py.Raise(py.TypeError, "'%s' is an invalid keyword argument for %s()", name, s.name)
		case at < len(a.pos):
			py.Raise(py.TypeError, "argument for %s() given by name ('%s') and position (%d)",
				s.name, name, at+1)
		}
	}
}
