package pyexpr

import (
	"strings"

	"toolnorm/internal/pyexpr/chars"
)

// Methods of strings that search, cut and fill; methods_split.go has those that cut into many, methods_case.go
// those that know upper and lower case.

// textMethod makes the entry of a method that is only given the text, charged by its length before it runs.
func textMethod(name string, run func(s string) value) *method {
	return md(name, noArgs, 0, 0, func(m *machine, self value, _ []value) (value, error) {
		s := self.(string)
		if err := m.allocText(3 * int64(len(s))); err != nil { // 'ΐ'.upper() is three characters
			return nil, err
		}
		return run(s), m.scan(8 * len(s))
	})
}

// searchMethods are those with two bounds behind what is looked for.
func searchMethods() []*method {
	find := func(name string, last, must bool) *method {
		return md(name, parsed, 1, 3, func(m *machine, self value, a []value) (value, error) {
			return findText(m, self.(string), a, last, must)
		})
	}
	return []*method{
		find("find", false, false), find("rfind", true, false), find("index", false, true), find("rindex", true, true),
		md("count", parsed, 1, 3, countText),
		md("startswith", parsed, 1, 3, func(m *machine, self value, a []value) (value, error) {
			return affix(m, "startswith", self.(string), a, strings.HasPrefix)
		}),
		md("endswith", parsed, 1, 3, func(m *machine, self value, a []value) (value, error) {
			return affix(m, "endswith", self.(string), a, strings.HasSuffix)
		}),
	}
}

// window is the part of s between the two bounds of a search, and how many characters stand before it. ok is false when
// the bounds leave nothing, not even an empty string: 'a'.find(”, 5) is -1.
//
//	'abcabc'.find('c', 3) → 5
//	'abcabc'.find('a', -3) → 3
//	'abc'.find('', 3) → 3
//	'abc'.find('', 4) → -1
//	'abc'.find('b', None, 1) → -1
//	'abc'.find('b', 'x') → TypeError: slice indices must be integers or None or have an __index__ method
func window(m *machine, s string, a []value) (part string, before int64, ok bool, err error) {
	if err := m.scan(2 * len(s)); err != nil {
		return "", 0, false, err
	}
	n := int64(runes(s))
	low, high := int64(0), n
	for i, to := range []*int64{&low, &high} {
		v := a[i+1]
		if !given(v) || v == nil {
			continue
		}
		k, err := sliceBound(v, 0)
		if err != nil {
			return "", 0, false, err
		}
		if k < 0 {
			k = max(k+n, 0)
		}
		*to = k
	}
	high = min(high, n)
	if low > high {
		return "", 0, false, nil
	}
	from := byteAt(s, int(low))
	return s[from : from+byteAt(s[from:], int(high-low))], low, true, nil
}

// findText finds a substring, and gives its place in characters.
//
//	'hello'.find('l') → 2
//	'hello'.rfind('l') → 3
//	'hello'.find('x') → -1
//	'hello'.index('x') → ValueError: substring not found
//	'한국어'.find('어') → 2
//	'hello'.find('l', 3, -1) → 3
//	'a'.find(1) → TypeError: must be str, not int
func findText(m *machine, s string, a []value, last, must bool) (value, error) {
	// Bounds come first, since CPython reads all arguments before it looks at their types.
	part, before, ok, err := window(m, s, a)
	if err != nil {
		return nil, err
	}
	sub, isText := a[0].(string)
	if !isText {
		return nil, raise(TypeError, "must be str, not %s", typeName(a[0]))
	}
	if err := m.scan(4 * len(s)); err != nil {
		return nil, err
	}
	at := -1
	if ok && last {
		at = strings.LastIndex(part, sub)
	} else if ok {
		at = strings.Index(part, sub)
	}
	if at >= 0 {
		return before + int64(runes(part[:at])), nil
	}
	if must {
		return nil, raise(ValueError, "substring not found")
	}
	return int64(-1), nil
}

// countText counts occurrences that do not overlap; the empty string stands between all characters.
//
//	'banana'.count('an') → 2
//	'aaa'.count('aa') → 1
//	'abc'.count('') → 4
//	'abc'.count('', 1) → 3
func countText(m *machine, self value, a []value) (value, error) {
	s := self.(string)
	part, _, ok, err := window(m, s, a)
	if err != nil {
		return nil, err
	}
	sub, isText := a[0].(string)
	switch {
	case !isText:
		return nil, raise(TypeError, "must be str, not %s", typeName(a[0]))
	case !ok:
		return int64(0), nil
	}
	return int64(strings.Count(part, sub)), m.scan(4 * len(s))
}

// affix is startswith or endswith, with one text or a tuple of which any will do.
//
//	'hello'.startswith('he') → True
//	'hello'.endswith(('x', 'lo')) → True
//	'hello'.startswith('l', 2) → True
//	'hello'.startswith(['h']) → TypeError: startswith first arg must be str or a tuple of str, not list
//	'hello'.startswith((1,)) → TypeError: tuple for startswith must only contain str, not int
func affix(m *machine, name, s string, a []value, has func(s, affix string) bool) (value, error) {
	part, _, ok, err := window(m, s, a)
	if err != nil {
		return nil, err
	}
	switch v := a[0].(type) {
	case string:
		return ok && has(part, v), nil
	case tuple:
		for _, one := range v {
			text, isText := one.(string)
			if !isText {
				return nil, raise(TypeError, "tuple for %s must only contain str, not %s", name, typeName(one))
			}
			if err := m.step(1); err != nil {
				return nil, err
			}
			if ok && has(part, text) {
				return true, nil
			}
		}
		return false, nil
	}
	return nil, raise(TypeError, "%s first arg must be str or a tuple of str, not %s", name, typeName(a[0]))
}

