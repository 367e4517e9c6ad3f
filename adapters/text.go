package adapters

import (
	"slices"
	"strings"

	"toolnorm/adapters/internal/declaration"
	"toolnorm/adapters/internal/prose"
	"toolnorm/adapters/internal/scan"
	"toolnorm/chat"
)

// text reads the text state: plain bytes leave as they come, and at each byte that could begin something it is tried.
// Code comes first: in a fenced block only its end means anything, and backquotes on a line hide marks until they close.
func (d *decoder) text() {
	for d.state == chat.Text {
		switch c := d.plain(&d.index.Stops); {
		case c < 0 || d.left():
			return
		// a block of code: marks in it are examples
		case d.inBlock():
			d.inFence(c)
		case scan.IsSpace(c) || d.fresh || d.blank && c == '`':
			d.gap()
		case c == '`':
			d.codeOpens(false)
		default:
			d.gapAt, d.markAt = d.Pos, d.Pos
			if !d.tryMarks(c, false) {
				d.solid(1)
			}
		}
	}
}

// plain keeps bytes up to one that means something and answers it; -1 at the end of the text. At the start of a line, and
// while there is only white space, the very next byte means something.
// Stops are the first bytes of all that can begin something; between them text leaves in one piece, so prose costs little more than
// being copied.
func (d *decoder) plain(stops *[256]bool) int {
	for {
		w := d.Window()
		if len(w) > 0 && (d.fresh || d.blank && scan.IsSpace(int(w[0]))) {
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
		if d.At(0) < 0 {
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

// solidFrom is solid for what stands from a position up to here, which was read as something else.
func (d *decoder) solidFrom(from int) {
	n := d.Pos - from
	d.Pos = from
	d.solid(n)
}

// maxGap is how much white space waits to see whether a mark follows, in bytes.
// More white space than that is layout, and no family's glue is longer than two newlines.
const maxGap = 64

// gap reads the white space from here on and what stands behind it, at the start of a line or of the reply.
// Text that is shown cannot lose its trailing newlines any more, so white space waits until it is known whether it belongs to
// the mark behind it. A line that begins with "> " quotes somebody: marks on it are mentions.
func (d *decoder) gap() {
	n, line := 0, d.fresh
	for n < maxGap && scan.IsSpace(d.At(n)) {
		line = line || d.At(n) == '\n'
		n++
	}
	if line {
		d.endSpan()
	}
	d.gapAt, d.markAt = d.Pos, d.Pos+n
	c := d.At(n)
	// behind the last call
	if c < 0 && d.blank && d.done > 0 {
		d.Pos += n // white space behind the last call is no text
		return
	}
	if n == maxGap || c < 0 {
		d.fresh = line
		d.keep(n)
		return
	}
	d.fresh = false
	d.Pos += n
	// a quoted line
	if line && c == '>' && d.At(1) == ' ' {
		d.quoteLine()
	}
	if d.tryMarks(c, line || d.blank) {
		return
	}
	d.Pos = d.gapAt
	d.keep(n)
	if c == '`' || c == '~' {
		d.codeOpens(line || d.blank)
	} else {
		d.solid(1)
	}
}

// tryMarks tries everything that can begin with c, here at markAt. It answers true when something did: the text in front
// has left and reading goes on behind it. An attempt that the end of the text cut is structure when it got further than
// its mark, or when the mark is no word of prose: a special token, or alone on its line.
// Marks come longest key first, the configured family's before others: <tool_call> has ten patterns, and "cut" is believed only
// when all of them have failed, or Solar's attempt would drop a reply of Sarashina's. Without marks comes last, as it needs the
// most evidence.
func (d *decoder) tryMarks(c int, line bool) bool {
	if d.inSpan() && d.inCode() || d.Pos < d.rejected {
		return false
	}
	d.evidence = false
	// to=time.now<|message|>: a message without the mark in front
	if p := d.index.Header; d.blank && p != nil && d.headerAhead(0) && d.message(p) == committed {
		return true
	}
	wasCut, glue := false, 0
	var here doubts
	marks := d.marksAt(0)
	for i := range marks {
		m := &marks[i]
		// Action: is a mark at the start of a line only
		if !d.stands(0, m) || m.IsWord() && !line {
			continue
		}
		switch d.tryMark(m, &here) {
		case committed:
			return true
		case incomplete:
			// <tool_call, which may become any of ten marks
			if d.halfSuffix(m) {
				continue
			}
			wasCut = wasCut || line || d.evidence || d.lengthCut() || m.Special()
			glue = max(glue, d.glue)
		}
		if d.Pos < d.rejected { // a whole call that is text: no other reading of its marks counts
			return false
		}
	}
	if d.tools != nil && (line || c == '{') && d.unmarked(c, line) {
		return true
	}
	if d.tools != nil && (line || d.blank) && d.headlessCall(c) {
		return true
	}
	if wasCut {
		d.dropRest(glue)
	}
	return wasCut
}

// halfSuffix says whether the text ends inside a mark that has a place for a suffix: that is half a mark, though its key is
// whole.
// <tool_call alone is whole as Hunyuan's key, which may go on with :word, and half of everybody else's <tool_call>. Half a mark at
// the end of a reply is text.
func (d *decoder) halfSuffix(m *declaration.Mark) bool {
	longer := func(o declaration.Mark) bool { return o.Key == m.Key+">" } // of <tool_call name=" where <tool_call> is a mark, too
	if m.Pattern == nil || !strings.Contains(m.Pattern.Parts[0].Lit.Text, declaration.SuffixHole) && !slices.ContainsFunc(d.marksAt(0), longer) {
		return false
	}
	_, a := d.literal(0, m.Pattern.Parts[0].Lit)
	return a == incomplete
}

// tryMark reads what a mark begins; one of a call that may be a mention waits for what follows.
// A draft reads its marks by itself, so nothing is doubted twice: whoever began it has looked.
// Only marks of calls are doubted. Reasoning has rules of its own (thinksAgain), and a mark of the turn what stands around.
func (d *decoder) tryMark(m *declaration.Mark, here *doubts) match {
	if d.tools != nil && opensCall(m) {
		if why := d.doubted(m, here); why != prose.Line {
			return d.tryDoubted(m, why, here)
		}
	}
	return d.try(m)
}

// opensCall says whether a mark begins a call or a section of them.
func opensCall(m *declaration.Mark) bool {
	return m.Kind >= declaration.SectionOpen && m.Kind <= declaration.InnerOpen
}

// try reads what a mark begins.
// Without tools the marks of calls are text: a request that offers none wants to see what the model wrote.
func (d *decoder) try(m *declaration.Mark) match {
	if d.tools == nil && opensCall(m) {
		return mismatch
	}
	switch m.Kind {
	case declaration.ThinkOpen:
		return d.openReasoning(m.Pattern)
	case declaration.SectionOpen:
		return d.section(m.Pattern)
	case declaration.CallOpen, declaration.InnerOpen:
		return d.attempt(m.Pattern)
	case declaration.HeaderOpen:
		return d.message(m.Pattern)
	case declaration.TextOpen:
		return d.openPlain(m)
	// <tool_response> behind a call: the model answers itself
	case declaration.ResultOpen:
		return d.madeUp(m.Pattern)
	// <reserved_12>: it means nothing anywhere
	case declaration.NoiseMark:
		return d.dropMark(len(m.Key), 0)
	case declaration.TurnMark:
		if m.Pattern != nil && m.Pattern != d.reply && !m.Special() {
			return mismatch // the closer of a plain reply that was not opened
		}
		return d.turn(m)
	case declaration.CloseMark:
		return d.lateCloser(m.Pattern)
	case declaration.ThinkClose:
		return d.strayCloser(m.Pattern)
	}
	return mismatch
}

// lateCloser drops the closer of a call that is over, behind nothing but white space since.
// </function>⏎</tool_call> behind a call that needed neither is structure; the same tag in an answer about XML is not.
// Text behind the call makes a closer a word of that text, which then stays.
func (d *decoder) lateCloser(p *declaration.Pattern) match {
	n, ok := d.closerAt(0, p)
	if !ok || d.done == 0 || !d.afterCall || !d.blank {
		return mismatch
	}
	d.Pos += n
	return committed
}

// dropRest drops the rest of the text: a mark or a call that the end of the text cut.
// Its bytes are in Meta.Cut, so the reply can say what was lost; finish becomes length.
func (d *decoder) dropRest(glue int) {
	d.leave(glue)
	// a model that ended by itself behind the opener of a call has changed its mind: nothing was cut
	if m := d.firstMark(0, opensCall); m != nil && d.over(d.markSize(0, m)) {
		d.ToEnd()
		return
	}
	d.cutFrom(d.Pos)
}

// openPlain drops the opener of a plain reply, where nothing but white space stands in front. One that looks like a tag may
// be the answer itself: it counts behind reasoning only.
// Hunyuan-A13B writes <answer>⏎…⏎</answer> behind its thoughts; a reply that is about such tags begins with them as well.
// The special token of the family itself may come later as well, behind a call or text that had no opener.
func (d *decoder) openPlain(m *declaration.Mark) match {
	n, a := d.literal(0, m.Pattern.Parts[0].Lit)
	if a != matched {
		return a
	}
	// <|START_RESPONSE|> behind text that had none
	own := m.Pattern.Family == d.f && m.Special() && !d.mentioned()
	if tag := m.Key[0] == '<' && !m.Special(); !d.blank && !own || !d.hasThought() && tag {
		return mismatch
	}
	d.reply = m.Pattern
	return d.dropMark(n, m.Pattern.Glue)
}

// turn drops a mark of the turn where it ends something: at the end of the text, or before another mark; white space up to
// there is no text. So does the closer of a plain reply, with the newline that belongs to it.
// Servers that pass control tokens on send <|im_end|> or </s> at the end; in the middle of a sentence they are what the sentence is
// about. Behind a call nothing is: there they go without more evidence.
func (d *decoder) turn(m *declaration.Mark) match {
	n, glue := d.markSize(0, m), 0
	// the closer of a plain reply, whose newline is the mark's
	if m.Pattern != nil {
		closer := m.Pattern.Parts[len(m.Pattern.Parts)-1].Lit
		end, a := d.literal(0, closer)
		if a != matched {
			return a
		}
		if n = end; closer.Units[0].Kind == declaration.OneNewline {
			glue = 1
		}
	}
	space := d.Space(n)
	over := d.At(n+space) < 0 || d.structure(n+space)
	// the closer of a plain reply that was opened, <|END_RESPONSE|>
	within := m.Pattern != nil && m.Pattern.Family == d.f && d.reply != nil && m.Special() && !d.mentioned()
	if !over && !d.afterCall && !within {
		return mismatch
	}
	if over {
		n += space
	}
	return d.dropMark(n, glue)
}

// structure says whether a mark that is no closer stands at offset i.
// Closers do not count, as they may belong to what the text quotes.
// It is what turns a mark of the turn in front of a call, or of another such mark, into an end.
func (d *decoder) structure(i int) bool {
	return d.firstMark(i, func(m *declaration.Mark) bool { return m.Kind <= declaration.TurnMark }) != nil
}
