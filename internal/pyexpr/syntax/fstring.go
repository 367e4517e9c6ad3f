package syntax

import (
	"strings"

	"toolnorm/internal/pyexpr/py"
)

// f-strings, by the rules of 3.11: an expression may not contain a backslash, a comment or the
// quotes around it, and specifications nest once. From 3.12 on Python allows all of that; an
// expression that works here works there too.

// fstring parses the body of an f-string.
type fstring struct {
	p     *parser
	body  string
	raw   bool
	start int // the offset of the body in the source
	depth int // the depth of nested specifications, of which 3.11 allows one level
	pos   int
}

// formatted parses the body of an f-string, which begins at an offset in the source, and returns
// its parts.
func (p *parser) formatted(body string, raw bool, start int) []Node {
	f := &fstring{p: p, body: body, raw: raw, start: start}
	return f.parts(false)
}

// fail raises an error at the position of the literal. The message has the prefix that all of
// CPython's f-string errors have.
func (f *fstring) fail(format string, args ...any) {
	py.Raise(py.SyntaxError, "f-string: "+format, args...)
}

// parts parses text and fields up to the end of the body. Inside a specification it stops at the
// closing brace.
func (f *fstring) parts(inSpec bool) []Node {
	var parts []Node
	for f.pos < len(f.body) {
		if inSpec && f.body[f.pos] == '}' {
			break
		}
		if f.body[f.pos] == '{' && (inSpec || !strings.HasPrefix(f.body[f.pos:], "{{")) {
			parts = append(parts, f.field()...)
			continue
		}
		parts = append(parts, &Const{f.text(inSpec)})
	}
	return parts
}

// text returns the text up to the next field. Doubled braces become one, except inside a
// specification.
//
//	f'a{{b}}c' → 'a{b}c'
//	f'}' → SyntaxError: f-string: single '}' is not allowed
//	f'\x41{1}' → 'A1'
//	rf'\n{1}' → '\\n1'
func (f *fstring) text(inSpec bool) string {
	var b strings.Builder
	for f.pos < len(f.body) {
		rest := f.body[f.pos:]
		c := rest[0]
		switch {
		case !inSpec && (strings.HasPrefix(rest, "{{") || strings.HasPrefix(rest, "}}")):
			b.WriteByte(c)
			f.pos += 2
			continue
		case c == '{' || c == '}' && inSpec:
			return unescape(b.String(), f.raw)
		case c == '}':
			f.fail("single '}' is not allowed")
		case c == '\\' && !f.raw && len(rest) > 1 && rest[1] != '{' && rest[1] != '}':
			b.WriteString(rest[:2])
			f.pos += 2
			continue
		}
		b.WriteByte(c)
		f.pos++
	}
	return unescape(b.String(), f.raw)
}

// field parses {expression=!c:spec}. It returns the field, preceded by the text of the expression
// if there is a =.
//
//	f'{1+1=}' → '1+1=2'
//	f'{ 5 = :>3}' → ' 5 =   5'
//	f'{{}}' → '{}'
//	f'{}' → SyntaxError: f-string: empty expression not allowed
//	f'{1!x}' → SyntaxError: f-string: invalid conversion character: expected 's', 'r', or 'a'
func (f *fstring) field() []Node {
	if f.depth > 1 {
		f.fail("expressions nested too deeply")
	}
	f.pos++
	start := f.pos
	f.skipExpression()
	source := f.body[start:f.pos]
	if strings.TrimLeft(source, " \t\n\f\r") == "" {
		if f.pos < len(f.body) && f.body[f.pos] != '}' {
			f.fail("expression required before '%c'", f.body[f.pos])
		}
		f.fail("empty expression not allowed")
	}
	n := &Field{X: f.expression(source, f.start+start)}
	var shown Node
	if f.next("=") {
		for f.pos < len(f.body) && strings.IndexByte(" \t\n\f\r\v", f.body[f.pos]) >= 0 {
			f.pos++
		}
		shown = &Const{f.body[start:f.pos]}
	}
	f.conversion(n)
	f.spec(n)
	if !f.next("}") {
		f.fail("expecting '}'")
	}
	if shown == nil {
		return []Node{n}
	}
	if n.Spec == nil && n.Conversion == 0 {
		n.Conversion = 'r'
	}
	return []Node{shown, n}
}

// next skips the given text if that comes next, and reports whether it did.
func (f *fstring) next(mark string) bool {
	if strings.HasPrefix(f.body[f.pos:], mark) {
		f.pos += len(mark)
		return true
	}
	return false
}