// trimMethods cut from the ends.
func trimMethods() []*method {
	strip := func(name string, left, right bool) *method {
		return md(name, checked, 0, 1, func(m *machine, self value, a []value) (value, error) {
			return strip(m, name, self.(string), a[0], left, right)
		})
	}
	remove := func(name string, cut func(s, affix string) string) *method {
		return md(name, oneArg, 1, 1, func(m *machine, self value, a []value) (value, error) {
			affix, ok := a[0].(string)
			if !ok {
				return nil, raise(TypeError, "%s() argument must be str, not %s", name, argumentType(a[0]))
			}
			return cut(self.(string), affix), m.alloc(boxBytes)
		})
	}
	return []*method{
		strip("strip", true, true), strip("lstrip", true, false), strip("rstrip", false, true),
		remove("removeprefix", strings.TrimPrefix), remove("removesuffix", strings.TrimSuffix),
	}
}

// strip removes blanks, or the characters of a set, from one end or both.
//
//	'  a b '.strip() → 'a b'
//	'xxaxyx'.strip('xy') → 'a'
//	'xxa'.lstrip('x') → 'a'
//	'a\u3000'.rstrip() → 'a'
//	'a'.strip(None) → 'a'
//	'a'.strip(1) → TypeError: strip arg must be None or str
//	'abc'.removeprefix('ab') → 'c'
func strip(m *machine, name, s string, set value, left, right bool) (value, error) {
	in := chars.Space
	switch set := set.(type) {
	case absent, nil:
	case string:
		if err := m.step(int64(len(s)) * int64(len(set)) / 64); err != nil {
			return nil, err
		}
		in = func(r rune) bool { return strings.ContainsRune(set, r) }
	default:
		return nil, raise(TypeError, "%s arg must be None or str", name)
	}
	if left {
		s = strings.TrimLeftFunc(s, in)
	}
	if right {
		s = strings.TrimRightFunc(s, in)
	}
	return s, m.scan(4 * len(s))
}

// fillMethods pad to a width.
func fillMethods() []*method {
	just := func(name string, align rune) *method {
		return md(name, checked, 1, 2, func(m *machine, self value, a []value) (value, error) {
			return justify(m, self.(string), a, align)
		})
	}
	return []*method{just("ljust", '<'), just("rjust", '>'), just("center", '^'), md("zfill", oneArg, 1, 1, zfill)}
}

// width reads a number of characters.
//
//	'a'.ljust(-5) → 'a'
//	'a'.zfill(2.0) → TypeError: 'float' object cannot be interpreted as an integer
//	'a'.center(10**30) → OverflowError: Python int too large to convert to C ssize_t
func width(v value) (int64, error) {
	n, ok := integer(v)
	if !ok {
		return 0, notInt(v)
	}
	k, small := n.(int64)
	if !small {
		return 0, raise(OverflowError, "Python int too large to convert to C ssize_t")
	}
	return k, nil
}

// justify puts fill characters before or behind a text. With an odd rest, center puts the extra one on the left
// exactly when the width is odd, which is CPython's rule and nobody's guess.
//
//	'a'.ljust(3, '-') → 'a--'
//	'a'.rjust(3) → '  a'
//	'ab'.center(5, '*') → '**ab*'
//	'abc'.center(6, '*') → '*abc**'
//	'a'.ljust(3, 'xy') → TypeError: The fill character must be exactly one character long
//	'a'.ljust('3') → TypeError: 'str' object cannot be interpreted as an integer
func justify(m *machine, s string, a []value, align rune) (value, error) {
	w, err := width(a[0])
	if err != nil {
		return nil, err
	}
	fill := " "
	if given(a[1]) {
		text, ok := a[1].(string)
		if !ok {
			return nil, raise(TypeError, "The fill character must be a unicode character, not %s", typeName(a[1]))
		}
		if runes(text) != 1 {
			return nil, raise(TypeError, "The fill character must be exactly one character long")
		}
		fill = text
	}
	if err := m.scan(len(s)); err != nil {
		return nil, err
	}
	missing := max(w-int64(runes(s)), 0)
	left := int64(0)
	switch align {
	case '>':
		left = missing
	case '^':
		left = missing/2 + missing&w&1
	}
	return padded(m, s, []rune(fill)[0], left, missing-left)
}

// zfill puts zeros behind the sign.
//
//	'-5'.zfill(4) → '-005'
//	'abc'.zfill(5) → '00abc'
//	''.zfill(2) → '00'
//	'5'.zfill(1.0) → TypeError: 'float' object cannot be interpreted as an integer
func zfill(m *machine, self value, a []value) (value, error) {
	w, err := width(a[0])
	if err != nil {
		return nil, err
	}
	s := self.(string)
	if err := m.scan(len(s)); err != nil {
		return nil, err
	}
	sign := ""
	missing := max(w-int64(runes(s)), 0)
	if s != "" && (s[0] == '-' || s[0] == '+') {
		sign, s = s[:1], s[1:]
	}
	s, err = padded(m, s, '0', missing, 0)
	return sign + s, err
}
