package adapters

import (
	"bytes"

	"toolnorm/adapters/internal/lenient"
	"toolnorm/adapters/internal/toolset"
	"toolnorm/chat"
)

// calls writes the calls of the reply. The method commit begins a call, when it is certain that the
// text is a call, and endCall ends it. Between the two, the reader of the arguments writes to Out.
// Only this type decides how much of the arguments may be sent: that depends on the option `--hold`
// and on which bytes can still change. So the code that reads the different forms of calls does not
// depend on the client.
type calls struct {
	*lenient.Reader
	in    *input
	out   *outlet
	marks *marks
	page  *page
	trial *trial
	hold  int // bytes of arguments that are held back before a call is sent; negative: none are
	// holdNow returns hold for a call that begins; nil: hold does not change
	holdNow func() int
	heard   *heard // what was said before; nil: nothing is known
	callCount
	argsAt  int     // position of the arguments being read, which stay buffered; -1: none
	calling calling // the call being read; Out points to its output, or is nil outside of calls
}

// callCount counts the calls so far. A call that was cut has an index but is not finished, so the
// field index may be greater than the field done.
type callCount struct {
	index    int    // of the next call that is sent
	done     int    // calls finished
	closed   bool   // the last call was closed by its own marks
	markless bool   // the last call had no marks
	wasCut   bool   // a call was cut
	cutText  string // the part of that call that was read and not sent
}

// settle sends everything that is decided, and returns the first position in the text whose bytes
// may be needed again.
func (cs *calls) settle() int {
	cs.flush()
	return cs.needed()
}

// sawEnd records how much of the call was decided when the end of the text was first seen. If the
// call turns out to be cut, only that much may be sent, because later decisions assumed that the
// text was complete. Outside of calls it does nothing.
func (cs *calls) sawEnd() {
	if cs.Out != nil {
		cs.Out.SawEnd()
	}
}

// calling is the call being read: its arguments as written so far, its tool, and whether a part of
// the call was sent. Until a part is sent, the call can become text again. Until then trial.pin,
// except in drafts, is the position where the call's text begins.
type calling struct {
	lenient.Output
	tool     *toolset.Tool
	id       string
	released bool // CallStart was sent
	filled   bool // it has a value that is no placeholder
	looked   int  // how much of the arguments was looked at for the field filled
	endless  bool // where one of its values ends is not known
}

// commit begins a call. It sends the text before the call, without the newlines that belong to the
// call (the family's glue). Reading cannot go back before this point, except that a draft can still
// be dropped. Nothing of the call itself was sent, and its text up to here may be read again, so
// trial.pin keeps that text in the buffer. For example, in a family whose glue is one newline,
// "Hello\n\n\n<tool_call>" sends "Hello\n\n".
func (cs *calls) commit(t *toolset.Tool, id string) {
	if !cs.out.drafting {
		cs.trial.pin = max(cs.page.leave(cs.trial.glue), cs.keepOthers())
	} else if cs.out.draftGlue < 0 {
		cs.out.draftGlue = cs.trial.glue
	}
	cs.calling = calling{Output: lenient.NewOutput(t.Name, t.Type(), cs.calling.JSON), tool: t,
		id: id}
	cs.Out = &cs.calling.Output
	if cs.holdNow != nil {
		cs.hold = cs.holdNow()
	}
	// with `--hold none` the client sees the call begin at once
	if cs.hold < 0 {
		cs.release()
	}
}

// commitWith begins a call whose arguments are known as a whole; they are {} for a tool that is
// called without arguments. It always returns committed. None of these arguments can be cut, held
// back or taken back any more.
func (cs *calls) commitWith(t *toolset.Tool, id, args string) match {
	cs.commit(t, id)
	cs.Put(args)
	return committed
}

// keepOthers sends as text the elements of a list that are not calls, if such elements precede the
// call that begins now. It returns the position where they end, or -1 if there are none. If that
// call turns out to be text as well, its text begins at the returned position, so that no element
// is shown twice.
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

// release sends CallStart. From then on the call cannot become text again, whatever is found in it.
// The index of the call is the number of calls before it, including those of the server's own
// parser.
func (cs *calls) release() {
	c := &cs.calling
	c.released = true
	cs.trial.unpin()
	cs.out.emit(chat.Event{Kind: chat.CallStart, Index: cs.index, ID: c.id, Text: c.tool.Name})
}

