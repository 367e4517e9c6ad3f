package adapters

import (
	"bytes"
	"unicode/utf8"

	"toolnorm/adapters/internal/declaration"
	"toolnorm/adapters/internal/prose"
	"toolnorm/adapters/internal/scan"
	"toolnorm/chat"
)

// outlet sends the events, or collects them in drafted while a draft is open. A draft is a call
// that may still turn out to be text. Its events must not be sent, since sent events cannot be
// taken back. They are later dropped or sent as they are. No other code depends on whether a draft
// is open.
type outlet struct {
	in    *input // which ends when events are no longer taken
	yield func(chat.Event, error) bool

	asides    bool // also send events for text that the client does not see; see passBy
	drafting  bool // events are kept in drafted
	drafted   []chat.Event
	draftGlue int // glue of the draft's first call; -1 before that call
	strings   chat.Strings

	repairs  *[]string         // of the reply so far
	repaired func(code string) // is called with each; nil: not called
	told     int               // how many of the repairs it was called with
}

// page is the text outside of calls. It knows whether plain bytes are text or reasoning, and how
// much of them is decided. White space before a mark such as <tool_call> is decided when the mark
// is read (leave). All other text is decided at once (keep). Text that was kept is sent when
// something else follows, or before waiting for the source.
type page struct {
	*scan.Buffer
	in  *input
	out *outlet
	textState
	// the tool that the text being decided calls, see [chat.Meta.Doubt]; "" for plain text
	doubt string
}

// textState is the state of the text outside of calls: its kind, and the positions in it. White
// space before a mark such as <tool_call> may belong to the mark, so text is decided only up to
// that white space.
type textState struct {
	state     chat.Kind // what plain bytes are now: Text or Reasoning
	textFrom  int       // decided text that was not sent yet, of kind textKind, begins here
	textTo    int       // and ends here
	textKind  chat.Kind
	blank     bool // no text but white space since the start, the reasoning's end or the last call
	fresh     bool // at the start of a line
	afterCall bool // a call was the last thing
	keptTo    int  // where the text that was kept last ends
	runFrom   int  // where the text begins that no mark has interrupted
	gapAt     int  // where the white space before the mark begins
	markAt    int  // where the mark begins
	thoughtTo int  // where the last reasoning ends

	reply *declaration.Pattern // the marks of a plain reply whose opener was read
}

// passBy sends an aside: an event with text that the client does not see, such as a mark of the
// turn or a result between two calls. It does nothing if asides are not wanted.
func (pg *page) passBy(from, to int) {
	if pg.out.asides {
		pg.out.emit(chat.Event{Kind: aside, Text: string(pg.Slice(from, to))})
	}
}

// maxGap is how much white space is held back to see whether a mark follows, in bytes. More white
// space than that is layout, and no family's glue is longer than two newlines.
const maxGap = 64

// keep declares the next n bytes to be text (or reasoning) and skips them. They are sent with the
// next flush. Several calls at consecutive positions make one piece of text, so that a reply has
// about as many events as pieces.
func (pg *page) keep(n int) {
	if n == 0 || pg.state == chat.None { // a message that is not shown: glimmer's to=developer
		pg.Pos += n
		return
	}
	if pg.textTo != pg.Pos || pg.textKind != pg.state {
		pg.flushText()
		pg.textFrom, pg.textKind = pg.Pos, pg.state
	}
	if pg.keptTo != pg.Pos {
		pg.runFrom = pg.Pos
	}
	pg.Pos += n
	pg.textTo, pg.keptTo = pg.Pos, pg.Pos
}

// solid declares the next n bytes to be text and skips them. At least one of them is not white
// space.
func (pg *page) solid(n int) {
	if n > 0 {
		pg.keep(n)
		pg.blank, pg.afterCall, pg.fresh = false, false, false
	}
}

// solidFrom declares the bytes from a position up to here to be text; they were first read as
// something else.
func (pg *page) solidFrom(from int) {
	n := pg.Pos - from
	pg.Pos = from
	pg.solid(n)
}

