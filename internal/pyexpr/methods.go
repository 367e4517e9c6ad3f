package pyexpr

import (
	"sync"

	"toolnorm/internal/pyexpr/number"
	"toolnorm/internal/pyexpr/object"
	"toolnorm/internal/pyexpr/py"
)

// Methods, in one table by the name of the type and of the method; no others exist. Python's
// methods that change a value (append, update, sort) are left out on purpose: an expression only
// has a result.

type (
	// method is a function that belongs to the values of a type.
	method struct {
		signature
		typ string
		run func(m *py.Account, self value, a arguments) value
	}
	// bound is a method together with its value, like 'a'.lower.
	bound struct {
		self   value
		method *method
	}
	// unboundMethod is a method that takes its value as the first argument, like str.lower.
	unboundMethod struct{ method *method }
)

// TypeName returns the name of the type in messages. A method bound to a value has the same type as
// a built-in function.
func (b *bound) TypeName() string { return "builtin_function_or_method" }

// Text returns the empty string, because Python's text contains an address.
func (b *bound) Text() string { return "" }

// md returns the table entry of a method with its smallest and largest number of arguments.
func md(name string, style style, low, high int,
	run func(*py.Account, value, []value) value) *method {
	return &method{signature: signature{name: name, style: style, min: low, max: high},
		run: func(m *py.Account, self value, a arguments) value { return run(m, self, a.pos) }}
}

// methods returns the table of methods by type and name, which is made at the first call. There is
// no other way from a value to a function.
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
	for _, group := range [][]*method{searchMethods(), trimMethods(), fillMethods(), splitMethods(),
		caseMethods(), classMethods(), formatMethods()} {
		add("str", group)
	}
	add("list", sequenceMethods(func(m *py.Account, v value) string {
		return object.Repr(m, v) + " is not in list"
	}))
	add("tuple", sequenceMethods(func(*py.Account, value) string {
		return "tuple.index(x): x not in tuple"
	}))
	add("dict", dictMethods())
	return all
})

// attribute returns the method of a value, or of a type. It raises an AttributeError if there is
// none.
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
	method, ok := methods()[object.TypeName(v)][name]
	if !ok {
		py.Raise(py.AttributeError, "'%s' object has no attribute '%s'", object.TypeName(v), name)
	}
	m.Alloc(py.ListBytes)
	return &bound{v, method}
}

// call calls a method of a type, such as str.upper, on the first argument. It raises an error if
// that argument is missing or is of another type.
func (u *unboundMethod) call(m *py.Account, a arguments) value {
	if len(a.pos) == 0 {
		py.Raise(py.TypeError, "unbound method %s() needs an argument", u.method.full)
	}
	self := a.pos[0]
	if object.TypeName(self) != u.method.typ {
		py.Raise(py.TypeError, "descriptor '%s' for '%s' objects doesn't apply to a '%s' object",
			u.method.name, u.method.typ, object.TypeName(self))
	}
	a.pos = a.pos[1:]
	return u.method.run(m, self, u.method.bind(a))
}

// sequenceMethods returns the methods of lists and tuples. missing returns the message for a value
// that is not found, which differs between lists and tuples in CPython.
func sequenceMethods(missing func(m *py.Account, v value) string) []*method {
	return []*method{
		md("count", oneArg, 1, 1, count),
		md("index", checked, 1, 3, func(m *py.Account, self value, a []value) value {
			i := indexOf(m, object.Items(m, self), a)
			if i < 0 {
				py.Raise(py.ValueError, "%s", missing(m, a[0]))
			}
			return i
		}),
	}
}

// count returns how many items equal a value. Values of different types may be equal, so [1, 1.0,
// True].count(1) is 3.
//
//	[1, 1.0, True].count(1) → 3
//	(1, 2).count(3) → 0
//	[1].count() → TypeError: list.count() takes exactly one argument (0 given)
func count(m *py.Account, self value, a []value) value {
	n := int64(0)
	for _, v := range object.Items(m, self) {
		if object.Equal(m, v, a[0]) {
			n++
		}
	}
	return n
}

// bounds returns the first and last index of a search among n items. The parameter a has the bounds
// that the caller gave, which may be none. Negative bounds count from the end. The function read
// converts a bound: for texts None means no bound, while for lists it is an error.
func bounds(a []value, n int64, read func(v value, otherwise int64) int64) (low, high int64) {
	high = n
	for i, to := range []*int64{&low, &high} {
		if !isGiven(a[i]) {
			continue
		}
		if *to = read(a[i], *to); *to < 0 {
			*to = max(*to+n, 0)
		}
	}
	return low, min(high, n)
}

// indexOf returns the index of an item between two bounds, or -1 if it is not there.
//
//	[1, 2, 1].index(1, 1) → 2
//	(1, 2).index(2) → 1
//	[1].index(5) → ValueError: 5 is not in list
//	(1,).index(5) → ValueError: tuple.index(x): x not in tuple
func indexOf(m *py.Account, all []value, a []value) int64 {
	low, high := bounds(a[1:], int64(len(all)), func(v value, _ int64) int64 {
		n, ok := number.Int(v)
		if !ok {
			py.Raise(py.TypeError, "slice indices must be integers or have an __index__ method")
		}
		return number.Clamp(n)
	})
	for i := low; i < high; i++ {
		if object.Equal(m, all[i], a[0]) {
			return i
		}
	}
	return -1
}

// dictMethods returns get and the methods that return the three views. Views do not copy the dict.
//
//	list({'a': 1}.keys()) → ['a']
//	list({'a': 1}.values()) → [1]
//	{'a': 1}.get('b', 0) → 0
//	{'a': 1}.keys() & {'a', 'b'} → {'a'}
func dictMethods() []*method {
	look := func(kind string) *method {
		return md(kind+"s", noArgs, 0, 0, func(m *py.Account, self value, _ []value) value {
			m.Alloc(py.ListBytes)
			return self.(*object.Dict).View(kind)
		})
	}
	return []*method{look("key"), look("value"), look("item"), md("get", checked, 1, 2, dictGet)}
}

// dictGet implements get. For a missing key it returns the second argument, or None if there is
// none.
func dictGet(m *py.Account, self value, a []value) value {
	v, ok := self.(*object.Dict).Get(m, a[0])
	if ok || !isGiven(a[1]) {
		return v
	}
	return a[1]
}
