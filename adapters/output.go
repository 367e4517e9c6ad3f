package adapters

import "toolnorm/chat/schema"

// call is what is written of a call's arguments: strict JSON so far, and how much of it may leave.
type call struct {
	name string       // the tool's, where it is known
	typ  *schema.Type // what its arguments are by the schema; nil: unknown

	out    []byte // arguments not sent yet
	sent   int    // bytes of arguments sent
	holds  int    // open holds
	heldAt int    // len(out) when the outermost hold opened
	endAt  int    // what was decided (sent + out) when the end of the text was first seen; -1 before
	doubt  bool   // something in it can be read in two ways
	broken bool   // an element was cut: the call is not complete, whatever follows
}

// decided is how many bytes of out can no longer be taken back.
func (c *call) decided() int {
	if c.holds > 0 {
		return c.heldAt
	}
	return len(c.out)
}

// put appends to the arguments.
func (d *argReader) put(s string)      { d.call.out = append(d.call.out, s...) }
func (d *argReader) putByte(b byte)    { d.call.out = append(d.call.out, b) }
func (d *argReader) putBytes(b []byte) { d.call.out = append(d.call.out, b...) }

// holdOn opens a hold and answers where, so that the output can be taken back to there.
func (d *argReader) holdOn() int {
	c := d.call
	if c.holds == 0 {
		c.heldAt = len(c.out)
	}
	c.holds++
	return c.sent + len(c.out)
}

// holdOff closes the innermost hold.
func (d *argReader) holdOff() { d.call.holds-- }

// takeBack removes what was put since the hold that answered at.
func (d *argReader) takeBack(at int) { d.call.out = d.call.out[:at-d.call.sent] }

// held is what was put since the hold that answered at.
func (d *argReader) held(at int) []byte { return d.call.out[at-d.call.sent:] }

// repaired notes a defect that was mended, each once.
func (d *argReader) repaired(what string) {
	for _, r := range d.repairs {
		if r == what {
			return
		}
	}
	d.repairs = append(d.repairs, what)
}
