package pyexpr

import "strings"

// postfix reads an atom with the calls, subscripts and attributes behind it.
//
//	'a b'.split()[0].upper() → 'A'
//	[[1, 2]][0][1] → 2
//	(1)(2) → TypeError: 'int' object is not callable
func (p *parser) postfix() (node, error) {
	n, err := p.atom()
	for err == nil {
		t := p.peek()
		switch {
		case p.accept("("):
			n, err = p.call(n, t)
		case p.accept("["):
			n, err = p.subscript(n, t)
		case p.accept("."):
			n, err = p.attribute(n)
		default:
			return n, nil
		}
	}
	return nil, err
}

// atom reads a literal, a name or what brackets enclose.
func (p *parser) atom() (node, error) {
	t := p.next()
	switch t.kind {
	case tokenNumber:
		v, err := numberValue(t.text)
		if err != nil {
			return nil, at(err, *p.src, t.pos)
		}
		return &constNode{v}, nil
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
		return nil, p.fail(t, SyntaxError, "'...' is not available in expressions")
	}
	if t.kind != tokenEnd {
		p.at--
	}
	return nil, p.unexpected()
}

// name reads a constant or a variable.
func (p *parser) name(t token) (node, error) {
	switch t.text {
	case "None":
		return &constNode{nil}, nil
	case "True":
		return &constNode{true}, nil
	case "False":
		return &constNode{false}, nil
	}
	if keywords[t.text] {
		p.at--
		return nil, p.unexpected()
	}
	if strings.HasPrefix(t.text, "_") {
		return nil, p.fail(t, NameError, "names that begin with '_' are not available: '%s'", t.text)
	}
	n := &nameNode{name: t.text, pos: t.pos}
	p.names = append(p.names, n)
	return n, nil
}

// parentheses reads a group, a tuple or a generator behind its opening.
//
//	() → ()
//	(1) → 1
//	(1,) → (1,)
//	(1, 2,) → (1, 2)
//	(1 2) → SyntaxError: invalid syntax. Perhaps you forgot a comma?
func (p *parser) parentheses() (node, error) {
	if p.accept(")") {
		return &tupleNode{}, nil
	}
	mark := len(p.names)
	first, err := p.expr()
	if err != nil {
		return nil, err
	}
	if p.is("for") || p.is("async") {
		return p.comprehension(compGenerator, mark, first, nil, ")")
	}
	if !p.is(",") {
		return first, p.closed(")")
	}
	items, err := p.rest(first, ")")
	return &tupleNode{items}, err
}

// rest reads the items behind the first one, and the closing bracket.
func (p *parser) rest(first node, end string) ([]node, error) {
	items := []node{first}
	for p.accept(",") {
		if p.is(end) {
			break
		}
		n, err := p.expr()
		if err != nil {
			return nil, err
		}
		items = append(items, n)
	}
	return items, p.closed(end)
}

// closed reads the closing bracket. An expression where it should be hints at a comma that was forgotten.
func (p *parser) closed(end string) error {
	if p.accept(end) {
		return nil
	}
	t := p.peek()
	beginsExpression := t.kind == tokenNumber || t.kind == tokenString ||
		t.kind == tokenName && (!keywords[t.text] || t.text == "None" || t.text == "True" || t.text == "False")
	if beginsExpression {
		return p.fail(t, SyntaxError, "invalid syntax. Perhaps you forgot a comma?")
	}
	return p.unexpected()
}

// brackets reads a list or a list comprehension.
//
//	[] → []
//	[1, 2,] → [1, 2]
//	[1 2] → SyntaxError: invalid syntax. Perhaps you forgot a comma?
//	[,] → SyntaxError: invalid syntax
func (p *parser) brackets() (node, error) {
	if p.accept("]") {
		return &listNode{}, nil
	}
	mark := len(p.names)
	first, err := p.expr()
	if err != nil {
		return nil, err
	}
	if p.is("for") || p.is("async") {
		return p.comprehension(compList, mark, first, nil, "]")
	}
	items, err := p.rest(first, "]")
	return &listNode{items}, err
}

