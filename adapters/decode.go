package adapters

import (
	"io"
	"slices"

	"toolnorm/adapters/internal/lenient"
	"toolnorm/adapters/internal/scan"
	"toolnorm/adapters/internal/toolset"
	"toolnorm/chat"
)

// decoder reads one reply. It contains the parts that read, goes from one state of the text to the
// next, and ends the reply. The code is straight-line: where a part needs a byte it calls At, which
// reads from the source. So no part sees where one piece of the source ends and the next begins,
// and a cut between two pieces cannot change the result.
//
// Each part knows only the parts above it in this struct, and can be tested with a few of them. A
// failed attempt restores the state of four parts; see progress.
type decoder struct {
	lenient.Reader // the text, and the reader of the contents of calls

	in    input
	out   outlet
	marks marks
	page  page
	code  code
	trial trial
	calls calls
	forms

	drafts   drafts
	doubt    doubt
	unmarked unmarked
	wrappers wrappers
	restored restored
	notated  notated
	thinking thinking
	openers  openers
	start    start
}

// forms are the parts that read calls, each for one way of writing calls.
type forms struct {
	names    names
	closers  closers
	outside  outside
	args     arguments
	objects  objects
	python   python
	headers  headers
	ahead    tagsAhead
	tagged   tagged
	messages messages
	patterns patterns
}

// below has the parts that every reader of calls uses: the reply, and what reads its text and
// writes its calls. Such a reader embeds it.
type below struct {
	*lenient.Reader
	in    *input
	out   *outlet
	marks *marks
	page  *page
	code  *code
	trial *trial
	calls *calls
	tools *toolset.Set // nil if no tools are offered
}

// newDecoder returns a decoder positioned at the reply's first byte. Without tools it has no
// toolset and looks for no calls: it only separates reasoning from text. A position of -1 means
// "none", since 0 is a position.
func newDecoder(f *Format, in chat.Source, o Options, yield func(chat.Event, error) bool) *decoder {
	index := f.live
	if o.Alone || o.Which == Strict {
		index = f.lone
	}
	var tools *toolset.Set
	if len(o.Tools) > 0 {
		tools = toolset.New(o.Tools, o.Also)
	}
	d := new(decoder)
	r, text := &d.Reader, &d.Buffer
	d.in = input{Buffer: text, ctx: o.Context, src: in, taker: &d.calls, control: o.Control,
		whole: o.Whole}
	d.out = outlet{in: &d.in, yield: yield, asides: tools != nil, repairs: &d.Repairs,
		repaired: o.Repaired}
	d.marks = marks{Buffer: text, in: &d.in, f: f.Family, index: index()}
	d.page = page{Buffer: text, in: &d.in, out: &d.out}
	d.page.state, d.page.blank, d.page.fresh = chat.Text, true, true
	d.code = code{Buffer: text, in: &d.in, marks: &d.marks, page: &d.page}
	d.trial = trial{Buffer: text, in: &d.in, out: &d.out, page: &d.page}
	d.trial.pin, d.trial.outer = -1, -1
	d.calls = calls{Reader: r, in: &d.in, out: &d.out, marks: &d.marks, page: &d.page,
		trial: &d.trial, hold: Held(o.Hold), holdNow: o.HoldNow, argsAt: -1}
	b := below{r, &d.in, &d.out, &d.marks, &d.page, &d.code, &d.trial, &d.calls, tools}
	d.readCalls(b)
	d.decideCalls(b, f, o)
	d.Source, d.Outside = &d.in, &d.outside
	d.SetLimit(scan.Unlimited)
	d.start.startBehind(o.Prompt)
	return d
}

// readCalls creates the parts of the decoder that read calls.
func (d *decoder) readCalls(b below) {
	d.names = names{below: b}
	d.closers = closers{below: b}
	d.outside = outside{below: b, names: &d.names}
	d.args = arguments{below: b, outside: &d.outside}
	d.objects = objects{below: b, names: &d.names, closers: &d.closers, args: &d.args}
	d.python = python{below: b, names: &d.names, closers: &d.closers, outside: &d.outside,
		args: &d.args}
	d.headers = headers{b}
	d.ahead = tagsAhead{below: b, names: &d.names}
	d.tagged = tagged{below: b, closers: &d.closers, args: &d.args, headers: &d.headers,
		ahead: &d.ahead}
	d.messages = messages{below: b, closers: &d.closers, args: &d.args, headers: &d.headers,
		tagged: &d.tagged}
	d.patterns = patterns{below: b, names: &d.names, closers: &d.closers, args: &d.args,
		objects: &d.objects, python: &d.python, tagged: &d.tagged}
}

