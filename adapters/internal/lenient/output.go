package lenient

import (
	"strings"

	"toolnorm/chat/schema"
)

// Output is what is written of a call's arguments: strict JSON so far, and how much of it may
// leave.
//
// What was sent cannot be taken back, so positions count from the start of the arguments, not of
// JSON, which loses its front whenever something leaves. A hold says "this may still change"; it
// never asks whether anything was sent.
type Output struct {
	Name string       // the tool's, where it is known
	Typ  *schema.Type // what its arguments are by the schema; nil: unknown

	JSON   []byte // arguments not sent yet
	sent   int    // bytes of arguments sent
	holds  int    // open holds
	heldAt int    // how much was written when the outermost hold opened
	endAt  int    // what was decided (sent + out) when the end of the text was first seen; -1 before
	Doubt  bool   // something in it can be read in two ways
	Broken bool   // an element was cut: the call is not complete, whatever follows
	Odd    bool   // something had to be repaired: what it means is to be asked
	kept   bool   // from there on nothing leaves
	left   []byte // what was sent
}

// NewOutput returns the output for the arguments of a tool, of which nothing is written yet. It
// writes into dst's memory. Captured values are many and short; reusing the memory keeps an attempt
// that fails from costing an allocation.
func NewOutput(name string, t *schema.Type, dst []byte) Output {
	return Output{Name: name, Typ: t, JSON: dst[:0], endAt: -1}
}

// Sent returns how many bytes were taken.
func (o *Output) Sent() int { return o.sent }

// Written returns how many bytes were written in all, of which the first Sent are no longer in
// JSON.
func (o *Output) Written() int { return o.sent + len(o.JSON) }

// Settled returns how many of the bytes written in all can no longer be taken back: those in front
// of the outermost hold. Inner holds do not matter: they open behind the outermost one, so they
// keep nothing more back.
func (o *Output) Settled() int {
	if o.holds > 0 {
		return o.heldAt
	}
	return o.Written()
}

// Decided returns how many bytes of JSON can no longer be taken back.
func (o *Output) Decided() int { return o.Settled() - o.sent }

// Settle ends all holds: the arguments are complete.
// Nothing behind the last closer can change what stands in front of it.
func (o *Output) Settle() { o.holds = 0 }

// Taken drops the first n bytes of JSON, which were sent. Only what is decided is sent.
func (o *Output) Taken(n int) {
	o.sent += n
	if o.sent <= MaxMended {
		o.left = append(o.left, o.JSON[:n]...)
	}
	o.JSON = append(o.JSON[:0], o.JSON[n:]...)
}

// MaxMended bounds the arguments that are read again when something in them is odd, in bytes.
// What was read of them is kept for that until they end.
const MaxMended = 1 << 20

// From returns everything that was written from position at on.
// What was sent is kept for this, up to MaxMended.
func (o *Output) From(at int) string {
	return string(o.left[min(at, len(o.left)):]) + string(o.JSON[max(at-o.sent, 0):])
}

// Replace puts a value in the place of what was written from position at on. It reports false where
// something else was sent. What has left cannot be taken back, so the new value must begin with it.
func (o *Output) Replace(at int, value string) bool {
	rest, ok := strings.CutPrefix(value, string(o.left[min(at, len(o.left)):]))
	if ok {
		o.JSON = append(o.JSON[:max(at-o.sent, 0)], rest...)
	}
	return ok
}

// keep holds everything that is written from here on until the arguments have ended: what had to be
// repaired may turn out to mean something else.
func (o *Output) keep() {
	if !o.kept {
		if o.holds == 0 {
			o.heldAt = o.Written()
		}
		o.Odd, o.kept = true, true
		o.holds++
	}
}

// SawEnd notes how much was settled when the end of the text was first seen. What is written from
// there on is the reader's own (closers that were missing), and no cut call shows it. A client that
// is shown {"a": "cut he"} with its quote and brace would run half a command; with finish length it
// gets the text that the model wrote, and sees that it is open.
func (o *Output) SawEnd() {
	if o.endAt < 0 {
		o.endAt = o.Settled()
	}
}

// UnseeEnd returns what puts back where the end was seen, for those who only look ahead: that is
// not having read. In {"a": "x" the quote is looked behind while the text may still go on, and what
// is written for it until then was not made up.
func (o *Output) UnseeEnd() func() {
	was := o.endAt
	return func() { o.endAt = was }
}

// BeforeEnd returns how many bytes were settled before the end of the text was seen.
// It is what may leave of a call that was cut.
func (o *Output) BeforeEnd() int {
	if o.endAt < 0 {
		return o.Settled()
	}
	return o.endAt
}

// Writer writes arguments, and notes what was repaired in them.
type Writer struct {
	Out     *Output  // what is being written; nil: nothing is
	Spare   Output   // the output of Capture
	Repairs []string // what was repaired, each once
}

// Put appends to the arguments.
func (w *Writer) Put(s string) { w.Out.JSON = append(w.Out.JSON, s...) }

// PutByte appends one byte to the arguments.
func (w *Writer) PutByte(b byte)    { w.Out.JSON = append(w.Out.JSON, b) }
func (w *Writer) putBytes(b []byte) { w.Out.JSON = append(w.Out.JSON, b...) }

// HoldOn opens a hold and returns where, so that the output can be taken back to there. Holds nest;
// only the outermost one keeps bytes from leaving, so a member can hold its key and a value inside
// it can hold again.
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

// TakeBack removes what was put since the hold that answered at.
// The hold stays open: what is put in the place may have to go as well.
func (w *Writer) TakeBack(at int) { w.Out.JSON = w.Out.JSON[:at-w.Out.sent] }

// drop removes what was put since the hold that answered at, and closes that hold.
func (r *Reader) drop(at int) {
	r.TakeBack(at)
	r.HoldOff()
	// {"input":, "city": "Oslo"}: the member that seemed to hold the arguments has no value, and is
	// gone
	if r.wrapper >= at {
		r.wrapper = 0
		r.HoldOff()
	}
}

// Held returns what was put since the hold that returned at.
func (w *Writer) Held(at int) []byte { return w.Out.JSON[at-w.Out.sent:] }

// doubt notes that what is read has two readings, when it has; once there were two there always
// are. Without an output the text is no call, and its readings do not matter.
func (o *Output) doubt(two bool) {
	if two && o != nil {
		o.Doubt = true
		o.keep()
	}
}

// settled are the repairs that leave no other reading: they change the spelling of a value, or its
// type by the schema.
var settled = map[string]bool{"control-bytes": true, "utf-8": true, "types": true, "key-spelling": true, "null-omitted": true, "wrapped": true, "odd-space": true, "paths": true, "raw-arguments": true}

// passing are those behind which the arguments go on streaming, since whole families write so. What
// they mean is asked at their end all the same.
var passing = map[string]bool{"quotes": true, "literals": true, "bare-keys": true}

// Repaired notes a defect that was repaired, each once, by the name that Reasons of package
// adapters explains. A list of a dozen names is searched faster than a map is asked.
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
