package pyexpr

import (
	"sync"

	"toolnorm/internal/pyexpr/py"
)

// Methods, found by the type's name and their own in one table; what is not in it does not exist. Those of Python that change
// a value (append, update, sort) are missing for good: an expression has nothing but its result.

type (
	// method is a function of a type's values.
	method struct {
		signature
		typ string
		run func(m *py.Account, self value, a arguments) value
	}
	// bound is a method of one value.
	bound struct {
		self   value
		method *method
	}
	// unboundMethod is what str.lower is: a method that takes its value as the first argument.
	unboundMethod struct{ method *method }
)

// md makes the entry of a method.
func md(name string, style style, low, high int, run func(*py.Account, value, []value) value) *method {
	return &method{signature: signature{name: name, style: style, min: low, max: high},
		run: func(m *py.Account, self value, a arguments) value { return run(m, self, a.pos) }}
}

// methods is the table of methods by type and name, made once. There is no other way from a value to a function.
var methods = sync.OnceValue(func() map[string]map[string]*method {
	all := map[string]map[string]*method{}
	add := func(typ string, entries []*method) {
		if all[typ] == nil {
			all[typ] = map[string]*method{}
		}
		for _, e := range entries {
			e.typ, e.full = typ, typ+"."+e.name
			all[typ][e.name] = e
		}
	}
	for _, group := range [][]*method{searchMethods(), trimMethods(), fillMethods(), splitMethods(), caseMethods(), classMethods(), formatMethods()} {
		add("str", group)
	}
	add("list", listMethods())
	add("tuple", tupleMethods())
	add("dict", dictMethods())
	return all
})

// attribute finds the method of a value, or of a type.
//
//	'a'.nope → AttributeError: 'str' object has no attribute 'nope'
//	(5).nope → AttributeError: 'int' object has no attribute 'nope'
//	str.nope → AttributeError: type object 'str' has no attribute 'nope'
func attribute(m *py.Account, v value, name string) value {
	if f, ok := v.(*function); ok && f.isType {
		if method, ok := methods()[f.name][name]; ok {
			return &unboundMethod{method}
		}
		py.Raise(py.AttributeError, "type object '%s' has no attribute '%s'", f.name, name)
	}
	method, ok := methods()[typeName(v)][name]
	if !ok {
		py.Raise(py.AttributeError, "'%s' object has no attribute '%s'", typeName(v), name)
	}
	m.Alloc(py.ListBytes)
	return &bound{v, method}
}

// call takes the value from the first argument.
func (u *unboundMethod) call(m *py.Account, a arguments) value {
	if len(a.pos) == 0 {
		py.Raise(py.TypeError, "unbound method %s() needs an argument", u.method.full)
	}
	self := a.pos[0]
	if typeName(self) != u.method.typ {
		py.Raise(py.TypeError, "descriptor '%s' for '%s' objects doesn't apply to a '%s' object", u.method.name, u.method.typ, typeName(self))
	}
	a.pos = a.pos[1:]
	b := u.method.bind(a)
	return u.method.run(m, self, b)
}
