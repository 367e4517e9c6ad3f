package adapters

import "toolnorm/adapters/internal/declaration"

// namedObjects reads calls that are members of objects, {"NAME": {arguments}}, one after the other or in a list.
func (d *decoder) namedObjects(p *declaration.Pattern) match {
	d.Pos += d.Space(0)
	bracket := d.At(0) == '['
	if bracket {
		d.Pos++
		d.Pos += d.Space(0)
	}
	if c := d.At(0); c != '{' {
		return incompleteAtEnd(c, mismatch)
	}
	d.Pos++
	if a := d.namedMember(); a != committed {
		return a
	}
	for d.nextNamed() {
	}
	n := d.Space(0)
	closed := d.At(n) == '}'
	if closed {
		d.Pos += n + 1
	}
	d.extraClosers("}")
	if n := d.Space(0); bracket && d.At(n) == ']' {
		d.Pos += n + 1
		bracket = false
	}
	closed = d.skipClosers(p) && closed && !bracket
	if d.Out != nil {
		d.endCall(closed)
	}
	return committed
}

// namedMember reads a tool's name, a colon and the arguments, and leaves the call open.
func (d *decoder) namedMember() match {
	d.Pos += d.Space(0)
	q, ok := d.QuoteAt(0)
	if !ok {
		return incompleteAtEnd(d.At(0), mismatch)
	}
	d.evidence = true
	t, a := d.nameString(q)
	if a != matched {
		return a
	}
	d.Pos += d.Space(0)
	if c := d.At(0); c != ':' {
		return incompleteAtEnd(c, mismatch)
	}
	d.Pos++
	return d.arguments(t, "", nil)
}

// nextNamed reads a further member, of the same object or of the next one, after ending the call before it.
func (d *decoder) nextNamed() bool {
	n := 0
	for _, c := range []int{'}', ',', '{'} {
		n += d.Space(n)
		if d.At(n) == c {
			n++
		}
	}
	n += d.Space(n)
	if _, ok := d.QuoteAt(n); !ok || n == 0 {
		return false
	}
	start := d.Pos
	if d.Out != nil {
		d.endCall(true)
	}
	if d.wasCut {
		return false
	}
	pin := d.pin
	if pin < 0 {
		d.pin = d.Pos
	}
	d.Pos += n
	d.gapAt, d.markAt, d.glue = start, d.Pos, 0
	switch d.namedMember() {
	case committed:
		return true
	case incomplete:
		d.cutFrom(d.markAt)
	default:
		d.Pos, d.pin = start, pin
	}
	return false
}
