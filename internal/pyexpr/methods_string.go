package pyexpr

import (
	"strings"

	"toolnorm/internal/pyexpr/chars"
	"toolnorm/internal/pyexpr/object"
	"toolnorm/internal/pyexpr/py"
)

// Methods of strings that search, trim and pad; methods_split.go has those that split,
// methods_case.go those that depend on upper and lower case.

// textMethod returns the table entry of a method without arguments. Before the method runs, its
// time is charged by the length of the text. If the method looks up characters in tables, more is
// charged, because each lookup takes about the time of a step.
func textMethod(name string, tables bool, run func(s string) value) *method {
	return md(name, noArgs, 0, 0, func(m *py.Account, self value, _ []value) value {
		s := self.(string)
		if tables {
			m.Step(int64(len(s)) / 2)
		}
		m.AllocText(3 * int64(len(s))) // 'ΐ'.upper() is three characters
		m.Scan(8 * len(s))
		return run(s)
	})
}

// searchMethods returns the methods that search for a text between two optional bounds.
func searchMethods() []*method {
	find := func(name string, last, must bool) *method {
		return md(name, parsed, 1, 3, func(m *py.Account, self value, a []value) value {
			return findText(m, self.(string), a, last, must)
		})
	}
	return []*method{
		find("find", false, false), find("rfind", true, false), find("index", false, true), find(
			"rindex", true, true),
		md("count", parsed, 1, 3, countText),
		md("startswith", parsed, 1, 3, func(m *py.Account, self value, a []value) value {
			return affix(m, "startswith", self.(string), a, strings.HasPrefix)
		}),
		md("endswith", parsed, 1, 3, func(m *py.Account, self value, a []value) value {
			return affix(m, "endswith", self.(string), a, strings.HasSuffix)
		}),
	}
}

// window returns the part of s between the two bounds of a search, and how many characters precede
// it. ok is false if the lower bound is greater than the upper one, as for "a".find("", 5), which
// is -1.
//
//	'abcabc'.find('c', 3) → 5
//	'abcabc'.find('a', -3) → 3
//	'abc'.find('', 3) → 3
//	'abc'.find('', 4) → -1
//	'abc'.find('b', None, 1) → -1
//	'abc'.find('b', 'x') → TypeError: slice indices must be integers or None or have an __index__ method
func window(m *py.Account, s string, a []value) (part string, before int64, ok bool) {
	m.Scan(2 * len(s))
	n := int64(object.Runes(s))
	low, high := bounds(a[1:], n, object.SliceBound)
	if low > high {
		return "", 0, false
	}
	from := object.ByteAt(s, int(low))
	return s[from : from+object.ByteAt(s[from:], int(high-low))], low, true
}

// findText returns the index of a substring in characters. If there is none, it returns -1, or
// raises an error if the parameter must is true.
//
//	'hello'.find('l') → 2
//	'hello'.rfind('l') → 3
//	'hello'.find('x') → -1
//	'hello'.index('x') → ValueError: substring not found
//	'한국어'.find('어') → 2
//	'hello'.find('l', 3, -1) → 3
//	'a'.find(1) → TypeError: must be str, not int
func findText(m *py.Account, s string, a []value, last, must bool) value {
	// The bounds come first, since CPython reads all arguments before it checks the substring's
	// type.
	part, before, ok := window(m, s, a)
	sub := mustBeText(a[0])
	m.Scan(4 * len(s))
	at := -1
	if ok && last {
		at = strings.LastIndex(part, sub)
	} else if ok {
		at = strings.Index(part, sub)
	}
	if at >= 0 {
		return before + int64(object.Runes(part[:at]))
	}
	if must {
		py.Raise(py.ValueError, "substring not found")
	}
	return int64(-1)
}

// mustBeText returns an argument that must be a text. It raises an error if the argument is not
// one.
func mustBeText(v value) string {
	s, ok := v.(string)
	if !ok {
		py.Raise(py.TypeError, "must be str, not %s", object.TypeName(v))
	}
	return s
}

// countText returns the number of occurrences that do not overlap. The empty string occurs before
// every character and at the end.
//
//	'banana'.count('an') → 2
//	'aaa'.count('aa') → 1
//	'abc'.count('') → 4
//	'abc'.count('', 1) → 3
func countText(m *py.Account, self value, a []value) value {
	s := self.(string)
	part, _, ok := window(m, s, a)
	sub := mustBeText(a[0])
	if !ok {
		return int64(0)
	}
	m.Scan(4 * len(s))
	return int64(strings.Count(part, sub))
}

// affix implements startswith and endswith, for a text or a tuple of alternatives.
//
//	'hello'.startswith('he') → True
//	'hello'.endswith(('x', 'lo')) → True
//	'hello'.startswith('l', 2) → True
//	'hello'.startswith(['h']) → TypeError: startswith first arg must be str or a tuple of str, not list
//	'hello'.startswith((1,)) → TypeError: tuple for startswith must only contain str, not int
func affix(m *py.Account, name, s string, a []value, has func(s, affix string) bool) value {
	part, _, ok := window(m, s, a)
	switch v := a[0].(type) {
	case string:
		return ok && has(part, v)
	case object.Tuple:
		for _, one := range v {
			text, isText := one.(string)
			if !isText {
				py.Raise(py.TypeError, "tuple for %s must only contain str, not %s", name,
					object.TypeName(one))
			}
			m.Step(1)
			if ok && has(part, text) {
				return true
			}
		}
		return false
	}
	return py.Raise(py.TypeError, "%s first arg must be str or a tuple of str, not %s", name,
		object.TypeName(a[0]))
}

