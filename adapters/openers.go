package adapters

import (
	"toolnorm/adapters/internal/declaration"
	"toolnorm/adapters/internal/prose"
	"toolnorm/adapters/internal/scan"
)

// openers reads whatever begins at a place of the text. It tries the other parts in the order of
// their evidence: code, headers, marks such as <tool_call> from the longest to the shortest, calls
// without marks. The first part that reads something wins.
type openers struct {
	below
	headers  *headers
	messages *messages
	patterns *patterns
	doubt    *doubt
	unmarked *unmarked
	wrappers *wrappers
	restored *restored
	notated  *notated
	thinking *thinking
}

// opener is the part of the type openers that other readers call. These readers decide whether a
// mark is meant, and have openers read what the mark begins. The type openers contains them, so
// they know it only as this interface.
type opener interface {
	try(m *declaration.Mark) match // reads what the mark m here begins
	markedCall() bool              // reads a call or section that a mark here begins; false: none
	moreCalls() bool               // reads one more call, after white space; false: there is none
}

// onlyWords reports whether the text from here to its end is only letters and blanks. For example,
// "function " begins a mark of a family, but is a word.
func (op *openers) onlyWords() bool {
	n := op.Run(0, maxGap, func(c int) bool {
		return c == ' ' || c >= 0 && c < 0x80 && scan.IsLetter(byte(c))
	})
	return op.At(n) < 0
}

// tryMarks reads what begins here with the byte c, such as a call or reasoning, and reports whether
// there was anything; if so, the text before it was sent. Marks are tried before calls without
// marks, which need the most evidence. The configured family's marks come first, and longer marks
// before shorter ones. What begins here is dropped as half a call if the text ends inside it,
// provided that more than its mark was read, or that its mark is a special token or begins a line.
// This is decided only when all patterns have failed, because one mark may have many: <tool_call>
// has ten.
func (op *openers) tryMarks(c int, line bool) bool {
	switch {
	case op.in.tokens[op.Pos]:
	case op.Pos < op.trial.rejected:
		return false
	case op.code.inSpan() && op.code.inCode():
		op.rejectQuoted()
		return false
	}
	op.trial.evidence = false
	if m := op.marks.half(); m != nil {
		op.calls.dropRest(m.Glue())
		return true
	}
	// to=time.now<|message|>: a message without its first mark
	if p := op.marks.index.Header; op.page.blank && p != nil && op.headers.headerAhead(0) &&
		op.messages.read(p) == committed {
		return true
	}
	wasCut, glue := false, 0
	var here doubts
	marks := op.marks.marksAt(0)
	for i := range marks {
		m := &marks[i]
		// Action: is a mark at the start of a line only
		if !op.marks.stands(0, m) || m.IsWord() && !line {
			continue
		}
		switch op.tryMark(m, &here) {
		case committed:
			return true
		case incomplete:
			// <tool_call, which may become any of ten marks; a word alone, "Action:", is text of a
			// model that has ended
			if op.marks.halfSuffix(m) || m.IsWord() && op.marks.over(op.marks.markSize(0, m)) ||
				op.onlyWords() {
				continue
			}
			wasCut = wasCut || line || op.trial.evidence || op.in.lengthCut() || m.Special()
			glue = max(glue, op.trial.glue)
		}
		// a whole call that is text: its marks have no other reading
		if op.Pos < op.trial.rejected {
			return false
		}
	}
	switch {
	case op.withoutMarks(c, line):
		return true
	case !wasCut:
		return (line || op.page.blank) && op.notated.read()
	}
	op.calls.dropRest(glue)
	return true
}

// withoutMarks reads calls that begin here without a mark such as <tool_call>, or with a damaged
// one. It reports whether there were any.
func (op *openers) withoutMarks(c int, line bool) bool {
	return op.tools != nil && ((line || c == '{') && op.unmarked.read(c, line) ||
		(line || op.page.blank) && op.unmarked.headlessCall(c)) ||
		op.wrappers.read(c) || op.restored.read()
}

