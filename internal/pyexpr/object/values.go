package object

import (
	"math/big"

	"toolnorm/internal/pyexpr/py"
)

// Value is one of:
//
//	nil                None
//	bool               bool
//	int64, *big.Int    int; a *big.Int never fits into an int64, so that each number has one form
//	float64            float
//	string             str, in valid UTF-8
//	List, Tuple        []Value; never changed
//	*Dict, *Set        in the order of insertion
//	span               range
//	View               the result of dict.keys, values or items
//	*Iterator          generators, map, filter, zip, enumerate, reversed
//	Callable           functions, methods, lambdas
//	Cut                a slice within brackets
type Value = any

type (
	// List is a list.
	List []Value
	// Tuple is a tuple.
	Tuple []Value
)

// Cut is the index a:b:c in x[a:b:c].
type Cut struct{ Start, Stop, Step Value }

// Iterator returns items one by one; Next returns false at the end. Generators, map and others can
// be iterated only once, so an Iterator is used by pointer.
type Iterator struct {
	Type string
	Next func(m *py.Account) (Value, bool)
}

// Callable is a value that can be called: a function, a method or a lambda. Each is equal only to
// itself.
type Callable interface {
	TypeName() string
	Text() string // the text that repr gives; empty if it has no text in expressions
}

// TypeName returns the name of a value's type in Python's messages.
func TypeName(v Value) string {
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
	case List:
		return "list"
	case Tuple:
		return "tuple"
	case *Dict:
		return "dict"
	case *Set:
		return "set"
	case span:
		return "range"
	case View:
		return v.typeName()
	case *Iterator:
		return v.Type
	case Callable:
		return v.TypeName()
	case Cut:
		return "slice"
	}
	return "object"
}

// ArgumentType returns the name of a value's type in the errors of CPython's argument parser, which
// differs only for None.
func ArgumentType(v Value) string {
	if v == nil {
		return "None"
	}
	return TypeName(v)
}

// Truth returns bool(v), the truth value of v.
//
//	bool(0.0) → False
//	bool('0') → True
//	bool([]) → False
//	bool([0]) → True
//	bool(range(0)) → False
func Truth(v Value) bool {
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
	n, ok := Length(v)
	return !ok || n != 0
}

// Length returns the length of a value, or false if it has none. The length of a string is the
// number of its characters.
//
//	len('한국') → 2
//	len({'a': 1}) → 1
//	len(range(10)) → 10
//	len(5) → TypeError: object of type 'int' has no len()
func Length(v Value) (int64, bool) {
	switch v := v.(type) {
	case string:
		return int64(Runes(v)), true
	case List:
		return int64(len(v)), true
	case Tuple:
		return int64(len(v)), true
	case *Dict:
		return int64(len(v.keys)), true
	case *Set:
		return int64(len(v.items)), true
	case span:
		return v.n, true
	case View:
		return int64(len(v.d.keys)), true
	}
	return 0, false
}
