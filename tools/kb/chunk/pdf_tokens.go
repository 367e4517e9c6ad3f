package chunk

import (
	"bytes"
	"strconv"
	"strings"
)

// token is an operand of PDF's operators: a number, a name, a string or an array. Dictionaries are
// read as arrays, since their structure is not needed here.
type token struct {
	kind byte // one of the following constants
	n    float64
	text string
	list []token
}

// The kinds of token.
const (
	isNumber   = 'n'
	isName     = '/'
	isString   = '('
	isArray    = '['
	isOperator = 'o'
)

// mostOperands is how many operands of an operator or elements of an array are stored. CMaps have
// 100 at once.
const mostOperands = 10_000

// lexer splits the stream of a page or a CMap into tokens. The PDF library's lexer never ends if a
// stream ends within a string, and takes the bytes of an inline image for operators.
type lexer struct {
	data []byte
	at   int
}

// interpret calls the function do with every operator of a stream and the operands before it. It
// does not check the names of operators, because an unknown operator has no effect, as the standard
// demands between BX and EX.
func interpret(data []byte, do func(op string, args []token)) {
	l := &lexer{data: data}
	var args []token
	for {
		t, ok := l.token(0)
		switch {
		case !ok:
			return
		case t.kind != isOperator:
			if len(args) < mostOperands {
				args = append(args, t)
			}
			continue
		case t.text == "ID":
			l.skipImage()
		default:
			do(t.text, args)
		}
		args = args[:0]
	}
}

// deepestArray is how deeply arrays may be nested, since a file may contain a million brackets.
const deepestArray = 20

// token returns the next token, or false at the end. The parameter depth says how many arrays it is
// in.
func (l *lexer) token(depth int) (token, bool) {
	l.blanks()
	if l.at >= len(l.data) {
		return token{}, false
	}
	c := l.data[l.at]
	l.at++
	switch {
	case c == '(':
		return token{kind: isString, text: l.literal()}, true
	case c == '<' && !l.follows('<'):
		return token{kind: isString, text: l.hex()}, true
	case c == '[' || c == '<':
		if c == '<' {
			l.at++
		}
		return l.array(depth), true
	case c == '/':
		return token{kind: isName, text: l.word()}, true
	case strings.IndexByte(delimiters, c) >= 0: // a closing bracket, or a brace of a function
		return token{kind: isOperator, text: string(c)}, true
	}
	l.at--
	word := l.word()
	if n, err := strconv.ParseFloat(word, 64); err == nil && c <= '9' {
		return token{kind: isNumber, n: n}, true
	}
	return token{kind: isOperator, text: word}, true
}

// The characters that end a word (ISO 32000-1, 7.2.2).
const (
	delimiters = "()<>[]{}/%"
	whites     = "\x00\t\n\f\r "
)

// follows reports whether the next byte is c.
func (l *lexer) follows(c byte) bool { return l.at < len(l.data) && l.data[l.at] == c }

// blanks skips white space and comments. A comment ends at the end of its line or of the stream.
func (l *lexer) blanks() {
	for ; l.at < len(l.data); l.at++ {
		switch c := l.data[l.at]; {
		case c == '%':
			end := bytes.IndexAny(l.data[l.at:], "\r\n")
			if end < 0 {
				l.at = len(l.data)
				return
			}
			l.at += end
		case strings.IndexByte(whites, c) < 0:
			return
		}
	}
}

// word returns the bytes up to the next delimiter or blank. Numbers, names and operators are all
// such words and differ only in how they begin.
func (l *lexer) word() string {
	start := l.at
	for l.at < len(l.data) && strings.IndexByte(delimiters+whites, l.data[l.at]) < 0 {
		l.at++
	}
	return string(l.data[start:l.at])
}

// array returns the array up to a closing ] or >>. If it is nested too deeply, the array ends
// early, and the text after it is still read.
func (l *lexer) array(depth int) token {
	t := token{kind: isArray}
	for depth < deepestArray {
		v, ok := l.token(depth + 1)
		if v.kind == isOperator && v.text == ">" && l.follows('>') {
			l.at++
			return t
		}
		if !ok || v.kind == isOperator && v.text == "]" {
			return t
		}
		if len(t.list) < mostOperands {
			t.list = append(t.list, v)
		}
	}
	return t
}

// literal returns a string in parentheses, which may contain pairs of parentheses. Line ends inside
// are not converted, as they do not occur in the strings of a page.
func (l *lexer) literal() string {
	var b []byte
	for depth := 1; l.at < len(l.data); {
		c := l.data[l.at]
		l.at++
		switch c {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return string(b)
			}
		case '\\':
			b = l.escape(b)
			continue
		}
		b = append(b, c)
	}
	return string(b)
}

// escape appends to b what the bytes after a backslash mean: a character, up to three octal digits,
// or a line end, which means nothing.
func (l *lexer) escape(b []byte) []byte {
	if l.at >= len(l.data) {
		return b
	}
	c := l.data[l.at]
	l.at++
	switch {
	case c == '\r':
		if l.follows('\n') {
			l.at++
		}
		return b
	case c == '\n':
		return b
	case c >= '0' && c <= '7':
		n := int(c - '0')
		for range 2 {
			if l.at < len(l.data) && l.data[l.at] >= '0' && l.data[l.at] <= '7' {
				n = n<<3 | int(l.data[l.at]-'0')
				l.at++
			}
		}
		return append(b, byte(n))
	}
	if i := strings.IndexByte("nrtbf", c); i >= 0 {
		c = "\n\r\t\b\f"[i]
	}
	return append(b, c)
}

// hex returns a string of hexadecimal digits up to ">". A missing last digit counts as 0. Other
// characters are skipped, because line ends are allowed.
func (l *lexer) hex() string {
	var b []byte
	half := -1
	for ; l.at < len(l.data) && l.data[l.at] != '>'; l.at++ {
		n, err := strconv.ParseUint(string(l.data[l.at:l.at+1]), 16, 8)
		switch {
		case err != nil:
		case half < 0:
			half = int(n)
		default:
			b, half = append(b, byte(half<<4|int(n))), -1
		}
	}
	l.at = min(l.at+1, len(l.data))
	if half >= 0 {
		b = append(b, byte(half<<4))
	}
	return string(b)
}

// skipImage skips the bytes of an inline image, which ends with the letters EI between blanks. If
// the image itself contains these, which is rare, a few strange operators are read after them.
func (l *lexer) skipImage() {
	for l.at < len(l.data) {
		end := bytes.Index(l.data[l.at:], []byte("EI"))
		if end < 0 {
			l.at = len(l.data)
			return
		}
		before, after := l.at+end-1, l.at+end+2
		l.at = after
		if before >= 0 && strings.IndexByte(whites, l.data[before]) >= 0 &&
			(after >= len(l.data) || strings.IndexByte(whites, l.data[after]) >= 0) {
			return
		}
	}
}
