package adapters

import (
	"bytes"
	"slices"

	"toolnorm/adapters/internal/declaration"
	"toolnorm/adapters/internal/scan"
	"toolnorm/adapters/internal/toolset"
	"toolnorm/chat"
)

// thinking reads the model's reasoning, and calls that it makes in it.
// Thoughts never become text: an opener that nothing closes lasts to the end of the reply, unless
// the model calls a tool behind it.
type thinking struct {
	*scan.Buffer
	in      *input
	marks   *marks
	page    *page
	code    *code
	trial   *trial
	calls   *calls
	drafts  *drafts
	openers opener
	tools   *toolset.Set
	quiet   bool                   // calls inside reasoning are none
	thinks  []*declaration.Pattern // the reasoning marks whose closers count now
	from    int                    // where the reasoning that is read begins
}

// openReasoning reads a reasoning's opener. Behind text it needs evidence: elsewhere it is a
// mention. <think> is also what people write about, so in the middle of an answer the mark alone
// says nothing. Where nothing but white space stands in front, it needs no evidence, whoever's mark
// it is: models are often read without their name.
func (th *thinking) openReasoning(p *declaration.Pattern) match {
	n, a := th.marks.literal(0, p.Parts[0].Lit)
	if a != matched {
		return a
	}
	if !th.page.blank && !th.thinksAgain(p, n) {
		return mismatch
	}
	th.page.leave(p.Glue)
	for a == matched { // models say it twice, above all where the prompt has said it
		th.Pos += n
		n, a = th.marks.literal(th.Space(0), p.Parts[0].Lit)
	}
	th.think([]*declaration.Pattern{p})
	return committed
}

// think goes over to reasoning, which any of the patterns closes.
func (th *thinking) think(closing []*declaration.Pattern) {
	th.page.state, th.thinks, th.from = chat.Reasoning, closing, th.Pos
}

// hasThought reports whether the reply has had reasoning.
func (th *thinking) hasThought() bool { return th.thinks != nil }

// thinksAgain reports whether an opener of n bytes after text begins reasoning once more. An opener
// written like a word in a sentence never does. A special token of the family does, and its tag
// alone on a line; of others the closer must follow. MiniMax M3 thinks twice in a reply,
// <mm:think>A.</mm:think>Text.⏎<mm:think>⏎B.</mm:think>; a sentence with "the <think> tag" in it
// must stay whole. The closer that has to follow is what a mention does not have.
func (th *thinking) thinksAgain(p *declaration.Pattern, n int) bool {
	own := th.ownThinking(p)
	switch {
	// [THINK] of Mistral is no word; quoted in a sentence it is
	case own && p.Special():
		return !th.page.mentioned()
	// another family's <think> in an answer is text
	case !own && !p.Special():
		return false
	// <think> alone on its line
	case own && th.page.lineStarts() && th.At(n-1) == '\n':
		return true
	}
	return !th.page.mentioned() && th.closerAhead(p, n)
}

// ownThinking reports whether a reasoning is of the family that is read, or of the one that has
// thought before. A reply that has begun with a family's reasoning is of this family, though the
// caller did not name it.
func (th *thinking) ownThinking(p *declaration.Pattern) bool {
	return p.Family == th.marks.f || len(th.thinks) > 0 && th.thinks[0].Family == p.Family
}

// closerAhead reports whether the closer of a reasoning that opened follows offset n, before it
// opens again. It looks maxDraft bytes ahead, and what it has looked at counts as waste: a text
// full of openers stays linear.
func (th *thinking) closerAhead(p *declaration.Pattern, n int) bool {
	if th.trial.exhausted() {
		return false
	}
	last := p.Parts[len(p.Parts)-1].Lit
	for i := n; i < n+maxDraft && th.At(i) >= 0; i++ {
		th.trial.waste++
		if _, a := th.marks.literal(i, last); a == matched {
			return true
		}
		// it opens again: the first was a mention
		if _, a := th.marks.literal(i, p.Parts[0].Lit); a == matched {
			return false
		}
	}
	return false
}

