package pyexpr

import "strings"

// The grammar, from CPython's python.gram, without statements and with these refused by name: lambda outside of the functions
// that take one, stars, :=, yield and await, async comprehensions, bytes and complex numbers. A refusal names what it refuses,
// since "invalid syntax" would send the author looking for a slip that is not there.

// parser turns tokens into a tree, by precedence climbing (Pratt). Names are kept in a list while they are read, since
// a comprehension says what it binds only behind the expression that uses it.
type parser struct {
	src    string
	tokens []token
	at     int
	depth  int
	names  []*nameNode // not yet found in any scope
}

// keywords are no names. True, False and None are constants besides.
var keywords = wordSet("False None True and as assert async await break class continue def del elif else except finally for from global if import in is lambda nonlocal not or pass raise return try while with yield")

// peek looks at the next token.
func (p *parser) peek() token { return p.tokens[p.at] }

// next reads a token. The end is never passed, so that looking one further is always possible.
func (p *parser) next() token {
	t := p.tokens[p.at]
	if t.kind != tokenEnd {
		p.at++
	}
	return t
}

// is says whether the next token is this operator or keyword.
func (p *parser) is(text string) bool {
	t := p.peek()
	return t.text == text && (t.kind == tokenOperator || t.kind == tokenName)
}

// accept reads the next token if it is this operator or keyword.
func (p *parser) accept(text string) bool {
	if p.is(text) {
		p.at++
		return true
	}
	return false
}

// expect reads this operator or keyword.
func (p *parser) expect(text string) {
	if !p.accept(text) {
		p.unexpected()
	}
}

// fail blames the token t, or a bracket that is still open when the parser has come to the end, or fails at the bracket
// itself: that is what a reader would look for first, and what CPython says.
//
//	(1 + → SyntaxError: '(' was never closed
//	f(1, [2 → SyntaxError: '[' was never closed
//	(1 + ] → SyntaxError: closing parenthesis ']' does not match opening parenthesis '('
//	(1 / / 2 → SyntaxError: invalid syntax
func (p *parser) fail(t token, kind, format string, args ...any) {
	if end := p.tokens[len(p.tokens)-1]; end.open != "" && p.peek().pos == end.pos && kind == SyntaxError {
		t, format, args = end, "'%s' was never closed", []any{end.open}
	}
	blaming(p.src, t.pos, func() { raise(kind, format, args...) })
}

// unexpected is CPython's answer to whatever it has no better words for.
func (p *parser) unexpected() { p.fail(p.peek(), SyntaxError, "invalid syntax") }

// place wraps a node that can raise an error, so that the error says where.
func (p *parser) place(n node, pos int) node { return &placed{n, pos} }

// enter bounds the nesting of what follows; the tree is walked by calls, as it is parsed by calls.
func (p *parser) enter() {
	if p.depth++; p.depth > mostNested {
		p.fail(p.peek(), LimitError, "the expression is nested more than %d deep", mostNested)
	}
}

// leave ends what enter began.
func (p *parser) leave() { p.depth-- }

// whole reads an expression up to the end: `a, b` is a tuple.
//
//	1, 2 → (1, 2)
//	1, → (1,)
//	1 2 → SyntaxError: invalid syntax
func (p *parser) whole() node {
	for p.peek().kind == tokenNewline {
		p.at++
	}
	n := p.exprList("")
	for p.peek().kind == tokenNewline {
		p.at++
	}
	if p.peek().kind != tokenEnd {
		p.unexpected()
	}
	return n
}

// exprList reads `a` or the tuple `a, b,` up to an operator or the end.
func (p *parser) exprList(end string) node {
	first := p.expr()
	if !p.is(",") {
		return first
	}
	items := []node{first}
	for p.accept(",") {
		if p.is(end) || p.peek().kind == tokenEnd || p.peek().kind == tokenNewline {
			break
		}
		items = append(items, p.expr())
	}
	return &tupleNode{items}
}

// expr reads a conditional expression, or what stands in its place.
func (p *parser) expr() node {
	p.enter()
	defer p.leave()
	t := p.peek()
	switch {
	case p.is("lambda"):
		p.fail(t, SyntaxError, "lambda is only available as an argument of sorted, min, max, map and filter")
	case p.is("*"), p.is("**"):
		p.fail(t, SyntaxError, "starred expressions are not available")
	}
	return p.conditional()
}

// conditional reads `a if b else c`. A ladder of elses is read in a loop: it is long in practice, and nests nothing.
//
//	1 if True else 2 → 1
//	1 if False else 2 if False else 3 → 3
//	1 if 2 → SyntaxError: expected 'else' after 'if' expression
//	(1 if 0 else 'a') * 2 → 'aa'
func (p *parser) conditional() node {
	var root node
	hole := &root
	for {
		start := p.peek()
		n := p.binary(0)
		if p.is(":=") {
			p.fail(p.peek(), SyntaxError, "assignment expressions are not available")
		}
		if !p.accept("if") {
			*hole = n
			return root
		}
		test := p.binary(0)
		if !p.accept("else") {
			if t := p.peek(); t.kind == tokenEnd || t.text != ":" {
				p.fail(start, SyntaxError, "expected 'else' after 'if' expression")
			}
			p.unexpected()
		}
		cond := &condNode{then: n, test: test}
		*hole, hole = cond, &cond.other
		if p.is("lambda") {
			p.fail(p.peek(), SyntaxError, "lambda is only available as an argument of sorted, min, max, map and filter")
		}
	}
}

