package lenient

import (
	"strings"

	"toolnorm/chat/schema"
)

// Output holds the arguments of a call that were written so far, as strict JSON, and how many of
// their bytes may be sent.
//
// Positions count from the start of the arguments, not from the start of JSON, since JSON loses its
// first bytes whenever some are sent. A hold means that what follows its position may still change;
// bytes that were sent never change.
type Output struct {
	Name string       // the tool's name, if it is known
	Typ  *schema.Type // the type of its arguments; nil: unknown

	JSON   []byte // the arguments that are not sent yet
	sent   int    // number of bytes sent
	holds  int    // number of open holds
	heldAt int    // the position at which the outermost hold opened
	endAt  int    // what was settled when the end of the text was first seen; -1 before
	Doubt  bool   // a part of it can be read in two ways
	Broken bool   // an element was cut, so the call is not complete
	Odd    bool   // after a repair, so its meaning has to be checked (Decide)
	kept   bool   // everything is held until the arguments end
	left   []byte // the bytes that were sent, up to MaxMended
}

// NewOutput returns the output for the arguments of a tool, of which nothing is written yet. It
// writes into dst's memory: captured values are many and short, so reusing the memory saves an
// allocation for each.
func NewOutput(name string, t *schema.Type, dst []byte) Output {
	return Output{Name: name, Typ: t, JSON: dst[:0], endAt: -1}
}

// Sent returns how many bytes were sent.
func (o *Output) Sent() int { return o.sent }

// Written returns how many bytes were written in all, of which the first Sent are no longer in
// JSON.
func (o *Output) Written() int { return o.sent + len(o.JSON) }

// Settled returns how many of the bytes written in all can no longer be taken back: those before
// the outermost hold. Inner holds begin after it and hold back nothing more.
func (o *Output) Settled() int {
	if o.holds > 0 {
		return o.heldAt
	}
	return o.Written()
}

// Decided returns how many bytes of JSON can no longer be taken back.
func (o *Output) Decided() int { return o.Settled() - o.sent }

// Settle ends all holds: the arguments are complete. Nothing after the last closer can change them.
func (o *Output) Settle() { o.holds = 0 }

// Taken drops the first n bytes of JSON, which were sent. Only what is decided is sent.
func (o *Output) Taken(n int) {
	o.sent += n
	if o.sent <= MaxMended {
		o.left = append(o.left, o.JSON[:n]...)
	}
	o.JSON = append(o.JSON[:0], o.JSON[n:]...)
}

// MaxMended bounds the arguments that are read again when they are odd, in bytes. Their bytes are
// kept for that until they end.
const MaxMended = 1 << 20

// From returns everything that was written from position at on. Sent bytes are kept for this, up to
// MaxMended.
func (o *Output) From(at int) string {
	return string(o.left[min(at, len(o.left)):]) + string(o.JSON[max(at-o.sent, 0):])
}

// Replace replaces what was written from position at on by a value. It returns false if the value
// does not begin with the bytes that were sent, since these cannot be taken back.
func (o *Output) Replace(at int, value string) bool {
	rest, ok := strings.CutPrefix(value, string(o.left[min(at, len(o.left)):]))
	if ok {
		o.JSON = append(o.JSON[:max(at-o.sent, 0)], rest...)
	}
	return ok
}

// keep holds everything that is written from now on until the arguments end, since a repaired text
// may turn out to mean something else.
func (o *Output) keep() {
	if !o.kept {
		if o.holds == 0 {
			o.heldAt = o.Written()
		}
		o.Odd, o.kept = true, true
		o.holds++
	}
}

// SawEnd notes how much was settled when the end of the text was first seen. What is written later
// is the reader's own (missing closers) and is not sent if the call is cut. A client that gets
// {"a": "cut he"} with its quote and brace would run half a command; with finish_reason length and
// without them it sees that the call is not complete.
func (o *Output) SawEnd() {
	if o.endAt < 0 {
		o.endAt = o.Settled()
	}
}

// UnseeEnd returns a function that restores the position at which the end was seen. A caller that
// only looks ahead uses it: after the quote in {"a": "x" it sees the end of the text before the
// Reader has come there, and what the Reader writes up to the end is still the model's own.
func (o *Output) UnseeEnd() func() {
	was := o.endAt
	return func() { o.endAt = was }
}

// BeforeEnd returns how many bytes were settled before the end of the text was seen. Of a call that
// was cut, only these may be sent.
func (o *Output) BeforeEnd() int {
	if o.endAt < 0 {
		return o.Settled()
	}
	return o.endAt
}

// Writer writes arguments, and notes what was repaired in them.
type Writer struct {
	Out     *Output  // the current output, or nil
	Spare   Output   // the output of Capture
	Repairs []string // the names of the repairs, each once
}

// Put appends to the arguments.
func (w *Writer) Put(s string) { w.Out.JSON = append(w.Out.JSON, s...) }

// PutByte appends one byte to the arguments.
func (w *Writer) PutByte(b byte)    { w.Out.JSON = append(w.Out.JSON, b) }
func (w *Writer) putBytes(b []byte) { w.Out.JSON = append(w.Out.JSON, b...) }

// HoldOn opens a hold and returns its position, to which the output can be taken back. Holds nest:
// a member holds its key, and a value inside it may hold again. Only the outermost hold keeps bytes
// from being sent.
func (w *Writer) HoldOn() int {
	at := w.Out.Written()
	if w.Out.holds == 0 {
		w.Out.heldAt = at
	}
	w.Out.holds++
	return at
}

// HoldOff closes the innermost hold.
func (w *Writer) HoldOff() { w.Out.holds-- }

// TakeBack removes what was written since the hold at position at. The hold stays open: what is
// written instead may be removed as well.
func (w *Writer) TakeBack(at int) { w.Out.JSON = w.Out.JSON[:at-w.Out.sent] }

// drop removes what was written since the hold at position at, and closes that hold.
func (r *Reader) drop(at int) {
	r.TakeBack(at)
	r.HoldOff()
	// {"input":, "city": "Oslo"}: the possible wrapper has no value and was removed
	if r.wrapper >= at {
		r.wrapper = 0
		r.HoldOff()
	}
}

// Held returns what was written since the hold at position at.
func (w *Writer) Held(at int) []byte { return w.Out.JSON[at-w.Out.sent:] }

// doubt notes, if two is set, that the text has two readings; a doubt is never removed. Without an
// output the text is not a call, and its readings do not matter.
func (o *Output) doubt(two bool) {
	if two && o != nil {
		o.Doubt = true
		o.keep()
	}
}

// settled holds the repairs that leave no other reading: they change only the spelling of a value,
// or its type by the schema.
var settled = map[string]bool{"control-bytes": true, "utf-8": true, "types": true,
	"key-spelling": true, "null-omitted": true, "wrapped": true, "odd-space": true, "paths": true,
	"raw-arguments": true}

// passing holds the repairs after which the arguments continue to stream, since whole families
// write so. Their meaning is still checked at their end.
var passing = map[string]bool{"quotes": true, "literals": true, "bare-keys": true}

// Repaired notes a defect that was repaired, by the name that Reasons of package adapters explains.
// Each name is noted once. Searching a list of a dozen names is faster than a map.
func (w *Writer) Repaired(what string) {
	if w.Out != nil && !settled[what] {
		if passing[what] {
			w.Out.Odd = true
		} else {
			w.Out.keep()
		}
	}
	for _, noted := range w.Repairs {
		if noted == what {
			return
		}
	}
	w.Repairs = append(w.Repairs, what)
}
