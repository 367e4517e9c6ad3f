package adapters

import (
	"toolnorm/adapters/internal/declaration"
	"toolnorm/adapters/internal/scan"
	"toolnorm/chat"
)

// openReasoning reads a reasoning's opener. Behind text it needs evidence: elsewhere it is a mention.
// <think> is also what people write about, so in the middle of an answer the mark alone says nothing. Where nothing but white
// space stands in front, it needs no evidence, whoever's mark it is: models are often read without their name.
func (d *decoder) openReasoning(p *declaration.Pattern) match {
	n, a := d.literal(0, p.Parts[0].Lit)
	if a != matched {
		return a
	}
	if !d.blank && !d.thinksAgain(p, n) {
		return mismatch
	}
	d.leave(p.Glue)
	for a == matched { // models say it twice, above all where the prompt has said it
		d.Pos += n
		n, a = d.literal(d.Space(0), p.Parts[0].Lit)
	}
	d.think([]*declaration.Pattern{p})
	return committed
}

// think goes over to reasoning, which any of the patterns closes.
func (d *decoder) think(closing []*declaration.Pattern) {
	d.state, d.thinks = chat.Reasoning, closing
}

// hasThought reports whether the reply has had reasoning.
func (d *decoder) hasThought() bool { return d.thinks != nil }

// thinksAgain says whether an opener of n bytes behind text begins reasoning once more. None does that stands as a word in a
// sentence. A special token of the family does, and its tag alone on a line; of others the closer must follow.
// MiniMax M3 thinks twice in a reply, <mm:think>A.</mm:think>Text.⏎<mm:think>⏎B.</mm:think>; a sentence with "the <think> tag" in it
// must stay whole. The closer that has to follow is what a mention does not have.
func (d *decoder) thinksAgain(p *declaration.Pattern, n int) bool {
	own := d.ownThinking(p)
	switch {
	// [THINK] of Mistral is no word; quoted in a sentence it is
	case own && p.Special():
		return !d.mentioned()
	// another family's <think> in an answer is text
	case !own && !p.Special():
		return false
	// <think> alone on its line
	case own && d.lineStarts() && d.At(n-1) == '\n':
		return true
	}
	return !d.mentioned() && d.closerAhead(p, n)
}

// ownThinking says whether a reasoning is of the family that is read, or of the one that has thought before.
// A reply that has begun with a family's reasoning is of this family, though nobody said its name.
func (d *decoder) ownThinking(p *declaration.Pattern) bool {
	return p.Family == d.f || len(d.thinks) > 0 && d.thinks[0].Family == p.Family
}

// lineStarts says whether the mark is the first thing on its line.
// gapAt to markAt is the white space in front of the mark; its last byte tells.
func (d *decoder) lineStarts() bool {
	return d.gapAt < d.markAt && d.Slice(d.markAt-1, d.markAt)[0] == '\n'
}

// mentioned says whether the mark stands as a word in a sentence does: behind a blank, a quotation mark or a bracket.
// It is the opposite of both places where models put marks: on a line of their own, and right behind what they said.
func (d *decoder) mentioned() bool { return !d.lineStarts() && !d.glued() }

// glued says whether the mark follows a word or the end of a sentence without a blank between.
// "Let me think.<tool_call>" is no mention: writers put a blank in front of a word. Bytes of longer runes count as words, since
// Chinese and Japanese end a sentence with one. Where the text in front is gone from the buffer nothing is known of it.
func (d *decoder) glued() bool {
	if d.markAt <= d.Base || d.gapAt < d.markAt {
		return false
	}
	c := d.Slice(d.markAt-1, d.markAt)[0]
	return scan.IsWord(int(c)) || c >= 0x80 || c == '.' || c == '!' || c == '?' || c == ':' || c == '>' || c == ']' || c == '}'
}

// closerAhead says whether the closer of a reasoning that opened stands behind offset n, before it opens again.
// It looks maxDraft bytes ahead, and what it has looked at counts as waste: a text full of openers stays linear.
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
		// it opens again: the first was a mention
		if _, a := d.literal(i, p.Parts[0].Lit); a == matched {
			return false
		}
	}
	return false
}

// strayCloser drops a reasoning's closer that closes nothing, with the glue behind it: the very first thing of a reply, the
// closer once more, or one behind text that was reasoning although nothing said so. As a word of prose it stays.
// Where the prompt has opened the reasoning and nobody said so, R</think>T is all that comes: what stands in front has left as
// text and cannot be recalled, but the mark is not shown. Doubled closers (</mm:think></mm:think>) go as well.
// A closer that is a word, Granite's "Here is my response:", counts only where nothing stands in front.
func (d *decoder) strayCloser(p *declaration.Pattern) match {
	n, a := d.literal(0, p.Parts[len(p.Parts)-1].Lit)
	if a != matched {
		return a
	}
	own := d.ownThinking(p)
	switch {
	// the very first thing, or once more behind its own
	case d.blank && (d.gapAt == 0 || own):
	// another family's tag in a text is data; a word as a closer may be one
	case !own || declaration.IsProse(p.CloseMark()):
		return mismatch
	// behind a sentence, or on a line where nothing but it begins
	case d.glued() || d.lineStarts() && d.At(n) != ' ':
	default:
		return mismatch
	}
	a = d.dropMark(n, 0)
	d.closeReasoning(p)
	return a
}

// closeReasoning goes over to text, without the newlines that belong to the closer, or the blank behind a word.
// Which newlines are the closer's is said by the declaration: two for Qwen3, none for GLM-4.7. More of them is text.
func (d *decoder) closeReasoning(p *declaration.Pattern) {
	d.flushText()
	d.state = chat.Text
	d.anew()
	d.endSpan()
	d.Pos += d.Run(0, p.Tail, isNewline)
	// Granite's sentence "Here is my response:"
	if p.EndsInColon && d.At(0) == ' ' {
		d.Pos++
	}
}

