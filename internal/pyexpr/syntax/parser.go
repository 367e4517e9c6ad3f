package syntax

import (
	"slices"
	"strings"

	"toolnorm/internal/pyexpr/py"
)

// The grammar, from CPython's python.gram, without statements and with these refused by name:
// lambda outside of the functions that take one, stars, :=, yield and await, async comprehensions,
// bytes and complex numbers. A refusal names what it refuses, since "invalid syntax" would make the
// author look for a typing error.

// Parse returns the tree of the expression in src that begins at the offset start. It raises an
// error with a position if there is no valid expression.
func Parse(src string, start int) *Tree {
	p := &parser{reader: reader{src: src, tokens: lex(src, start)}}
	root := p.whole()
	slices.SortFunc(p.names, func(a, b *Name) int { return a.Pos - b.Pos })
	return &Tree{root, p.names}
}

// parser turns tokens into a tree by precedence climbing (Pratt). It collects names in a list,
// because a comprehension binds names only after the expression that uses them.
type parser struct {
	reader
	names []*Name // not yet found in any scope
}

// keywords are the words that cannot be names. True, False and None are constants as well.
var keywords = wordSet(
	"False None True and as assert async await break class continue def del elif else except finally for from global if import in is lambda nonlocal not or pass raise return try while with yield")

// Keyword reports whether a word cannot be a name.
func Keyword(word string) bool { return keywords[word] }

// wordSet returns the set of words in a text.
func wordSet(words string) map[string]bool {
	set := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		set[w] = true
	}
	return set
}

// place returns a node that evaluates n and gives n's errors the position pos.
func (p *parser) place(n Node, pos int) Node { return &Placed{n, pos} }

// whole parses an expression up to the end. At this level, `a, b` is a tuple.
//
//	1, 2 → (1, 2)
//	1, → (1,)
//	1 2 → SyntaxError: invalid syntax
func (p *parser) whole() Node {
	for p.peek().kind == tokenNewline {
		p.at++
	}
	n := p.expr()
	if p.is(",") {
		n = &Display{TupleKind, p.commas(n, "", p.expr)}
	}
	for p.peek().kind == tokenNewline {
		p.at++
	}
	if p.peek().kind != tokenEnd {
		p.unexpected()
	}
	return n
}

// expr parses a conditional expression. It raises an error if the expression begins with lambda or
// a star.
func (p *parser) expr() Node {
	p.enter()
	defer p.leave()
	t := p.peek()
	switch {
	case p.is("lambda"):
		p.fail(t, py.SyntaxError,
			"lambda is only available as an argument of sorted, min, max, map and filter")
	case p.is("*"), p.is("**"):
		p.fail(t, py.SyntaxError, "starred expressions are not available")
	}
	return p.conditional()
}

// conditional parses `a if b else c`. A chain of elses is parsed in a loop, because it may be long
// and must not count as nesting.
//
//	1 if True else 2 → 1
//	1 if False else 2 if False else 3 → 3
//	1 if 2 → SyntaxError: expected 'else' after 'if' expression
//	(1 if 0 else 'a') * 2 → 'aa'
func (p *parser) conditional() Node {
	var root Node
	hole := &root
	for {
		start := p.peek()
		n := p.binary(0)
		if p.is(":=") {
			p.fail(p.peek(), py.SyntaxError, "assignment expressions are not available")
		}
		if !p.accept("if") {
			*hole = n
			return root
		}
		test := p.binary(0)
		if !p.accept("else") {
			if t := p.peek(); t.kind == tokenEnd || t.text != ":" {
				p.fail(start, py.SyntaxError, "expected 'else' after 'if' expression")
			}
			p.unexpected()
		}
		cond := &Cond{Then: n, Test: test}
		*hole, hole = cond, &cond.Other
		if p.is("lambda") {
			p.fail(p.peek(), py.SyntaxError,
				"lambda is only available as an argument of sorted, min, max, map and filter")
		}
	}
}

// The levels of binary operators. The one that binds most loosely comes first.
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

// levels maps the binary operators that are not comparisons to their levels.
var levels = map[string]int{
	"or": levelOr, "and": levelAnd, "|": levelBitOr, "^": levelBitXor, "&": levelBitAnd,
	"<<": levelShift, ">>": levelShift,
	"+": levelSum, "-": levelSum, "*": levelProduct, "/": levelProduct, "//": levelProduct,
	"%": levelProduct, "@": levelProduct,
}

// binary parses operands that are joined by operators of this level or a tighter one.
//
//	1 + 2 * 3 → 7
//	(1 + 2) * 3 → 9
//	10 - 3 - 2 → 5
//	1 | 2 ^ 3 & 4 → 3
//	2 * 3 % 4 → 2
//	not 1 == 2 → True
//	1 if 0 or 1 else 2 → 1
func (p *parser) binary(level int) Node {
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

// joined returns the node for a binary operator.
func (p *parser) joined(op token, left, right Node) Node {
	switch op.text {
	case "or", "and":
		return &Logic{op.text == "or", left, right}
	}
	return p.place(&Binary{op.text, left, right}, op.pos)
}

// prefix parses an operand and the operators before it.
//
//	not not 1 → True
//	- - 5 → 5
//	-2 ** 2 → -4
//	~-1 → 0
//	1 + not 2 → SyntaxError: invalid syntax
func (p *parser) prefix(level int) Node {
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
		return &Not{p.nested(levelNot)}
	case "-", "+", "~":
		p.at++
		x := p.nested(levelUnary)
		return p.place(&Unary{t.text, x}, t.pos)
	}
	return p.powerOf()
}

// nested parses the operand of a prefix operator, which may begin with another such operator.
func (p *parser) nested(level int) Node {
	p.enter()
	defer p.leave()
	return p.binary(level)
}

// powerOf parses `a ** b`. The operator binds tighter than a sign before a, and looser than a sign
// before b.
//
//	2 ** 3 ** 2 → 512
//	2 ** -1 → 0.5
//	-2 ** 2 → -4
//	(-2) ** 2 → 4
func (p *parser) powerOf() Node {
	left := p.postfix()
	if !p.is("**") {
		return left
	}
	op := p.next()
	right := p.nested(levelUnary)
	return p.place(&Binary{"**", left, right}, op.pos)
}

// comparison reports whether a comparison operator is next.
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

// compare parses a chain of comparisons after its first operand.
//
//	1 < 2 == 2 → True
//	1 in [1] == True → False
func (p *parser) compare(first Node) Node {
	c := &Compare{First: first}
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
			py.Blame(p.src, pos, func() {
				py.Raise(py.SyntaxError,
					"'%s' is only available with None, True and False; compare values with ==", op)
			})
		}
		c.Ops, c.Rest = append(c.Ops, op), append(c.Rest, right)
	}
	return p.place(c, pos)
}

// last returns the last operand so far.
func (n *Compare) last() Node {
	if len(n.Rest) > 0 {
		return n.Rest[len(n.Rest)-1]
	}
	return n.First
}

// singleton reports whether a node is None, True or False. Only for these values does `is` have a
// meaning.
func singleton(n Node) bool {
	c, ok := n.(*Const)
	if !ok {
		return false
	}
	_, isBool := c.Value.(bool)
	return c.Value == nil || isBool
}
