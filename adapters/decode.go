package adapters

import (
	"io"
	"strings"

	"toolnorm/chat"
)

// decoder reads one reply. It is straight-line code: where it needs a byte it asks at, which reads from the source.
type decoder struct {
	reader
	f     *Format
	v     *view
	tools *toolset // nil when no tools are offered
	yield func(chat.Event, error) bool
	dead  bool // the range was left
	hold  int  // bytes of arguments that wait before a call leaves; negative: none

	// Text.
	strings   chat.Strings
	state     chat.Kind // what plain bytes are now: Text or Reasoning
	textFrom  int       // decided text that has not left: positions textFrom to textTo, of kind textKind
	textTo    int
	textKind  chat.Kind
	blank     bool // no text but white space since the start, the reasoning's end or the last call
	fresh     bool // at the start of a line
	ticks     int  // length of the backquotes that opened an inline code span; 0 outside; a quoted line counts as one
	fence     byte // the character of the fenced block that is text; 0 outside
	afterCall bool // a call was the last thing

	thinks []*pattern // the reasoning marks whose closers count now

	// The attempt at a call.
	pin      int // bytes from here on may be read again; -1 without an attempt
	gapAt    int // where the white space in front of the mark begins
	markAt   int // where the mark begins
	glue     int // newlines in front of the mark that belong to it
	closing  *pattern
	evidence bool // more than a mark was read: a cut here is a cut call
	bare     bool // the call has no marks, so its arguments must begin with a parameter of the tool
	waste    int  // bytes that failed attempts have read

	// The call being read.
	call     *call // nil outside
	calling  call
	aside    call    // the output of scratch
	stack    []byte  // open containers of the arguments
	quotes   []delim // delimiters of {pseudo}; nil in JSON
	python   bool
	inKey    bool
	seen     []string // keys of tagged arguments so far
	noColons bool     // a key without a colon was seen
	bareKeys bool     // a key without quotes was seen
	unclosed bool     // a container was closed for the model

	// The reply.
	calls     int // index of the next call
	done      int // calls finished
	drafting  bool
	drafted   []chat.Event
	draftGlue int // glue of the draft's first call; -1 before
	wasCut    bool
	repairs   []string
}

func newDecoder(f *Format, in chat.Source, o Options, yield func(chat.Event, error) bool) *decoder {
	d := &decoder{f: f, v: f.viewOf(o.Alone), yield: yield, hold: o.Hold, state: chat.Text, blank: true, fresh: true, pin: -1}
	d.src, d.limit = in, unlimited
	if len(o.Tools) > 0 {
		d.tools = &toolset{offered: o.Tools}
	}
	if o.Hold == HoldShort {
		d.hold = shortCall
	}
	if p := f.opened(o.Prompt); p != nil {
		d.state, d.thinks = chat.Reasoning, f.think
		d.skipOpener(p, strings.HasSuffix(o.Prompt, "\n"))
	}
	return d
}

// opened is the think pattern whose opener the prompt ends with, nil when the reply begins outside reasoning.
func (f *Format) opened(prompt string) *pattern {
	prompt = strings.TrimRight(prompt, " \t\r\n")
	for _, p := range f.think {
		if opener := strings.TrimSpace(p.parts[0].lit.text); strings.HasSuffix(prompt, opener) {
			return p
		}
	}
	return nil
}

// skipOpener steps over what the prompt has said already: the opener once more, and the newline that belongs to it.
func (d *decoder) skipOpener(p *pattern, newline bool) {
	if n, a := d.literal(d.space(0), p.parts[0].lit); a == yes {
		d.pos += n
	} else if !newline && d.at(0) == '\n' && strings.HasSuffix(p.parts[0].lit.text, "\n") {
		d.pos++
	}
}