// conversion parses !s, !r or !a after an expression, if there is one. For another letter it raises
// an error with 3.11's message.
func (f *fstring) conversion(n *Field) {
	if !f.next("!") {
		return
	}
	if f.pos >= len(f.body) {
		f.fail("expecting '}'")
	}
	n.Conversion = f.body[f.pos]
	f.pos++
	if strings.IndexByte("sra", n.Conversion) < 0 {
		f.fail("invalid conversion character: expected 's', 'r', or 'a'")
	}
}

// spec parses the specification after a colon, if there is one, into parts that are joined when the
// field is evaluated.
func (f *fstring) spec(n *Field) {
	if !f.next(":") {
		return
	}
	f.depth++
	n.Spec = &Joined{f.parts(true)}
	f.depth--
}

// skipExpression moves to the end of a field's expression, which is a '}', '!', ':' or '=' outside
// of brackets and strings. It raises an error if there is none.
//
//	f'{[1, 2][0]}' → '1'
//	f'{"}"}' → '}'
//	f'{1 != 2}' → 'True'
//	f'{(1}' → SyntaxError: f-string: closing parenthesis '}' does not match opening parenthesis '('
//	f'{1)}' → SyntaxError: f-string: unmatched ')'
//	f'{"a" "b"}' → 'ab'
func (f *fstring) skipExpression() {
	var open []byte
	quote := ""
	for ; f.pos < len(f.body); f.pos++ {
		rest := f.body[f.pos:]
		c := rest[0]
		switch {
		case c == '\\':
			py.Raise(py.SyntaxError, "f-string expression part cannot include a backslash")
		case quote != "":
			if strings.HasPrefix(rest, quote) {
				f.pos += len(quote) - 1
				quote = ""
			}
		case c == '\'' || c == '"':
			if quote = rest[:1]; strings.HasPrefix(rest, strings.Repeat(quote, 3)) {
				quote = rest[:3]
			}
			f.pos += len(quote) - 1
		case c == '#':
			py.Raise(py.SyntaxError, "f-string expression part cannot include '#'")
		case strings.IndexByte("([{", c) >= 0:
			open = append(open, c)
		case len(open) == 0 && strings.IndexByte("!:=<>", c) >= 0:
			if n := operatorLength(rest); n > 0 {
				f.pos += n - 1
				continue
			}
			return
		case len(open) == 0 && c == '}':
			return
		case strings.IndexByte(")]}", c) >= 0:
			if len(open) == 0 {
				f.fail("unmatched '%c'", c)
			}
			last := open[len(open)-1]
			if closing[string(last)] != string(c) {
				f.fail("closing parenthesis '%c' does not match opening parenthesis '%c'", c, last)
			}
			open = open[:len(open)-1]
		}
	}
	if quote != "" {
		f.fail("unterminated string")
	}
	if len(open) > 0 {
		f.fail("unmatched '%c'", open[len(open)-1])
	}
	f.fail("expecting '}'")
}

// operatorLength returns the length of the comparison operator at the start of s, or 0 if there is
// none. The text s must not be empty. Such an operator does not end a field of an f-string, while a
// single ! or = does.
func operatorLength(s string) int {
	switch {
	case strings.HasPrefix(s, "!="), strings.HasPrefix(s, "=="), strings.HasPrefix(s, "<="),
		strings.HasPrefix(s, ">="):
		return 2
	case s[0] == '<' || s[0] == '>':
		return 1
	}
	return 0
}

// expression parses the expression of a field. Its names are added to those of the surrounding
// parser. It is parsed as if it were in brackets, so it may have several lines.
//
//	f'{1 2}' → SyntaxError: f-string: invalid syntax. Perhaps you forgot a comma?
//	f'{1 if 0 else 2}' → '2'
//	f'{{1: 2}[1]}' → SyntaxError: f-string: single '}' is not allowed
//	f'{ {1: 2}[1] }' → '2'
func (f *fstring) expression(source string, start int) (n Node) {
	err := py.Attempt(func() {
		tokens := lex("("+source+")", 0)
		for i := range tokens {
			tokens[i].pos += start - 1
		}
		inner := &parser{reader: reader{src: f.p.src, tokens: tokens, depth: f.p.depth},
			names: f.p.names}
		inner.enter()
		n = inner.whole()
		f.p.names = inner.names
	})
	if err == nil {
		return n
	}
	err.Line, err.Column = 0, 0 // the place is that of the literal
	if err.Kind == py.SyntaxError && !strings.HasPrefix(err.Message, "f-string") {
		err.Message = "f-string: " + err.Message
	}
	py.MustEnd(err)
	return nil
}
