package adapters

import "toolnorm/chat/schema"

// bodyStops are the bytes at which copying a message's body stops.
var bodyStops = stopsFor("<")

// rawBody reads the body of a call's message that is no JSON: program text, which is the value of the tool's only
// parameter. A tool with more of them, or with one that is no string, has no such calls.
func (d *decoder) rawBody(p *pattern, t *tool) answer {
	names := t.schema().Members()
	if len(names) != 1 || !t.schema().Prop(names[0]).Allows(schema.String) {
		return no
	}
	d.commit(t, "")
	d.put("{" + schema.Quote(names[0]) + `:"`)
	q := delim{close: "<", stops: bodyStops}
	for {
		d.copyPlain(q)
		c := d.at(0)
		switch {
		case c < 0:
			d.call.broken = d.lengthCut()
		case c == '<' && d.messageEnds(p, 0) > 0 && d.messageFollows(p, d.messageEnds(p, 0)):
		case c >= 0x80:
			d.rune()
			continue
		default:
			d.call.out = schema.AppendEscaped(d.call.out, string(rune(c)))
			d.pos++
			continue
		}
		d.put(`"}`)
		d.repaired("raw-arguments")
		return committed
	}
}