// decideCalls creates the parts of the decoder that decide whether a text is meant as a call.
func (d *decoder) decideCalls(b below, f *Format, o Options) {
	d.drafts = drafts{below: b, heard: heard{messages: o.Messages}}
	d.calls.heard = &d.drafts.heard
	d.doubt = doubt{below: b, drafts: &d.drafts, openers: &d.openers, which: o.Which}
	d.unmarked = unmarked{below: b, names: &d.names, patterns: &d.patterns, drafts: &d.drafts,
		doubt: &d.doubt, openers: &d.openers, which: o.Which}
	d.wrappers = wrappers{below: b, drafts: &d.drafts, fences: &d.unmarked,
		off: o.Alone || o.Which == Strict}
	d.restored = restored{below: b, drafts: &d.drafts, format: f, o: o,
		off: o.Which == Strict || o.Whole}
	d.notated = notated{below: b, drafts: &d.drafts, doubt: &d.doubt, format: f, o: o,
		off: o.Alone || o.Which == Strict || o.Whole}
	d.thinking = thinking{below: b, drafts: &d.drafts, openers: &d.openers, quiet: o.Quiet}
	d.openers = openers{below: b, headers: &d.headers, messages: &d.messages,
		patterns: &d.patterns, doubt: &d.doubt, unmarked: &d.unmarked, wrappers: &d.wrappers,
		restored: &d.restored, notated: &d.notated, thinking: &d.thinking}
	d.start = start{below: b, messages: &d.messages, patterns: &d.patterns,
		thinking: &d.thinking}
}

// run reads the reply to its end. The function that reads a state returns when it has set
// page.state to another one. The text also ends at every event that is not text: such an event is
// passed on, and no mark or call extends across it. The context is checked between two steps, not
// at each byte.
func (d *decoder) run() {
	if d.page.state == chat.Text {
		d.start.beginning()
	}
	for !d.in.dead && !d.in.left() {
		if d.page.state == chat.Reasoning {
			d.thinking.read()
		} else {
			d.text()
		}
		if d.At(0) < 0 && !d.barrierPassed() {
			break
		}
	}
	d.end()
}

// barrierPassed sends the event at which the text stopped, such as a call from the server's own
// parser. The text after it is read as if the reply began anew: at the start of a line, outside of
// code, and a call may follow. It returns false, and sends nothing, if the text stopped because the
// reply ended.
func (d *decoder) barrierPassed() bool {
	d.page.flushText()
	e := d.in.barrier
	if e.Kind == chat.None || e.Kind == chat.Finish {
		return false
	}
	d.calls.passOn(e)
	d.in.barrier, d.in.ended = chat.Event{}, d.in.dead
	d.page.anew()
	d.code.leaveCode()
	return true
}

// end sends the last events of a reply: usage, if there was any, and Finish. It sends an error
// instead if the source failed, or io.ErrUnexpectedEOF if the source ended without a finish event.
// Text never causes an error. A server may give up a reply when it has read a call to its end. If
// the call is complete, such a reply ends with "stop".
func (d *decoder) end() {
	if d.in.dead {
		return
	}
	switch {
	case d.in.err != nil:
		d.out.yield(chat.Event{}, d.in.err)
		return
	case d.in.finish.Kind == chat.None:
		d.out.yield(chat.Event{}, io.ErrUnexpectedEOF)
		return
	}
	if d.in.usage.Kind != chat.None {
		d.out.emit(d.in.usage)
	}
	var meta chat.Meta
	if d.in.finish.Meta != nil {
		meta = *d.in.finish.Meta
	}
	// the repairs of the source come first: it read the reply before
	meta.Format, meta.Repairs, meta.Cut = d.marks.f.Name,
		append(slices.Clip(meta.Repairs), d.Repairs...), d.calls.cutText
	switch {
	// Nothing was sent of a call that was cut, and the model ended by itself: the calls before it
	// are whole.
	case d.calls.wasCut && d.in.finish.Text == chat.Stop && d.calls.done > 0 &&
		d.calls.index == d.calls.done:
		meta.Cause = "a call was cut"
	// "stop" after half a call would make a client run it
	case d.calls.wasCut && (d.in.finish.Text == chat.Stop || d.in.abandoned() && d.calls.done > 0):
		d.in.finish.Text, meta.Cause = chat.Length, "a call was cut"
	case d.in.abandoned() && d.calls.done > 0:
		d.in.finish.Text = chat.Stop
	}
	d.out.emit(chat.Event{Kind: chat.Finish, Text: d.in.finish.Text, Meta: &meta})
}
