package pyexpr

import "strings"

// postfix reads an atom with the calls, subscripts and attributes behind it.
//
//	'a b'.split()[0].upper() → 'A'
//	[[1, 2]][0][1] → 2
//	(1)(2) → TypeError: 'int' object is not callable
func (p *parser) postfix() node {
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

// atom reads a literal, a name or what brackets enclose.
func (p *parser) atom() node {
	t := p.next()
	switch t.kind {
	case tokenNumber:
		c := &constNode{}
		blaming(p.src, t.pos, func() { c.v = numberValue(t.text) })
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
		p.fail(t, SyntaxError, "'...' is not available in expressions")
	}
	if t.kind != tokenEnd {
		p.at--
	}
	p.unexpected()
	return nil
}

// name reads a constant or a variable.
func (p *parser) name(t token) node {
	switch t.text {
	case "None":
		return &constNode{nil}
	case "True":
		return &constNode{true}
	case "False":
		return &constNode{false}
	}
	if keywords[t.text] {
		p.at--
		p.unexpected()
	}
	if strings.HasPrefix(t.text, "_") {
		p.fail(t, NameError, "names that begin with '_' are not available: '%s'", t.text)
	}
	n := &nameNode{name: t.text, pos: t.pos}
	p.names = append(p.names, n)
	return n
}

// parentheses reads a group, a tuple or a generator behind its opening.
//
//	() → ()
//	(1) → 1
//	(1,) → (1,)
//	(1, 2,) → (1, 2)
//	(1 2) → SyntaxError: invalid syntax. Perhaps you forgot a comma?
func (p *parser) parentheses() node {
	if p.accept(")") {
		return &tupleNode{}
	}
	mark := len(p.names)
	first := p.expr()
	if p.is("for") || p.is("async") {
		return p.comprehension(compGenerator, mark, first, nil, ")")
	}
	if !p.is(",") {
		p.closed(")")
		return first
	}
	return &tupleNode{p.rest(first, ")")}
}

// rest reads the items behind the first one, and the closing bracket.
func (p *parser) rest(first node, end string) []node {
	items := []node{first}
	for p.accept(",") {
		if p.is(end) {
			break
		}
		items = append(items, p.expr())
	}
	p.closed(end)
	return items
}

// closed reads the closing bracket. An expression where it should be hints at a comma that was forgotten.
func (p *parser) closed(end string) {
	if p.accept(end) {
		return
	}
	t := p.peek()
	beginsExpression := t.kind == tokenNumber || t.kind == tokenString ||
		t.kind == tokenName && (!keywords[t.text] || t.text == "None" || t.text == "True" || t.text == "False")
	if beginsExpression {
		p.fail(t, SyntaxError, "invalid syntax. Perhaps you forgot a comma?")
	}
	p.unexpected()
}

// brackets reads a list or a list comprehension.
//
//	[] → []
//	[1, 2,] → [1, 2]
//	[1 2] → SyntaxError: invalid syntax. Perhaps you forgot a comma?
//	[,] → SyntaxError: invalid syntax
func (p *parser) brackets() node {
	if p.accept("]") {
		return &listNode{}
	}
	mark := len(p.names)
	first := p.expr()
	if p.is("for") || p.is("async") {
		return p.comprehension(compList, mark, first, nil, "]")
	}
	return &listNode{p.rest(first, "]")}
}

// braces reads a dict or a set, or a comprehension of one.
//
//	{} → {}
//	{1} → {1}
//	{'a': 1,} → {'a': 1}
//	{1: 2, 3} → SyntaxError: ':' expected after dictionary key
func (p *parser) braces() node {
	open := p.tokens[p.at-1]
	if p.accept("}") {
		return p.place(&dictNode{}, open.pos)
	}
	mark := len(p.names)
	first := p.expr()
	if p.is(":") {
		return p.dict(open, mark, first)
	}
	if p.is("for") || p.is("async") {
		return p.comprehension(compSet, mark, first, nil, "}")
	}
	return p.place(&setNode{items: p.rest(first, "}")}, open.pos)
}

// dict reads a dict from the colon behind its first key.
//
//	{'a': } → SyntaxError: expression expected after dictionary key and ':'
//	{'a' 1} → SyntaxError: invalid syntax. Perhaps you forgot a comma?
//	{'a': 1 'b': 2} → SyntaxError: invalid syntax. Perhaps you forgot a comma?
//	{1: 'a', 1.0: 'b'} → {1: 'b'}
func (p *parser) dict(open token, mark int, key node) node {
	d := &dictNode{}
	for {
		colon := p.peek()
		if !p.accept(":") {
			if p.is("}") || p.is(",") {
				p.fail(p.tokens[p.at-1], SyntaxError, "':' expected after dictionary key")
			}
			p.closed(":")
			return nil
		}
		if p.is("}") || p.is(",") {
			p.fail(colon, SyntaxError, "expression expected after dictionary key and ':'")
		}
		v := p.expr()
		if len(d.keys) == 0 && (p.is("for") || p.is("async")) {
			return p.comprehension(compDict, mark, key, v, "}")
		}
		d.keys, d.vals = append(d.keys, key), append(d.vals, v)
		if !p.accept(",") || p.is("}") {
			p.closed("}")
			return p.place(d, open.pos)
		}
		key = p.expr()
	}
}

// subscript reads an index or a slice behind its bracket.
func (p *parser) subscript(x node, open token) node {
	first := p.index()
	if p.is(",") {
		items := []node{first}
		for p.accept(",") {
			if p.is("]") {
				break
			}
			items = append(items, p.index())
		}
		first = &tupleNode{items}
	}
	p.closed("]")
	return p.place(&subscriptNode{x, first}, open.pos)
}

// index reads `i` or `a:b:c`.
//
//	'abcdef'[1:5:2] → 'bd'
//	'abc'[:] → 'abc'
//	[1, 2, 3][::] → [1, 2, 3]
//	[1][1, 2] → TypeError: list indices must be integers or slices, not tuple
//	[1][] → SyntaxError: invalid syntax
func (p *parser) index() node {
	c := &cutNode{}
	parts := []*node{&c.start, &c.stop, &c.step}
	colons := 0
	for {
		if !p.is(":") && !p.is("]") && !p.is(",") || colons == 0 && !p.is(":") {
			n := p.expr()
			*parts[colons] = n
		}
		if colons == 2 || !p.accept(":") {
			break
		}
		colons++
	}
	if colons == 0 {
		return c.start
	}
	return c
}

// attribute reads the name behind a dot.
func (p *parser) attribute(x node) node {
	t := p.peek()
	if t.kind != tokenName || keywords[t.text] {
		p.unexpected()
	}
	p.at++
	if strings.HasPrefix(t.text, "_") {
		p.fail(t, AttributeError, "names that begin with '_' are not available: '%s'", t.text)
	}
	return p.place(&attributeNode{x, t.text}, t.pos)
}
