package adapters

import (
	"context"
	"io"
	"slices"
	"strings"

	"toolnorm/adapters/internal/declaration"
	"toolnorm/adapters/internal/lenient"
	"toolnorm/adapters/internal/scan"
	"toolnorm/adapters/internal/toolset"
	"toolnorm/chat"
)

// decoder reads one reply. It is straight-line code: where it needs a byte it asks at, which reads from the source.
// So a cut between two pieces of the source exists for the code nowhere, and cannot change what comes of a text.
// The state is split by concern into the structs below. What a failed attempt has to take back is in progress, and what it
// need not is not: bytes that were read stay buffered.
type decoder struct {
	lenient.Reader // the text, and the reader of what stands in calls
	input
	progress
	draftState
	tagging
	calling calling // the call being read; argReader.call points to its output, or is nil outside of calls
	around  int     // the quote around its arguments, which does not escape those inside: "{"city": "Rome"}"; 0: none
	argsAt  int     // position of the arguments being read, which are kept until they end; -1: none are
	printed bool    // print( stands around the Python call

	f     *declaration.Family
	index *declaration.Index
	tools *toolset.Set // nil when no tools are offered
	yield func(chat.Event, error) bool
	dead  bool                // the range was left
	quiet bool                // calls inside reasoning are none
	ahead *declaration.Family // whose marks the prompt has opened: a reply begins behind them; nil: none
	which Which               // which texts that look like calls are calls
	hold  int                 // bytes of arguments that wait before a call leaves; negative: none
	waste int                 // bytes that failed attempts have read

	ctx context.Context // of the request; nil: nobody leaves before the end

	strings chat.Strings
	thinks  []*declaration.Pattern // the reasoning marks whose closers count now
}

// draftState is what a draft keeps until it is accepted; see draft.
// A call that may still turn out to be text must not leave: what has left cannot be taken back.
// What is in drafted can be dropped, or sent as it is; nothing else depends on its being a draft.
type draftState struct {
	drafting  bool // events are kept in drafted
	drafted   []chat.Event
	draftGlue int // glue of the draft's first call; -1 before
}

// progress is what is decided of the reply so far: with the position and the repairs all that a failed draft takes back.
// It is copied as a whole, so a new field is restored without anybody having to think of it.
type progress struct {
	textState
	codeState
	trialState
	callCount
}

// textState is where plain bytes go, and what stands around them.
// White space in front of a mark may be the family's glue, so text is decided up to it only.
type textState struct {
	state     chat.Kind // what plain bytes are now: Text or Reasoning
	textFrom  int       // decided text that has not left: positions textFrom to textTo, of kind textKind
	textTo    int
	textKind  chat.Kind
	blank     bool // no text but white space since the start, the reasoning's end or the last call
	fresh     bool // at the start of a line
	afterCall bool // a call was the last thing
	keptTo    int  // where the text that was kept last ends
	runFrom   int  // where the text begins that no mark has interrupted
	gapAt     int  // where the white space in front of the mark begins
	markAt    int  // where the mark begins

	reply *declaration.Pattern // the marks of a plain reply whose opener was read
}

// codeState is which code the text stands in: marks in code are examples (code.go).
// It is part of the progress, since a failed draft may have read through a fence.
type codeState struct {
	ticks int   // length of the backquotes that opened an inline code span; 0 outside; see quotedLine
	fence fence // the fenced block that is text
}

// trialState is how far an attempt to read a call has got, and what speaks for or against calls here.
// Attempts nest, a call in its section, so each leaves what it found as it was.
type trialState struct {
	pin      int                  // bytes from here on may be read again; -1 without an attempt
	glue     int                  // newlines in front of the mark that belong to it
	outer    int                  // glue of the section whose first call is being read; -1 elsewhere
	closing  *declaration.Pattern // the pattern whose call is being read
	rejected int                  // up to here stand calls that are text: no mark means anything
	others   [2]int               // positions of the elements of a list in front of its first call: they are text
	refused  bool                 // a call without marks was announced, and is text
	evidence bool                 // more than a mark was read: a cut here is a cut call
}

// callCount is what has become of the calls so far.
// calls and done differ by calls that were cut: those have an index, and are not finished.
type callCount struct {
	calls    int    // index of the next call
	done     int    // calls finished
	closed   bool   // the last one was closed by its own marks
	markless bool   // it had none
	wasCut   bool   // a call was cut
	cutText  string // what of it was read and did not leave
}

// checkpoint is a place in the reply to which reading can go back.
// Repairs are only ever appended to, so going back is cutting the list off.
type checkpoint struct {
	progress
	pos     int
	repairs []string
	drafted int // how many events the draft that is open had
}

