package adapters

import (
	"bytes"

	"toolnorm/adapters/internal/lenient"
	"toolnorm/adapters/internal/toolset"
	"toolnorm/chat"
)

// calls writes the calls of the reply: each from where it is certain to where it ends.
// Between commit and endCall whoever reads the arguments writes to Out. What of them may leave is
// decided here alone, by the degree of holding and by what can still change; so the forms of calls
// know nothing of the client.
type calls struct {
	*lenient.Reader
	in    *input
	out   *outlet
	marks *marks
	page  *page
	trial *trial
	hold  int // bytes of arguments that wait before a call leaves; negative: none
	// holdNow returns hold for a call that begins; nil: it stays
	holdNow func() int
	callCount
	argsAt  int     // position of the arguments being read, which are kept meanwhile; -1: none are
	calling calling // the call being read; Out points to its output, or is nil outside of calls
}

// callCount is what has become of the calls so far.
// index and done differ by calls that were cut: those have an index, and are not finished.
type callCount struct {
	index    int    // of the next call
	done     int    // calls finished
	closed   bool   // the last one was closed by its own marks
	markless bool   // it had none
	wasCut   bool   // a call was cut
	cutText  string // what of it was read and did not leave
}

// settle sends what is decided, and returns the position from which on bytes may be needed again.
func (cs *calls) settle() int {
	cs.flush()
	return cs.needed()
}

// sawEnd notes how much was decided when the end of the text was first seen inside a call. Up to
// there a call that is cut may be sent: what was decided later depended on there being no more.
func (cs *calls) sawEnd() {
	if cs.Out != nil {
		cs.Out.SawEnd()
	}
}

// calling is the call being read: what is written of its arguments, whose it is, and whether it has begun to leave.
// Outside of drafts the pin is where its text begins, until anything of it has left: so long it can become text again.
type calling struct {
	lenient.Output
	tool     *toolset.Tool
	id       string
	released bool // CallStart has left
	endless  bool // where a value of it ends is not known
}

// commit begins a call: the text in front of it loses the family's glue and leaves, and no rewind goes behind this point
// (a draft's caller can still drop everything).
// What is read up to here may be read again, so nothing of it has left: the pin holds the buffer.
// Glue goes once: of "Hello\n\n\n<tool_call>" a family with one newline leaves "Hello\n\n".
func (cs *calls) commit(t *toolset.Tool, id string) {
	if !cs.out.drafting {
		cs.trial.pin = max(cs.page.leave(cs.trial.glue), cs.keepOthers())
	} else if cs.out.draftGlue < 0 {
		cs.out.draftGlue = cs.trial.glue
	}
	cs.calling = calling{Output: lenient.NewOutput(t.Name, t.Type(), cs.calling.JSON), tool: t, id: id}
	cs.Out = &cs.calling.Output
	if cs.holdNow != nil {
		cs.hold = cs.holdNow()
	}
	// with `--hold none` the client sees the call begin at once
	if cs.hold < 0 {
		cs.release()
	}
}

// commitWith begins a call whose arguments are known as a whole, {} for a tool that is called without any.
// Such a call is decided when it begins: of its arguments nothing can be cut, held back or taken back any more.
func (cs *calls) commitWith(t *toolset.Tool, id, args string) match {
	cs.commit(t, id)
	cs.Put(args)
	return committed
}

// keepOthers keeps the elements of a list that are no calls, in front of the call that begins now. It answers where they
// end, -1 when there are none.
// They leave as they were written.
// It answers a position because the text in front of the call must not be shown again when the call turns back into text.
func (cs *calls) keepOthers() int {
	from, to := cs.trial.others[0], cs.trial.others[1]
	cs.trial.others = [2]int{}
	if from == to {
		return -1
	}
	here := cs.Pos
	cs.Pos = to
	cs.page.solidFrom(from)
	cs.page.flushText()
	cs.Pos = here
	return to
}

// release sends CallStart.
// From here on the call cannot become text again, whatever is found in it.
// Its index is the number of calls before it, those of the server's own parser included.
func (cs *calls) release() {
	c := &cs.calling
	c.released = true
	cs.trial.unpin()
	cs.out.emit(chat.Event{Kind: chat.CallStart, Index: cs.index, ID: c.id, Text: c.tool.Name})
}

