package pyexpr

import (
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"toolnorm/internal/pyexpr/chars"
	"toolnorm/internal/pyexpr/object"
	"toolnorm/internal/pyexpr/py"
)

// Methods of strings that split, and those that join or replace. The result of these may be far
// larger than the arguments, so its size is computed and charged first.

// splitMethods returns the methods that split, join or replace.
func splitMethods() []*method {
	params := []string{"sep", "maxsplit"}
	split := func(name string, right bool) *method {
		e := md(name, keyworded, 0, 2, func(m *py.Account, self value, a []value) value {
			return splitText(m, self.(string), a, right)
		})
		e.params = params
		return e
	}
	cut := func(name string, last bool) *method {
		return md(name, oneArg, 1, 1, func(m *py.Account, self value, a []value) value {
			return partition(m, self.(string), a[0], last)
		})
	}
	lines := md("splitlines", keyworded, 0, 1, splitLines)
	lines.params = []string{"keepends"}
	return []*method{
		split("split", false), split("rsplit", true), cut("partition", false),
		cut("rpartition", true), lines,
		md("join", oneArg, 1, 1, joinText), md("replace", checked, 2, 3, replace),
	}
}

// splitText returns the parts of a text that was split at blanks, or at the separator in a. If a
// has a second argument, that is the maximum number of splits. If the parameter right is true, the
// text is split from the right.
//
//	' a  b '.split() → ['a', 'b']
//	'a,b,,c'.split(',') → ['a', 'b', '', 'c']
//	'a,b,c'.split(',', 1) → ['a', 'b,c']
//	'a,b,c'.rsplit(',', maxsplit=1) → ['a,b', 'c']
//	' a b  c '.split(None, 1) → ['a', 'b  c ']
//	' a b  c '.rsplit(None, 1) → [' a b', 'c']
//	'a'.split('') → ValueError: empty separator
//	'a'.split(1) → TypeError: must be str or None, not int
func splitText(m *py.Account, s string, a []value, right bool) value {
	most := int64(-1)
	if isGiven(a[1]) {
		most = width(a[1])
	}
	if most < 0 {
		most = math.MaxInt64
	}
	m.Scan(8 * len(s))
	var next func(s string) (from, to int)
	switch sep := a[0].(type) {
	case absent, nil:
		return splitBlanks(m, s, most, right)
	case string:
		if sep == "" {
			py.Raise(py.ValueError, "empty separator")
		}
		next = func(s string) (int, int) {
			i := strings.Index(s, sep)
			if right {
				i = strings.LastIndex(s, sep)
			}
			return i, i + len(sep)
		}
	default:
		py.Raise(py.TypeError, "must be str or None, not %s", object.TypeName(a[0]))
	}
	parts := []value{}
	for ; most > 0; most-- {
		from, to := next(s)
		if from < 0 {
			break
		}
		part, rest := s[:from], s[to:]
		if right {
			part, rest = rest, part
		}
		parts = growText(m, parts, part)
		s = rest
	}
	return orient(growText(m, parts, s), right)
}

// growText appends part to parts and charges the account for that. For the part itself only the
// string's header is charged, since its bytes are those of the whole text.
func growText(m *py.Account, parts []value, part string) []value {
	m.Alloc(py.BoxBytes)
	return object.Grow(m, parts, part)
}

// orient returns parts as a list. If they were found from the right, it reverses them first.
//
//	'a b c'.rsplit(None, 1) → ['a b', 'c']
//	'a--b--c'.rsplit('--', 1) → ['a--b', 'c']
func orient(parts []value, right bool) value {
	if right {
		slices.Reverse(parts)
	}
	return object.List(parts)
}

// splitBlanks returns the parts of a text that is split at runs of blanks. The parameter most is
// the maximum number of splits. Blanks at both ends are ignored. If the maximum is reached, the
// last part is the rest of the text, with the blanks inside it and at its far end.
//
//	' a  b c '.split(maxsplit=1) → ['a', 'b c ']
//	'a\u2003b'.split() → ['a', 'b']
//	''.split() → []
//	'  '.split(None, 0) → []
func splitBlanks(m *py.Account, s string, most int64, right bool) value {
	trim, find := strings.TrimLeftFunc, strings.IndexFunc
	if right {
		trim, find = strings.TrimRightFunc, strings.LastIndexFunc
	}
	parts := []value{}
	for ; ; most-- {
		if s = trim(s, chars.Space); s == "" {
			break
		}
		i := find(s, chars.Space)
		if most <= 0 || i < 0 {
			parts = growText(m, parts, s)
			break
		}
		part := s[:i]
		if right {
			_, size := utf8.DecodeRuneInString(s[i:])
			part, s = s[i+size:], s[:i]
		} else {
			s = s[i:]
		}
		parts = growText(m, parts, part)
	}
	return orient(parts, right)
}

