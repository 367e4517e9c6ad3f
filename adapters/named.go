package adapters

import "toolnorm/adapters/internal/declaration"

// namedObjects reads calls that are members of objects, {"NAME": {arguments}}, one after the other or in a list.
func (d *decoder) namedObjects(p *declaration.Pattern) match {
	d.pos += d.space(0)
	bracket := d.at(0) == '['
	if bracket {
		d.pos++
		d.pos += d.space(0)
	}
	if c := d.at(0); c != '{' {
		return incompleteAtEnd(c, mismatch)
	}
	d.pos++
	if a := d.namedMember(); a != committed {
		return a
	}
	for d.nextNamed() {
	}
	n := d.space(0)
	closed := d.at(n) == '}'
	if closed {
		d.pos += n + 1
	}
	d.extraClosers("}")
	if n := d.space(0); bracket && d.at(n) == ']' {
		d.pos += n + 1
		bracket = false
	}
	closed = d.skipClosers(p) && closed && !bracket
	if d.call != nil {
		d.endCall(closed)
	}
	return committed
}

// namedMember reads a tool's name, a colon and the arguments, and leaves the call open.
func (d *decoder) namedMember() match {
	d.pos += d.space(0)
	q, ok := d.quoteAt(0)
	if !ok {
		return incompleteAtEnd(d.at(0), mismatch)
	}
	d.evidence = true
	t, a := d.nameString(q)
	if a != matched {
		return a
	}
	d.pos += d.space(0)
	if c := d.at(0); c != ':' {
		return incompleteAtEnd(c, mismatch)
	}
	d.pos++
	return d.arguments(t, "", nil)
}

// nextNamed reads a further member, of the same object or of the next one, after ending the call before it.
func (d *decoder) nextNamed() bool {
	n := 0
	for _, c := range []int{'}', ',', '{'} {
		n += d.space(n)
		if d.at(n) == c {
			n++
		}
	}
	n += d.space(n)
	if _, ok := d.quoteAt(n); !ok || n == 0 {
		return false
	}
	start := d.pos
	if d.call != nil {
		d.endCall(true)
	}
	if d.wasCut {
		return false
	}
	pin := d.pin
	if pin < 0 {
		d.pin = d.pos
	}
	d.pos += n
	d.gapAt, d.markAt, d.glue = start, d.pos, 0
	switch d.namedMember() {
	case committed:
		return true
	case incomplete:
		d.cutFrom(d.markAt)
	default:
		d.pos, d.pin = start, pin
	}
	return false
}