// flush sends everything that is decided. It is called before each read from the source, so that
// decided text does not wait for a slow model. A rune that is not complete yet is kept. Of a call,
// it sends the part that can no longer change; see lenient.Output. In a draft nothing is sent.
func (cs *calls) flush() {
	if cs.out.drafting {
		return
	}
	cs.page.flushRunes()
	if cs.Out == &cs.calling.Output {
		cs.flushArgs()
	}
}

// needed returns the first position whose bytes may be read or sent again: the earliest of
// trial.pin, the text that was not sent yet and the arguments being read.
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

// flushArgs sends the arguments that are decided, if more bytes of them than `--hold` holds back
// can no longer change. With `--hold call` nothing is sent before the call's end.
func (cs *calls) flushArgs() {
	if c := &cs.calling; cs.mayLeave(c.Settled()) {
		cs.sendArgs(c.Decided())
	}
}

// mayLeave reports whether the call may be sent when n bytes of its arguments are decided. This
// must be more than `--hold` holds back, and not all values so far may be placeholders. It returns
// true if a part of the call was sent already.
func (cs *calls) mayLeave(n int) bool {
	return cs.calling.released || n > cs.held() && !cs.maybeShown()
}

// held returns how many bytes of the current call's arguments are held back before the call is
// sent. This is cs.hold, or shortCall if that is more and the first member is not a parameter of
// the tool. Such a call seldom fits its schema, and as long as nothing of it was sent, the model
// can be asked to write it again. If cs.holdNow is nil, the result is always cs.hold.
func (cs *calls) held() int {
	c := &cs.calling
	if cs.holdNow == nil || cs.hold >= shortCall || c.released || !bytes.HasPrefix(c.JSON, []byte(
		`{"`)) {
		return cs.hold
	}
	key, _, _ := bytes.Cut(c.JSON[2:], []byte(`"`))
	if t := c.tool.Type(); len(t.Members()) == 0 || t.Has(string(key)) {
		return cs.hold
	}
	return shortCall
}

// sendArgs sends the first n bytes of the arguments that were not sent yet. The start of the call
// is sent with its first fragment, not before: a client that shows a name alone would show a call
// that may still become text.
func (cs *calls) sendArgs(n int) {
	c := &cs.calling
	if !c.released {
		cs.release()
	}
	if n == 0 {
		return
	}
	cs.out.emit(chat.Event{Kind: chat.CallArgs, Index: cs.index,
		Text: cs.out.strings.Of(c.JSON[:n])})
	c.Taken(n)
}

// endCall ends the call. The parameter closed says whether the closing brackets and tags around the
// arguments were seen. A call that can be read in two ways is shown as text if nothing of it was
// sent. Otherwise it stays open, because running the wrong reading would be worse. A call whose
// closing tags are missing at the end of the text was cut if the finish reason is "length". With
// any other reason it is complete, because models that stop by themselves often forget them. It is
// also complete if the server gave up the reply, as servers do after the last byte of a call.
func (cs *calls) endCall(closed bool) {
	if cs.Out == nil { // an element of a list that is not a call has ended it already
		return
	}
	c := &cs.calling
	cs.Out = nil // looking for the end of the text is not reading the call
	isCut := c.Broken || (!closed && !cs.in.abandoned() || cs.Unclosed) && cs.marks.atEnd() &&
		cs.in.lengthCut()
	cs.Out = &c.Output
	switch shown := !isCut && cs.isShown(); {
	case cs.out.drafting && (c.Doubt || shown):
		cs.Hit = true // the draft fails
		cs.finishCall(closed)
	case !cs.out.drafting && !c.released && (c.Doubt || c.Broken && cs.trial.ranOver(cs.trial.pin)):
		cs.textAgain(cs.trial.pin)
	case shown:
		cs.showAgain(cs.trial.pin)
	case isCut || c.Doubt:
		cs.cutCall()
	default:
		cs.finishCall(closed)
	}
	cs.Out = nil
	cs.trial.unpin()
	cs.Reset()
}

// endUnsure records, if the parameter unsure is true, that a value may go on after its apparent
// end. The text after the call may then be part of the value, so no call is read from that text.
func (cs *calls) endUnsure(unsure bool) {
	cs.calling.Doubt = cs.calling.Doubt || unsure
	cs.calling.endless = cs.calling.endless || unsure
}

