// Package syntax reads the text of an expression into a tree: Python's grammar of expressions, with
// CPython's errors.
//
//	lexer.go           cuts the source into tokens
//	reader.go          reads the tokens one by one
//	parser.go          operators by their precedence
//	parse_atom.go      names, brackets, subscripts and attributes
//	parse_call.go      calls, lambdas and comprehensions
//	literal.go         strings; fstring.go has those with expressions in them
//	number_literal.go  numbers
//	tree.go            the tree
package syntax

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"toolnorm/internal/pyexpr/chars"
	"toolnorm/internal/pyexpr/number"
	"toolnorm/internal/pyexpr/py"
)

// Tokens. The source is cut up as a whole before it is parsed, since it is short (16 KiB at most)
// and the parser then may look ahead freely. Brackets are matched here, as in CPython's tokenizer,
// so that a bracket without its partner is reported where it was opened, and not as "invalid
// syntax" somewhere after it.

// kind is the kind of a token.
type kind uint8

const (
	tokenEnd kind = iota
	tokenName
	tokenNumber
	tokenString
	tokenOperator
	tokenNewline
)

// token is a word of the source. The text of a string token is the whole literal with its prefix
// and quotes.
type token struct {
	kind     kind
	text     string
	pos, end int
	open     string // of the last token: the bracket that was never closed
}

// operators are ordered from the longest to the shortest, so that the first match is the right one.
var operators = []string{
	"**=", "//=", ">>=", "<<=", "...",
	"**", "//", "<<", ">>", "<=", ">=", "==", "!=", "->", ":=", "+=", "-=", "*=", "/=", "%=", "&=",
	"|=", "^=", "@=", "+", "-", "*", "/", "%", "@", "&", "|", "^", "~", "<", ">", "(", ")", "[",
	"]", "{", "}", ",", ":", ".", "=", ";",
}

// lexer splits a source into tokens. As in Python, line ends inside brackets mean nothing.
type lexer struct {
	src     string
	pos     int
	tokens  []token
	opening []token // the brackets that are open
}

// lex returns the tokens of src[pos:]. If the source contains something that is no token in Python,
// it raises an error at that position.
func lex(src string, pos int) []token {
	l := &lexer{src: src, pos: pos}
	if err := py.Attempt(l.all); err != nil {
		py.MustEnd(err.At(src, l.pos))
	}
	if n := len(l.opening); n > 0 { // an error at the end will be reported at the bracket
		end := &l.tokens[len(l.tokens)-1]
		end.open, end.pos = l.opening[n-1].text, l.opening[n-1].pos
	}
	return l.tokens
}

// all reads all tokens of the source, and adds one for its end.
func (l *lexer) all() {
	for l.blanks(); l.pos < len(l.src); l.blanks() {
		l.next()
	}
	l.add(tokenEnd, l.pos)
}

// add adds a token that ends at the offset end, and sets the lexer's position to end.
func (l *lexer) add(k kind, end int) {
	l.tokens = append(l.tokens, token{kind: k, text: l.src[l.pos:end], pos: l.pos, end: end})
	l.pos = end
}

// blanks skips the text between tokens: spaces, comments, a backslash at the end of a line, and
// line ends inside brackets.
//
//	(1 + → SyntaxError: '(' was never closed
func (l *lexer) blanks() {
	for l.pos < len(l.src) {
		rest := l.src[l.pos:]
		switch c := rest[0]; {
		case c == ' ' || c == '\t' || c == '\f' || c == '\n' && len(l.opening) > 0, c == '\r':
			l.pos++
		case c == '\\' && strings.HasPrefix(rest, "\\\n"):
			l.pos += 2
		case c == '\\' && strings.HasPrefix(rest, "\\\r\n"):
			l.pos += 3
		case c == '#':
			if n := strings.IndexByte(rest, '\n'); n >= 0 {
				l.pos += n
			} else {
				l.pos = len(l.src)
			}
		default:
			return
		}
	}
}

// next reads one token.
func (l *lexer) next() {
	rest := l.src[l.pos:]
	c := rest[0]
	switch {
	case c == '\n':
		l.add(tokenNewline, l.pos+1)
		return
	case number.IsDigit(c), c == '.' && len(rest) > 1 && number.IsDigit(rest[1]):
		l.number()
		return
	}
	if n := stringPrefix(rest); n >= 0 {
		l.literal(n)
		return
	}
	if n := nameLength(rest); n > 0 {
		l.add(tokenName, l.pos+n)
		return
	}
	for _, op := range operators {
		if strings.HasPrefix(rest, op) {
			l.operator(op)
			return
		}
	}
	l.stray(rest)
}

