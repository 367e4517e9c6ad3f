package adapters

import (
	"toolnorm/adapters/internal/declaration"
)

// section reads the calls between the marks of a section. It returns mismatch or incomplete if no
// call commits after the opening mark. That mark is then text: "DeepSeek uses <｜tool▁calls▁begin｜>
// with full-width bars" is text from its first to its last byte. An empty section is dropped. The
// newlines before the opening mark that belong to the section are dropped with the first call, as
// if they belonged to that call. The field trial.outer contains their number while the first call
// is read, since the newlines before that call are inside the section.
func (op *openers) section(p *declaration.Pattern) match {
	n, a := op.marks.literal(0, p.Parts[0].Lit)
	if a != matched {
		return a
	}
	i := n + op.Space(n)
	if end, ok := op.marks.sectionEnds(i, p.Family); ok {
		op.page.afterCall = true
		return op.page.dropMark(end, p.Glue)
	}
	start := op.Pos
	op.Pos += i
	op.trial.outer = p.Glue
	// without a call after it the opener is a word of the text
	if a = op.patterns.anyCall(p.Family); a == mismatch {
		a = op.callBehindJunk(p)
	}
	if a == mismatch {
		a = op.callBehindUnknown(p.Family)
	}
	op.trial.outer = -1
	if a != committed {
		op.Pos = start
		return a
	}
	for op.moreCalls() || op.keepUnknown(p.Family) {
	}
	// the closer may be missing: calls were read, and stay calls
	if end, ok := op.marks.sectionEnds(op.Space(0), p.Family); ok {
		op.Pos += end
	} else if op.marks.cutCloser(p, op.Space(0)) {
		op.ToEnd()
	}
	return committed
}

// maxJunk bounds the text between a section's opener and its first call, in bytes. It is meant for
// a word or a mark, not for a paragraph.
const maxJunk = 128

// callBehindJunk reads the first call of a section that begins with something meaningless, such as
// a repetition of its opening mark or a word. It drops the mark and the meaningless text if there
// is such a call, and otherwise returns mismatch. It also returns mismatch if the marks are not
// special tokens: a mark that looks like a tag may be only mentioned, and the words after it the
// rest of the sentence.
func (op *openers) callBehindJunk(p *declaration.Pattern) match {
	if !p.Special() {
		return mismatch
	}
	for n := range maxJunk {
		if _, ends := op.marks.sectionEnds(n, p.Family); ends || op.At(n) < 0 {
			return mismatch
		}
		for _, q := range p.Family.Calls {
			if _, a := op.marks.literal(n, q.Parts[0].Lit); a == matched {
				op.Pos += n
				return op.patterns.anyCall(p.Family)
			}
		}
	}
	return mismatch
}

// callBehindUnknown reads the first call of a section in which calls of tools that are not offered
// come first. Those become text, each from its opening mark to its closing mark. It returns
// mismatch if there is no call of an offered tool. A call that is not offered cannot be skipped if
// it has no closing mark or no other call after it. In a draft callBehindUnknown returns mismatch,
// and reads nothing.
func (op *openers) callBehindUnknown(f *declaration.Family) match {
	start, pin := op.Pos, op.trial.pin
	if pin < 0 {
		op.trial.pin = op.page.gapAt // the skipped part may become text again
	}
	for !op.out.drafting {
		n := op.unknownCall(f)
		if n == 0 {
			break
		}
		op.Pos += n
		// each attempt that fails resets others
		others := [2]int{start, op.Pos}
		op.Pos += op.Space(0)
		for _, q := range f.Calls {
			op.trial.others = others
			if op.patterns.attempt(q) == committed {
				return committed
			}
		}
	}
	op.Pos, op.trial.pin, op.trial.others = start, pin, [2]int{}
	return mismatch
}

// keepUnknown keeps as text a call that begins here and whose tool is not offered, and reports
// whether there was one. It is called after a known call of the same section. The calls after the
// unknown one stay calls.
func (op *openers) keepUnknown(f *declaration.Family) bool {
	if op.out.drafting || op.calls.wasCut {
		return false
	}
	start := op.Pos
	op.Pos += op.Space(0)
	n := op.unknownCall(f)
	if n == 0 {
		op.Pos = start
		return false
	}
	op.page.solid(n)
	return true
}

// unknownCall returns the length of a call here whose tool is not offered, so that it can be
// skipped. It returns 0 if there is none, or if neither another call nor the end of the section
// follows.
func (op *openers) unknownCall(f *declaration.Family) int {
	for _, q := range f.Calls {
		n, a := op.marks.literal(0, q.Parts[0].Lit)
		if a != matched || n == 0 || len(q.Close) == 0 {
			continue
		}
		for ; n < maxUnmarked && op.At(n) >= 0; n++ {
			end, closed := op.marks.closerAt(n, q)
			if !closed || end == n {
				continue
			}
			next := end + op.Space(end)
			_, a = op.marks.literal(next, q.Parts[0].Lit)
			if _, ends := op.marks.sectionEnds(next, f); ends || a == matched {
				return end
			}
			break
		}
	}
	return 0
}

// moreCalls reads one more call of a section or of a draft, after white space, and reports whether
// there was one. All calls of a turn are sent together. The first call shows that its mark was
// meant, so a second one directly after it needs no words that announce it. Anything else ends the
// calls, and is text.
func (op *openers) moreCalls() bool {
	start, n := op.Pos, op.Space(0)
	op.page.gapAt, op.page.markAt = op.Pos, op.Pos+n
	op.Pos += n
	if op.markedCall() {
		return true
	}
	op.Pos = start
	return false
}

// Models sometimes continue after a call with the tool's answer, in the form in which their prompts
// show it. That answer is made up, since the tool has not run yet. It is neither text nor
// reasoning.

// madeUp drops a tool's answer that the model has written after a call. The answer extends to its
// last mark. If that is missing, it ends at another call or at the end of the turn. It returns
// mismatch anywhere but directly after a call, because elsewhere the same marks may be quoted. If a
// made-up result were shown, the client would take it for an answer, and the model, a turn later,
// for a fact.
func (op *openers) madeUp(p *declaration.Pattern) match {
	// anywhere else the same marks may be quoted
	if !op.page.afterCall || !op.page.blank {
		return mismatch
	}
	// Gemma's turn ends with <|tool_response> alone
	if _, a := op.marks.literal(0, p.Parts[0].Lit); a == mismatch && p.Special() {
		return mismatch
	}
	open, text := p.ResultMarks()
	end := declaration.NewLiteral(text, "", "")
	op.page.leave(0)
	op.page.passBy(op.Pos, op.Pos+len(open))
	op.Repaired("invented-result")
	for op.Pos++; op.At(0) >= 0; op.Pos++ {
		if c := op.At(0); c != '<' && c != '[' {
			continue
		}
		if n, a := op.marks.literal(0, end); a == matched {
			op.Pos += n
			break
		}
		// its own closer is missing
		if op.marks.goesOn() {
			break
		}
	}
	return committed
}
