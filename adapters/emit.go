package adapters

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"toolnorm/adapters/internal/lenient"
	"toolnorm/adapters/internal/scan"
	"toolnorm/adapters/internal/toolset"
	"toolnorm/chat"
)

// calling is the call being read: what is written of its arguments, whose it is, and whether it has begun to leave.
// Outside of drafts the pin is where its text begins, until anything of it has left: so long it can become text again.
type calling struct {
	lenient.Output
	tool     *toolset.Tool
	id       string
	released bool // CallStart has left
}

// emit hands one event on, or keeps it while a draft is open.
// Leaving the range over the events ends the reading: nothing is read from the source after it.
// Events of a draft wait in order with those of the text in front of it, so nothing overtakes anything.
func (d *decoder) emit(e chat.Event) {
	if d.drafting {
		d.drafted = append(d.drafted, e)
		return
	}
	if !d.dead && !d.yield(e, nil) {
		d.stop()
	}
}

// keep declares the n bytes from here on to be text (or reasoning) and steps over them. They leave with the next flush.
// Reading on at the same place makes one piece of text of many, so that a reply's events are about as many as its pieces.
func (d *decoder) keep(n int) {
	if n == 0 || d.state == chat.None { // a message for nobody: glimmer's to=developer, which no client shows
		d.Pos += n
		return
	}
	if d.textTo != d.Pos || d.textKind != d.state {
		d.flushText()
		d.textFrom, d.textKind = d.Pos, d.state
	}
	if d.keptTo != d.Pos {
		d.runFrom = d.Pos
	}
	d.Pos += n
	d.textTo, d.keptTo = d.Pos, d.Pos
}

// skipLent removes what the prompt lent from the start of the buffer again.
func (d *decoder) skipLent(size int) {
	d.Buf, d.Base, d.Pos = d.Buf[size:], size, size
	d.textFrom, d.textTo = size, size
}

// anew notes that nothing stands in front of here: the start of a line, and of what there is to say.
func (d *decoder) anew() { d.blank, d.fresh = true, true }

// flushText sends the text that is decided.
// An event has one kind, so a change from reasoning to text sends what came before.
func (d *decoder) flushText() {
	if d.textFrom < d.textTo {
		d.emit(chat.Event{Kind: d.textKind, Text: d.textOf(d.textFrom, d.textTo)})
	}
	d.textFrom, d.textTo = d.Pos, d.Pos
}

// textOf is the text between two positions: the upstream's own string when it is just that.
// Most pieces are plain text, and pass without a copy.
// Other texts share one allocation for many, see chat.Strings.
func (d *decoder) textOf(from, to int) string {
	if from == d.lastAt && to-from == len(d.last) {
		return d.last
	}
	return d.strings.Of(d.Slice(from, to))
}

// flush sends everything that is decided, before waiting for more. A rune that is not whole yet stays.
// It is called before each read from the source, so what is decided never waits for a model that is slow.
// Of a call as much leaves as can no longer change, see lenient.Output.
func (d *decoder) flush() {
	if d.drafting {
		return
	}
	d.flushRunes()
	if d.Out == &d.calling.Output {
		d.flushArgs()
	}
}

// flushRunes sends the text that is decided, but for a rune that is not whole yet.
func (d *decoder) flushRunes() {
	if d.textFrom >= d.textTo {
		return
	}
	text := d.Slice(d.textFrom, d.textTo)
	if n := len(text) - partialRune(text); n > 0 {
		d.emit(chat.Event{Kind: d.textKind, Text: d.textOf(d.textFrom, d.textFrom+n)})
		d.textFrom += n
	}
}

// needed is the position from which on bytes may be read or sent again: a pin, text that has not left and
// the arguments being read each keep theirs.
func (d *decoder) needed() int {
	from := d.Pos
	if d.textFrom < d.textTo {
		from = d.textFrom
	}
	if d.pin >= 0 {
		from = min(from, d.pin)
	}
	if d.argsAt >= 0 && d.Pos-d.argsAt <= lenient.MaxMended {
		from = min(from, d.argsAt)
	}
	return from
}

// partialRune is how many bytes at the end of b begin a rune without ending it.
// A token may end in the middle of a character, and half of one is no text that JSON could carry.
func partialRune(b []byte) int {
	for n := 1; n <= len(b) && n < utf8.UTFMax; n++ {
		if end := b[len(b)-n:]; utf8.RuneStart(end[0]) {
			if utf8.FullRune(end) {
				return 0
			}
			return n
		}
	}
	return 0
}

// commit begins a call: the text in front of it loses the family's glue and leaves, and no rewind goes behind this point
// (a draft's caller can still drop everything).
// What is read up to here may be read again, so nothing of it has left: the pin holds the buffer.
// Glue goes once: of "Hello\n\n\n<tool_call>" a family with one newline leaves "Hello\n\n".
func (d *decoder) commit(t *toolset.Tool, id string) {
	if !d.drafting {
		d.pin = max(d.leave(d.glue), d.keepOthers())
	} else if d.draftGlue < 0 {
		d.draftGlue = d.glue
	}
	d.calling = calling{Output: lenient.NewOutput(t.Name, t.Type(), d.calling.JSON), tool: t, id: id}
	d.Out = &d.calling.Output
	// with `--hold none` the client sees the call begin at once
	if d.hold < 0 {
		d.release()
	}
}

