package syntax

import (
	"strings"

	"toolnorm/internal/pyexpr/number"
	"toolnorm/internal/pyexpr/py"
)

// postfix parses an atom and the calls, subscripts and attributes after it. Like all methods of the
// parser, it raises an error if the source is not an expression.
//
//	'a b'.split()[0].upper() → 'A'
//	[[1, 2]][0][1] → 2
//	(1)(2) → TypeError: 'int' object is not callable
func (p *parser) postfix() Node {
	n := p.atom()
	for {
		t := p.peek()
		switch {
		case p.accept("("):
			n = p.call(n, t)
		case p.accept("["):
			n = p.subscript(n, t)
		case p.accept("."):
			n = p.attribute(n)
		default:
			return n
		}
	}
}

// atom parses a literal, a name or an expression in brackets.
func (p *parser) atom() Node {
	t := p.next()
	switch t.kind {
	case tokenNumber:
		c := &Const{}
		py.Blame(p.src, t.pos, func() { c.Value = number.Literal(t.text) })
		return c
	case tokenString:
		p.at--
		return p.strings()
	case tokenName:
		return p.name(t)
	}
	switch t.text {
	case "(":
		return p.parentheses()
	case "[":
		return p.brackets()
	case "{":
		return p.braces()
	case "...":
		p.fail(t, py.SyntaxError, "'...' is not available in expressions")
	}
	if t.kind != tokenEnd {
		p.at--
	}
	p.unexpected()
	return nil
}

// name returns the node of a constant or a variable. It raises a SyntaxError for a keyword and a
// NameError for a name that begins with an underscore.
func (p *parser) name(t token) Node {
	switch t.text {
	case "None":
		return &Const{nil}
	case "True":
		return &Const{true}
	case "False":
		return &Const{false}
	}
	if keywords[t.text] {
		p.at--
		p.unexpected()
	}
	if strings.HasPrefix(t.text, "_") {
		p.fail(t, py.NameError, "names that begin with '_' are not available: '%s'", t.text)
	}
	n := &Name{Name: t.text, Pos: t.pos}
	p.names = append(p.names, n)
	return n
}

// parentheses parses a group, a tuple or a generator after its opening parenthesis.
//
//	() → ()
//	(1) → 1
//	(1,) → (1,)
//	(1, 2,) → (1, 2)
//	(1 2) → SyntaxError: invalid syntax. Perhaps you forgot a comma?
func (p *parser) parentheses() Node {
	if p.accept(")") {
		return &Display{Kind: TupleKind}
	}
	mark := len(p.names)
	first := p.expr()
	if p.is("for") || p.is("async") {
		return p.comprehension(GeneratorKind, mark, first, nil, ")")
	}
	if !p.is(",") {
		p.closed(")")
		return first
	}
	return &Display{TupleKind, p.rest(first, ")")}
}

// rest parses the items after the first one and then the closing bracket end. It returns all items,
// including the first.
func (p *parser) rest(first Node, end string) []Node {
	items := p.commas(first, end, p.expr)
	p.closed(end)
	return items
}

// commas parses the items after the first one, each with a comma before it, and returns all items.
// There may be a comma before the closing bracket end, too.
func (p *parser) commas(first Node, end string, read func() Node) []Node {
	items := []Node{first}
	for p.accept(",") && !p.is(end) && p.peek().kind != tokenEnd && p.peek().kind != tokenNewline {
		items = append(items, read())
	}
	return items
}

// closed reads the closing bracket end. If anything else follows, it raises an error; if that is an
// expression, the error asks whether a comma was forgotten.
func (p *parser) closed(end string) {
	if p.accept(end) {
		return
	}
	t := p.peek()
	beginsExpression := t.kind == tokenNumber || t.kind == tokenString ||
		t.kind == tokenName && (!keywords[t.text] || t.text == "None" || t.text == "True" ||
			t.text == "False")
	if beginsExpression {
		p.fail(t, py.SyntaxError, "invalid syntax. Perhaps you forgot a comma?")
	}
	p.unexpected()
}

