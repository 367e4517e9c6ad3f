package adapters

import (
	"toolnorm/adapters/internal/declaration"
)

// Calls stand one after the other in three forms, objects, members named like tools and Python's; how such a list opens,
// goes on and closes is the same for all.

// brackets steps over the brackets that open a list of calls, most of them at most, and counts them.
// Small models double them, and leave them out for a single call.
// Two are what was seen, so a third one is a value of something else.
func (d *decoder) brackets(most int) (n int) {
	for d.Pos += d.Space(0); n < most && d.At(0) == '['; n++ {
		d.Pos++
		d.Pos += d.Space(0)
	}
	return n
}

// closeBrackets steps over those brackets' closers, and answers how many of n are missing, as any closer may be.
// With the last call cut its bracket is missing as well, and that is no reason to call the others incomplete.
func (d *decoder) closeBrackets(n int) int {
	for ; n > 0 && d.At(d.Space(0)) == ']'; n-- {
		d.Pos += d.Space(0) + 1
	}
	return n
}

// further reads a further call behind n bytes that separate it from the one before, which it ends: only now it is known
// that nothing more of that one comes.
// A call that the text's end cuts is dropped as a cut call; what is none gives everything back, and those before it stand.
// The pin moves to the start of what is tried, so that the call before it can leave the buffer.
func (d *decoder) further(n int, read func() match) bool {
	start := d.Pos
	if d.endCall(true); d.wasCut {
		return false
	}
	pin := d.pin
	if pin < 0 {
		d.pin = d.Pos
	}
	d.Pos += n
	d.gapAt, d.markAt, d.glue = start, d.Pos, 0
	if !d.blank { // behind an element that is text the separator is none
		d.gapAt = d.Pos
	}
	switch read() {
	case committed:
		return true
	case incomplete:
		d.cutFrom(d.markAt)
	default:
		d.Pos, d.pin = start, pin
	}
	return false
}

// namedObjects reads calls that are members of objects, {"NAME": {arguments}}, one after the other or in a list.
// Apertus writes [{"NAME": {…}}, {"NAME": {…}}] between its marks. The first call commits at its arguments; what closes the
// objects and the list may be missing from there on.
func (d *decoder) namedObjects(p *declaration.Pattern) match {
	brackets := d.brackets(1)
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
	// a brace too many: the model ends an envelope that this form does not have
	d.extraClosers("}")
	brackets = d.closeBrackets(brackets)
	d.endCall(d.skipClosers(p) && closed && brackets == 0)
	return committed
}

// namedMember reads a tool's name, a colon and the arguments, and leaves the call open.
// The key must be an offered tool, which is all that tells the form from an answer in JSON.
// Any quotes will do, as in arguments; a key without quotes does not count, since an answer in prose may look like it.
func (d *decoder) namedMember() match {
	d.Pos += d.Space(0)
	q, ok := d.QuoteAt(0)
	if !ok {
		return incompleteAtEnd(d.At(0), mismatch)
	}
	// a quote at the start of an object: no prose from here on
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

// nextNamed reads a further member, of the same object or of the next one.
// "}, {" between two calls may lack any of its three signs, but one must stand there, or the rest of a value would be a call.
// apertus puts each call into an object of its own, small models all into one.
func (d *decoder) nextNamed() bool {
	n := 0
	// {"A": {…}}, {"B": {…}} and {"A": {…}, "B": {…}} both
	for _, c := range []int{'}', ',', '{'} {
		n += d.Space(n)
		if d.At(n) == c {
			n++
		}
	}
	n += d.Space(n)
	return n > 0 && d.StartsString(n) && d.further(n, d.namedMember)
}

// behindOthers reads the first call of a list whose elements from position start on are no calls of offered tools: those
// are text, whole.
// [{"name": "set_alarm", …}, {"name": "get_weather", …}] with only get_weather offered is that call, and the alarm is text. It
// was text altogether, mark and all, before.
func (d *decoder) behindOthers(start int) match {
	for d.Pos = start; d.At(0) == '{'; {
		if a := d.stranger(); a != matched {
			return a
		}
		d.others = [2]int{start, d.Pos}
		d.Pos += d.separator()
		if a := d.envelope(0); a != mismatch {
			return a
		}
		d.Pos = d.others[1]
		d.Pos += d.separator()
	}
	return mismatch
}

// stranger steps over an element of a list that is no call of an offered tool.
// It stays text as it was written, so what reading it repaired is no repair of the reply.
func (d *decoder) stranger() match {
	repairs := d.Repairs
	_, a := d.Capture(func() { d.Value(nil) })
	d.Repairs = repairs
	return a
}

// keepOthers keeps the elements of a list that are no calls, in front of the call that begins now. It answers where they
// end, -1 when there are none.
// They leave as they were written.
// It answers a position because the text in front of the call must not be shown again when the call turns back into text.
func (d *decoder) keepOthers() int {
	from, to := d.others[0], d.others[1]
	d.others = [2]int{}
	if from == to {
		return -1
	}
	here := d.Pos
	d.Pos = to
	d.solidFrom(from)
	d.flushText()
	d.Pos = here
	return to
}

// otherObject keeps an element of a list behind a call that is no call of an offered tool. A draft does not know it.
// Behind a known call a torn rest, `, {"note": "x"}]` with the list's bracket, was shown as text; now the element alone is.
func (d *decoder) otherObject() bool {
	n := d.separator()
	// a draft may be undone, and text that has left cannot
	if d.drafting || d.wasCut || d.At(n) != '{' {
		return false
	}
	start := d.Pos
	d.endCall(true)
	d.Pos += n
	from := d.Pos
	if d.stranger() != matched {
		d.Pos = start
		return false
	}
	d.solidFrom(from)
	return true
}
