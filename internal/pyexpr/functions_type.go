package pyexpr

import (
	"toolnorm/internal/pyexpr/number"
	"toolnorm/internal/pyexpr/object"
	"toolnorm/internal/pyexpr/py"
)

// The types as functions. They are classes in Python, so messages name them "type object 'str'",
// and methods can be taken from them: sorted(names, key=str.lower).

// typeFunctions returns the types, as functions that make values.
func typeFunctions() []*function {
	return []*function{
		class(fn("bool", checked, 0, 1, func(_ *py.Account, a []value) value {
			return isGiven(a[0]) && object.Truth(a[0])
		})),
		class(raw("dict", dictOf)),
		class(fn("float", checked, 0, 1, floatOf)),
		class(raw("int", intOf)),
		class(fn("list", checked, 0, 1, listOf)),
		class(fn("set", checked, 0, 1, setFrom)),
		class(raw("str", strOf)),
		class(fn("tuple", checked, 0, 1, tupleOf)),
	}
}

// listOf returns a list of the items of an iterable. It may share the items of a list, because
// nothing changes a list.
func listOf(m *py.Account, a []value) value {
	return object.List(copyItems(m, a[0]))
}

// tupleOf returns a tuple of the items of an iterable.
func tupleOf(m *py.Account, a []value) value {
	return object.Tuple(copyItems(m, a[0]))
}

// copyItems returns the items of an argument, or none if the argument is absent.
func copyItems(m *py.Account, v value) []value {
	if !isGiven(v) {
		return []value{}
	}
	m.Alloc(py.ListBytes)
	return object.Items(m, v)
}

// setFrom returns a set of the items of an iterable. It raises an error for an item that cannot be
// hashed.
func setFrom(m *py.Account, a []value) value {
	if !isGiven(a[0]) {
		m.Alloc(py.ListBytes)
		return object.NewSet()
	}
	return object.CollectSet(m, object.Iterate(m, a[0]))
}

// dictOf implements dict(), dict(mapping) and dict(pairs), all of which also accept entries as
// named arguments.
//
//	dict([('a', 1)], b=2) → {'a': 1, 'b': 2}
//	dict({'a': 1}) → {'a': 1}
//	dict([(1, 2, 3)]) → ValueError: dictionary update sequence element #0 has length 3; 2 is required
//	dict([1]) → TypeError: cannot convert dictionary update sequence element #0 to a sequence
func dictOf(m *py.Account, a arguments) value {
	if len(a.pos) > 1 {
		py.Raise(py.TypeError, "dict expected at most 1 argument, got %d", len(a.pos))
	}
	d := object.NewDict()
	m.Alloc(py.ListBytes)
	if len(a.pos) == 1 {
		d.Update(m, a.pos[0])
	}
	for i, name := range a.names {
		d.Set(m, name, a.named[i])
	}
	return d
}

// floatOf returns a float made from a text or a number. It raises a ValueError for a text that is
// not a number, and an OverflowError for an int beyond 1.8e308.
func floatOf(m *py.Account, a []value) value {
	switch v := a[0].(type) {
	case absent:
		return 0.0
	case float64:
		return v
	case string:
		x, ok := number.ParseFloat(m, v)
		if !ok {
			py.Raise(py.ValueError, "could not convert string to float: %s", object.Repr(m, v))
		}
		return x
	}
	if !number.Is(a[0]) {
		py.Raise(py.TypeError, "float() argument must be a string or a real number, not '%s'",
			object.TypeName(a[0]))
	}
	return number.Float(a[0])
}

// strOf implements str(v). In Python the arguments encoding and errors are for bytes. Expressions
// have no bytes, so these arguments are refused. The messages are CPython's, because a user who
// calls str(x, 'utf-8') from habit should see the same error.
//
//	str(15.0) → '15.0'
//	str(None) → 'None'
//	str([1, 'a']) → "[1, 'a']"
//	str('a', 'utf-8') → TypeError: decoding str is not supported
func strOf(m *py.Account, a arguments) value {
	s := signature{name: "str", style: keyworded, max: 3, params: []string{"object", "encoding",
		"errors"}}
	slots := s.bindNames(a)
	for i := 1; i < 3; i++ {
		if isGiven(slots[i]) && !object.IsString(slots[i]) {
			py.Raise(py.TypeError, "str() argument '%s' must be str, not %s", s.params[i],
				object.ArgumentType(slots[i]))
		}
	}
	switch {
	case !isGiven(slots[0]):
		return ""
	case !isGiven(slots[1]) && !isGiven(slots[2]):
		return object.Str(m, slots[0])
	case object.IsString(slots[0]):
		py.Raise(py.TypeError, "decoding str is not supported")
	}
	return py.Raise(py.TypeError, "decoding to str: need a bytes-like object, %s found",
		object.TypeName(slots[0]))
}

// intOf returns an int made from a text in a base, or from a number without its fraction, so
// int(-3.9) is -3. It raises an error for other values.
//
//	int() → 0
//	int('12') → 12
//	int(5, 2) → TypeError: int() can't convert non-string with explicit base
//	int('5', 99) → ValueError: int() base must be >= 2 and <= 36, or 0
//	int(None) → TypeError: int() argument must be a string, a bytes-like object or a real number, not 'NoneType'
func intOf(m *py.Account, a arguments) value {
	s := signature{name: "int", style: keyworded, max: 2, params: []string{"", "base"}, posOnly: 0}
	total := len(a.pos) + len(a.names)
	if total > 2 {
		py.Raise(py.TypeError, "int() takes at most 2 arguments (%d given)", total)
	}
	slots := s.bindNames(a)
	x, base := slots[0], slots[1]
	switch {
	case !isGiven(x) && isGiven(base):
		py.Raise(py.TypeError, "int() missing string argument")
	case !isGiven(x):
		return int64(0)
	case !isGiven(base):
		return toInt(m, x)
	}
	n := asInt(base)
	if k := number.Clamp(n); k != 0 && (k < 2 || k > 36) {
		py.Raise(py.ValueError, "int() base must be >= 2 and <= 36, or 0")
	}
	text, ok := x.(string)
	if !ok {
		py.Raise(py.TypeError, "int() can't convert non-string with explicit base")
	}
	return object.ParseInt(m, text, int(number.Clamp(n)))
}

// toInt implements int(v) without a base. It raises an error for a value that cannot be converted.
func toInt(m *py.Account, v value) value {
	switch v := v.(type) {
	case string:
		return object.ParseInt(m, v, 10)
	case float64:
		return number.Truncate(m, v)
	}
	n, ok := number.Int(v)
	if !ok {
		py.Raise(py.TypeError,
			"int() argument must be a string, a bytes-like object or a real number, not '%s'",
			object.TypeName(v))
	}
	return n
}