// commitWith begins a call whose arguments are known as a whole, {} for a tool that is called without any.
// Such a call is decided when it begins: of its arguments nothing can be cut, held back or taken back any more.
func (d *decoder) commitWith(t *toolset.Tool, id, args string) match {
	d.commit(t, id)
	d.Put(args)
	return committed
}

// leave decides the white space in front of the mark at markAt: glue newlines go, the rest is text. Where no text but
// white space stands in front, all of it goes. It answers where what was dropped begins.
// hermes's text and call are apart by one newline, of which the text keeps none: `Hello\n<tool_call>` is the text Hello.
func (d *decoder) leave(glue int) int {
	end := d.markAt
	for n := 0; n < glue && end > d.gapAt && d.Slice(end-1, end)[0] == '\n'; n++ {
		end--
	}
	here := d.Pos
	if d.blank && d.state != chat.Reasoning {
		end = d.gapAt
	}
	d.Pos = d.gapAt
	d.keep(end - d.gapAt)
	d.Pos = here
	d.flushText()
	return end
}

// dropMark steps over the mark of n bytes here, of which nothing is shown.
func (d *decoder) dropMark(n, glue int) match {
	d.leave(glue)
	d.passBy(d.Pos, d.Pos+n)
	d.Pos += n
	return committed
}

// passBy tells of what is not shown between two calls: whose turn it opens, and a result that it is.
func (d *decoder) passBy(from, to int) {
	if d.done > 0 && d.tools != nil {
		d.emit(chat.Event{Kind: aside, Text: string(d.Slice(from, to))})
	}
}

// release sends CallStart.
// From here on the call cannot become text again, whatever is found in it.
// Its index is the number of calls before it, those of the server's own parser included.
func (d *decoder) release() {
	c := &d.calling
	c.released = true
	d.unpin()
	d.emit(chat.Event{Kind: chat.CallStart, Index: d.calls, ID: c.id, Text: c.tool.Name})
}

// flushArgs sends what is decided of the arguments, when the degree of holding allows it.
// Settled bytes are those that no later byte can change; with `--hold call` none leave before the end.
func (d *decoder) flushArgs() {
	if c := &d.calling; c.released || c.Settled() > d.hold {
		d.sendArgs(c.Decided())
	}
}

// sendArgs sends the first n bytes of out.
// A call leaves with its first fragment, not before: a client that shows a name alone would show one that may yet be text.
func (d *decoder) sendArgs(n int) {
	c := &d.calling
	if !c.released {
		d.release()
	}
	if n == 0 {
		return
	}
	d.emit(chat.Event{Kind: chat.CallArgs, Index: d.calls, Text: d.strings.Of(c.JSON[:n])})
	c.Taken(n)
}

// SawEnd notes how much was decided when the end of the text was first seen inside a call.
// Up to there a call that is cut may be sent: what was decided later depended on there being no more.
func (d *decoder) SawEnd() {
	if d.Out != nil {
		d.Out.SawEnd()
	}
}

// endCall ends the call. closed says that the envelope's own closers were seen. A server gives up a reply when it has read
// the call to its end, so a call that lacks only those is no cut one then.
// A call with two readings is shown as text where nothing of it has left, and stays open where it has begun: to run the wrong
// reading is the worse of both.
// An end of the text in front of the closers counts as a cut only when the server says "length": models that stop by
// themselves forget closers all the time.
func (d *decoder) endCall(closed bool) {
	if d.Out == nil { // an element of a list that is no call has ended it already
		return
	}
	c := &d.calling
	d.Out = nil // looking for the end of the text is not reading the call
	isCut := c.Broken || (!closed && !d.abandoned() || d.Unclosed) && d.atEnd() && d.lengthCut()
	d.Out = &c.Output
	switch {
	case d.drafting && c.Doubt:
		d.Hit = true // the draft fails
		d.finishCall(closed)
	case !d.drafting && !c.released && (c.Doubt || c.Broken && d.ranOver(d.pin)):
		d.textAgain(d.pin)
	case isCut || c.Doubt:
		d.cutCall()
	default:
		d.finishCall(closed)
	}
	d.Out = nil
	d.unpin()
	d.Reset()
}

// lateID takes an id that stands behind the arguments, when nothing of the call has left.
func (d *decoder) lateID(id string) {
	if !d.calling.released {
		d.calling.id = id
	}
}

// passOn sends an event of the server's own. A call that the server has read counts among the calls, so that ours go on
// behind its index.
func (d *decoder) passOn(e chat.Event) {
	e.Index = d.calls
	d.emit(e)
	if e.Kind == chat.CallEnd {
		d.calls++
		d.done++
	}
}

// unpin lets the bytes of a call go, unless a draft may still give them back.
func (d *decoder) unpin() {
	if !d.drafting {
		d.pin = -1
	}
}

