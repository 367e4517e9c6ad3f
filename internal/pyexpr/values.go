package pyexpr

import (
	"math/big"

	"toolnorm/internal/pyexpr/py"
)

// value is one of:
//
//	nil                None
//	bool               bool
//	int64, *big.Int    int; a *big.Int never fits into an int64, so that each number has one form
//	float64            float
//	string             str, in valid UTF-8
//	list, tuple        []value; nothing in the language changes one
//	*dict, *set        in the order of insertion
//	span               range
//	view               what dict.keys, values and items give
//	*iterator          generators, map, filter, zip, enumerate, reversed
//	*function, *bound, *lambda
//	cut                a slice within brackets
//	unbound            of a variable that has none yet
type value = any

type (
	list  []value
	tuple []value
)

// cut is the slice of x[a:b:c].
type cut struct{ start, stop, step value }

// unbound is what a comprehension's variable holds before its loop has reached it.
type unbound struct{}

// iterator gives items one by one. A generator, a map and the like can be walked once, so it is a pointer.
type iterator struct {
	typ  string
	next func(m *py.Account) (value, bool)
}

// typeName is the name that Python's messages call a value's type.
func typeName(v value) string {
	switch v := v.(type) {
	case nil:
		return "NoneType"
	case bool:
		return "bool"
	case int64, *big.Int:
		return "int"
	case float64:
		return "float"
	case string:
		return "str"
	case list:
		return "list"
	case tuple:
		return "tuple"
	case *dict:
		return "dict"
	case *set:
		return "set"
	case span:
		return "range"
	case view:
		return v.typeName()
	case *iterator:
		return v.typ
	case *lambda:
		return "function"
	case *function:
		return v.typeName()
	case *bound:
		return "builtin_function_or_method"
	case cut:
		return "slice"
	}
	return "object"
}

// argumentType is the name of a type in the complaints of CPython's argument parser, which calls None by its own name.
func argumentType(v value) string {
	if v == nil {
		return "None"
	}
	return typeName(v)
}

// truth is what bool makes of a value.
//
//	bool(0.0) → False
//	bool('0') → True
//	bool([]) → False
//	bool([0]) → True
//	bool(range(0)) → False
func truth(v value) bool {
	switch v := v.(type) {
	case nil:
		return false
	case bool:
		return v
	case int64:
		return v != 0
	case float64:
		return v != 0
	}
	n, ok := length(v)
	return !ok || n != 0
}

// length is that of a value that has one. A string's is counted in code points.
//
//	len('한국') → 2
//	len({'a': 1}) → 1
//	len(range(10)) → 10
//	len(5) → TypeError: object of type 'int' has no len()
func length(v value) (int64, bool) {
	switch v := v.(type) {
	case string:
		return int64(runes(v)), true
	case list:
		return int64(len(v)), true
	case tuple:
		return int64(len(v)), true
	case *dict:
		return int64(len(v.keys)), true
	case *set:
		return int64(len(v.items)), true
	case span:
		return v.n, true
	case view:
		return int64(len(v.d.keys)), true
	}
	return 0, false
}