// plain keeps bytes up to one that may begin something, and returns that byte, or -1 at the end of
// the text. The first bytes of everything that can begin something are in stops. Text between them
// is sent in one piece, so prose costs little more than a copy. At the start of a line, and while
// there is only white space, plain stops at the very next byte.
func (pg *page) plain(stops *[256]bool) int {
	for {
		w := pg.Window()
		if len(w) > 0 && (pg.fresh || pg.blank && scan.IsSpace(int(w[0]))) {
			return int(w[0])
		}
		i := 0
		for i < len(w) && !stops[w[i]] {
			i++
		}
		pg.solid(i)
		if i < len(w) {
			return int(w[i])
		}
		if pg.At(0) < 0 {
			return -1
		}
	}
}

// restIsText sends everything up to the end as text.
func (pg *page) restIsText() {
	for pg.At(0) >= 0 {
		pg.solid(len(pg.Window()))
		pg.flushRunes()
	}
}

// flushText sends, as one event, the bytes that are known to be text or reasoning and were not sent
// yet. If there are none, it sends nothing. It is called when reasoning ends and text begins, for
// example, because an event has only one kind.
func (pg *page) flushText() {
	if pg.textFrom < pg.textTo {
		pg.emitText(pg.textTo)
	}
	pg.textFrom, pg.textTo = pg.Pos, pg.Pos
}

// doubtful sends as text a call of the given tool that can be read in several ways. It calls the
// function write, which declares the call's bytes to be text. The text is sent in events of its
// own, which name the tool.
func (pg *page) doubtful(tool string, write func()) {
	pg.flushText()
	pg.doubt = tool
	write()
	pg.flushText()
	pg.doubt = ""
}

// emitText sends the text that is decided, up to the position to.
func (pg *page) emitText(to int) {
	e := chat.Event{Kind: pg.textKind, Text: pg.textOf(pg.textFrom, to)}
	if pg.doubt != "" {
		e.Meta = &chat.Meta{Doubt: pg.doubt}
	}
	pg.out.emit(e)
}

// flushRunes sends the text that is decided, except for a rune that is not whole yet.
func (pg *page) flushRunes() {
	if pg.textFrom >= pg.textTo {
		return
	}
	text := pg.Slice(pg.textFrom, pg.textTo)
	if n := len(text) - partialRune(text); n > 0 {
		pg.emitText(pg.textFrom + n)
		pg.textFrom += n
	}
}

// textOf returns the text between two positions. If that is exactly a piece from the source, it
// returns the piece itself, since most pieces are plain text and pass without a copy. Other texts
// share allocations; see chat.Strings.
func (pg *page) textOf(from, to int) string {
	if from == pg.in.lastAt && to-from == len(pg.in.last) {
		return pg.in.last
	}
	return pg.out.strings.Of(pg.Slice(from, to))
}

// partialRune returns how many bytes at the end of b begin a rune without ending it, or 0 if b ends
// with a complete rune. A token may end in the middle of a character, and JSON cannot contain half
// of one.
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

// skipLent removes the first size bytes of the buffer, which were copied from the prompt.
func (pg *page) skipLent(size int) {
	pg.Buf, pg.Base, pg.Pos = pg.Buf[size:], size, size
	pg.textFrom, pg.textTo = size, size
}

// anew lets the text go on as if the reply began here: at the start of a line, with no text before
// it.
func (pg *page) anew() { pg.blank, pg.fresh = true, true }

// leave sends the text before the mark at markAt. White space at the end of that text belongs to
// the mark, and is dropped, up to as many newlines as the parameter glue says; the rest of it is
// sent as text. If only white space precedes the mark, all of it is dropped. It returns the
// position where the dropped part begins. For example, hermes separates text and call by one
// newline, which is dropped: `Hello\n<tool_call>` is the text Hello.
func (pg *page) leave(glue int) int {
	end := pg.markAt
	// a zero-width character, see [scan.Buffer.ZeroWidth]
	for end-pg.gapAt >= 3 && pg.Slice(end-1, end)[0] >= 0x80 {
		end -= 3
	}
	for n := 0; n < glue && end > pg.gapAt && pg.Slice(end-1, end)[0] == '\n'; n++ {
		end--
	}
	here := pg.Pos
	if pg.blank && pg.state != chat.Reasoning {
		end = pg.gapAt
	}
	pg.Pos = pg.gapAt
	pg.keep(end - pg.gapAt)
	pg.Pos = here
	pg.flushText()
	return end
}

