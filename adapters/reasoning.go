package adapters

import "toolnorm/chat"

// openReasoning reads a reasoning's opener. It counts only before any text: elsewhere it is a mention.
func (d *decoder) openReasoning(p *pattern) answer {
	n, a := d.literal(0, p.parts[0].lit)
	if a != yes {
		return a
	}
	if !d.blank {
		return d.emptyReasoning(p, n)
	}
	d.leave(p.glue)
	d.pos += n
	d.flushText()
	d.state, d.thinks = chat.Reasoning, []*pattern{p}
	return committed
}

// emptyReasoning drops an opener behind text when its closer follows at once.
func (d *decoder) emptyReasoning(p *pattern, n int) answer {
	n, a := d.literal(n, p.parts[len(p.parts)-1].lit)
	if a != yes {
		return no
	}
	d.leave(p.glue)
	d.pos += n
	return committed
}

// strayCloser drops a reasoning's closer that is the very first thing of a reply, with the glue behind it.
func (d *decoder) strayCloser(p *pattern) answer {
	if d.gapAt > 0 || !d.blank || d.done > 0 {
		return no
	}
	n, a := d.literal(0, p.parts[len(p.parts)-1].lit)
	if a != yes {
		return a
	}
	d.pos += n
	d.closeReasoning(p)
	return committed
}

// closeReasoning goes over to text, without the newlines that belong to the closer, or the blank behind a word.
func (d *decoder) closeReasoning(p *pattern) {
	d.flushText()
	d.state, d.blank, d.fresh = chat.Text, true, true
	d.ticks = 0
	for n := 0; n < p.tail && d.at(0) == '\n'; n++ {
		d.pos++
	}
	if p.word && d.at(0) == ' ' {
		d.pos++
	}
	d.textFrom, d.textTo = d.pos, d.pos
}

// reasoning reads the reasoning state up to its closer. Only the closer and calls that the model makes while it still
// thinks mean something here.
func (d *decoder) reasoning() {
	d.fresh, d.blank, d.ticks = false, false, 0
	for d.state == chat.Reasoning {
		c := d.plain(&d.v.stops)
		if c < 0 {
			return
		}
		n := 0
		for n < maxGap && d.at(n) == '\n' {
			n++
		}
		if n > 0 {
			d.ticks = 0
		}
		if d.reasoningEnds(n) {
			return
		}
		if d.at(n) < 0 {
			d.keep(n)
			return
		}
		if c == '`' {
			d.backquotes()
			continue
		}
		d.gapAt, d.markAt = d.pos, d.pos+n
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
		l := p.parts[len(p.parts)-1].lit
		skip := first
		if n > 0 && l.units[0].kind != oneNewline {
			skip = n
		}
		end, a := d.literal(skip, l)
		if a != yes {
			continue
		}
		d.keep(skip)
		d.pos += end - skip
		d.closeReasoning(p)
		return true
	}
	return d.ticks == 0 && d.plainOpens(n)
}

// plainOpens ends the reasoning in front of the special token that opens a plain reply of the same family, behind n
// newlines. The token itself is read as text is.
func (d *decoder) plainOpens(n int) bool {
	for _, p := range d.thinks[0].f.plain {
		m := mark{key: p.parts[0].lit.key()}
		if _, a := d.literal(n, p.parts[0].lit); a == yes && m.special() {
			d.keep(n)
			d.closeReasoning(&pattern{})
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
		d.pos += n
		found := false
		for d.markedCall() {
			found = true
			d.pos += d.space(0)
		}
		closing := d.closesReasoning()
		closes = closing == yes && d.f.flags["think-calls"]
		return found && !d.wasCut && (d.modelEnded() || closes || closing == no && d.turnEnds())
	})
	if ok && closes {
		d.state = chat.Reasoning
	}
	return ok
}

// markedCall reads one call, or one section of them, that begins with a mark right here.
func (d *decoder) markedCall() bool {
	start, marks := d.pos, d.marksAt(0)
	for i := range marks {
		m := &marks[i]
		if m.kind != sectionOpen && m.kind != callOpen && m.kind != innerOpen || !d.has(0, m.key) {
			continue
		}
		done := d.done
		if d.try(m) == committed {
			return d.done > done
		}
		d.pos = start
	}
	return false
}

// modelEnded says whether the text is over because the model ended it.
func (d *decoder) modelEnded() bool { return d.at(0) < 0 && !d.lengthCut() }

// closesReasoning says whether the closer of the reasoning stands here, or is cut here.
func (d *decoder) closesReasoning() answer {
	best := no
	for _, p := range d.thinks {
		_, a := d.literal(0, p.parts[len(p.parts)-1].lit)
		best = max(best, a)
	}
	return best
}

// turnEnds says whether a mark of the turn stands here.
func (d *decoder) turnEnds() bool {
	for _, m := range d.marksAt(0) {
		if m.kind == turnMark && d.has(0, m.key) {
			return true
		}
	}
	return false
}