// reasoning reads the reasoning state up to its closer. Only the closer and calls that the model makes while it still
// thinks mean something here.
// Tool syntax in thoughts is mostly a plan, "I could call <tool_call>…": what is quoted in backquotes never fires, and of the
// rest only calls count with nothing but the reply's end behind them. Thoughts never become content, closed or not.
func (d *decoder) reasoning() {
	d.fresh, d.blank = false, false
	d.endSpan()
	for d.state == chat.Reasoning {
		c := d.plain(&d.index.Stops)
		if c < 0 || d.left() {
			return
		}
		// newlines in front of a closer may belong to it
		n := d.Run(0, maxGap, isNewline)
		if n > 0 {
			d.endSpan()
		}
		if d.reasoningEnds(n) {
			return
		}
		if c == '`' {
			d.codeSpan()
			continue
		}
		// MiniCPM-V's <reserved_12>
		if d.noise(n) {
			continue
		}
		d.gapAt, d.markAt = d.Pos, d.Pos+n
		if d.tools != nil && !d.quiet && !d.inSpan() && d.callInReasoning(n) {
			return
		}
		d.keep(max(n, 1))
	}
}

// isNewline is the class of the one byte that may belong to a mark of reasoning. Carriage returns are the thought's.
func isNewline(c int) bool { return c == '\n' }

// reasoningEnds reads the closer behind n newlines, the last of which belongs to it.
// A declaration with a newline in front of its closer takes one; further ones are the thought's last lines. Where the
// prompt has opened it, any of the family's closers counts: K2 Horizon has three pairs, one for each effort.
func (d *decoder) reasoningEnds(n int) bool {
	first := max(n-1, 0)
	for _, p := range d.thinks {
		l := p.Parts[len(p.Parts)-1].Lit
		skip := first
		// the closer takes no newline: all are the thought's
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
	return !d.inSpan() && d.plainOpens(n)
}

// plainOpens ends the reasoning in front of the special token that opens a plain reply of the same family, behind n
// newlines. The token itself is read as text is.
// Command R and A write <|START_TEXT|> without closing their thoughts. Only a special token does so: a tag may be part of one.
// It is not consumed here, so text reads it as it reads every opener of a reply.
func (d *decoder) plainOpens(n int) bool {
	for _, p := range d.thinks[0].Family.Plain {
		if _, a := d.literal(n, p.Parts[0].Lit); a == matched && p.Special() {
			d.keep(n)
			d.closeReasoning(&declaration.Pattern{})
			return true
		}
	}
	return false
}

// noise keeps n newlines and drops the mark behind them that means nothing, when one stands there.
// It is dropped here as in text, but not within backquotes, where it is quoted.
func (d *decoder) noise(n int) bool {
	m := d.firstMark(n, func(m *declaration.Mark) bool { return m.Kind == declaration.NoiseMark && !d.inSpan() })
	if m == nil {
		return false
	}
	d.keep(n)
	d.flushText()
	d.Pos += len(m.Key)
	return true
}

// maxDraft bounds a call inside open reasoning, in bytes.
// A model that has made its mind up calls at once; a plan that is longer than this is not waited for.
const maxDraft = 4096

// callInReasoning reads calls behind n newlines as a draft, and lets what follows decide: at the end of the text or of the
// turn they are calls and end the reasoning; a closer or prose makes them reasoning.
// Qwen3.5, GLM, Kimi K2 and DeepSeek V3.2 forget the closer in front of a call; others write the call as a draft, close their
// thoughts, and call then. What follows tells the two apart. A draft under a virtual end of text unwinds by itself, so
// nothing special is written for the way back. Trinity's calls inside closed thoughts are real (flag think-calls).
func (d *decoder) callInReasoning(n int) bool {
	if d.marksAt(n) == nil {
		return false
	}
	return d.draft(maxDraft, func() bool {
		d.Pos += n
		found := false
		for d.markedCall() {
			found = true
			d.Pos += d.Space(0)
		}
		// a closer behind the call: it was a draft, unless the family says otherwise
		closing := d.closesReasoning()
		return found && !d.wasCut && (d.modelEnded() || closing == matched && d.f.Flags.ThinkCalls || closing == mismatch && d.turnEnds())
	})
}

// markedCall reads one call, or one section of them, that begins with a mark right here.
// Calls without marks do not count in thoughts: JSON there is a plan.
func (d *decoder) markedCall() bool {
	marks := d.marksAt(0)
	for i := range marks {
		m := &marks[i]
		if !opensCall(m) || !d.stands(0, m) {
			continue
		}
		if d.try(m) == committed {
			return true
		}
	}
	return false
}

// modelEnded says whether the text is over because the model ended it.
// With finish length the text could have gone on, and a closer could have come.
func (d *decoder) modelEnded() bool { return d.At(0) < 0 && !d.lengthCut() }

// closesReasoning says whether the closer of the reasoning stands here, or is cut here.
// incomplete matters as much as matched: half a closer at the end says that these were thoughts.
func (d *decoder) closesReasoning() match {
	best := mismatch
	for _, p := range d.thinks {
		_, a := d.literal(0, p.Parts[len(p.Parts)-1].Lit)
		best = max(best, a)
	}
	return best
}

// turnEnds says whether a mark of the turn stands here.
// A model that ends its turn has no more to say, so the call in front was meant.
func (d *decoder) turnEnds() bool { return d.firstMark(0, isTurn) != nil }
