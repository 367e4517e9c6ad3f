package pyexpr

import (
	"maps"
	"slices"
	"sync"

	"toolnorm/internal/pyexpr/py"
)

// function is one of the functions that an expression may call. An expression cannot define others,
// except lambdas.
type function struct {
	signature
	isType bool // int, str and others are types in Python
	run    func(m *py.Account, a arguments) value
}

// TypeName returns the name of the type of f for error messages. For types such as int and str it
// is "type", as in the message for `int + 1`, which names 'type' and 'int'.
func (f *function) TypeName() string {
	if f.isType {
		return "type"
	}
	return "builtin_function_or_method"
}

// Text returns the text that repr gives for the function.
func (f *function) Text() string {
	if f.isType {
		return "<class '" + f.name + "'>"
	}
	return "<built-in function " + f.name + ">"
}

// fn returns the table entry of a function with its smallest and largest number of arguments.
func fn(name string, style style, low, high int, run func(*py.Account, []value) value) *function {
	return &function{signature: signature{name: name, full: name, style: style, min: low,
		max: high},
		run: func(m *py.Account, a arguments) value { return run(m, a.pos) }}
}

// withNames returns the table entry of a function whose arguments may be given by name, except for
// the first posOnly ones.
func withNames(name string, low, posOnly int, params []string,
	run func(*py.Account, []value) value) *function {
	f := fn(name, keyworded, low, len(params), run)
	f.params, f.posOnly = params, posOnly
	return f
}

// raw returns the table entry of a function that checks its arguments itself.
func raw(name string, run func(*py.Account, arguments) value) *function {
	return &function{signature: signature{name: name, full: name, style: free}, run: run}
}

// class marks f as a type and returns it.
func class(f *function) *function {
	f.isType = true
	return f
}

// functions returns the table of all functions by name, which is made at the first call.
var functions = sync.OnceValue(func() map[string]*function {
	all := map[string]*function{}
	for _, group := range [][]*function{numberFunctions(), sequenceFunctions(), typeFunctions()} {
		for _, f := range group {
			all[f.name] = f
		}
	}
	return all
})

// Names returns the names of all functions in alphabetical order. A parameter with such a name
// hides the function.
func Names() []string {
	return slices.Sorted(maps.Keys(functions()))
}