// finishCall sends the rest of a complete call.
// Missing closers are no damage when the model stopped by itself, and are reported as repaired.
// Text behind a call begins anew: white space there is none, and a further call is at the start of a line.
func (d *decoder) finishCall(closed bool) {
	if !closed {
		d.Repaired("closers")
	}
	d.Out.Settle()
	d.sendArgs(len(d.Out.JSON))
	d.emit(chat.Event{Kind: chat.CallEnd, Index: d.calls})
	d.calls++
	d.done++
	d.blank, d.afterCall, d.closed, d.markless = true, true, closed, d.closing.Markless()
}

// cutCall ends a call that the end of the text cut: what was decided leaves if the call had been released by then, and it
// stays open; a call that was still held is left out. White space behind it is no text.
// An open call with finish "length" is one that clients do not run.
// The rest of the text belongs to it: half a call must not be shown.
func (d *decoder) cutCall() {
	c := &d.calling
	d.wasCut = true
	d.ToEnd()
	decided := c.BeforeEnd()
	if !c.released && decided <= d.hold {
		d.cutText = c.tool.Name + " " + string(c.JSON[:min(decided, chat.MaxCut)]) // for who goes on with it
		return
	}
	d.sendArgs(max(decided-c.Sent(), 0))
	d.calls++
}

// ranOver says whether the model stopped by itself and the closer of the call stands in what was read from position from on:
// a string that was never closed ran over it.
// Its arguments are then what stood behind the call, too, and no end of the string can be found in it.
func (d *decoder) ranOver(from int) bool {
	if d.lengthCut() || len(d.closing.Close) == 0 || d.closing.Hole("args") >= 0 {
		return false
	}
	closer := d.closing.Close[len(d.closing.Close)-1].Key()
	return len(closer) > 1 && strings.Contains(string(d.Slice(from, d.Pos)), closer)
}

// textAgain shows a call as the text that it was, from position from on, since it can be read in two ways. Nothing of it has
// left.
// It is solid text: marks in it are no calls, or the same place would be tried once more.
func (d *decoder) textAgain(from int) {
	d.Out = nil
	d.Repaired("two-readings")
	// what separates two elements of a list that are both text is text
	if kept := d.keptTo; kept >= d.Base && kept < from && len(bytes.Trim(d.Slice(kept, from), ",; \n")) == 0 {
		from = kept
	}
	d.solidFrom(from)
}

// atEnd says whether the text is over, but for white space.
func (d *decoder) atEnd() bool { return d.At(d.Space(0)) < 0 }

// cutFrom steps over the rest of the text: together with what stands from position from on it is a call that was cut.
// It is kept, up to chat.MaxCut, in the Meta of the end (Cut); as text half a call would only puzzle people.
func (d *decoder) cutFrom(from int) {
	kept := append([]byte(nil), d.Slice(from, d.Pos)...)
	for d.At(0) >= 0 {
		w := d.Window()
		kept = append(kept, w[:min(len(w), max(chat.MaxCut-len(kept), 0))]...)
		d.Pos += len(w)
	}
	d.wasCut, d.cutText = true, string(kept)
}

// draft reads calls without sending anything, under a virtual end of the text size bytes ahead. When read answers true
// what was read leaves, else everything is as before. Reaching the virtual end is a no.
// The virtual end bounds what is held and what may be read in vain. Everything inside unwinds by itself, as at a real end, and
// needs no code of its own for being a draft.
// A draft in a draft would make the limit of the outer one depend on the inner, so there is none.
func (d *decoder) draft(size int, read func() bool) bool {
	if d.drafting || d.exhausted() {
		return false
	}
	d.flush()
	before := d.checkpoint()
	d.drafting, d.drafted, d.draftGlue = true, d.drafted[:0], -1
	d.SetLimit(d.Pos + size)
	d.Hit = false
	// the buffer must keep what may be read again as text
	if d.pin < 0 {
		d.pin = d.gapAt
	}
	ok := read() && !d.Hit && !d.wasCut && d.done > before.done
	d.drafting, d.Hit = false, false
	d.SetLimit(scan.Unlimited)
	if !ok {
		d.undo(&before)
		return false
	}
	d.acceptText(&before.textState, d.draftGlue)
	d.pin = -1
	if d.state == chat.Reasoning {
		d.state, d.fresh = chat.Text, true
	}
	for _, e := range d.drafted {
		d.emit(e)
	}
	return true
}

// acceptText lets the text in front of an accepted draft leave.
// Glue is that of the draft's first call, which was not known when the text in front was passed.
func (d *decoder) acceptText(before *textState, glue int) {
	here, blank := d.Pos, d.blank
	d.gapAt, d.markAt, d.blank = before.gapAt, before.markAt, before.blank
	d.textFrom, d.textTo, d.textKind = before.textFrom, before.textTo, before.textKind
	d.leave(glue)
	d.Pos, d.blank = here, blank
}

// undo takes a failed draft back; what was read from the source meanwhile stays.
// What was read in vain is counted: with too much of it drafts stop, so that hostile text costs linear time.
func (d *decoder) undo(before *checkpoint) {
	d.waste += d.Pos - before.pos
	d.restore(before)
	d.Out = nil
	d.Reset()
}
