package adapters

import (
	"toolnorm/adapters/internal/declaration"
)

// Calls follow one another in three forms: objects, members named like tools, and Python's calls.
// Such a list opens, goes on and closes in the same way in all three.

// namedObjects reads calls that are members of objects, {"NAME": {arguments}}, one after the other
// or in a list. Apertus writes [{"NAME": {…}}, {"NAME": {…}}] between its marks. It returns
// mismatch or incomplete if the first member is not a call. The first call is certain where its
// arguments begin. From there on the closing brackets of the objects and of the list may be
// missing.
func (ob *objects) namedObjects(p *declaration.Pattern) match {
	brackets := ob.closers.brackets(1)
	if c := ob.At(0); c != '{' {
		return incompleteAtEnd(c, mismatch)
	}
	ob.Pos++
	if a := ob.namedMember(); a != committed {
		return a
	}
	for ob.nextNamed() {
	}
	n := ob.Space(0)
	closed := ob.At(n) == '}'
	if closed {
		ob.Pos += n + 1
	}
	// a brace too many: the model ends an envelope that this form does not have
	ob.closers.extraClosers("}")
	brackets = ob.closers.closeBrackets(brackets)
	ob.calls.endCall(ob.closers.skipClosers(p) && closed && brackets == 0)
	return committed
}

// namedMember reads a tool's name, a colon and the arguments; the caller ends the call. The name
// may be in any quotes, as in arguments, but not without quotes, since an answer in prose may look
// like that. It returns mismatch if the name is not an offered tool, because the object is then an
// answer in JSON.
func (ob *objects) namedMember() match {
	ob.Pos += ob.Space(0)
	q, ok := ob.QuoteAt(0)
	if !ok {
		return incompleteAtEnd(ob.At(0), mismatch)
	}
	// a quote at the start of an object: this is not prose
	ob.trial.evidence = true
	t, a := ob.names.nameString(q)
	if a != matched {
		return a
	}
	ob.Pos += ob.Space(0)
	if c := ob.At(0); c != ':' {
		return incompleteAtEnd(c, mismatch)
	}
	ob.Pos++
	return ob.args.read(t, "", nil)
}

// nextNamed reads a further member, of the same object or of the next one, and reports whether it
// was a call. Some of the three characters in "}, {" between two calls may be missing. One of them
// must be there, or the rest of a value would be taken for a call. apertus puts each call into an
// object of its own, and small models put all into one.
func (ob *objects) nextNamed() bool {
	n := 0
	// both {"A": {…}}, {"B": {…}} and {"A": {…}, "B": {…}}
	for _, c := range []int{'}', ',', '{'} {
		n += ob.Space(n)
		if ob.At(n) == c {
			n++
		}
	}
	n += ob.Space(n)
	return n > 0 && ob.StartsString(n) && ob.calls.further(n, ob.namedMember)
}

// behindOthers reads the first call of a list whose first elements, from position start, are not
// calls of offered tools. Those elements become text as a whole. It returns mismatch if no call
// follows. For example, in [{"name": "set_alarm", …}, {"name": "get_weather", …}] only get_weather
// is offered: it is called, and the alarm is text. Without this rule the whole list would be text,
// with the mark before it.
func (ob *objects) behindOthers(start int) match {
	for ob.Pos = start; ob.At(0) == '{'; {
		if a := ob.stranger(); a != matched {
			return a
		}
		ob.trial.others = [2]int{start, ob.Pos}
		ob.Pos += ob.closers.separator()
		if a := ob.envelope(0); a != mismatch {
			return a
		}
		ob.Pos = ob.trial.others[1]
		ob.Pos += ob.closers.separator()
	}
	return mismatch
}

// stranger skips an element of a list that is not a call of an offered tool. It returns incomplete
// or mismatch if the element could not be read. The element stays text as it was written, so
// repairs made while reading it are not repairs of the reply.
func (ob *objects) stranger() match {
	repairs := ob.Repairs
	_, a := ob.Capture(func() { ob.Value(nil) })
	ob.Repairs = repairs
	return a
}

// otherObject keeps as text the next element of a list, if that element follows a call but is not a
// call of an offered tool. It reports whether there was such an element. In a draft it returns
// false and does nothing. Only the element is shown, and not the comma before it or the list's
// bracket.
func (ob *objects) otherObject() bool {
	n := ob.closers.separator()
	// a draft may be undone, and text that was sent cannot
	if ob.out.drafting || ob.calls.wasCut || ob.At(n) != '{' {
		return false
	}
	start := ob.Pos
	ob.calls.endCall(true)
	ob.Pos += n
	from := ob.Pos
	if ob.stranger() != matched {
		ob.Pos = start
		return false
	}
	ob.page.solidFrom(from)
	return true
}
