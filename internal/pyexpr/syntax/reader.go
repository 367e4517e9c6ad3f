package syntax

import "toolnorm/internal/pyexpr/py"

// mostNested bounds the depth of nested brackets, calls and prefix operators. The tree is parsed
// and evaluated recursively, and a program cannot recover from a stack overflow.
const mostNested = 64

// reader returns the tokens of an expression one by one, and raises errors at their positions.
type reader struct {
	src    string
	tokens []token
	at     int
	depth  int
}

// peek returns the next token without reading it.
func (r *reader) peek() token { return r.tokens[r.at] }

// next returns the next token and moves to the one after it. It never moves past the last one, so
// peek is always possible.
func (r *reader) next() token {
	t := r.tokens[r.at]
	if t.kind != tokenEnd {
		r.at++
	}
	return t
}

// is reports whether the next token is the given operator or keyword.
func (r *reader) is(text string) bool {
	t := r.peek()
	return t.text == text && (t.kind == tokenOperator || t.kind == tokenName)
}

// accept skips the next token if it is the given operator or keyword, and reports whether it was.
func (r *reader) accept(text string) bool {
	if r.is(text) {
		r.at++
		return true
	}
	return false
}

// expect skips the given operator or keyword, and raises an error if that does not come next.
func (r *reader) expect(text string) {
	if !r.accept(text) {
		r.unexpected()
	}
}

// fail raises an error at the token t. If the parser is at the end of the source and a bracket is
// open, it reports the bracket instead, as CPython does.
//
//	(1 + → SyntaxError: '(' was never closed
//	f(1, [2 → SyntaxError: '[' was never closed
//	(1 + ] → SyntaxError: closing parenthesis ']' does not match opening parenthesis '('
//	(1 / / 2 → SyntaxError: invalid syntax
func (r *reader) fail(t token, kind, format string, args ...any) {
	if end := r.tokens[len(r.tokens)-1]; end.open != "" && r.peek().pos == end.pos &&
		kind == py.SyntaxError {
		t, format, args = end, "'%s' was never closed", []any{end.open}
	}
	py.Blame(r.src, t.pos, func() { py.Raise(kind, format, args...) })
}

// unexpected raises CPython's general error at the next token, if there is no better message.
func (r *reader) unexpected() { r.fail(r.peek(), py.SyntaxError, "invalid syntax") }

// enter begins a level of nesting. It raises an error if there are too many levels.
func (r *reader) enter() {
	if r.depth++; r.depth > mostNested {
		r.fail(r.peek(), py.LimitError, "the expression is nested more than %d deep", mostNested)
	}
}

// leave ends a level of nesting.
func (r *reader) leave() { r.depth-- }