// strayCloser drops a reasoning's closer that closes nothing, with the glue behind it: the very
// first thing of a reply, the closer once more, or one behind text that was reasoning although
// nothing said so. As a word of prose it stays. Where the prompt has opened the reasoning and
// nobody said so, R</think>T is all that comes: what stands in front has left as text and cannot be
// recalled, but the mark is not shown. Doubled closers (</mm:think></mm:think>) go as well. A
// closer that is a word, Granite's "Here is my response:", counts only where nothing stands in
// front.
func (th *thinking) strayCloser(p *declaration.Pattern) match {
	n, a := th.marks.literal(0, p.Parts[len(p.Parts)-1].Lit)
	if a != matched {
		return a
	}
	own := th.ownThinking(p)
	switch {
	// the very first thing, or once more behind its own
	case th.page.blank && (th.page.gapAt == 0 || own):
	// another family's tag in a text is data; a word as a closer may be one
	case !own || declaration.IsProse(p.CloseMark()):
		return mismatch
	// behind a sentence, or on a line where nothing but it begins
	case th.page.glued() || th.page.lineStarts() && th.At(n) != ' ':
	default:
		return mismatch
	}
	a = th.page.dropMark(n, 0)
	th.closeReasoning(p)
	return a
}

// closeReasoning goes over to text, without the newlines that belong to the closer, or the blank
// behind a word. Which newlines are the closer's is said by the declaration: two for Qwen3, none
// for GLM-4.7. More of them is text.
func (th *thinking) closeReasoning(p *declaration.Pattern) {
	th.page.flushText()
	th.page.state = chat.Text
	th.page.anew()
	th.code.endSpan()
	th.Pos += th.Run(0, p.Tail, isNewline)
	// Granite's sentence "Here is my response:"
	if p.EndsInColon && th.At(0) == ' ' {
		th.Pos++
	}
}

// read reads the reasoning state up to its closer. Only the closer and calls that the model makes
// while it still thinks mean something here. Tool syntax in thoughts is mostly a plan, "I could
// call <tool_call>…": what is quoted in backquotes never fires, and of the rest only calls count
// with nothing but the reply's end behind them. Thoughts never become content, closed or not.
func (th *thinking) read() {
	th.page.fresh, th.page.blank = false, false
	th.code.endSpan()
	for th.page.state == chat.Reasoning {
		c := th.page.plain(&th.marks.index.Stops)
		if c < 0 || th.in.left() {
			return
		}
		// newlines in front of a closer may belong to it
		n := th.Run(0, maxGap, isNewline)
		if n > 0 {
			th.code.endSpan()
		}
		if th.reasoningEnds(n) {
			return
		}
		if th.closerCut(n) {
			th.calls.cutFrom(th.Pos)
			return
		}
		if c == '`' {
			th.code.span()
			continue
		}
		// MiniCPM-V's <reserved_12>
		if th.noise(n) {
			continue
		}
		th.page.gapAt, th.page.markAt = th.Pos, th.Pos+n
		if th.tools != nil && !th.quiet && !th.code.inSpan() && th.callInReasoning(n) {
			return
		}
		th.page.keep(max(n, 1))
	}
}

// isNewline reports whether c is the one byte that may belong to a mark of reasoning. Carriage
// returns are the thought's.
func isNewline(c int) bool { return c == '\n' }

// reasoningEnds reads the closer behind n newlines, the last of which belongs to it. A declaration
// with a newline in front of its closer takes one; further ones are the thought's last lines. Where
// the prompt has opened it, any of the family's closers counts: K2 Horizon has three pairs, one for
// each effort.
func (th *thinking) reasoningEnds(n int) bool {
	first := max(n-1, 0)
	for _, p := range th.thinks {
		l := p.Parts[len(p.Parts)-1].Lit
		skip := first
		// the closer takes no newline: all are the thought's
		if n > 0 && l.Units[0].Kind != declaration.OneNewline {
			skip = n
		}
		end, a := th.marks.literal(skip, l)
		if a != matched {
			continue
		}
		th.page.keep(skip)
		th.Pos += end - skip
		th.closeReasoning(p)
		return true
	}
	return !th.code.inSpan() && th.plainOpens(n)
}

