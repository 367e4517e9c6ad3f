package adapters

import "bytes"

// maxName bounds a tool's name in bytes.
const maxName = 128

// name reads a tool's name: as long as it can still become an offered one, up to what follows in the pattern.
func (d *decoder) name(p *pattern, i int) (*tool, answer) {
	d.pos += d.space(0)
	if c := d.at(0); c == '[' || c == '"' {
		d.pos++
	}
	for n := 0; n < maxName; n++ {
		c := d.at(n)
		if n > 0 && (c < 0 || isSpace(c) || d.marksAt(n) != nil) {
			if t := d.lastName(n); t != nil {
				d.pos += n
				return t, yes
			}
		}
		if c < 0 {
			d.evidence = d.evidence || n > 0
			return nil, cut
		}
		if d.nameEnds(p, i, n, c) {
			t := d.tools.find(string(d.slice(d.pos, d.pos+n)))
			if t == nil {
				return nil, no
			}
			d.pos += n
			if c == '"' {
				d.pos++
			}
			return t, yes
		}
		if !d.tools.begins(d.slice(d.pos, d.pos+n+1)) {
			return nil, no
		}
	}
	return nil, no
}

// lastName is the tool whose name the n bytes from here on are, when the model ended its reply behind them.
func (d *decoder) lastName(n int) *tool {
	d.pos += n
	over := d.over()
	d.pos -= n
	if !over {
		return nil
	}
	return d.tools.find(string(d.slice(d.pos, d.pos+n)))
}

// nameEnds says whether what stands at offset n ends a name: a newline, a brace, the next literal, an argument or a closer.
func (d *decoder) nameEnds(p *pattern, i, n, c int) bool {
	if c == '\n' || c == '\r' || c == '\t' || c == '{' || c == '"' || c == '\\' && d.at(n+1) == 'n' {
		return true
	}
	if i+1 < len(p.parts) {
		if l := p.parts[i+1].lit; begins(l, c) {
			if _, a := d.literal(n, l); a != no {
				return true
			}
		}
	}
	if c != '<' {
		return false
	}
	for _, arg := range p.f.arg {
		if d.hasKey(n, arg.parts[0].lit) {
			return true
		}
	}
	for _, l := range p.close {
		if d.hasKey(n, l) {
			return true
		}
	}
	return false
}

// junk steps over what means nothing, up to the next literal; never over another mark.
func (d *decoder) junk(p *pattern, i int) answer {
	for n := 0; n < maxName; n++ {
		switch c := d.at(n); {
		case c < 0:
			return cut
		case begins(p.parts[i+1].lit, c):
			d.pos += n
			_, a := d.literal(0, p.parts[i+1].lit)
			return a
		case d.marksAt(n) != nil:
			return no
		}
	}
	return no
}

// begins says whether a literal can begin with the byte.
func begins(l literal, c int) bool {
	if len(l.units) == 0 {
		return false
	}
	switch u := l.units[0]; u.kind {
	case exact:
		return int(u.b) == c
	case aQuote:
		return c == '"' || c == '\'' || c == '\\' || len(l.units) > 1 && int(l.units[1].b) == c
	case anEquals:
		return c == '=' || isSpace(c)
	}
	return isSpace(c) || len(l.units) > 1 && int(l.units[1].b) == c
}

// index steps over the number of a call, up to the next literal.
func (d *decoder) index(l literal) answer {
	n := d.upTo(0, l)
	if n <= 0 {
		return endOr(n, no)
	}
	d.pos += n
	return yes
}

// count steps over the number of a call, which has no mark behind it.
func (d *decoder) count() answer {
	n := 0
	for c := d.at(0); n < maxWord && c >= '0' && c <= '9'; c = d.at(n) {
		n++
	}
	if n == 0 {
		return endOr(d.at(0), no)
	}
	d.pos += n
	return yes
}

// meantBy is the tool that an id without a name stands for: the one that it names or, where it is a counter, the only one
// that takes the arguments behind literal k of the pattern.
func (d *decoder) meantBy(id string, p *pattern, k int) (*tool, answer) {
	if t := d.tools.inID(id); t != nil {
		return t, yes
	}
	if !isCounter(id) || k+1 >= len(p.parts) {
		return nil, no
	}
	start := d.pos
	defer func() { d.waste, d.pos = d.waste+d.pos-start, start }()
	if a := d.skipLiteral(p.parts[k].lit, d.opens(p, k+1)); a != yes {
		return nil, a
	}
	d.pos += d.space(0)
	if c := d.at(0); c != '{' {
		return nil, endOr(c, no)
	}
	args, a := d.scratch(func() { d.value(nil) })
	if a != yes {
		return nil, a
	}
	t := d.tools.taking(membersOf(string(args)))
	if t == nil {
		return nil, no
	}
	return t, yes
}

// id reads a call's id up to the next literal: where it has to name the tool, as long as it can.
func (d *decoder) id(p *pattern, i int) (string, answer) {
	d.pos += d.space(0)
	for n := 0; n < maxName; n++ {
		c := d.at(n)
		if n > 0 && p.hole("name") < 0 && (c < 0 || isSpace(c) || d.marksAt(n) != nil) {
			d.pos += n
			if over := d.over(); over && d.tools.inID(string(d.slice(d.pos-n, d.pos))) != nil {
				return string(d.slice(d.pos-n, d.pos)), yes
			}
			d.pos -= n
		}
		if c < 0 {
			return "", cut
		}
		if i+1 < len(p.parts) && n > 0 {
			skip := d.space(n)
			_, a := d.literal(n+skip, p.parts[i+1].lit)
			if a == yes || c == '{' && !p.whole && p.holeAt(i+2) == "json" {
				id := string(bytes.TrimSpace(d.slice(d.pos, d.pos+n)))
				d.pos += n + skip
				return id, yes
			}
			if a == cut {
				return "", cut
			}
		}
		if isSpace(c) && n > 0 || c == '\n' || c == '{' {
			return "", no
		}
		if p.hole("name") < 0 && !d.tools.beginsID(d.slice(d.pos, d.pos+n+1)) {
			return "", no
		}
	}
	return "", no
}