// run reads the reply to its end.
func (d *decoder) run() {
	if d.f.header != nil && d.state == chat.Text {
		d.firstMessage()
	}
	for !d.dead {
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
	d.blank, d.fresh, d.ticks, d.fence = true, true, 0, 0
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
	meta.Format, meta.Repairs = d.f.Name, d.repairs
	if d.wasCut && d.finish.Text == chat.Stop {
		d.finish.Text, meta.Cause = chat.Length, "a call was cut"
	}
	d.emit(chat.Event{Kind: chat.Finish, Text: d.finish.Text, Meta: &meta})
}

// text reads the text state: plain bytes leave as they come, and at each byte that could begin something it is tried.
func (d *decoder) text() {
	for d.state == chat.Text {
		switch c := d.plain(&d.v.stops); {
		case c < 0:
			return
		case d.fence != 0:
			d.inFence(c)
		case isSpace(c) || d.fresh:
			d.gap()
		case c == '`':
			d.backquotes()
		default:
			d.gapAt, d.markAt = d.pos, d.pos
			if !d.begin(c, false) {
				d.solid(1)
			}
		}
	}
}

// plain keeps bytes up to one that means something and answers it; -1 at the end of the text. At the start of a line, and
// while there is only white space, the very next byte means something.
func (d *decoder) plain(stops *[256]bool) int {
	for {
		w := d.window()
		if len(w) > 0 && (d.fresh || d.blank && isSpace(int(w[0]))) {
			return int(w[0])
		}
		i := 0
		for i < len(w) && !stops[w[i]] {
			i++
		}
		d.solid(i)
		if i < len(w) {
			return int(w[i])
		}
		if d.at(0) < 0 {
			return -1
		}
	}
}

// solid keeps n bytes of text that are not white space alone.
func (d *decoder) solid(n int) {
	if n > 0 {
		d.keep(n)
		d.blank, d.afterCall, d.fresh = false, false, false
	}
}

// maxGap is how much white space waits to see whether a mark follows, in bytes.
const maxGap = 64

// gap reads the white space from here on and what stands behind it, at the start of a line or of the reply.
func (d *decoder) gap() {
	n, line := 0, d.fresh
	for n < maxGap && isSpace(d.at(n)) {
		line = line || d.at(n) == '\n'
		n++
	}
	if line {
		d.ticks = 0
	}
	d.gapAt, d.markAt = d.pos, d.pos+n
	c := d.at(n)
	if c < 0 && d.blank && d.done > 0 {
		d.pos += n // white space behind the last call is no text
		return
	}
	if n == maxGap || c < 0 {
		d.fresh = line
		d.keep(n)
		return
	}
	d.fresh = false
	d.pos += n
	if line && c == '>' && d.at(1) == ' ' {
		d.ticks = quotedLine
	}
	if d.begin(c, line || d.blank) {
		return
	}
	d.pos = d.gapAt
	d.keep(n)
	if c == '`' {
		d.backquotes()
	} else {
		d.solid(1)
	}
}

// backquotes keeps a run of backquotes, which opens or closes an inline code span.
func (d *decoder) backquotes() {
	n := 0
	for d.at(n) == '`' {
		n++
	}
	switch d.ticks {
	case 0:
		d.ticks = n
	case n:
		d.ticks = 0
	}
	d.solid(n)
}

// quotedLine is d.ticks in a line that quotes.
const quotedLine = -1

// begin tries everything that can begin with c, here at d.markAt. It answers true when something did: the text in front
// has left and reading goes on behind it. An attempt that the end of the text cut is structure when it got further than
// its mark, or when the mark is no word of prose: a special token, or alone on its line.
func (d *decoder) begin(c int, line bool) bool {
	if d.ticks != 0 {
		return false
	}
	start := d.pos
	d.evidence = false
	wasCut, glue := false, 0
	marks := d.marksAt(0)
	for i := range marks {
		m := &marks[i]
		if !d.has(0, m.key) {
			continue
		}
		switch d.try(m) {
		case committed:
			return true
		case cut:
			wasCut = wasCut || line || d.evidence || d.lengthCut() || m.special()
			glue = max(glue, d.glue)
		}
		d.pos = start
	}
	if d.tools != nil && (line || c == '{') && d.unmarked(c, line) {
		return true
	}
	d.pos = start
	if wasCut {
		d.dropRest(glue)
	}
	return wasCut
}

// try reads what a mark begins.
func (d *decoder) try(m *mark) answer {
	switch m.kind {
	case thinkOpen:
		return d.openReasoning(m.p)
	case sectionOpen:
		if d.tools != nil {
			return d.section(m.p)
		}
	case callOpen, innerOpen:
		if d.tools != nil {
			return d.attempt(m.p)
		}
	case headerOpen:
		return d.message(m.p)
	case turnMark:
		return d.turn(len(m.key))
	case closeMark:
		if d.afterCall && d.blank {
			d.pos += len(m.key)
			return committed
		}
	case thinkClose:
		return d.strayCloser(m.p)
	}
	return no
}

// dropRest drops the rest of the text: a mark or a call that the end of the text cut.
func (d *decoder) dropRest(glue int) {
	d.leave(glue)
	d.wasCut = true
	for d.at(0) >= 0 {
		d.pos += len(d.window())
	}
	d.textFrom, d.textTo = d.pos, d.pos
}

// turn drops a mark of the turn where it ends something: at the end of the text, or before another mark.
func (d *decoder) turn(n int) answer {
	i := n + d.space(n)
	if d.at(i) >= 0 && !d.afterCall && !d.structure(i) {
		return no
	}
	d.leave(0)
	d.pos += n
	return committed
}

// structure says whether a mark that is no closer stands at offset i.
func (d *decoder) structure(i int) bool {
	for _, m := range d.marksAt(i) {
		if m.kind <= turnMark && d.has(i, m.key) {
			return true
		}
	}
	return false
}

// section reads the calls between the marks of a section. The opener is structure only when a call commits behind it, or
// its closer follows at once.
func (d *decoder) section(p *pattern) answer {
	n, a := d.literal(0, p.parts[0].lit)
	if a != yes {
		return a
	}
	d.glue = p.glue
	i := n + d.space(n)
	if end, ok := d.closerAt(i, p); ok {
		d.leave(p.glue)
		d.pos += end
		d.afterCall = true
		return committed
	}
	start := d.pos
	d.pos += i
	a = d.anyCall(p.f)
	if a != committed {
		d.pos = start
		return a
	}
	for d.anotherCall(p.f) {
	}
	if end, ok := d.closerAt(d.space(0), p); ok {
		d.pos += end
	}
	return committed
}

// anyCall tries the call patterns of a format here.
func (d *decoder) anyCall(f *Format) answer {
	a := no
	for _, p := range f.call {
		switch d.attempt(p) {
		case committed:
			return committed
		case cut:
			a = cut
		}
	}
	return a
}

// anotherCall reads one more call of a section, behind white space.
func (d *decoder) anotherCall(f *Format) bool {
	start, n := d.pos, d.space(0)
	d.gapAt, d.markAt = d.pos, d.pos+n
	d.pos += n
	if d.anyCall(f) == committed {
		return true
	}
	d.pos = start
	return false
}