// trimMethods returns the methods that remove text at the ends.
func trimMethods() []*method {
	strip := func(name string, left, right bool) *method {
		return md(name, checked, 0, 1, func(m *py.Account, self value, a []value) value {
			return strip(m, name, self.(string), a[0], left, right)
		})
	}
	remove := func(name string, cut func(s, affix string) string) *method {
		return md(name, oneArg, 1, 1, func(m *py.Account, self value, a []value) value {
			affix, ok := a[0].(string)
			if !ok {
				py.Raise(py.TypeError, "%s() argument must be str, not %s", name,
					object.ArgumentType(a[0]))
			}
			m.Alloc(py.BoxBytes)
			return cut(self.(string), affix)
		})
	}
	return []*method{
		strip("strip", true, true), strip("lstrip", true, false), strip("rstrip", false, true),
		remove("removeprefix", strings.TrimPrefix), remove("removesuffix", strings.TrimSuffix),
	}
}

// strip returns s without blanks, or without the characters of a set, at one end or both.
//
//	'  a b '.strip() → 'a b'
//	'xxaxyx'.strip('xy') → 'a'
//	'xxa'.lstrip('x') → 'a'
//	'a\u3000'.rstrip() → 'a'
//	'a'.strip(None) → 'a'
//	'a'.strip(1) → TypeError: strip arg must be None or str
//	'abc'.removeprefix('ab') → 'c'
func strip(m *py.Account, name, s string, set value, left, right bool) value {
	in := chars.Space
	switch set := set.(type) {
	case absent, nil:
	case string:
		m.Step(int64(len(s)) * int64(len(set)) / 64)
		in = func(r rune) bool { return strings.ContainsRune(set, r) }
	default:
		py.Raise(py.TypeError, "%s arg must be None or str", name)
	}
	if left {
		s = strings.TrimLeftFunc(s, in)
	}
	if right {
		s = strings.TrimRightFunc(s, in)
	}
	m.Scan(4 * len(s))
	return s
}

// fillMethods returns the methods that pad to a width.
func fillMethods() []*method {
	just := func(name string, align rune) *method {
		return md(name, checked, 1, 2, func(m *py.Account, self value, a []value) value {
			return justify(m, self.(string), a, align)
		})
	}
	return []*method{just("ljust", '<'), just("rjust", '>'), just("center", '^'),
		md("zfill", oneArg, 1, 1, zfill)}
}

// width returns an argument that is a number of characters. It raises an error if the argument is
// not an int or does not fit into 64 bits.
//
//	'a'.ljust(-5) → 'a'
//	'a'.zfill(2.0) → TypeError: 'float' object cannot be interpreted as an integer
//	'a'.center(10**30) → OverflowError: Python int too large to convert to C ssize_t
func width(v value) int64 {
	k, small := asInt(v).(int64)
	if !small {
		py.Raise(py.OverflowError, "Python int too large to convert to C ssize_t")
	}
	return k
}

// justify returns a text that is padded to a width with fill characters. If center adds an odd
// number, the extra character is on the left exactly if the width is odd, as in CPython.
//
//	'a'.ljust(3, '-') → 'a--'
//	'a'.rjust(3) → '  a'
//	'ab'.center(5, '*') → '**ab*'
//	'abc'.center(6, '*') → '*abc**'
//	'a'.ljust(3, 'xy') → TypeError: The fill character must be exactly one character long
//	'a'.ljust('3') → TypeError: 'str' object cannot be interpreted as an integer
func justify(m *py.Account, s string, a []value, align rune) value {
	w := width(a[0])
	fill := " "
	if isGiven(a[1]) {
		text, ok := a[1].(string)
		if !ok {
			py.Raise(py.TypeError, "The fill character must be a unicode character, not %s",
				object.TypeName(a[1]))
		}
		if object.Runes(text) != 1 {
			py.Raise(py.TypeError, "The fill character must be exactly one character long")
		}
		fill = text
	}
	m.Scan(len(s))
	missing := max(w-int64(object.Runes(s)), 0)
	left := int64(0)
	switch align {
	case '>':
		left = missing
	case '^':
		left = missing/2 + missing&w&1
	}
	return object.Fill(m, s, []rune(fill)[0], left, missing-left)
}

// zfill returns a text that is padded to a width with zeros, which come after a sign.
//
//	'-5'.zfill(4) → '-005'
//	'abc'.zfill(5) → '00abc'
//	''.zfill(2) → '00'
//	'5'.zfill(1.0) → TypeError: 'float' object cannot be interpreted as an integer
func zfill(m *py.Account, self value, a []value) value {
	w := width(a[0])
	s := self.(string)
	m.Scan(len(s))
	sign := ""
	missing := max(w-int64(object.Runes(s)), 0)
	if s != "" && (s[0] == '-' || s[0] == '+') {
		sign, s = s[:1], s[1:]
	}
	s = object.Fill(m, s, '0', missing, 0)
	return sign + s
}