// flush sends everything that is decided, before waiting for more. A rune that is not whole yet stays.
// It is called before each read from the source, so what is decided never waits for a model that is slow.
// Of a call as much leaves as can no longer change, see lenient.Output.
func (cs *calls) flush() {
	if cs.out.drafting {
		return
	}
	cs.page.flushRunes()
	if cs.Out == &cs.calling.Output {
		cs.flushArgs()
	}
}

// needed is the position from which on bytes may be read or sent again: a pin, text that has not left and
// the arguments being read each keep theirs.
func (cs *calls) needed() int {
	from := cs.Pos
	if cs.page.textFrom < cs.page.textTo {
		from = cs.page.textFrom
	}
	if cs.trial.pin >= 0 {
		from = min(from, cs.trial.pin)
	}
	if cs.argsAt >= 0 && cs.Pos-cs.argsAt <= lenient.MaxMended {
		from = min(from, cs.argsAt)
	}
	return from
}

// flushArgs sends what is decided of the arguments, when the degree of holding allows it.
// Settled bytes are those that no later byte can change; with `--hold call` none leave before the end.
func (cs *calls) flushArgs() {
	if c := &cs.calling; c.released || c.Settled() > cs.held() {
		cs.sendArgs(c.Decided())
	}
}

// held is how much of the call waits that is being read. One that begins with a member that the tool does not have seldom fits,
// and what has not left can be written again: it waits for a size, also where others wait for a time.
func (cs *calls) held() int {
	c := &cs.calling
	if cs.holdNow == nil || cs.hold >= shortCall || c.released || !bytes.HasPrefix(c.JSON, []byte(`{"`)) {
		return cs.hold
	}
	key, _, _ := bytes.Cut(c.JSON[2:], []byte(`"`))
	if t := c.tool.Type(); len(t.Members()) == 0 || t.Has(string(key)) {
		return cs.hold
	}
	return shortCall
}

// sendArgs sends the first n bytes of out.
// A call leaves with its first fragment, not before: a client that shows a name alone would show one that may yet be text.
func (cs *calls) sendArgs(n int) {
	c := &cs.calling
	if !c.released {
		cs.release()
	}
	if n == 0 {
		return
	}
	cs.out.emit(chat.Event{Kind: chat.CallArgs, Index: cs.index, Text: cs.out.strings.Of(c.JSON[:n])})
	c.Taken(n)
}

// endCall ends the call. closed says that the envelope's own closers were seen. A server gives up a reply when it has read
// the call to its end, so a call that lacks only those is no cut one then.
// A call with two readings is shown as text where nothing of it has left, and stays open where it has begun: to run the wrong
// reading is the worse of both.
// An end of the text in front of the closers counts as a cut only when the server says "length": models that stop by
// themselves forget closers all the time.
func (cs *calls) endCall(closed bool) {
	if cs.Out == nil { // an element of a list that is no call has ended it already
		return
	}
	c := &cs.calling
	cs.Out = nil // looking for the end of the text is not reading the call
	isCut := c.Broken || (!closed && !cs.in.abandoned() || cs.Unclosed) && cs.marks.atEnd() && cs.in.lengthCut()
	cs.Out = &c.Output
	switch {
	case cs.out.drafting && c.Doubt:
		cs.Hit = true // the draft fails
		cs.finishCall(closed)
	case !cs.out.drafting && !c.released && (c.Doubt || c.Broken && cs.trial.ranOver(cs.trial.pin)):
		cs.textAgain(cs.trial.pin)
	case isCut || c.Doubt:
		cs.cutCall()
	default:
		cs.finishCall(closed)
	}
	cs.Out = nil
	cs.trial.unpin()
	cs.Reset()
}

// endUnsure notes whether a value may go on behind where it ends: then what follows the call may be part of it, and is no call.
func (cs *calls) endUnsure(unsure bool) {
	cs.calling.Doubt = cs.calling.Doubt || unsure
	cs.calling.endless = cs.calling.endless || unsure
}

// lateID takes an id that stands behind the arguments, when nothing of the call has left.
func (cs *calls) lateID(id string) {
	if !cs.calling.released {
		cs.calling.id = id
	}
}

// passOn sends an event of the server's own. A call that the server has read counts among the calls, so that ours go on
// behind its index.
func (cs *calls) passOn(e chat.Event) {
	e.Index = cs.index
	cs.out.emit(e)
	if e.Kind == chat.CallEnd {
		cs.index++
		cs.done++
	}
}