// acceptText sends the text before a draft that has turned out to be calls. Up to glue newlines at
// the end of that text belong to the first of these calls and are not sent. Their number was not
// known when the text was read.
func (pg *page) acceptText(before *textState, glue int) {
	here, blank := pg.Pos, pg.blank
	pg.gapAt, pg.markAt, pg.blank = before.gapAt, before.markAt, before.blank
	pg.textFrom, pg.textTo, pg.textKind = before.textFrom, before.textTo, before.textKind
	pg.leave(glue)
	pg.Pos, pg.blank = here, blank
}

// dropMark skips the mark here, which has n bytes, without showing it. It sends the text before the
// mark, except for newlines at the end of that text, of which at most glue are dropped. It always
// returns committed.
func (pg *page) dropMark(n, glue int) match {
	pg.leave(glue)
	pg.passBy(pg.Pos, pg.Pos+n)
	pg.Pos += n
	return committed
}

// lineStarts reports whether the mark at markAt is the first thing on its line. The white space
// before the mark is from gapAt to markAt; its last byte decides.
func (pg *page) lineStarts() bool {
	return pg.gapAt < pg.markAt && pg.Slice(pg.markAt-1, pg.markAt)[0] == '\n'
}

// mentioned reports whether the mark here, such as <tool_call>, is written like a word in a
// sentence: after a blank, a quotation mark or a bracket. Models put their own marks in two other
// places: on a line of their own, and directly after their words.
func (pg *page) mentioned() bool { return !pg.lineStarts() && !pg.glued() }

// glued reports whether the mark follows a word or the end of a sentence without a blank between
// them. "Let me think.<tool_call>" is not a mention, because writers put a blank before a word. A
// character beyond ASCII before the mark is taken for a word, since Chinese and Japanese sentences
// end with such a character. It returns false if the text before the mark is no longer in the
// buffer.
func (pg *page) glued() bool {
	if pg.markAt <= pg.Base || pg.gapAt < pg.markAt {
		return false
	}
	c := pg.Slice(pg.markAt-1, pg.markAt)[0]
	return scan.IsWord(int(c)) || c >= 0x80 || c == '.' || c == '!' || c == '?' || c == ':' ||
		c == '>' || c == ']' || c == '}'
}

// announcement returns the text before this point, at most prose.Reach bytes of it and none of the
// reasoning before it. White space between text and call is not part of it, because a call is
// mostly on a line of its own.
func (pg *page) announcement() []byte {
	from := max(pg.Base, pg.gapAt-prose.Reach, min(pg.thoughtTo, pg.gapAt))
	return bytes.TrimSpace(pg.Slice(from, pg.gapAt))
}

// behind returns the text after this point, at most prose.Reach bytes of it.
func (pg *page) behind() []byte {
	return pg.Slice(pg.Pos, pg.Pos+pg.Run(0, prose.Reach, func(c int) bool { return c >= 0 }))
}

// emit passes one event on, or keeps it while a draft is open. If the caller takes no more events,
// it ends the reading, so nothing more is read from the source. Events of a draft are kept in order
// with those of the text before it, so the order of events does not change.
func (o *outlet) emit(e chat.Event) {
	if o.drafting {
		o.drafted = append(o.drafted, e)
		return
	}
	if o.repaired != nil && e.Kind >= chat.CallStart {
		o.tell()
	}
	if !o.in.dead && !o.yield(e, nil) {
		o.in.stop()
	}
}

// tell calls the function repaired for each repair that was recorded since tell was last called. A
// draft that fails takes its repairs back, so the list may have become shorter in between.
func (o *outlet) tell() {
	o.told = min(o.told, len(*o.repairs))
	for _, code := range (*o.repairs)[o.told:] {
		o.repaired(code)
	}
	o.told = len(*o.repairs)
}
