package object

import (
	"math"
	"strings"
	"unicode/utf8"

	"toolnorm/internal/pyexpr/number"
	"toolnorm/internal/pyexpr/py"
)

// The % operator of strings: C's printf with Python's additions, a dict for %(name)s, and numbers
// of any size.

// percentFormat is the state of formatting: the rest of the format, and the arguments.
type percentFormat struct {
	m      *py.Account
	rest   string
	pos    int // the offset in characters, for the message about an unknown letter
	out    Text
	args   []Value
	used   int
	dict   Value // the values for %(name)s
	turned bool  // whether a negative * requires alignment to the left
}

// percent returns format % args. It raises an error if the format is invalid or the arguments do
// not fit.
//
//	'%s is %d' % ('x', 5) → 'x is 5'
//	'%5.2f|%-4d|%04d' % (3.14159, 7, 7) → ' 3.14|7   |0007'
//	'%(a)s-%(b)r' % {'a': 1, 'b': 'x'} → "1-'x'"
//	'%x %X %o %e %g' % (255, 255, 8, 1234.5, 0.0001) → 'ff FF 10 1.234500e+03 0.0001'
//	'%d%%' % 50 → '50%'
//	'%c%c' % ('a', 98) → 'ab'
//	'%d' % 'x' → TypeError: %d format: a real number is required, not str
//	'%d %d' % 1 → TypeError: not enough arguments for format string
//	'%d' % (1, 2) → TypeError: not all arguments converted during string formatting
//	'%y' % 1 → ValueError: unsupported format character 'y' (0x79) at index 1
//	'%' % 1 → ValueError: incomplete format
func percent(m *py.Account, format string, args Value) Value {
	f := &percentFormat{m: m, rest: format, out: Text{m: m}, args: []Value{args}}
	switch v := args.(type) {
	case Tuple:
		f.args = v
	case *Dict:
		f.dict = v
	case List, span:
		f.dict = v // CPython treats every type with an index as a mapping, and these have one
	}
	f.run()
	if f.used < len(f.args) && f.dict == nil {
		py.Raise(py.TypeError, "not all arguments converted during string formatting")
	}
	return f.out.b.String()
}

// run appends the whole format, with its conversions replaced, to f.out.
func (f *percentFormat) run() {
	for f.rest != "" {
		f.m.Step(1)
		plain, rest, found := strings.Cut(f.rest, "%")
		f.out.Add(plain)
		if !found {
			return
		}
		f.rest = rest
		f.pos += Runes(plain) + 1
		f.conversion()
	}
}

// take returns the next character and moves past it. It raises a ValueError at the end of the
// format.
func (f *percentFormat) take() rune {
	r, size := utf8.DecodeRuneInString(f.rest)
	if size == 0 {
		py.Raise(py.ValueError, "incomplete format")
	}
	f.rest = f.rest[size:]
	f.pos++
	return r
}

// argument returns the next argument. It raises a TypeError if there is none.
func (f *percentFormat) argument() Value {
	if f.used >= len(f.args) {
		py.Raise(py.TypeError, "not enough arguments for format string")
	}
	f.used++
	return f.args[f.used-1]
}

// conversion parses %[(name)][flags][width][.precision]letter and appends the formatted argument.
//
//	'%-5s|' % 'a' → 'a    |'
//	'%05d' % -3 → '-0003'
//	'%+d % d' % (1, 2) → '+1  2'
//	'%.2f' % 2.675 → '2.67'
//	'%*d' % (5, 1) → '    1'
//	'%.3s' % 'abcdef' → 'abc'
//	'%ld' % 5 → '5'
func (f *percentFormat) conversion() {
	// a width or flag before it makes it an unknown letter: '%5%'
	if strings.HasPrefix(f.rest, "%") {
		f.take()
		f.out.Add("%")
		return
	}
	f.name()
	s := spec{fill: ' ', align: '>', precision: -1}
	left := f.flags(&s)
	s.width = f.size("width")
	left = left || f.turned
	if strings.HasPrefix(f.rest, ".") {
		f.take()
		s.precision = max(f.size("precision"), 0)
	}
	if f.rest != "" && strings.ContainsRune("hlL", rune(f.rest[0])) {
		f.take() // C's length modifiers are ignored without an error
	}
	at := f.pos
	letter := f.take()
	v := f.argument()
	if left {
		s.align = '<'
		s.fill = ' '
	}
	f.out.Add(f.convert(letter, v, s, at))
}

// name parses a key in parentheses, as in %(a)s, and makes the value of the key the only argument.
// The key may contain parentheses. If there is no key, name does nothing.
//
//	'%(a)s' % {'a': 1} → '1'
//	'%(b)s' % {'a': 1} → KeyError: 'b'
//	'%(a)s' % 5 → TypeError: format requires a mapping
//	'%(a)*d' % {'a': 1} → TypeError: not enough arguments for format string
//	'%(a' % {'a': 1} → ValueError: incomplete format key
func (f *percentFormat) name() {
	f.turned = false
	if !strings.HasPrefix(f.rest, "(") {
		return
	}
	if f.dict == nil {
		py.Raise(py.TypeError, "format requires a mapping")
	}
	depth := 0
	for i, r := range f.rest {
		switch r {
		case '(':
			depth++
		case ')':
			depth--
		}
		if depth > 0 {
			continue
		}
		name := f.rest[1:i]
		f.pos += Runes(f.rest[:i+1])
		f.rest = f.rest[i+1:]
		v := Subscript(f.m, f.dict, name)
		f.args, f.used = []Value{v}, 0
		return
	}
	py.Raise(py.ValueError, "incomplete format key")
}

// flags parses the flags -, +, blank, # and 0 in any order, and reports whether - is among them.
func (f *percentFormat) flags(s *spec) (left bool) {
	for f.rest != "" {
		switch f.rest[0] {
		case '-':
			left = true
		case '+':
			s.sign = '+'
		case ' ':
			if s.sign == 0 {
				s.sign = ' '
			}
		case '#':
			s.alternate = true
		case '0':
			s.fill = '0'
		default:
			return left
		}
		f.take()
	}
	return left
}

// size returns a width or precision, which may be an argument. It returns -1 if there is none, and
// raises an error if it is too large.
//
//	'%99999999999999999999d' % 1 → ValueError: width too big
//	'%.9999999999d' % 1 → ValueError: precision too big
//	'%.99999999999999999999d' % 1 → ValueError: precision too big
func (f *percentFormat) size(what string) int64 {
	if strings.HasPrefix(f.rest, "*") {
		f.take()
		v := f.argument()
		n, ok := number.Int(v)
		if !ok {
			py.Raise(py.TypeError, "* wants int")
		}
		k, small := n.(int64)
		if !small {
			py.Raise(py.OverflowError, "Python int too large to convert to C %s",
				map[string]string{"width": "ssize_t", "precision": "int"}[what])
		}
		if k < 0 && what == "width" {
			f.turned, k = true, -k
		}
		return k
	}
	r, tooLarge := specReader{f.rest}, what+" too big"
	n := r.number(func(c rune) bool { return '0' <= c && c <= '9' }, tooLarge)
	if n > math.MaxInt64/10 || what == "precision" && n > math.MaxInt32 {
		py.Raise(py.ValueError, "%s", tooLarge)
	}
	f.pos += len(f.rest) - len(r.rest)
	f.rest = r.rest
	return n
}