// checkpoint remembers where reading is.
func (d *decoder) checkpoint() checkpoint {
	return checkpoint{d.progress, d.Pos, d.Repairs, len(d.drafted)}
}

// restore goes back to a checkpoint. What was read from the source meanwhile stays buffered.
func (d *decoder) restore(c *checkpoint) {
	d.progress, d.Pos, d.Repairs = c.progress, c.pos, c.repairs
	d.drafted = d.drafted[:min(c.drafted, len(d.drafted))]
}

// newDecoder is a decoder in front of the reply's first byte. Without tools it has no toolset, and no call is looked for: only
// reasoning is taken apart.
// -1 stands for "none" where 0 is a place.
func newDecoder(f *Format, in chat.Source, o Options, yield func(chat.Event, error) bool) *decoder {
	marks := f.live
	if o.Alone || o.Which == Strict {
		marks = f.lone
	}
	d := &decoder{f: f.Family, index: marks(), yield: yield, ctx: o.Context, quiet: o.Quiet, which: o.Which, hold: Held(o.Hold)}
	d.state, d.blank, d.fresh, d.pin, d.argsAt = chat.Text, true, true, -1, -1
	d.outer = -1
	d.src = in
	d.Source, d.Outside = d, d
	d.SetLimit(scan.Unlimited)
	if len(o.Tools) > 0 {
		d.tools = toolset.New(o.Tools, o.Also)
	}
	d.startBehind(o.Prompt)
	return d
}

// skipOpener steps over what the prompt has said already: the opener once more, and the newline that belongs to it.
// Models repeat it: a prompt that ends with <think>\n gets a reply that begins with <think>.
func (d *decoder) skipOpener(p *declaration.Pattern, newline bool) {
	if n, a := d.literal(d.Space(0), p.Parts[0].Lit); a == matched {
		d.Pos += n
	} else if !newline && d.At(0) == '\n' && strings.HasSuffix(p.Parts[0].Lit.Text, "\n") {
		d.Pos++
	}
}

// run reads the reply to its end.
// One state hands over to the other by changing the state and returning. An event that passes through ends the text, too: no
// mark and no call goes across one.
// The context is asked between two steps, not at each byte.
func (d *decoder) run() {
	if d.state == chat.Text {
		d.beginning()
	}
	for !d.dead && !d.left() {
		if d.state == chat.Reasoning {
			d.reasoning()
		} else {
			d.text()
		}
		if d.At(0) < 0 && !d.barrierPassed() {
			break
		}
	}
	d.end()
}

// left says whether nobody waits for the reply any more, which then ends here. What is buffered may be megabytes, and the
// source, which notices by itself, is not asked before they are read.
// The cause of the context is the reply's error, so a client's own reason is what the caller sees.
func (d *decoder) left() bool {
	if d.ctx == nil || d.ctx.Err() == nil {
		return false
	}
	d.err, d.ended = context.Cause(d.ctx), true
	return true
}

// barrierPassed hands on the event that ended the text, and answers false when it was the end of the reply.
// Behind such an event the reply begins anew: at the start of a line, outside of code, and a call may stand there.
func (d *decoder) barrierPassed() bool {
	d.flushText()
	e := d.barrier
	if e.Kind == chat.None || e.Kind == chat.Finish {
		return false
	}
	d.passOn(e)
	d.barrier, d.ended = chat.Event{}, d.dead
	d.anew()
	d.leaveCode()
	return true
}

// end sends what closes a reply.
// The errors are the source's own, or io.ErrUnexpectedEOF for one that says nothing at its end: text never makes one.
// Usage leaves in front of Finish, as the last but one. A server gives up where it has read a call to its end; with a call
// that is whole such a reply ends by "stop".
func (d *decoder) end() {
	if d.dead {
		return
	}
	switch {
	case d.err != nil:
		d.yield(chat.Event{}, d.err)
		return
	case d.finish.Kind == chat.None:
		d.yield(chat.Event{}, io.ErrUnexpectedEOF)
		return
	}
	if d.usage.Kind != chat.None {
		d.emit(d.usage)
	}
	var meta chat.Meta
	if d.finish.Meta != nil {
		meta = *d.finish.Meta
	}
	// what the source has repaired comes first: it read the reply before
	meta.Format, meta.Repairs, meta.Cut = d.f.Name, append(slices.Clip(meta.Repairs), d.Repairs...), d.cutText
	switch {
	// "stop" behind half a call would make a client run it
	case d.wasCut && (d.finish.Text == chat.Stop || d.abandoned() && d.done > 0):
		d.finish.Text, meta.Cause = chat.Length, "a call was cut"
	case d.abandoned() && d.done > 0:
		d.finish.Text = chat.Stop
	}
	d.emit(chat.Event{Kind: chat.Finish, Text: d.finish.Text, Meta: &meta})
}