// stray raises the error for a character that begins no token.
//
//	1 ? 2 → SyntaxError: invalid syntax
//	a ! b → SyntaxError: invalid syntax
//	1 \ 2 → SyntaxError: unexpected character after line continuation character
func (l *lexer) stray(rest string) {
	r, _ := utf8.DecodeRuneInString(rest)
	switch {
	case r == '\\':
		py.Raise(py.SyntaxError, "unexpected character after line continuation character")
	case r == '$' || r == '?' || r == '!' || r == '`':
		py.Raise(py.SyntaxError, "invalid syntax")
	case r > 0x7f && chars.Printable(r):
		py.Raise(py.SyntaxError, "invalid character '%c' (U+%04X)", r, r)
	}
	py.Raise(py.SyntaxError, "invalid non-printable character U+%04X", r)
}

// operator reads an operator and records the brackets that are open.
func (l *lexer) operator(op string) {
	switch op {
	case "(", "[", "{":
		l.opening = append(l.opening, token{text: op, pos: l.pos})
		if len(l.opening) > mostNested {
			py.Raise(py.LimitError, "brackets are nested more than %d deep", mostNested)
		}
	case ")", "]", "}":
		l.close(op)
	}
	l.add(tokenOperator, l.pos+len(op))
}

// closing maps each opening bracket to its closing one.
var closing = map[string]string{"(": ")", "[": "]", "{": "}"}

// close closes the innermost bracket, and raises an error unless op matches it.
//
//	(1] → SyntaxError: closing parenthesis ']' does not match opening parenthesis '('
//	1) → SyntaxError: unmatched ')'
func (l *lexer) close(op string) {
	n := len(l.opening)
	if n == 0 {
		py.Raise(py.SyntaxError, "unmatched '%s'", op)
	}
	open := l.opening[n-1]
	if closing[open.text] != op {
		opened, here := strings.Count(l.src[:open.pos], "\n")+1,
			strings.Count(l.src[:l.pos], "\n")+1
		if opened != here {
			py.Raise(py.SyntaxError,
				"closing parenthesis '%s' does not match opening parenthesis '%s' on line %d", op,
				open.text, opened)
		}
		py.Raise(py.SyntaxError, "closing parenthesis '%s' does not match opening parenthesis '%s'",
			op, open.text)
	}
	l.opening = l.opening[:n-1]
}

// stringPrefix returns the length of the prefix of the string literal at the start of s, or -1 if
// there is no literal.
func stringPrefix(s string) int {
	for i := 0; i < len(s) && i <= 2; i++ {
		switch s[i] {
		case '"', '\'':
			return i
		case 'r', 'R', 'b', 'B', 'u', 'U', 'f', 'F':
		default:
			return -1
		}
	}
	return -1
}

// literal reads a string literal whose prefix has n letters. It raises an error if the literal does
// not end.
//
//	'a' "b" '''c''' → 'abc'
//	'it''s' → 'its'
//	'\'' + "\"" → '\'"'
func (l *lexer) literal(n int) {
	start := l.pos + n
	quote := l.src[start : start+1]
	if triple := strings.Repeat(quote, 3); strings.HasPrefix(l.src[start:], triple) {
		quote = triple
	}
	for i := start + len(quote); i < len(l.src); i++ {
		switch {
		case l.src[i] == '\\':
			i++
		case strings.HasPrefix(l.src[i:], quote):
			l.add(tokenString, i+len(quote))
			return
		case l.src[i] == '\n' && len(quote) == 1:
			l.unterminated(quote, i)
		}
	}
	l.unterminated(quote, len(l.src))
}

// unterminated raises the error for a literal that does not end. The message has the line at which
// the search for its end stopped.
//
//	'abc → SyntaxError: unterminated string literal (detected at line 1)
//	'''abc → SyntaxError: unterminated triple-quoted string literal (detected at line 1)
func (l *lexer) unterminated(quote string, end int) {
	kind := "string"
	if len(quote) == 3 {
		kind = "triple-quoted string"
	}
	py.Raise(py.SyntaxError, "unterminated %s literal (detected at line %d)", kind,
		strings.Count(l.src[:end], "\n")+1)
}

// IsName reports whether a text is an identifier.
func IsName(s string) bool { return s != "" && nameLength(s) == len(s) }

// nameLength returns the length of the identifier at the start of s, or 0 if there is none.
func nameLength(s string) int {
	n := 0
	for n < len(s) {
		r, size := utf8.DecodeRuneInString(s[n:])
		letter := r == '_' || unicode.IsLetter(r) || unicode.Is(unicode.Nl, r)
		if !letter && (n == 0 || !unicode.IsDigit(r) && !unicode.IsMark(r) &&
			!unicode.Is(unicode.Pc, r)) {
			break
		}
		n += size
	}
	return n
}