// brackets parses a list or a list comprehension after its opening bracket.
//
//	[] → []
//	[1, 2,] → [1, 2]
//	[1 2] → SyntaxError: invalid syntax. Perhaps you forgot a comma?
//	[,] → SyntaxError: invalid syntax
func (p *parser) brackets() Node {
	if p.accept("]") {
		return &Display{Kind: ListKind}
	}
	mark := len(p.names)
	first := p.expr()
	if p.is("for") || p.is("async") {
		return p.comprehension(ListKind, mark, first, nil, "]")
	}
	return &Display{ListKind, p.rest(first, "]")}
}

// braces parses a dict, a set, or a dict or set comprehension after its opening brace.
//
//	{} → {}
//	{1} → {1}
//	{'a': 1,} → {'a': 1}
//	{1: 2, 3} → SyntaxError: ':' expected after dictionary key
func (p *parser) braces() Node {
	open := p.tokens[p.at-1]
	if p.accept("}") {
		return p.place(&Dict{}, open.pos)
	}
	mark := len(p.names)
	first := p.expr()
	if p.is(":") {
		return p.dict(open, mark, first)
	}
	if p.is("for") || p.is("async") {
		return p.comprehension(SetKind, mark, first, nil, "}")
	}
	return p.place(&Display{SetKind, p.rest(first, "}")}, open.pos)
}

// dict parses a dict or a dict comprehension from the colon after its first key.
//
//	{'a': } → SyntaxError: expression expected after dictionary key and ':'
//	{'a' 1} → SyntaxError: invalid syntax. Perhaps you forgot a comma?
//	{'a': 1 'b': 2} → SyntaxError: invalid syntax. Perhaps you forgot a comma?
//	{1: 'a', 1.0: 'b'} → {1: 'b'}
func (p *parser) dict(open token, mark int, key Node) Node {
	d := &Dict{}
	for {
		colon := p.peek()
		if !p.accept(":") {
			if p.is("}") || p.is(",") {
				p.fail(p.tokens[p.at-1], py.SyntaxError, "':' expected after dictionary key")
			}
			p.closed(":")
			return nil
		}
		if p.is("}") || p.is(",") {
			p.fail(colon, py.SyntaxError, "expression expected after dictionary key and ':'")
		}
		v := p.expr()
		if len(d.Keys) == 0 && (p.is("for") || p.is("async")) {
			return p.comprehension(DictKind, mark, key, v, "}")
		}
		d.Keys, d.Values = append(d.Keys, key), append(d.Values, v)
		if !p.accept(",") || p.is("}") {
			p.closed("}")
			return p.place(d, open.pos)
		}
		key = p.expr()
	}
}

// subscript parses an index or a slice of x after its opening bracket.
func (p *parser) subscript(x Node, open token) Node {
	first := p.index()
	if p.is(",") {
		first = &Display{TupleKind, p.commas(first, "]", p.index)}
	}
	p.closed("]")
	return p.place(&Subscript{x, first}, open.pos)
}

// index parses an index `i` or a slice `a:b:c`.
//
//	'abcdef'[1:5:2] → 'bd'
//	'abc'[:] → 'abc'
//	[1, 2, 3][::] → [1, 2, 3]
//	[1][1, 2] → TypeError: list indices must be integers or slices, not tuple
//	[1][] → SyntaxError: invalid syntax
func (p *parser) index() Node {
	c := &Cut{}
	parts := []*Node{&c.Start, &c.Stop, &c.Step}
	colons := 0
	for {
		if !p.is(":") && !p.is("]") && !p.is(",") || colons == 0 && !p.is(":") {
			*parts[colons] = p.expr()
		}
		if colons == 2 || !p.accept(":") {
			break
		}
		colons++
	}
	if colons == 0 {
		return c.Start
	}
	return c
}

// attribute parses the name after a dot. It raises an error for a name that begins with '_'.
func (p *parser) attribute(x Node) Node {
	t := p.peek()
	if t.kind != tokenName || keywords[t.text] {
		p.unexpected()
	}
	p.at++
	if strings.HasPrefix(t.text, "_") {
		p.fail(t, py.AttributeError, "names that begin with '_' are not available: '%s'", t.text)
	}
	return p.place(&Attribute{x, t.text}, t.pos)
}