// rejectQuoted finds a whole call that begins in quoted code after which the quotation continues.
// It makes that call stay text up to its end. The lines of the call are not code by themselves:
// without this rule a mark inside it, or its closing tag, would begin a call.
//
//	Never write `<tool_call>
//	{"name": "get_time"}
//	</tool_call>` in a document.
func (op *openers) rejectQuoted() {
	marks, ticks := op.marks.marksAt(0), op.code.ticks
	for i := range marks {
		m := &marks[i]
		if op.tools == nil || !opensCall(m) || !op.marks.stands(0, m) {
			continue
		}
		end := 0
		op.doubt.drafts.draft(maxHeld, func() bool {
			if op.try(m) != committed {
				return false
			}
			goesOn := op.marks.runOf(0, '`') == ticks
			if ticks == quotedLine {
				goesOn = !op.marks.over(0)
			}
			if goesOn {
				end = op.Pos
			}
			return false
		})
		if end > 0 {
			op.trial.rejected = end
			return
		}
	}
}

// tryMark reads what the mark m here begins, and returns the result. If the mark of a call may be
// only mentioned, the call is read as a draft, and the text after it decides. Marks inside a draft
// are not doubted again, since that was done when the draft began. Only marks of calls are doubted:
// reasoning has rules of its own (thinksAgain), and a mark of the turn is judged by the text around
// it.
func (op *openers) tryMark(m *declaration.Mark, here *doubts) match {
	if op.tools != nil &&
		(opensCall(m) || m.Kind == declaration.HeaderOpen && op.headers.called()) {
		if why := op.doubt.doubted(m, here); why != prose.Line {
			return op.doubt.tryDoubted(m, why, here)
		}
	}
	return op.try(m)
}

// try reads what the mark m here begins, such as a call or reasoning. It returns mismatch or
// incomplete if the mark begins nothing. If no tools are offered, the marks of calls are text,
// because the client of such a request wants to see the reply as the model wrote it.
func (op *openers) try(m *declaration.Mark) match {
	if op.tools == nil && opensCall(m) {
		return mismatch
	}
	switch m.Kind {
	case declaration.ThinkOpen:
		return op.thinking.openReasoning(m.Pattern)
	case declaration.SectionOpen:
		return op.section(m.Pattern)
	case declaration.CallOpen, declaration.InnerOpen:
		return op.patterns.attempt(m.Pattern)
	case declaration.HeaderOpen:
		return op.messages.read(m.Pattern)
	case declaration.TextOpen:
		return op.openPlain(m)
	// <tool_response> after a call: the model answers itself
	case declaration.ResultOpen:
		return op.madeUp(m.Pattern)
	// <reserved_12>: it means nothing anywhere
	case declaration.NoiseMark:
		return op.noise(m)
	case declaration.TurnMark:
		if m.Pattern != nil && m.Pattern != op.page.reply && !m.Special() {
			return mismatch // the closer of a plain reply that was never opened
		}
		return op.turn(m)
	case declaration.CloseMark:
		return op.lateCloser(m.Pattern)
	case declaration.ResultClose:
		return op.wrongCloser(m)
	case declaration.ThinkClose:
		return op.thinking.strayCloser(m.Pattern)
	}
	return mismatch
}

// markedCall reads one call, or one section of calls, that begins with a mark right here. It
// reports whether there was one. It does not read calls without marks, because JSON in thoughts is
// a plan.
func (op *openers) markedCall() bool {
	marks := op.marks.marksAt(0)
	for i := range marks {
		m := &marks[i]
		if !opensCall(m) || !op.marks.stands(0, m) {
			continue
		}
		if op.try(m) == committed {
			return true
		}
	}
	return false
}

