package lenient

import (
	"strings"

	"toolnorm/chat/schema"
)

// Output contains the arguments of a call that were written so far, as strict JSON, and knows how
// many of their bytes may be sent to the client.
//
// Positions count from the start of the arguments, not from the start of the field JSON, because
// JSON loses its first bytes whenever some are sent. A hold is a position after which the bytes may
// still change. Bytes that were sent never change.
type Output struct {
	Name string       // the tool's name, if it is known
	Typ  *schema.Type // the type of its arguments; nil if unknown

	JSON   []byte // the arguments that were not sent yet
	sent   int    // number of bytes sent
	holds  int    // number of open holds
	heldAt int    // the position at which the outermost hold opened
	endAt  int    // how much was settled when the end of the text was first seen; -1 before that
	Doubt  bool   // a part of the text can be read in two ways
	Broken bool   // an element was cut, so the call is not complete
	Odd    bool   // something was repaired, so the meaning has to be checked (Decide)
	kept   bool   // everything is held back until the arguments end
	left   []byte // the bytes that were sent, up to MaxMended bytes
}

// NewOutput returns an empty output for the arguments of a tool. It writes into dst's memory.
// Values that are read before a call is certain are many and short, and reusing the memory saves an
// allocation for each of them.
func NewOutput(name string, t *schema.Type, dst []byte) Output {
	return Output{Name: name, Typ: t, JSON: dst[:0], endAt: -1}
}

// Sent returns the number of bytes that were sent.
func (o *Output) Sent() int { return o.sent }

// Written returns the number of bytes written so far, including those that were sent.
func (o *Output) Written() int { return o.sent + len(o.JSON) }

// Settled returns how many of the written bytes are final, including those that were sent. A hold
// marks a position after which bytes may still change, so these are the bytes before the outermost
// hold. Inner holds begin after it and make no difference.
func (o *Output) Settled() int {
	if o.holds > 0 {
		return o.heldAt
	}
	return o.Written()
}

// Decided returns how many bytes of the field JSON are final. Bytes after them may still be removed
// or replaced, see HoldOn.
func (o *Output) Decided() int { return o.Settled() - o.sent }

// Settle marks all written bytes as final, because nothing after the last closing bracket can
// change them. It is called when the arguments are complete.
func (o *Output) Settle() { o.holds = 0 }

// Taken drops the first n bytes of JSON, because they were sent. Only bytes that are final may be
// sent, see Settled.
func (o *Output) Taken(n int) {
	o.sent += n
	if o.sent <= MaxMended {
		o.left = append(o.left, o.JSON[:n]...)
	}
	o.JSON = append(o.JSON[:0], o.JSON[n:]...)
}

// MaxMended bounds the arguments that are read again if something in them was repaired, in bytes.
// Their sent bytes are stored for that until the arguments end.
const MaxMended = 1 << 20

// From returns everything that was written from a position on. Bytes that were sent are stored for
// this purpose, up to MaxMended bytes.
func (o *Output) From(at int) string {
	return string(o.left[min(at, len(o.left)):]) + string(o.JSON[max(at-o.sent, 0):])
}

// Replace replaces the output from position at on by value. Bytes that were sent after at cannot be
// taken back, so it returns false, and changes nothing, if value does not begin with them.
func (o *Output) Replace(at int, value string) bool {
	rest, ok := strings.CutPrefix(value, string(o.left[min(at, len(o.left)):]))
	if ok {
		o.JSON = append(o.JSON[:max(at-o.sent, 0)], rest...)
	}
	return ok
}

// keep holds back everything that is written from now on until the arguments end, because a
// repaired text may turn out to mean something else.
func (o *Output) keep() {
	if !o.kept {
		if o.holds == 0 {
			o.heldAt = o.Written()
		}
		o.Odd, o.kept = true, true
		o.holds++
	}
}