// finishCall sends the rest of a complete call.
// Missing closers are no damage when the model stopped by itself, and are reported as repaired.
// Text behind a call begins anew: white space there is none, and a further call is at the start of a line.
func (cs *calls) finishCall(closed bool) {
	if !closed {
		cs.Repaired("closers")
	}
	cs.Out.Settle()
	cs.sendArgs(len(cs.Out.JSON))
	cs.out.emit(chat.Event{Kind: chat.CallEnd, Index: cs.index})
	cs.index++
	cs.done++
	cs.page.anew()
	cs.page.afterCall, cs.closed, cs.markless = true, closed, cs.trial.closing.Markless()
}

// cutCall ends a call that the end of the text cut: what was decided leaves if the call had been released by then, and it
// stays open; a call that was still held is left out. White space behind it is no text.
// An open call with finish "length" is one that clients do not run.
// The rest of the text belongs to it: half a call must not be shown.
func (cs *calls) cutCall() {
	c := &cs.calling
	cs.wasCut = true
	cs.ToEnd()
	decided := c.BeforeEnd()
	if !c.released && decided <= cs.held() {
		cs.cutText = c.tool.Name + " " + string(c.JSON[:min(decided, chat.MaxCut)]) // for who goes on with it
		return
	}
	cs.sendArgs(max(decided-c.Sent(), 0))
	cs.index++
}

// textAgain shows a call as the text that it was, from position from on, since it can be read in two ways. Nothing of it has
// left. The text names the tool, so that whoever can may have the call written again.
// It is solid text: marks in it are no calls, or the same place would be tried once more.
func (cs *calls) textAgain(from int) {
	cs.Out = nil
	cs.Repaired("two-readings")
	// what separates two elements of a list that are both text is text
	if kept := cs.page.keptTo; kept >= cs.Base && kept < from && len(bytes.Trim(cs.Slice(kept, from), ",; \n")) == 0 {
		from = kept
	}
	cs.page.doubtful(cs.calling.tool.Name, func() {
		cs.page.solidFrom(from)
		if args := cs.trial.closing.Family.Args; cs.calling.endless || cs.calling.Doubt && len(args) > 0 && (args[0].Keyed() || cs.trial.closing.Family.Flags.CDATA) {
			cs.page.restIsText() // where its value ends is not known: calls behind it may be part of that
		}
	})
}

// further reads a further call behind n bytes that separate it from the one before, which it ends: only now it is known
// that nothing more of that one comes.
// A call that the text's end cuts is dropped as a cut call; what is none gives everything back, and those before it stand.
// The pin moves to the start of what is tried, so that the call before it can leave the buffer.
func (cs *calls) further(n int, read func() match) bool {
	start := cs.Pos
	if cs.endCall(true); cs.wasCut {
		return false
	}
	pin := cs.trial.pin
	if pin < 0 {
		cs.trial.pin = cs.Pos
	}
	cs.Pos += n
	cs.page.gapAt, cs.page.markAt, cs.trial.glue = start, cs.Pos, 0
	if !cs.page.blank { // behind an element that is text the separator is none
		cs.page.gapAt = cs.Pos
	}
	switch read() {
	case committed:
		return true
	case incomplete:
		cs.cutFrom(cs.page.markAt)
	default:
		cs.Pos, cs.trial.pin = start, pin
	}
	return false
}

// cutFrom steps over the rest of the text: together with what stands from position from on it is a call that was cut.
// It is kept, up to chat.MaxCut, in the Meta of the end (Cut); as text half a call would only puzzle people.
func (cs *calls) cutFrom(from int) {
	kept := append([]byte(nil), cs.Slice(from, cs.Pos)...)
	for cs.At(0) >= 0 {
		w := cs.Window()
		kept = append(kept, w[:min(len(w), max(chat.MaxCut-len(kept), 0))]...)
		cs.Pos += len(w)
	}
	cs.wasCut, cs.cutText = true, string(kept)
}

// dropRest drops the rest of the text: a mark or a call that the end of the text cut.
// Its bytes are in Meta.Cut, so the reply can say what was lost; finish becomes length.
func (cs *calls) dropRest(glue int) {
	cs.page.leave(glue)
	// a model that ended by itself behind the opener of a call has changed its mind: nothing was cut
	if m := cs.marks.firstMark(0, opensCall); m != nil && cs.marks.over(cs.marks.markSize(0, m)) {
		cs.ToEnd()
		return
	}
	cs.cutFrom(cs.Pos)
}
