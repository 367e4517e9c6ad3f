package pyexpr

import (
	"math"
	"strings"
	"unicode/utf8"
)

// The % operator of strings: C's printf with Python's additions, a dict for %(name)s, and numbers of any size.

// percentFormat is a format on its way: what is left of it, and the arguments.
type percentFormat struct {
	m      *machine
	rest   string
	pos    int // in characters, for the message about an unknown letter
	out    text
	args   []value
	used   int
	dict   value // what %(name)s looks names up in
	single bool  // the right operand is one argument, and no tuple
	named  bool
}

// percent computes format % args.
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
func percent(m *machine, format string, args value) (value, error) {
	f := &percentFormat{m: m, rest: format, out: text{m: m}, args: []value{args}, single: true}
	switch v := args.(type) {
	case tuple:
		f.args, f.single = v, false
	case *dict:
		f.dict = v
	case list, span:
		f.dict = v // CPython takes every mapping for one, and these have an index
	}
	if err := f.run(); err != nil {
		return nil, err
	}
	if f.used < len(f.args) && f.dict == nil {
		return nil, raise(TypeError, "not all arguments converted during string formatting")
	}
	return f.out.b.String(), nil
}

func (f *percentFormat) run() error {
	for f.rest != "" {
		if err := f.m.step(1); err != nil {
			return err
		}
		plain, rest, found := strings.Cut(f.rest, "%")
		if err := f.out.add(plain); err != nil {
			return err
		}
		if !found {
			return nil
		}
		f.rest = rest
		f.pos += runes(plain) + 1
		if err := f.conversion(); err != nil {
			return err
		}
	}
	return nil
}

// take reads the next character.
func (f *percentFormat) take() (rune, error) {
	r, size := utf8.DecodeRuneInString(f.rest)
	if size == 0 {
		return 0, raise(ValueError, "incomplete format")
	}
	f.rest = f.rest[size:]
	f.pos++
	return r, nil
}

// argument is the next argument.
func (f *percentFormat) argument() (value, error) {
	if f.named {
		f.used = max(f.used, 1)
		return f.args[0], nil
	}
	if f.used >= len(f.args) {
		return nil, raise(TypeError, "not enough arguments for format string")
	}
	f.used++
	return f.args[f.used-1], nil
}

// conversion reads %[(name)][flags][width][.precision]letter and writes what it stands for.
func (f *percentFormat) conversion() error {
	if err := f.name(); err != nil {
		return err
	}
	s := spec{fill: ' ', align: '>', precision: -1}
	left, err := f.flags(&s)
	if err != nil {
		return err
	}
	if s.width, err = f.size("width"); err != nil {
		return err
	}
	if s.width < -1 { // a negative * turns to the left
		left, s.width = true, -s.width
	}
	if strings.HasPrefix(f.rest, ".") {
		f.take()
		if s.precision, err = f.size("precision"); err != nil {
			return err
		}
		s.precision = max(s.precision, 0)
	}
	if f.rest != "" && strings.ContainsRune("hlL", rune(f.rest[0])) {
		f.take() // C's lengths mean nothing here, and nothing complains
	}
	at := f.pos
	letter, err := f.take()
	if err != nil {
		return err
	}
	if letter == '%' {
		return f.out.add("%")
	}
	v, err := f.argument()
	if err != nil {
		return err
	}
	if left {
		s.align = '<'
		s.fill = ' '
	}
	out, err := f.convert(letter, v, s, at)
	if err != nil {
		return err
	}
	return f.out.add(out)
}

// name reads (name), which may hold brackets of its own, and takes its value as the only argument.
func (f *percentFormat) name() error {
	f.named = false
	if !strings.HasPrefix(f.rest, "(") {
		return nil
	}
	if f.dict == nil {
		return raise(TypeError, "format requires a mapping")
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
		f.pos += runes(f.rest[:i+1])
		f.rest = f.rest[i+1:]
		v, err := subscript(f.m, f.dict, name)
		if err != nil {
			return err
		}
		f.args, f.named, f.used = []value{v}, true, 0
		return nil
	}
	return raise(ValueError, "incomplete format key")
}

// flags reads -, +, blank, # and 0 in any order.
func (f *percentFormat) flags(s *spec) (left bool, err error) {
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
			return left, nil
		}
		f.take()
	}
	return left, nil
}

// size reads a width or precision, or takes it from the arguments; -1 when there is none.
func (f *percentFormat) size(what string) (int64, error) {
	if strings.HasPrefix(f.rest, "*") {
		f.take()
		v, err := f.argument()
		if err != nil {
			return 0, err
		}
		n, ok := integer(v)
		if !ok {
			return 0, raise(TypeError, "* wants int")
		}
		k, small := n.(int64)
		if !small {
			return 0, raise(OverflowError, "Python int too large to convert to C %s", map[string]string{"width": "ssize_t", "precision": "int"}[what])
		}
		return k, nil
	}
	r := specReader{f.rest}
	n, err := r.number()
	if err != nil || n > math.MaxInt64/10 || what == "precision" && n > math.MaxInt32 {
		if what == "precision" {
			return 0, raise(ValueError, "precision too big")
		}
		return 0, raise(ValueError, "width too big")
	}
	f.pos += len(f.rest) - len(r.rest)
	f.rest = r.rest
	return n, nil
}

