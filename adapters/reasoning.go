package adapters

import (
	"slices"

	"toolnorm/adapters/internal/declaration"
	"toolnorm/adapters/internal/scan"
	"toolnorm/chat"
)

// openReasoning reads a reasoning's opener. Behind text it needs evidence: elsewhere it is a mention.
func (d *decoder) openReasoning(p *declaration.Pattern) match {
	n, a := d.literal(0, p.Parts[0].Lit)
	if a != matched {
		return a
	}
	if !d.blank {
		if a = d.emptyReasoning(p, n); a != mismatch || !d.thinksAgain(p, n) {
			return a
		}
	}
	d.leave(p.Glue)
	d.Pos += n
	for { // models say it twice, above all where the prompt has said it
		if n, a = d.literal(d.Space(0), p.Parts[0].Lit); a != matched {
			break
		}
		d.Pos += n
	}
	d.flushText()
	d.state, d.thinks = chat.Reasoning, []*declaration.Pattern{p}
	return committed
}

// thinksAgain says whether an opener of n bytes behind text begins reasoning once more. None does that stands as a word in a
// sentence. A special token of the family does, and its tag alone on a line; of others the closer must follow.
func (d *decoder) thinksAgain(p *declaration.Pattern, n int) bool {
	own := d.ownThinking(p)
	switch {
	case own && p.Special():
		return !d.mentioned()
	case !own && !p.Special():
		return false
	case own && d.lineStarts() && d.At(n-1) == '\n':
		return true
	}
	return !d.mentioned() && d.closerAhead(p, n)
}

// ownThinking says whether a reasoning is of the family that is read, or of the one that has thought before.
func (d *decoder) ownThinking(p *declaration.Pattern) bool {
	return p.Family == d.f || len(d.thinks) > 0 && d.thinks[0].Family == p.Family
}

// lineStarts says whether the mark is the first thing on its line.
func (d *decoder) lineStarts() bool {
	return d.gapAt < d.markAt && d.Slice(d.markAt-1, d.markAt)[0] == '\n'
}

// mentioned says whether the mark stands as a word in a sentence does: behind a blank, a quotation mark or a bracket.
func (d *decoder) mentioned() bool { return !d.lineStarts() && !d.glued() }

// glued says whether the mark follows a word or the end of a sentence without a blank between.
func (d *decoder) glued() bool {
	if d.markAt <= d.Base || d.gapAt < d.markAt {
		return false
	}
	c := d.Slice(d.markAt-1, d.markAt)[0]
	return scan.IsWord(int(c)) || c >= 0x80 || c == '.' || c == '!' || c == '?' || c == ':' || c == '>' || c == ']' || c == '}'
}

// closerAhead says whether the closer of a reasoning that opened stands behind offset n, before it opens again.
func (d *decoder) closerAhead(p *declaration.Pattern, n int) bool {
	if d.exhausted() {
		return false
	}
	last := p.Parts[len(p.Parts)-1].Lit
	for i := n; i < n+maxDraft && d.At(i) >= 0; i++ {
		d.waste++
		if _, a := d.literal(i, last); a == matched {
			return true
		}
		if _, a := d.literal(i, p.Parts[0].Lit); a == matched {
			return false
		}
	}
	return false
}

// emptyReasoning drops an opener behind text when its closer follows at once.
func (d *decoder) emptyReasoning(p *declaration.Pattern, n int) match {
	n, a := d.literal(n+d.Space(n), p.Parts[len(p.Parts)-1].Lit)
	if a != matched {
		return mismatch
	}
	d.leave(p.Glue)
	d.Pos += n
	return committed
}

// strayCloser drops a reasoning's closer that closes nothing, with the glue behind it: the very first thing of a reply, the
// closer once more, or one behind text that was reasoning although nothing said so. As a word of prose it stays.
func (d *decoder) strayCloser(p *declaration.Pattern) match {
	n, a := d.literal(0, p.Parts[len(p.Parts)-1].Lit)
	if a != matched {
		return a
	}
	own := d.ownThinking(p)
	switch {
	case d.blank && (d.gapAt == 0 && d.done == 0 || own):
	case !own || declaration.IsProse(p.CloseMark()):
		return mismatch
	case d.glued() || d.lineStarts() && d.At(n) != ' ':
	default:
		return mismatch
	}
	d.leave(0)
	d.Pos += n
	d.closeReasoning(p)
	return committed
}

// closeReasoning goes over to text, without the newlines that belong to the closer, or the blank behind a word.
func (d *decoder) closeReasoning(p *declaration.Pattern) {
	d.flushText()
	d.state, d.blank, d.fresh = chat.Text, true, true
	d.ticks = 0
	for n := 0; n < p.Tail && d.At(0) == '\n'; n++ {
		d.Pos++
	}
	if p.EndsInColon && d.At(0) == ' ' {
		d.Pos++
	}
	d.textFrom, d.textTo = d.Pos, d.Pos
}