// braces reads a dict or a set, or a comprehension of one.
//
//	{} → {}
//	{1} → {1}
//	{'a': 1,} → {'a': 1}
//	{1: 2, 3} → SyntaxError: ':' expected after dictionary key
func (p *parser) braces() (node, error) {
	open := p.tokens[p.at-1]
	if p.accept("}") {
		return p.place(&dictNode{}, open.pos), nil
	}
	mark := len(p.names)
	first, err := p.expr()
	if err != nil {
		return nil, err
	}
	if p.is(":") {
		return p.dict(open, mark, first)
	}
	if p.is("for") || p.is("async") {
		return p.comprehension(compSet, mark, first, nil, "}")
	}
	items, err := p.rest(first, "}")
	return p.place(&setNode{items: items}, open.pos), err
}

// dict reads a dict from the colon behind its first key.
//
//	{'a': } → SyntaxError: expression expected after dictionary key and ':'
//	{'a' 1} → SyntaxError: invalid syntax. Perhaps you forgot a comma?
//	{'a': 1 'b': 2} → SyntaxError: invalid syntax. Perhaps you forgot a comma?
//	{1: 'a', 1.0: 'b'} → {1: 'b'}
func (p *parser) dict(open token, mark int, key node) (node, error) {
	d := &dictNode{}
	for {
		colon := p.peek()
		if !p.accept(":") {
			if p.is("}") || p.is(",") {
				return nil, p.fail(p.tokens[p.at-1], SyntaxError, "':' expected after dictionary key")
			}
			return nil, p.closed(":")
		}
		if p.is("}") || p.is(",") {
			return nil, p.fail(colon, SyntaxError, "expression expected after dictionary key and ':'")
		}
		v, err := p.expr()
		if err != nil {
			return nil, err
		}
		if len(d.keys) == 0 && (p.is("for") || p.is("async")) {
			return p.comprehension(compDict, mark, key, v, "}")
		}
		d.keys, d.vals = append(d.keys, key), append(d.vals, v)
		if !p.accept(",") || p.is("}") {
			return p.place(d, open.pos), p.closed("}")
		}
		if key, err = p.expr(); err != nil {
			return nil, err
		}
	}
}

// subscript reads an index or a slice behind its bracket.
func (p *parser) subscript(x node, open token) (node, error) {
	first, err := p.index()
	if err != nil {
		return nil, err
	}
	if p.is(",") {
		items := []node{first}
		for p.accept(",") {
			if p.is("]") {
				break
			}
			n, err := p.index()
			if err != nil {
				return nil, err
			}
			items = append(items, n)
		}
		first = &tupleNode{items}
	}
	return p.place(&subscriptNode{x, first}, open.pos), p.closed("]")
}

// index reads `i` or `a:b:c`.
//
//	'abcdef'[1:5:2] → 'bd'
//	'abc'[:] → 'abc'
//	[1, 2, 3][::] → [1, 2, 3]
//	[1][1, 2] → TypeError: list indices must be integers or slices, not tuple
//	[1][] → SyntaxError: invalid syntax
func (p *parser) index() (node, error) {
	c := &cutNode{}
	parts := []*node{&c.start, &c.stop, &c.step}
	colons := 0
	for {
		if !p.is(":") && !p.is("]") && !p.is(",") || colons == 0 && !p.is(":") {
			n, err := p.expr()
			if err != nil {
				return nil, err
			}
			*parts[colons] = n
		}
		if colons == 2 || !p.accept(":") {
			break
		}
		colons++
	}
	if colons == 0 {
		return c.start, nil
	}
	return c, nil
}

// attribute reads the name behind a dot.
func (p *parser) attribute(x node) (node, error) {
	t := p.peek()
	if t.kind != tokenName || keywords[t.text] {
		return nil, p.unexpected()
	}
	p.at++
	if strings.HasPrefix(t.text, "_") {
		return nil, p.fail(t, AttributeError, "names that begin with '_' are not available: '%s'", t.text)
	}
	return p.place(&attributeNode{x, t.text}, t.pos), nil
}