// lateID sets the id of the call to an id that was written after its arguments. It does nothing if
// a part of the call may have been sent.
func (cs *calls) lateID(id string) {
	if !cs.mayLeave(cs.calling.Settled()) {
		cs.calling.id = id
	}
}

// passOn sends an event that comes from the server's own parser. A call among these events is
// counted, so that the indexes of later calls follow.
func (cs *calls) passOn(e chat.Event) {
	e.Index = cs.index
	cs.out.emit(e)
	if e.Kind == chat.CallEnd {
		cs.index++
		cs.done++
	}
}

// finishCall sends the rest of a complete call. If closing tags are missing (closed is false), a
// repair is recorded. After a call the text is read as at the beginning of a reply: white space is
// not text, and a further call is read as one at the start of a line.
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

// cutCall ends a call that was cut by the end of the text. It sends the arguments that are certain,
// and the call stays open; clients do not run an open call with finish "length". If too little is
// certain for the call to be sent at all, it sends nothing, and keeps the beginning for Meta.Cut.
// The rest of the text is dropped as part of the call, because half a call must not be shown.
func (cs *calls) cutCall() {
	c := &cs.calling
	cs.wasCut = true
	cs.ToEnd()
	decided := c.BeforeEnd()
	if !cs.mayLeave(decided) {
		// for the code that lets the model continue the call
		cs.cutText = c.tool.Name + " " + string(c.JSON[:min(decided, chat.MaxCut)])
		return
	}
	cs.sendArgs(max(decided-c.Sent(), 0))
	cs.index++
}

// textAgain turns a call that can be read in two ways back into text, which begins at position
// from. Nothing of the call was sent. The event with this text names the tool, so that the caller
// can ask for the call again. Marks in this text do not begin calls, or the same place would be
// tried once more.
func (cs *calls) textAgain(from int) {
	cs.Out = nil
	cs.Repaired("two-readings")
	// the text between two elements of a list that are both text is text
	if kept := cs.page.keptTo; kept >= cs.Base && kept < from &&
		len(bytes.Trim(cs.Slice(kept, from), ",; \n")) == 0 {
		from = kept
	}
	cs.page.doubtful(cs.calling.tool.Name, func() {
		cs.page.solidFrom(from)
		if args := cs.trial.closing.Family.Args; cs.calling.endless ||
			cs.calling.Doubt && len(args) > 0 &&
				(args[0].Keyed() || cs.trial.closing.Family.Flags.CDATA) {
			// where its value ends is not known: calls after it may be part of the value
			cs.page.restIsText()
		}
	})
}

// further ends the current call, skips the n bytes that separate it from the next one, and calls
// the function read, which reads the next. It returns true if there is a next call. If not, the
// position is restored. If the text ends inside the next call, that call is dropped as a cut call.
// In each case the calls before remain. While the next call is read, trial.pin is the position
// before it, so that the buffer can drop the text of the current call.
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
	if !cs.page.blank { // after an element that is text the separator is text too
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

// cutFrom skips the rest of the text, because everything after position from is a call that was
// cut. Up to chat.MaxCut bytes of it are kept in Meta.Cut. Half a call is not shown as text, since
// it would only puzzle people.
func (cs *calls) cutFrom(from int) {
	kept := append([]byte(nil), cs.Slice(from, cs.Pos)...)
	for cs.At(0) >= 0 {
		w := cs.Window()
		kept = append(kept, w[:min(len(w), max(chat.MaxCut-len(kept), 0))]...)
		cs.Pos += len(w)
	}
	cs.wasCut, cs.cutText = true, string(kept)
}

// dropRest drops the rest of the text, which is a mark or a call that was cut by the end of the
// text. Its bytes are kept in Meta.Cut, so the reply can say what was lost, and the finish reason
// becomes length.
func (cs *calls) dropRest(glue int) {
	cs.page.leave(glue)
	// a model that ended by itself after the opener of a call has changed its mind: nothing was cut
	if m := cs.marks.firstMark(0, opensCall); m != nil && cs.marks.over(cs.marks.markSize(0, m)) {
		cs.ToEnd()
		return
	}
	cs.cutFrom(cs.Pos)
}