// convert writes one argument.
func (f *percentFormat) convert(letter rune, v value, s spec, at int) (string, error) {
	switch letter {
	case 's', 'r', 'a':
		return f.text(letter, v, s)
	case 'c':
		return f.char(v, s)
	case 'd', 'i', 'u', 'x', 'X', 'o':
		return f.integer(letter, v, s)
	case 'e', 'E', 'f', 'F', 'g', 'G':
		return f.float(letter, v, s)
	}
	shown := letter
	if letter < 32 || letter > 126 {
		shown = '?'
	}
	return "", raise(ValueError, "unsupported format character '%c' (0x%x) at index %d", shown, letter, at)
}

func (f *percentFormat) text(letter rune, v value, s spec) (string, error) {
	shown, err := convert(f.m, v, byte(letter))
	if err != nil {
		return "", err
	}
	t := shown.(string)
	if err := f.m.scan(len(t)); err != nil {
		return "", err
	}
	if s.precision >= 0 && s.precision < int64(len(t)) {
		t = t[:byteAt(t, int(s.precision))]
	}
	s.fill = ' '
	return pad(f.m, t, s)
}

func (f *percentFormat) char(v value, s spec) (string, error) {
	s.fill = ' '
	if t, ok := v.(string); ok {
		if runes(t) != 1 {
			return "", raise(TypeError, "%%c requires int or char")
		}
		return pad(f.m, t, s)
	}
	n, ok := integer(v)
	if !ok {
		return "", raise(TypeError, "%%c requires int or char")
	}
	r, small := n.(int64)
	if !small || r < 0 || r > utf8.MaxRune {
		return "", raise(OverflowError, "%%c arg not in range(0x110000)")
	}
	if !utf8.ValidRune(rune(r)) {
		return "", raise(ValueError, "a surrogate is no character of its own: %d", r)
	}
	return pad(f.m, string(rune(r)), s)
}

// integer writes a number in a base. A float is cut off for %d, and refused for the others.
func (f *percentFormat) integer(letter rune, v value, s spec) (string, error) {
	n, ok := integer(v)
	if x, isFloat := v.(float64); isFloat && strings.ContainsRune("diu", letter) {
		whole, err := truncate(f.m, x)
		if err != nil {
			return "", err
		}
		n, ok = whole, true
	}
	if !ok {
		if strings.ContainsRune("xXo", letter) {
			return "", raise(TypeError, "%%%c format: an integer is required, not %s", letter, typeName(v))
		}
		return "", raise(TypeError, "%%%c format: a real number is required, not %s", letter, typeName(v))
	}
	s.typ = letter
	if strings.ContainsRune("diu", letter) {
		s.typ, s.alternate = 'd', false
	}
	digits, err := f.digits(n, s)
	if err != nil {
		return "", err
	}
	return digits.layout(f.m, f.signed(s))
}

// digits writes the digits, at least precision of them.
func (f *percentFormat) digits(n value, s spec) (numeral, error) {
	base := map[rune]int{'x': 16, 'X': 16, 'o': 8}[s.typ]
	var digits string
	var err error
	if base == 0 {
		digits, err = decimal(f.m, n)
	} else if err = f.m.allocText(bits(n)); err == nil {
		digits = toBig(n).Text(base)
	}
	if err != nil {
		return numeral{}, err
	}
	digits, negative := strings.CutPrefix(digits, "-")
	if digits, err = padded(f.m, digits, '0', max(s.precision-int64(len(digits)), 0), 0); err != nil {
		return numeral{}, err
	}
	prefix := ""
	if s.alternate {
		prefix = "0" + string(s.typ)
	}
	if s.typ == 'X' {
		digits = strings.ToUpper(digits)
	}
	return numeral{negative: negative, prefix: prefix, digits: digits}, nil
}

// signed puts the zeros of the flag 0 behind the sign.
func (f *percentFormat) signed(s spec) spec {
	if s.fill == '0' && s.align == '>' {
		s.align = '='
	}
	return s
}

func (f *percentFormat) float(letter rune, v value, s spec) (string, error) {
	x, ok := v.(float64)
	if !ok {
		n, isInt := integer(v)
		if !isInt {
			return "", raise(TypeError, "must be real number, not %s", typeName(v))
		}
		var err error
		if x, err = toFloat(n); err != nil {
			return "", err
		}
	}
	s.typ = letter
	return formatFloat(f.m, x, "float", f.signed(s))
}