// SawEnd is called when the end of the text is first seen, and records how many bytes are settled
// by then. Bytes that are written later, such as missing closing brackets, are the reader's own.
// They are not sent if the call is cut. Otherwise a client would get {"a": "cut he"} with an added
// quotation mark and brace, and would run half a command. Without the mark and the brace, and with
// the finish_reason length, the client sees that the call is not complete.
func (o *Output) SawEnd() {
	if o.endAt < 0 {
		o.endAt = o.Settled()
	}
}

// UnseeEnd returns a function that undoes later calls of SawEnd. It is for callers that only look
// ahead. For example, after the quotation mark in {"a": "x" such a caller sees the end of the text
// before the Reader has come there. What the Reader then writes up to that end still comes from the
// model.
func (o *Output) UnseeEnd() func() {
	was := o.endAt
	return func() { o.endAt = was }
}

// BeforeEnd returns how many bytes were final (see Settled) when the end of the text was first
// seen, or how many are final now if it was not seen. Of a call that was cut, only these may be
// sent.
func (o *Output) BeforeEnd() int {
	if o.endAt < 0 {
		return o.Settled()
	}
	return o.endAt
}

// Writer writes arguments, and records the repairs made in them.
type Writer struct {
	Out     *Output  // the current output; nil outside of calls
	Spare   Output   // the output of Capture
	Repairs []string // the names of the repairs, each once
}

// Put appends a string to the arguments.
func (w *Writer) Put(s string) { w.Out.JSON = append(w.Out.JSON, s...) }

// PutByte appends one byte to the arguments.
func (w *Writer) PutByte(b byte)    { w.Out.JSON = append(w.Out.JSON, b) }
func (w *Writer) putBytes(b []byte) { w.Out.JSON = append(w.Out.JSON, b...) }

// HoldOn starts a hold at the current position, and returns the position. Everything that is
// written after it can be taken back until the hold ends. Holds can be nested: there may be one for
// the key of a member, and another inside its value. Only the outermost hold keeps bytes from being
// sent.
func (w *Writer) HoldOn() int {
	at := w.Out.Written()
	if w.Out.holds == 0 {
		w.Out.heldAt = at
	}
	w.Out.holds++
	return at
}

// HoldOff ends the hold that was started last (see HoldOn). The bytes written since then become
// final, unless another hold is open.
func (w *Writer) HoldOff() { w.Out.holds-- }

// TakeBack removes everything that was written from the position at on, where a hold began (see
// HoldOn). The hold remains, so what is written instead can be removed as well.
func (w *Writer) TakeBack(at int) { w.Out.JSON = w.Out.JSON[:at-w.Out.sent] }

// drop removes everything that was written from the position at on, where a hold began (see
// HoldOn), and ends that hold.
func (r *Reader) drop(at int) {
	r.TakeBack(at)
	r.HoldOff()
	// {"input":, "city": "Oslo"}: the possible wrapper has no value and was removed
	if r.wrapper >= at {
		r.wrapper = 0
		r.HoldOff()
	}
}

// Held returns what was written from the position at on, where a hold began (see HoldOn).
func (w *Writer) Held(at int) []byte { return w.Out.JSON[at-w.Out.sent:] }

// doubt records, if two is true, that the text can be read in two ways. The record is never
// removed. A nil output belongs to a text that is not a call, so two ways to read it do not matter.
func (o *Output) doubt(two bool) {
	if two && o != nil {
		o.Doubt = true
		o.keep()
	}
}

// settled lists the repairs after which no other reading is possible, because they change only the
// spelling of a value, or its type by the schema.
var settled = map[string]bool{"control-bytes": true, "utf-8": true, "types": true,
	"key-spelling": true, "null-omitted": true, "wrapped": true, "odd-space": true, "paths": true,
	"raw-arguments": true}

// passing lists the repairs after which the arguments continue to stream, because whole model
// families write so. Their meaning is still checked at their end.
var passing = map[string]bool{"quotes": true, "literals": true, "bare-keys": true}

// Repaired records that a defect was repaired, by a name that Reasons of package adapters explains.
// Each name is recorded once. Searching a list of a dozen names is faster than a map.
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