// The levels of binary operators, from the loosest.
const (
	levelOr = iota + 1
	levelAnd
	levelNot
	levelCompare
	levelBitOr
	levelBitXor
	levelBitAnd
	levelShift
	levelSum
	levelProduct
	levelUnary
	levelPower
)

// levels are those of the operators that join two operands and begin no comparison.
var levels = map[string]int{
	"or": levelOr, "and": levelAnd, "|": levelBitOr, "^": levelBitXor, "&": levelBitAnd, "<<": levelShift, ">>": levelShift,
	"+": levelSum, "-": levelSum, "*": levelProduct, "/": levelProduct, "//": levelProduct, "%": levelProduct, "@": levelProduct,
}

// binary reads operands joined by operators of a level or tighter.
//
//	1 + 2 * 3 → 7
//	(1 + 2) * 3 → 9
//	10 - 3 - 2 → 5
//	1 | 2 ^ 3 & 4 → 3
//	2 * 3 % 4 → 2
//	not 1 == 2 → True
//	1 if 0 or 1 else 2 → 1
func (p *parser) binary(level int) node {
	left := p.prefix(level)
	for {
		t := p.peek()
		if t.kind != tokenOperator && t.kind != tokenName {
			return left
		}
		if level <= levelCompare && p.comparison() {
			left = p.compare(left)
			continue
		}
		its := levels[t.text]
		if its == 0 || its < level {
			return left
		}
		p.at++
		right := p.binary(its + 1)
		left = p.joined(t, left, right)
	}
}

// joined makes the node of a binary operator.
func (p *parser) joined(op token, left, right node) node {
	switch op.text {
	case "or", "and":
		return &logicNode{op.text == "or", left, right}
	}
	return p.place(&binaryNode{op.text, left, right}, op.pos)
}

// prefix reads an operand with the operators before it.
//
//	not not 1 → True
//	- - 5 → 5
//	-2 ** 2 → -4
//	~-1 → 0
//	1 + not 2 → SyntaxError: invalid syntax
func (p *parser) prefix(level int) node {
	t := p.peek()
	if t.kind != tokenOperator && t.text != "not" {
		return p.powerOf()
	}
	switch t.text {
	case "not":
		if t.kind != tokenName {
			break
		}
		if level > levelNot {
			p.unexpected()
		}
		p.at++
		return &notNode{p.nested(levelNot)}
	case "-", "+", "~":
		p.at++
		x := p.nested(levelUnary)
		return p.place(&unaryNode{t.text, x}, t.pos)
	}
	return p.powerOf()
}

// nested reads the operand of a prefix operator, which may begin with another one.
func (p *parser) nested(level int) node {
	p.enter()
	defer p.leave()
	return p.binary(level)
}

// powerOf reads `a ** b`, which binds tighter than a sign before it and looser than one behind it.
//
//	2 ** 3 ** 2 → 512
//	2 ** -1 → 0.5
//	-2 ** 2 → -4
//	(-2) ** 2 → 4
func (p *parser) powerOf() node {
	left := p.postfix()
	if !p.is("**") {
		return left
	}
	op := p.next()
	right := p.nested(levelUnary)
	return p.place(&binaryNode{"**", left, right}, op.pos)
}

// comparison says whether a comparison operator is next.
//
//	1 not in [2] → True
//	1 is not None → True
//	1 <> 2 → SyntaxError: invalid syntax
func (p *parser) comparison() bool {
	t := p.peek()
	switch t.text {
	case "<", ">", "<=", ">=", "==", "!=", "in", "is":
		return t.kind != tokenString
	case "not":
		return p.tokens[p.at+1].text == "in"
	}
	return false
}

// compare reads a chain of comparisons behind its first operand.
//
//	1 < 2 == 2 → True
//	1 in [1] == True → False
func (p *parser) compare(first node) node {
	c := &compareNode{first: first}
	pos := p.peek().pos
	for p.comparison() {
		op := p.next().text
		switch {
		case op == "not":
			p.at++
			op = "not in"
		case op == "is" && p.accept("not"):
			op = "is not"
		}
		right := p.binary(levelBitOr)
		if strings.HasPrefix(op, "is") && !singleton(right) && !singleton(c.last()) {
			blaming(p.src, pos, func() {
				raise(SyntaxError, "'%s' is only available with None, True and False; compare values with ==", op)
			})
		}
		c.ops, c.rest = append(c.ops, op), append(c.rest, right)
	}
	return p.place(c, pos)
}

// last is the operand before the next operator.
func (n *compareNode) last() node {
	if len(n.rest) > 0 {
		return n.rest[len(n.rest)-1]
	}
	return n.first
}

// singleton says that a node is None, True or False, the only values of which there is exactly one.
func singleton(n node) bool {
	c, ok := n.(*constNode)
	if !ok {
		return false
	}
	_, isBool := c.v.(bool)
	return c.v == nil || isBool
}