// reasoning reads the reasoning state up to its closer. Only the closer and calls that the model makes while it still
// thinks mean something here.
func (d *decoder) reasoning() {
	d.fresh, d.blank, d.ticks = false, false, 0
	for d.state == chat.Reasoning {
		c := d.plain(&d.index.Stops)
		if c < 0 || d.left() {
			return
		}
		n := 0
		for n < maxGap && d.At(n) == '\n' {
			n++
		}
		if n > 0 {
			d.ticks = 0
		}
		if d.reasoningEnds(n) {
			return
		}
		if d.At(n) < 0 {
			d.keep(n)
			return
		}
		if c == '`' {
			d.codeSpan()
			continue
		}
		if d.noise(n) {
			continue
		}
		d.gapAt, d.markAt = d.Pos, d.Pos+n
		if d.tools != nil && !d.quiet && d.ticks == 0 && d.callInReasoning(n) {
			return
		}
		d.keep(max(n, 1))
	}
}

// reasoningEnds reads the closer behind n newlines, the last of which belongs to it.
func (d *decoder) reasoningEnds(n int) bool {
	first := max(n-1, 0)
	for _, p := range d.thinks {
		l := p.Parts[len(p.Parts)-1].Lit
		skip := first
		if n > 0 && l.Units[0].Kind != declaration.OneNewline {
			skip = n
		}
		end, a := d.literal(skip, l)
		if a != matched {
			continue
		}
		d.keep(skip)
		d.Pos += end - skip
		d.closeReasoning(p)
		return true
	}
	return d.ticks == 0 && d.plainOpens(n)
}

// plainOpens ends the reasoning in front of the special token that opens a plain reply of the same family, behind n
// newlines. The token itself is read as text is.
func (d *decoder) plainOpens(n int) bool {
	for _, p := range d.thinks[0].Family.Plain {
		m := declaration.Mark{Key: p.Parts[0].Lit.Key()}
		if _, a := d.literal(n, p.Parts[0].Lit); a == matched && m.Special() {
			d.keep(n)
			d.closeReasoning(&declaration.Pattern{})
			return true
		}
	}
	return false
}

// noise keeps n newlines and drops the mark behind them that means nothing, when one stands there.
func (d *decoder) noise(n int) bool {
	for _, m := range d.marksAt(n) {
		if m.Kind == declaration.NoiseMark && d.ticks == 0 && d.stands(n, &m) {
			d.keep(n)
			d.flushText()
			d.Pos += len(m.Key)
			d.textFrom, d.textTo = d.Pos, d.Pos
			return true
		}
	}
	return false
}

// maxDraft bounds a call inside open reasoning, in bytes.
const maxDraft = 4096

// callInReasoning reads calls behind n newlines as a draft, and lets what follows decide: at the end of the text or of the
// turn they are calls and end the reasoning; a closer or prose makes them reasoning.
func (d *decoder) callInReasoning(n int) bool {
	if d.marksAt(n) == nil {
		return false
	}
	closes := false
	ok := d.draft(maxDraft, func() bool {
		d.Pos += n
		found := false
		for d.markedCall() {
			found = true
			d.Pos += d.Space(0)
		}
		closing := d.closesReasoning()
		closes = closing == matched && d.f.Flags.ThinkCalls
		return found && !d.wasCut && (d.modelEnded() || closes || closing == mismatch && d.turnEnds())
	})
	if ok && closes {
		d.state = chat.Reasoning
	}
	return ok
}

// markedCall reads one call, or one section of them, that begins with a mark right here.
func (d *decoder) markedCall() bool {
	start, marks := d.Pos, d.marksAt(0)
	for i := range marks {
		m := &marks[i]
		if m.Kind != declaration.SectionOpen && m.Kind != declaration.CallOpen && m.Kind != declaration.InnerOpen || !d.stands(0, m) {
			continue
		}
		done := d.done
		if d.try(m) == committed {
			return d.done > done
		}
		d.Pos = start
	}
	return false
}

// modelEnded says whether the text is over because the model ended it.
func (d *decoder) modelEnded() bool { return d.At(0) < 0 && !d.lengthCut() }

// closesReasoning says whether the closer of the reasoning stands here, or is cut here.
func (d *decoder) closesReasoning() match {
	best := mismatch
	for _, p := range d.thinks {
		_, a := d.literal(0, p.Parts[len(p.Parts)-1].Lit)
		best = max(best, a)
	}
	return best
}

// turnEnds says whether a mark of the turn stands here.
func (d *decoder) turnEnds() bool {
	marks := d.marksAt(0)
	return slices.ContainsFunc(marks, func(m declaration.Mark) bool { return d.turnAt(0, &m) > 0 })
}
