package adapters

import "toolnorm/adapters/internal/declaration"

// section reads the calls between the marks of a section. The opener is structure only when a call commits behind it, or
// its closer follows at once.
// "DeepSeek uses <｜tool▁calls▁begin｜> with full-width bars" is text from its first to its last byte. An empty section holds
// nothing and is dropped. Its glue stands in front of the opener, so it is that of the first call.
// outer keeps its glue while the first call is read, since the call's own newlines stand inside the section.
func (d *decoder) section(p *declaration.Pattern) match {
	n, a := d.literal(0, p.Parts[0].Lit)
	if a != matched {
		return a
	}
	i := n + d.Space(n)
	if end, ok := d.sectionEnds(i, p.Family); ok {
		d.afterCall = true
		return d.dropMark(end, p.Glue)
	}
	start := d.Pos
	d.Pos += i
	d.outer = p.Glue
	// without a call behind it the opener is a word of the text
	if a = d.anyCall(p.Family); a == mismatch {
		a = d.callBehindJunk(p)
	}
	d.outer = -1
	if a != committed {
		d.Pos = start
		return a
	}
	for d.moreCalls() {
	}
	// the closer may be missing: calls were read, and stay calls
	if end, ok := d.sectionEnds(d.Space(0), p.Family); ok {
		d.Pos += end
	}
	return committed
}

// maxJunk bounds what may stand between a section's opener and its first call, in bytes.
// It is meant for a word or a mark, not for a paragraph.
const maxJunk = 128

// callBehindJunk reads the first call of a section that begins with something else, where the marks are special tokens: the
// opener once more, or a word. It means nothing.
// A section that looks like a tag may be a mention, and the words behind it the rest of the sentence, so tags do not count. What
// vanishes with the opener does so only when a call is read behind it.
func (d *decoder) callBehindJunk(p *declaration.Pattern) match {
	if !p.Special() {
		return mismatch
	}
	for n := range maxJunk {
		if _, ends := d.sectionEnds(n, p.Family); ends || d.At(n) < 0 {
			return mismatch
		}
		for _, q := range p.Family.Calls {
			if _, a := d.literal(n, q.Parts[0].Lit); a == matched {
				d.Pos += n
				return d.anyCall(p.Family)
			}
		}
	}
	return mismatch
}

// sectionEnds says whether the closer of a section stands at offset i, and where it ends. Any of the family's closers ends
// any of its sections: models open with one word and close with another.
// DeepSeek V4 knows two words, tool_calls and function_calls, which was V3.2's.
func (d *decoder) sectionEnds(i int, f *declaration.Family) (int, bool) {
	for _, p := range f.Sections {
		if end, ok := d.closerAt(i, p); ok {
			return end, true
		}
	}
	return i, false
}

// anyCall tries the call patterns of a format here.
// All of them are tried, since several share a first mark. incomplete counts only when none commits.
func (d *decoder) anyCall(f *declaration.Family) match {
	a := mismatch
	for _, p := range f.Calls {
		switch d.attempt(p) {
		case committed:
			return committed
		case incomplete:
			a = incomplete
		}
	}
	return a
}

// moreCalls reads one more call of a section or of a draft, behind white space.
// All calls of a turn leave together: a second one behind the first is no prose, and no evidence is asked for, since the mark
// of the first has been believed. What else stands there ends the calls, and is text.
func (d *decoder) moreCalls() bool {
	start, n := d.Pos, d.Space(0)
	d.gapAt, d.markAt = d.Pos, d.Pos+n
	d.Pos += n
	if d.markedCall() {
		return true
	}
	d.Pos = start
	return false
}

// Models sometimes go on behind a call with the tool's answer, in the form in which their prompts show it. That answer is
// made up, since the tool has not run yet: it is neither text nor reasoning.

// madeUp drops what stands behind a call as the tool's answer: up to its last mark, or to where another call or the end of the
// turn shows that the mark is missing.
// It counts right behind a call only, where no text of the model's can stand. An observation that is made up would be read by the
// client as an answer, and by the model, a turn later, as a fact.
func (d *decoder) madeUp(p *declaration.Pattern) match {
	// anywhere else the same marks may be quoted
	if !d.afterCall || !d.blank {
		return mismatch
	}
	// <|tool_response> alone is where Gemma's turn ends
	if _, a := d.literal(0, p.Parts[0].Lit); a == mismatch && p.Special() {
		return mismatch
	}
	open, text := p.ResultMarks()
	end := declaration.NewLiteral(text, "", "")
	d.leave(0)
	d.passBy(d.Pos, d.Pos+len(open))
	d.Repaired("invented-result")
	for d.Pos++; d.At(0) >= 0; d.Pos++ {
		if c := d.At(0); c != '<' && c != '[' {
			continue
		}
		if n, a := d.literal(0, end); a == matched {
			d.Pos += n
			break
		}
		// its own closer is missing
		if d.goesOn() {
			break
		}
	}
	return committed
}

// goesOn says whether a call, a message or a mark of the turn stands here.
// Each of them begins something that the model itself does, which an answer of a tool does not hold.
func (d *decoder) goesOn() bool {
	return d.firstMark(0, func(m *declaration.Mark) bool {
		return m.Kind == declaration.SectionOpen || m.Kind == declaration.CallOpen || m.Kind == declaration.HeaderOpen || isTurn(m)
	}) != nil
}
