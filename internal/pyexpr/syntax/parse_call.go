package syntax

import (
	"slices"

	"toolnorm/internal/pyexpr/py"
)

// takesLambda are the functions that accept a lambda as an argument.
var takesLambda = wordSet("sorted min max map filter")

// call parses the arguments of a call after its opening parenthesis.
func (p *parser) call(callee Node, open token) Node {
	c := &Call{Callee: callee}
	name, ok := callee.(*Name)
	lambdas := ok && takesLambda[name.Name]
	for !p.is(")") {
		p.argument(c, lambdas)
		if !p.accept(",") {
			break
		}
	}
	if ok {
		open = token{pos: name.Pos}
	}
	p.closed(")")
	return p.place(c, open.pos)
}

// argument parses one argument: a value, `name=value` or a generator. A lambda is accepted if
// lambdas is true.
//
//	sum(x for x in [1, 2]) → 3
//	sum((x for x in [1, 2]), 10) → 13
//	sum(x for x in [1], 10) → SyntaxError: Generator expression must be parenthesized
//	round(number=1.5) → 2
//	len(1 = 2) → SyntaxError: expression cannot contain assignment, perhaps you meant "=="?
func (p *parser) argument(c *Call, lambdas bool) {
	t := p.peek()
	if t.kind == tokenName && p.tokens[p.at+1].text == "=" &&
		p.tokens[p.at+1].kind == tokenOperator {
		p.keyword(c, lambdas)
		return
	}
	mark := len(p.names)
	n := p.lambdaOr(lambdas)
	if p.is("for") || p.is("async") {
		n = p.comprehension(GeneratorKind, mark, n, nil, "")
		if len(c.Args)+len(c.Keywords) > 0 || p.is(",") && p.tokens[p.at+1].text != ")" {
			p.fail(t, py.SyntaxError, "Generator expression must be parenthesized")
		}
	}
	if p.is("=") {
		p.fail(t, py.SyntaxError, "expression cannot contain assignment, perhaps you meant \"==\"?")
	}
	if len(c.Keywords) > 0 {
		p.fail(p.peek(), py.SyntaxError, "positional argument follows keyword argument")
	}
	c.Args = append(c.Args, n)
}

// keyword parses an argument `name=value`.
//
//	dict(a=1, b=2) → {'a': 1, 'b': 2}
//	dict(a=1, a=2) → SyntaxError: keyword argument repeated: a
//	dict(a=1, 2) → SyntaxError: positional argument follows keyword argument
//	dict(None=1) → SyntaxError: cannot assign to None
func (p *parser) keyword(c *Call, lambdas bool) {
	t := p.next()
	if keywords[t.text] {
		if t.text == "True" || t.text == "False" || t.text == "None" {
			p.fail(t, py.SyntaxError, "cannot assign to %s", t.text)
		}
		p.fail(t, py.SyntaxError, "invalid syntax")
	}
	p.at++
	if slices.Contains(c.Keywords, t.text) {
		p.fail(t, py.SyntaxError, "keyword argument repeated: %s", t.text)
	}
	c.Keywords, c.Values = append(c.Keywords, t.text), append(c.Values, p.lambdaOr(lambdas))
}

// lambdaOr parses an expression or, if lambdas is true, a lambda.
func (p *parser) lambdaOr(lambdas bool) Node {
	if lambdas && p.is("lambda") {
		return p.lambda()
	}
	return p.expr()
}

// lambda parses `lambda x, y: body`. It raises an error for parameters with defaults or stars.
//
//	list(map(lambda x, y: x + y, [1], [2])) → [3]
//	list(map(lambda x: [x for x in [x, 2]], [1])) → [[1, 2]]
//	max([1, 2], key=lambda x, x: x) → SyntaxError: duplicate argument 'x' in function definition
//	sorted([1], key=lambda x) → SyntaxError: invalid syntax
func (p *parser) lambda() Node {
	p.enter()
	defer p.leave()
	p.at++
	l := &Lambda{}
	for !p.is(":") {
		t := p.next()
		if t.kind != tokenName || keywords[t.text] {
			p.at--
			p.unexpected()
		}
		if slices.Contains(l.Params, t.text) {
			p.fail(t, py.SyntaxError, "duplicate argument '%s' in function definition", t.text)
		}
		l.Params = append(l.Params, t.text)
		if p.is("=") {
			p.fail(p.peek(), py.SyntaxError, "a lambda's arguments have no defaults in expressions")
		}
		if !p.accept(",") {
			break
		}
	}
	p.expect(":")
	mark := len(p.names)
	l.Body = p.expr()
	p.bind(l.Params, mark, len(p.names), len(p.names))
	return l
}

