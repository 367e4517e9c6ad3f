package adapters

import (
	"toolnorm/adapters/internal/declaration"
	"toolnorm/adapters/internal/lenient"
	"toolnorm/adapters/internal/scan"
)

// match is what matching says up to the commit. The names are unqualified, since every function up to there answers one.
type match = scan.Match

const (
	mismatch   = scan.Mismatch
	incomplete = scan.Incomplete
	matched    = scan.Matched
	committed  = scan.Committed
)

// incompleteAtEnd is incomplete where c is the end of the text, else m.
func incompleteAtEnd(c int, m match) match { return scan.IncompleteAtEnd(c, m) }

// literal matches a literal at offset i and answers the offset behind it.
func (d *decoder) literal(i int, l declaration.Literal) (int, match) {
	for _, u := range l.Units {
		switch u.Kind {
		case declaration.Exact:
			switch d.At(i) {
			case int(u.Byte):
				i++
			case -1:
				return i, incomplete
			default:
				return i, mismatch
			}
		case declaration.OneNewline:
			if d.At(i) == '\n' {
				i++
			}
		case declaration.AnyBar:
			n, a := d.bar(i)
			if a != matched {
				return i, a
			}
			i += n
		case declaration.AnyQuote:
			i = d.optionalQuote(i)
		case declaration.Suffix:
			i = d.optionalSuffix(i)
		case declaration.Pad:
			i += d.Space(i)
		case declaration.AnyEquals:
			i += d.Space(i)
			if c := d.At(i); c != '=' {
				return i, incompleteAtEnd(c, mismatch)
			}
			i++
			i += d.Space(i)
		default:
			n := d.Elastic(i)
			if n == 0 && u.Kind == declaration.SomeSpace {
				return i, incompleteAtEnd(d.At(i), mismatch)
			}
			i += n
		}
	}
	return i, matched
}

// bar is the length of the bar at offset i.
func (d *decoder) bar(i int) (int, match) {
	if d.At(i) == '|' {
		return 1, matched
	}
	for n := range len(declaration.WideBar) {
		if c := d.At(i + n); c != int(declaration.WideBar[n]) {
			return 0, incompleteAtEnd(c, mismatch)
		}
	}
	return len(declaration.WideBar), matched
}

// hasKey says whether the key of a mark stands at offset i, its bars spelled either way.
func (d *decoder) hasKey(i int, l declaration.Literal) bool {
	_, a := d.literal(i, l.Head())
	return a == matched && len(l.Units) > 0
}

// stands says whether the mark stands at offset i.
func (d *decoder) stands(i int, m *declaration.Mark) bool {
	if len(m.Padded.Units) == 0 {
		return d.Has(i, m.Key)
	}
	_, a := d.literal(i, m.Padded)
	return a == matched
}

func (d *decoder) optionalQuote(i int) int {
	switch d.At(i) {
	case '"', '\'':
		return i + 1
	case '\\':
		if d.At(i+1) == '"' {
			return i + 2
		}
	}
	return i
}

// optionalSuffix is the offset behind a colon and a word at offset i, or i.
func (d *decoder) optionalSuffix(i int) int {
	if d.At(i) != ':' {
		return i
	}
	n := i + 1
	for n < i+declaration.MaxSuffix && (scan.IsWord(d.At(n)) || d.At(n) == '-') {
		n++
	}
	return n
}

// attempt tries to read a call by its pattern from here on. What failed attempts may read in all is bounded, so that
// hostile text stays linear.
func (d *decoder) attempt(p *declaration.Pattern) match {
	if d.exhausted() {
		return mismatch
	}
	start, pin, closing := d.Pos, d.pin, d.closing
	if pin < 0 {
		d.pin = d.gapAt
	}
	d.glue, d.closing = p.Glue, p
	if d.outer >= 0 {
		d.glue = d.outer
	}
	a := d.match(p)
	if a == incomplete && d.At(0) < 0 && d.ranOver(start) {
		a = mismatch
	}
	d.closing = closing
	if a != committed {
		d.others = [2]int{}
		d.waste += d.Pos - start
		d.Pos, d.pin = start, pin
	}
	return a
}

// exhausted says whether failed attempts have read so much that no more are made.
func (d *decoder) exhausted() bool { return d.waste > 1<<16+2*d.Pos }

// match reads the parts of a call pattern one after the other, up to the body, which commits.
func (d *decoder) match(p *declaration.Pattern) match {
	var t *tool
	id := ""
	d.skipDoubled(p)
	for i, part := range p.Parts {
		a := matched
		switch {
		case t != nil && d.nothingMore(p, t):
			d.commit(t, id)
			d.Put("{}")
			d.endCall(false)
			return committed
		case part.Hole == "":
			a = d.skipLiteral(part.Lit, t != nil && !p.Headless && d.opens(p, i+1))
		case part.Hole == "name":
			t, a = d.name(p, i)
		case part.Hole == "junk":
			a = d.junk(p, i)
		case part.Hole == "id":
			id, a = d.id(p, i)
			if a == matched && p.Hole("name") < 0 {
				t, a = d.meantBy(id, p, i+1)
			}
		case part.Hole == "count":
			a = d.count()
		case part.Hole == "index":
			a = d.callNumber(p.Parts[i+1].Lit)
		default:
			return d.body(p, i, t, id)
		}
		if a != matched {
			return a
		}
	}
	if t == nil {
		return mismatch
	}
	d.commit(t, id)
	d.Put("{}")
	d.endCall(true)
	return committed
}