// closerCut reports whether the length of the reply has cut it inside the reasoning's closer behind
// n newlines.
func (th *thinking) closerCut(n int) bool {
	return slices.ContainsFunc(th.thinks, func(p *declaration.Pattern) bool {
		l := p.Parts[len(p.Parts)-1].Lit
		at := n
		if n > 0 && l.Units[0].Kind == declaration.OneNewline {
			at = n - 1
		}
		return th.At(n+minHalf-1) >= 0 && th.marks.cutIn(at, l)
	})
}

// plainOpens ends the reasoning in front of the special token that opens a plain reply of the same
// family, behind n newlines. The token itself is read as text is. Command R and A write
// <|START_TEXT|> without closing their thoughts. Only a special token does so: a tag may be part of
// one. It is not consumed here, so text reads it as it reads every opener of a reply.
func (th *thinking) plainOpens(n int) bool {
	for _, p := range th.thinks[0].Family.Plain {
		if _, a := th.marks.literal(n, p.Parts[0].Lit); a == matched && p.Special() {
			th.page.keep(n)
			th.closeReasoning(&declaration.Pattern{})
			return true
		}
	}
	return false
}

// noise keeps n newlines and drops the mark behind them that means nothing, when one stands there.
// It is dropped here as in text, but not within backquotes, where it is quoted.
func (th *thinking) noise(n int) bool {
	m := th.marks.firstMark(n, func(m *declaration.Mark) bool { return m.Kind == declaration.NoiseMark && !th.code.inSpan() })
	if m == nil {
		return false
	}
	th.page.keep(n)
	th.page.flushText()
	th.Pos += len(m.Key)
	return true
}

// maxDraft bounds a call inside open reasoning, in bytes. A model that has made its mind up calls
// at once; a plan that is longer than this is not waited for.
const maxDraft = 4096

// callInReasoning reads calls behind n newlines as a draft, and lets what follows decide: at the
// end of the text or of the turn they are calls and end the reasoning; a closer or prose makes them
// reasoning. Qwen3.5, GLM, Kimi K2 and DeepSeek V3.2 forget the closer in front of a call; others
// write the call as a draft, close their thoughts, and call then. What follows tells the two apart.
// A draft under a virtual end of text unwinds by itself, so nothing special is written for the way
// back. Trinity's calls inside closed thoughts are real (flag think-calls).
func (th *thinking) callInReasoning(n int) bool {
	if th.marks.marksAt(n) == nil {
		return false
	}
	size := maxDraft
	if th.from >= th.Base && len(bytes.TrimSpace(th.Slice(th.from, th.Pos))) == 0 {
		size = maxUnmarked // nothing was thought, so it is no plan
	}
	return th.drafts.draft(size, func() bool {
		th.Pos += n
		found := false
		for th.openers.markedCall() {
			found = true
			th.Pos += th.Space(0)
		}
		// a closer behind the call: it was a draft, unless the family says otherwise
		closing := th.closesReasoning()
		return found && !th.calls.wasCut && (th.marks.modelEnded() || closing == matched && th.marks.f.Flags.ThinkCalls || closing == mismatch && th.marks.turnEnds())
	})
}

// closesReasoning reports whether the closer of the reasoning is here, or is cut here. incomplete
// matters as much as matched: half a closer at the end shows that these were thoughts.
func (th *thinking) closesReasoning() match {
	best := mismatch
	for _, p := range th.thinks {
		_, a := th.marks.literal(0, p.Parts[len(p.Parts)-1].Lit)
		best = max(best, a)
	}
	return best
}