// comprehension parses the loops that follow an element such as x, given as key and val, and then
// the closing bracket end, unless end is empty. The parameter mark is the length that p.names had
// before the element was parsed.
//
//	[x for x in range(5) if x % 2 if x > 1] → [3]
//	[(x, y) for x in [1, 2] for y in [x] * x] → [(1, 1), (2, 2), (2, 2)]
//	[x for x in [1, 2] if] → SyntaxError: invalid syntax
//	[for x in [1]] → SyntaxError: invalid syntax
func (p *parser) comprehension(kind Kind, mark int, key, val Node, end string) Node {
	c := &Comprehension{Kind: kind, Key: key, Value: val}
	if p.is("async") {
		p.fail(p.peek(), py.SyntaxError, "asynchronous comprehensions are not available")
	}
	var outerFrom, outerTo int // the names of the first iterable, which is computed outside
	for p.accept("for") {
		loop := p.targets(c)
		from := len(p.names)
		start := p.peek()
		loop.In = p.binary(levelOr)
		loop.In = p.place(&Iter{loop.In}, start.pos)
		if len(c.Loops) == 0 {
			outerFrom, outerTo = from, len(p.names)
		}
		for p.accept("if") {
			loop.Conditions = append(loop.Conditions, p.binary(levelOr))
		}
		c.Loops = append(c.Loops, loop)
	}
	if p.is("async") {
		p.fail(p.peek(), py.SyntaxError, "asynchronous comprehensions are not available")
	}
	p.bind(c.Names, mark, outerFrom, outerTo)
	if end == "" {
		return c
	}
	n := p.place(c, p.tokens[p.at-1].pos)
	p.expect(end)
	return n
}

// targets parses the targets of a loop, `a`, `a, b` or `(a, b), c`, and the `in` after them.
func (p *parser) targets(c *Comprehension) *Loop {
	l := &Loop{}
	t := p.target(c)
	if p.is(",") {
		t = Target{Many: []Target{t}, Slot: -1}
		for p.accept(",") {
			if p.is("in") {
				break
			}
			t.Many = append(t.Many, p.target(c))
		}
	}
	l.Target = t
	p.closed("in")
	return l
}

// target parses one target of a loop.
//
//	[a for a, in [(1,)]] → [1]
//	[a + b for (a, b) in [(1, 2)]] → [3]
//	[a for a, (b, [c]) in [(1, (2, [3]))]] → [1]
//	[1 for 1 in [2]] → SyntaxError: cannot assign to literal
func (p *parser) target(c *Comprehension) Target {
	t := p.next()
	switch {
	case t.kind == tokenName && !keywords[t.text]:
		if i := slices.Index(c.Names, t.text); i >= 0 {
			return Target{Slot: i}
		}
		c.Names = append(c.Names, t.text)
		return Target{Slot: len(c.Names) - 1}
	case t.text == "(" || t.text == "[":
		return p.targetGroup(c, closing[t.text])
	case t.kind == tokenNumber || t.kind == tokenString:
		p.fail(t, py.SyntaxError, "cannot assign to literal")
	case t.text == "*":
		p.fail(t, py.SyntaxError, "starred expressions are not available")
	}
	p.at--
	p.unexpected()
	return Target{}
}

// targetGroup parses the targets inside brackets, up to the closing bracket end.
func (p *parser) targetGroup(c *Comprehension, end string) Target {
	p.enter()
	defer p.leave()
	group := Target{Slot: -1}
	comma := false
	for !p.is(end) {
		group.Many = append(group.Many, p.target(c))
		if !p.accept(",") {
			break
		}
		comma = true
	}
	if end == ")" && !comma && len(group.Many) == 1 {
		group = group.Many[0]
	}
	p.expect(end)
	return group
}

// bind is called at the end of a scope, such as that of a lambda, which declares the names in the
// parameter scope. The names that were used inside it are p.names[mark:]. Those that the scope
// declares get their slot and are removed from p.names. The variables of the others are one frame
// further out, so their Hops are increased. The names p.names[outerFrom:outerTo] belong to the
// surrounding scope and stay unchanged.
//
//	[[x for x in range(x)] for x in [1, 2]] → [[0], [0, 1]]
//	[x for x in [1] for x in [x + 1]] → [2]
//	[y for x in [1] for y in [x]] → [1]
func (p *parser) bind(scope []string, mark, outerFrom, outerTo int) {
	left := p.names[:mark]
	for i, n := range p.names[mark:] {
		i += mark
		if i >= outerFrom && i < outerTo {
			left = append(left, n)
			continue
		}
		if n.Slot = slices.Index(scope, n.Name); n.Slot < 0 {
			n.Hops++
			left = append(left, n)
		}
	}
	p.names = left
}
