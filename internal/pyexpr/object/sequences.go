package object

import (
	"slices"
	"strings"
	"unicode/utf8"

	"toolnorm/internal/pyexpr/number"
	"toolnorm/internal/pyexpr/py"
)

// Strings, lists and tuples: repetition, index, slice. Strings are UTF-8 and are indexed by code
// point; ASCII, where the two are the same, is recognised by length, so that most indexes cost
// nothing. Every operation charges the size of what it will make, computed by arithmetic, before it
// makes it.

// repeated returns a text or a sequence n times. The size of the result is charged before it is
// made.
//
//	'ab' * 3 → 'ababab'
//	(1,) * 2 → (1, 1)
//	[] * 10**9 → []
//	'a' * 10**30 → OverflowError: cannot fit 'int' into an index-sized integer
func repeated(m *py.Account, v Value, n int64) Value {
	switch v := v.(type) {
	case string:
		m.AllocText(m.Times(int64(len(v)), n))
		return strings.Repeat(v, int(n))
	case List:
		return List(repeatItems(m, v, n))
	case Tuple:
		return Tuple(repeatItems(m, v, n))
	}
	return nil
}

// repeatItems returns items n times. The items themselves are shared, as in Python, which makes no
// difference here.
func repeatItems(m *py.Account, items []Value, n int64) []Value {
	m.AllocItems(m.Times(int64(len(items)), n))
	return slices.Repeat(items, int(n))
}

// Runes returns the number of characters of a string.
func Runes(s string) int { return utf8.RuneCountInString(s) }

// IsASCII reports whether each byte of s is a character, so that an index needs no counting. All
// texts here are valid UTF-8, because invalid bytes in arguments are replaced.
func IsASCII(s string) bool { return Runes(s) == len(s) }

// ByteAt returns the byte offset of the n-th character of s, counted from 0, or the length of s if
// there are fewer.
func ByteAt(s string, n int) int {
	for i := range s {
		if n == 0 {
			return i
		}
		n--
	}
	return len(s)
}

// Subscript returns x[i]. It raises an error if x has no items or no such item.
//
//	'abc'[-1] → 'c'
//	[1, 2][5] → IndexError: list index out of range
//	'abc'['x'] → TypeError: string indices must be integers, not 'str'
//	[1]['x'] → TypeError: list indices must be integers or slices, not str
//	5[0] → TypeError: 'int' object is not subscriptable
func Subscript(m *py.Account, x, i Value) Value {
	switch x := x.(type) {
	case *Dict:
		return lookup(m, x, i)
	case string, List, Tuple, span:
	default:
		notSubscriptable(x)
	}
	if c, ok := i.(Cut); ok {
		return slice(m, x, c)
	}
	n, ok := number.Int(i)
	if !ok {
		notAnIndex(x, i)
	}
	k, ok := n.(int64)
	if !ok {
		if _, isRange := x.(span); isRange {
			py.Raise(py.IndexError, "range object index out of range")
		}
		py.Raise(py.IndexError, "cannot fit 'int' into an index-sized integer")
	}
	return item(m, x, k)
}

// notSubscriptable raises the error for x[i] if x has no items.
func notSubscriptable(x Value) {
	py.Raise(py.TypeError, "'%s' object is not subscriptable", TypeName(x))
}

// notAnIndex raises the error for an index of the wrong type. As in CPython 3.11, the message for
// an index of a string differs from that for other values.
func notAnIndex(x, i Value) {
	if IsString(x) {
		py.Raise(py.TypeError, "string indices must be integers, not '%s'", TypeName(i))
	}
	py.Raise(py.TypeError, "%s indices must be integers or slices, not %s", TypeName(x),
		TypeName(i))
}

// lookup returns the value of a key in a dict. If there is none, it raises a KeyError whose message
// is the key's repr.
//
//	{'a': 1}['a'] → 1
//	{'a': 1}['b'] → KeyError: 'b'
//	{1: 2}[(1, 'x')] → KeyError: (1, 'x')
func lookup(m *py.Account, d *Dict, key Value) Value {
	v, ok := d.Get(m, key)
	if ok {
		return v
	}
	return py.Raise(py.KeyError, "%s", Repr(m, key))
}

// item returns x[k] for a sequence. It raises an IndexError if there is no such item.
//
//	'한국어'[1] → '국'
//	'한국어'[-1] → '어'
//	(1, 2)[2] → IndexError: tuple index out of range
//	range(5)[-1] → 4
//	range(5)[9] → IndexError: range object index out of range
//	'a'[10**30] → IndexError: cannot fit 'int' into an index-sized integer
func item(m *py.Account, x Value, k int64) Value {
	if s, ok := x.(string); ok {
		m.Scan(len(s))
	}
	n, _ := Length(x)
	if k < 0 {
		k += n
	}
	if k < 0 || k >= n {
		name := map[bool]string{true: "string", false: TypeName(x)}[IsString(x)]
		if _, ok := x.(span); ok {
			name = "range object"
		}
		py.Raise(py.IndexError, "%s index out of range", name)
	}
	switch x := x.(type) {
	case string:
		if len(x) == int(n) {
			return x[k : k+1]
		}
		at := ByteAt(x, int(k))
		_, size := utf8.DecodeRuneInString(x[at:])
		return x[at : at+size]
	case List:
		return x[k]
	case Tuple:
		return x[k]
	case span:
		m.Alloc(py.BoxBytes)
		return x.start + k*x.step
	}
	return nil
}

// IsString reports whether a value is a string.
func IsString(v Value) bool {
	_, ok := v.(string)
	return ok
}
