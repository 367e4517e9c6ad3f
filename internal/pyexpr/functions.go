package pyexpr

import (
	"slices"
	"sync"

	"toolnorm/internal/pyexpr/py"
)

// function is one of the functions that an expression may call. It cannot define others.
type function struct {
	signature
	isType bool // int, str and the like, which are types to Python
	run    func(m *py.Account, a arguments) value
}

// TypeName returns "type" for int, str and the like: `int + 1` speaks of 'type' and 'int'.
func (f *function) TypeName() string {
	if f.isType {
		return "type"
	}
	return "builtin_function_or_method"
}

// Text returns what repr writes.
func (f *function) Text() string {
	if f.isType {
		return "<class '" + f.name + "'>"
	}
	return "<built-in function " + f.name + ">"
}

// fn makes the entry of a function.
func fn(name string, style style, low, high int, run func(*py.Account, []value) value) *function {
	return &function{signature: signature{name: name, full: name, style: style, min: low,
		max: high},
		run: func(m *py.Account, a arguments) value { return run(m, a.pos) }}
}

// withNames makes the entry of a function whose arguments have names.
func withNames(name string, low, posOnly int, params []string,
	run func(*py.Account, []value) value) *function {
	f := fn(name, keyworded, low, len(params), run)
	f.params, f.posOnly = params, posOnly
	return f
}

// raw makes the entry of a function that reads its arguments itself.
func raw(name string, run func(*py.Account, arguments) value) *function {
	return &function{signature: signature{name: name, full: name, style: free}, run: run}
}

// class marks f as a type and returns it.
func class(f *function) *function {
	f.isType = true
	return f
}

// functions returns the table of all functions by name, which is made once.
var functions = sync.OnceValue(func() map[string]*function {
	all := map[string]*function{}
	for _, group := range [][]*function{numberFunctions(), sequenceFunctions(), typeFunctions()} {
		for _, f := range group {
			all[f.name] = f
		}
	}
	return all
})

// Names lists the functions of the language in alphabetical order. A parameter of one of these
// names hides the function.
func Names() []string {
	var names []string
	for name := range functions() {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
