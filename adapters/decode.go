package adapters

import (
	"context"
	"io"
	"slices"
	"strings"

	"toolnorm/adapters/internal/declaration"
	"toolnorm/chat"
)

// decoder reads one reply. It is straight-line code: where it needs a byte it asks at, which reads from the source.
type decoder struct {
	reader
	place
	reading
	f     *declaration.Family
	v     *declaration.Index
	tools *toolset // nil when no tools are offered
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

	call    *call // the call being read; nil outside
	calling call  // what call points to
	aside   call  // the output of scratch

	drafting  bool // events are kept in drafted
	drafted   []chat.Event
	draftGlue int // glue of the draft's first call; -1 before
}

// place is how far the reply has been read and what is decided of it: all that a failed draft takes back.
type place struct {
	pos int // position of the next byte to read

	state     chat.Kind // what plain bytes are now: Text or Reasoning
	textFrom  int       // decided text that has not left: positions textFrom to textTo, of kind textKind
	textTo    int
	textKind  chat.Kind
	blank     bool   // no text but white space since the start, the reasoning's end or the last call
	fresh     bool   // at the start of a line
	afterCall bool   // a call was the last thing
	ticks     int    // length of the backquotes that opened an inline code span; 0 outside; see quotedLine
	spanEnd   int    // where the code span ends that a mark was looked at in
	fence     fence  // the fenced block that is text
	keptTo    int    // where the text that was kept last ends
	others    [2]int // positions of the elements of a list in front of its first call: they are text
	doubts    doubts // what stands in front of the last mark
	rejected  int    // up to here stand calls that are text: no mark means anything
	runFrom   int    // where the text begins that no mark has interrupted

	pin      int                  // bytes from here on may be read again; -1 without an attempt
	gapAt    int                  // where the white space in front of the mark begins
	markAt   int                  // where the mark begins
	glue     int                  // newlines in front of the mark that belong to it
	outer    int                  // glue of the section whose first call is being read; -1 elsewhere
	reply    *declaration.Pattern // the marks of a plain reply whose opener was read
	closing  *declaration.Pattern // the pattern whose call is being read
	evidence bool                 // more than a mark was read: a cut here is a cut call
	bare     bool                 // the call has no marks, so its arguments must begin with a parameter of the tool

	calls   int      // index of the next call
	done    int      // calls finished
	closed  bool     // the last one was closed by its own marks
	wasCut  bool     // a call was cut
	cutText string   // what of it was read and did not leave
	repairs []string // what was mended, each once
}

// reading is the state of the argument reader, for one call.
type reading struct {
	stack      []level  // open containers
	quotes     []delim  // delimiters of {pseudo}; nil in JSON
	seen       []string // keys of tagged arguments so far
	python     bool     // inside a Python call
	positional bool     // the last value of the Python call has no name
	inKey      bool     // inside a key, which ends at its first quote
	stringAt   int      // where the string being read begins
	quoted     int      // how many of its own quotes the string being read has inside
	escaped    int      // how many double quotes it has that are escaped
	firstQuote int      // where the first of those that are not stands; -1: none does
	endsEarly  bool     // the first of them looked like its end
	around     int      // the quote that stands around the arguments, which does not escape those inside; 0: none
	printed    bool     // print( stands around the Python call
	inner      bool     // the string being read has quotes inside that are not escaped
	noColons   bool     // a key without a colon was seen
	bareKeys   bool     // a key without quotes was seen
	unclosed   bool     // a container was closed for the model
	strayKey   bool     // a key stands in an object whose schema does not know it, while that of one around it does
	wrapper    int      // where the first member begins, while it may hold all arguments; 0: it does not
}

func newDecoder(f *declaration.Family, in chat.Source, o Options, yield func(chat.Event, error) bool) *decoder {
	d := &decoder{f: f, v: f.Index(o.Alone || o.Which == Strict), yield: yield, ctx: o.Context, quiet: o.Quiet, which: o.Which, hold: Held(o.Hold)}
	d.state, d.blank, d.fresh, d.pin = chat.Text, true, true, -1
	d.outer, d.calling.from = -1, -1
	d.src, d.limit = in, unlimited
	if len(o.Tools) > 0 {
		d.tools = &toolset{offered: o.Tools, also: o.Also}
	}
	d.startBehind(o.Prompt)
	return d
}

// skipOpener steps over what the prompt has said already: the opener once more, and the newline that belongs to it.
func (d *decoder) skipOpener(p *declaration.Pattern, newline bool) {
	if n, a := d.literal(d.space(0), p.Parts[0].Lit); a == yes {
		d.pos += n
	} else if !newline && d.at(0) == '\n' && strings.HasSuffix(p.Parts[0].Lit.Text, "\n") {
		d.pos++
	}
}

// run reads the reply to its end.
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
		if d.at(0) < 0 && !d.barrierPassed() {
			break
		}
	}
	d.end()
}

// left says whether nobody waits for the reply any more, which then ends here. What is buffered may be megabytes, and the
// source, which notices by itself, is not asked before they are read.
func (d *decoder) left() bool {
	if d.ctx == nil || d.ctx.Err() == nil {
		return false
	}
	d.err, d.ended = context.Cause(d.ctx), true
	return true
}

// barrierPassed hands on the event that ended the text, and answers false when it was the end of the reply.
func (d *decoder) barrierPassed() bool {
	d.flushText()
	e := d.barrier
	if e.Kind == chat.None || e.Kind == chat.Finish {
		return false
	}
	e.Index = d.calls
	d.emit(e)
	if e.Kind == chat.CallEnd {
		d.calls++
		d.done++
	}
	d.barrier, d.ended = chat.Event{}, d.dead
	d.blank, d.fresh, d.ticks, d.fence = true, true, 0, fence{}
	return true
}

// end sends what closes a reply.
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
	meta.Format, meta.Repairs, meta.Cut = d.f.Name, append(slices.Clip(meta.Repairs), d.repairs...), d.cutText
	switch {
	case d.wasCut && (d.finish.Text == chat.Stop || d.abandoned() && d.done > 0):
		d.finish.Text, meta.Cause = chat.Length, "a call was cut"
	case d.abandoned() && d.done > 0:
		d.finish.Text = chat.Stop
	}
	d.emit(chat.Event{Kind: chat.Finish, Text: d.finish.Text, Meta: &meta})
}