// partition returns the text before the first or last separator, the separator, and the text after
// it. Without a separator in the text, one part is the text and the others are empty.
//
//	'a=b=c'.partition('=') → ('a', '=', 'b=c')
//	'a=b=c'.rpartition('=') → ('a=b', '=', 'c')
//	'abc'.partition('=') → ('abc', '', '')
//	'abc'.rpartition('=') → ('', '', 'abc')
//	'a'.partition('') → ValueError: empty separator
//	'a'.partition(1) → TypeError: must be str, not int
func partition(m *py.Account, s string, v value, last bool) value {
	sep := mustBeText(v)
	if sep == "" {
		py.Raise(py.ValueError, "empty separator")
	}
	m.AllocItems(6)
	i := strings.Index(s, sep)
	if last {
		i = strings.LastIndex(s, sep)
	}
	m.Scan(4 * len(s))
	switch {
	case i >= 0:
		return object.Tuple{s[:i], sep, s[i+len(sep):]}
	case last:
		return object.Tuple{"", "", s}
	}
	return object.Tuple{s, "", ""}
}

// lineEnds are the characters at which splitlines splits. The pair \r\n counts as one line end.
const lineEnds = "\n\r\v\f\x1c\x1d\x1e\u0085\u2028\u2029"

// splitLines returns the lines of a text, with their line ends if asked to. A line end at the end
// of the text does not begin another line.
//
//	'a\nb\r\nc'.splitlines() → ['a', 'b', 'c']
//	'a\n\nb\n'.splitlines(True) → ['a\n', '\n', 'b\n']
//	''.splitlines() → []
//	'a'.splitlines(keepends='x') → TypeError: 'str' object cannot be interpreted as an integer
func splitLines(m *py.Account, self value, a []value) value {
	s := self.(string)
	keep := false
	if isGiven(a[0]) {
		keep = object.Truth(asInt(a[0]))
	}
	m.Scan(8 * len(s))
	parts := []value{}
	for s != "" {
		end, next := len(s), len(s)
		if i := strings.IndexAny(s, lineEnds); i >= 0 {
			_, size := utf8.DecodeRuneInString(s[i:])
			if strings.HasPrefix(s[i:], "\r\n") {
				size = 2
			}
			end, next = i, i+size
		}
		if keep {
			end = next
		}
		parts = growText(m, parts, s[:end])
		s = s[next:]
	}
	return object.List(parts)
}

// joinText returns the items of an iterable, which must all be texts, joined with a text between
// them.
//
//	', '.join(['a', 'b']) → 'a, b'
//	''.join('a' for i in range(3)) → 'aaa'
//	','.join({'x': 1, 'y': 2}) → 'x,y'
//	','.join(['a', 1]) → TypeError: sequence item 1: expected str instance, int found
//	','.join(5) → TypeError: can only join an iterable
func joinText(m *py.Account, self value, a []value) value {
	if !object.Iterable(a[0]) {
		py.Raise(py.TypeError, "can only join an iterable")
	}
	all := object.Items(m, a[0])
	sep := self.(string)
	size := int64(0)
	for i, v := range all {
		s, ok := v.(string)
		if !ok {
			py.Raise(py.TypeError, "sequence item %d: expected str instance, %s found", i,
				object.TypeName(v))
		}
		size += int64(len(s) + len(sep))
		m.Step(1)
	}
	m.AllocText(size)
	var b strings.Builder
	b.Grow(int(size))
	for i, v := range all {
		if i > 0 {
			b.WriteString(sep)
		}
		b.WriteString(v.(string))
	}
	return b.String()
}

// replace returns self with all occurrences of a text, or the first few, replaced by another text.
// An empty text occurs before every character and at the end.
//
//	'banana'.replace('an', 'o') → 'booa'
//	'aaa'.replace('a', 'b', 2) → 'bba'
//	'ab'.replace('', '-') → '-a-b-'
//	'ab'.replace('b', '', -1) → 'a'
//	'a'.replace('a') → TypeError: replace expected at least 2 arguments, got 1
//	'a'.replace(1, 'b') → TypeError: replace() argument 1 must be str, not int
func replace(m *py.Account, self value, a []value) value {
	s := self.(string)
	var texts [2]string
	for i := range texts {
		text, ok := a[i].(string)
		if !ok {
			py.Raise(py.TypeError, "replace() argument %d must be str, not %s", i+1,
				object.ArgumentType(a[i]))
		}
		texts[i] = text
	}
	most := int64(-1)
	if isGiven(a[2]) {
		most = width(a[2])
	}
	m.Scan(4 * len(s))
	n := int64(strings.Count(s, texts[0]))
	if most >= 0 {
		n = min(n, most)
	}
	m.AllocText(int64(len(s)) + m.Times(max(int64(len(texts[1])-len(texts[0])), 0), n))
	return strings.Replace(s, texts[0], texts[1], int(n))
}