// lateCloser drops a closing tag of a call that is already over, if only white space is between
// them. Otherwise it returns mismatch. For example, </function>⏎</tool_call> after a call that
// needed neither of the two is structure, but the same tags in an answer about XML are text.
func (op *openers) lateCloser(p *declaration.Pattern) match {
	n, ok := op.marks.closerAt(0, p)
	if !ok || op.calls.done == 0 || !op.page.afterCall || !op.page.blank {
		return mismatch
	}
	op.Pos += n
	return committed
}

// wrongCloser drops the mark that closes a tool's result, written directly after a call in place of
// the call's own closing tag. It returns mismatch at any other place, where such a mark is text.
func (op *openers) wrongCloser(m *declaration.Mark) match {
	if op.calls.done == 0 || !op.page.afterCall || !op.page.blank {
		return mismatch
	}
	op.Pos += op.marks.markSize(0, m)
	return committed
}

// noise drops a mark that means nothing. If the mark is declared only up to a colon, it extends to
// the next > on its line: </co: 0:[1,2]> ends a citation of Command R7B. Without that > it returns
// mismatch, or incomplete at the end of the text.
func (op *openers) noise(m *declaration.Mark) match {
	n := len(m.Key)
	if m.Key[n-1] == ':' {
		n += op.Run(n, maxAside, func(c int) bool {
			return c >= 0 && c != '>' && c != '<' && c != '\n'
		})
		switch op.At(n) {
		case '>':
			n++
		case -1:
			return incomplete
		default:
			return mismatch
		}
	}
	return op.page.dropMark(n, 0)
}

// openPlain drops the mark that opens a plain reply, if only white space precedes it. Otherwise it
// returns mismatch. A mark that looks like a tag may be the answer itself, so it is dropped only
// after reasoning, alone on its line as the family writes it, or if every reply of the family has
// such a mark. Hunyuan-A13B writes <answer>⏎…⏎</answer> after its thoughts, but a reply about such
// tags may begin with them as well. The family's own special token may also come later, after a
// call or text that no such mark opened.
func (op *openers) openPlain(m *declaration.Mark) match {
	n, a := op.marks.literal(0, m.Pattern.Parts[0].Lit)
	if a != matched {
		return a
	}
	// <|START_RESPONSE|> after text that had no opener
	own := m.Pattern.Family == op.marks.f
	late := own && m.Special() && !op.page.mentioned()
	placed := own && (op.At(len(m.Key)) == '\n' || m.Pattern.Family.Flags.Marked)
	if tag := m.Key[0] == '<' && !m.Special(); !op.page.blank && !late ||
		tag && !placed && !op.thinking.hasThought() {
		return mismatch
	}
	op.page.reply = m.Pattern
	return op.page.dropMark(n, m.Pattern.Glue)
}

// turn drops a mark that ends a turn, such as <|im_end|> or </s>, and white space after it, if the
// end of the text or another mark follows. Servers that pass control tokens on send such marks.
// Elsewhere it returns mismatch, because in the middle of a sentence the mark is what the sentence
// is about. Directly after a call there is no sentence, so the mark is dropped whatever follows. A
// mark that closes a plain reply is dropped in the same way, with the newline before it if that
// belongs to the mark.
func (op *openers) turn(m *declaration.Mark) match {
	n, glue := op.marks.markSize(0, m), 0
	// the closer of a plain reply, whose newline is the mark's
	if m.Pattern != nil {
		closer := m.Pattern.Parts[len(m.Pattern.Parts)-1].Lit
		end, a := op.marks.literal(0, closer)
		if a != matched {
			return a
		}
		if n = end; closer.Units[0].Kind == declaration.OneNewline {
			glue = 1
		}
	}
	space := op.Space(n)
	over := op.At(n+space) < 0 || op.marks.structure(n+space)
	// the closer of a plain reply that was opened, <|END_RESPONSE|>
	within := m.Pattern != nil && m.Pattern.Family == op.marks.f && op.page.reply != nil &&
		m.Special() && !op.page.mentioned()
	if !over && !op.page.afterCall && !within {
		return mismatch
	}
	if over {
		n += space
	}
	return op.page.dropMark(n, glue)
}