// nothingMore says whether the model ended its reply behind the name of a tool that needs no arguments, under a mark of its
// family or a special token: models leave out all the rest of such a call.
func (d *decoder) nothingMore(p *declaration.Pattern, t *tool) bool {
	return (p.Family == d.f || p.Special()) && !p.Markless() && len(t.schema().Required()) == 0 && d.over()
}

// skipLiteral steps over a literal. Where the body's first byte stands in its place it may be missing.
func (d *decoder) skipLiteral(l declaration.Literal, optional bool) match {
	n, a := d.literal(0, l)
	if space := d.Space(0); a == mismatch && space > 0 {
		if n, a = d.literal(space, l); a == mismatch {
			n = 0
		}
	}
	if a == matched {
		d.Pos += n
	} else if optional {
		return matched
	}
	return a
}

// skipDoubled steps over an opener behind which the same stands once more.
func (d *decoder) skipDoubled(p *declaration.Pattern) {
	if p.Markless() {
		return
	}
	n, a := d.literal(0, p.Open)
	if a != matched {
		return
	}
	n += d.Space(n)
	if _, a = d.literal(n, p.Open); a == matched {
		d.Pos += n
	}
}

// opens says whether the body that is hole i of p begins right here.
func (d *decoder) opens(p *declaration.Pattern, i int) bool {
	switch p.HoleAt(i) {
	case "json", "pseudo":
		return d.At(0) == '{'
	}
	return false
}

// body reads the hole that holds the arguments, and what follows it.
func (d *decoder) body(p *declaration.Pattern, i int, t *tool, id string) match {
	switch p.Parts[i].Hole {
	case "call", "calls":
		if d.emptyPair(p) {
			return committed
		}
		return d.objects(p)
	case "named":
		return d.namedObjects(p)
	case "python":
		return d.pythonCalls(p)
	case "args":
		return d.taggedCall(p, t, id)
	}
	return d.namedCall(p, t, id)
}

// emptyPair drops a pair of special tokens that holds nothing: no call comes of it.
func (d *decoder) emptyPair(p *declaration.Pattern) bool {
	n, ok := d.closerAt(d.Space(0), p)
	if m := (declaration.Mark{Key: p.Parts[0].Lit.Key()}); !ok || len(m.Key) < 2 || !m.Special() {
		return false
	}
	d.leave(p.Glue)
	d.Pos += n
	d.afterCall = true
	return true
}

// namedCall reads arguments whose tool is known already: a JSON object, a string or null in its place, or nothing but a closer.
func (d *decoder) namedCall(p *declaration.Pattern, t *tool, id string) match {
	if t == nil {
		return mismatch
	}
	start := d.Pos
	d.skipFence()
	if n, ok := d.closerAt(d.Space(0), p); ok && n > 0 {
		d.commit(t, id)
		d.Put("{}")
	} else if a := d.arguments(t, id, lenient.DelimsOf(p.Family.Quotes)); a != committed {
		d.Pos = start
		return a
	}
	d.extraClosers("}]")
	d.closeFence()
	d.endCall(d.skipClosers(p))
	return committed
}

// closeFence steps over the end of a fence around arguments, unless the family closes its calls with one.
func (d *decoder) closeFence() {
	n := d.Space(0)
	if _, own := d.closerAt(n, d.closing); !own && d.Has(n, "```") {
		d.Pos += n + 3
	}
}

// cutFence is cut when the text ends inside the opening line of a fence.
func (d *decoder) cutFence() match {
	for n := range maxLabel {
		if d.At(n) < 0 {
			return incomplete
		}
	}
	return mismatch
}

// skipFence steps over the opening line of a fence in front of JSON.
func (d *decoder) skipFence() {
	n := d.Space(0)
	if !d.Has(n, "```") {
		return
	}
	for n += 3; d.At(n) >= 'a' && d.At(n) <= 'z'; n++ {
	}
	n += d.Space(n)
	if d.At(n) == '{' {
		d.Pos += n
	}
}

// marksAt is the list of marks that could stand at offset i, by the first two bytes there.
func (d *decoder) marksAt(i int) []declaration.Mark {
	c := d.At(i)
	if c < 0 || d.index.Second[c] == nil {
		return nil
	}
	if next := d.At(i + 1); next < 0 || !d.index.Second[c][next] {
		return nil
	}
	return d.index.Marks[c]
}

// turnAt is how many bytes the mark of the turn m has at offset i, 0 when it does not stand there.
func (d *decoder) turnAt(i int, m *declaration.Mark) int {
	switch {
	case m.Kind != declaration.TurnMark || !d.stands(i, m):
		return 0
	case len(m.Elastic.Units) == 0 && len(m.Padded.Units) == 0:
		return len(m.Key)
	case len(m.Elastic.Units) == 0:
		end, _ := d.literal(i, m.Padded)
		return end - i
	}
	if end, a := d.literal(i, m.Elastic); a == matched {
		return end - i
	}
	return 0
}
