package adapters

import (
	"bytes"
	"slices"

	"toolnorm/adapters/internal/declaration"
	"toolnorm/chat"
)

// thinking reads the model's reasoning, and calls that the model makes in it. Reasoning never
// becomes text: if it is never closed, it lasts to the end of the reply, unless the model calls a
// tool in it.
type thinking struct {
	below
	drafts  *drafts
	openers opener
	quiet   bool                   // calls inside reasoning do not count
	thinks  []*declaration.Pattern // the reasoning marks whose closers count now
	from    int                    // position where the reasoning being read begins
}

// openReasoning reads a mark that opens reasoning, such as <think>. It returns mismatch if the mark
// is only mentioned, and incomplete if it is cut. After text it needs more evidence, because people
// also write about <think> in the middle of an answer. After only white space it needs none. It
// accepts the marks of every family, because models are often read without their name.
func (th *thinking) openReasoning(p *declaration.Pattern) match {
	n, a := th.marks.literal(0, p.Parts[0].Lit)
	if a != matched {
		return a
	}
	if !th.page.blank && !th.thinksAgain(p, n) {
		return mismatch
	}
	th.page.leave(p.Glue)
	for a == matched { // models write it twice, above all if the prompt contains it
		th.Pos += n
		n, a = th.marks.literal(th.Space(0), p.Parts[0].Lit)
	}
	th.think([]*declaration.Pattern{p})
	return committed
}

// think begins the reasoning: from here on the text is reasoning, up to the closing mark of any of
// the given patterns, such as </think>.
func (th *thinking) think(closing []*declaration.Pattern) {
	th.page.state, th.thinks, th.from = chat.Reasoning, closing, th.Pos
}

// hasThought reports whether the reply has had reasoning.
func (th *thinking) hasThought() bool { return th.thinks != nil }

// thinksAgain reports whether a mark of n bytes after text, such as <think>, begins reasoning once
// more. A mark written like a word in a sentence never does. A special token of the family does,
// and so does the family's tag alone on a line. Any other mark does if its closing mark follows,
// which a mention does not have. MiniMax M3 thinks twice in a reply,
// <mm:think>A.</mm:think>Text.⏎<mm:think>⏎B.</mm:think>, but a sentence with "the <think> tag" in
// it must stay whole.
func (th *thinking) thinksAgain(p *declaration.Pattern, n int) bool {
	own := th.ownThinking(p)
	switch {
	// Mistral's [THINK] is a word only when quoted in a sentence
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

// ownThinking reports whether a reasoning mark, such as <think>, belongs to the family being read,
// or to the family of the reply's earlier reasoning. A reply that begins with a family's reasoning
// is of that family, even if the caller did not name it.
func (th *thinking) ownThinking(p *declaration.Pattern) bool {
	return p.Family == th.marks.f || len(th.thinks) > 0 && th.thinks[0].Family == p.Family
}

// closerAhead reports whether the closing mark of the reasoning that has opened, such as </think>,
// follows offset n, before another opening mark. At most maxDraft bytes are searched. They are
// added to the bytes read in vain, so that a text full of opening marks takes linear time. If too
// many bytes were read in vain before, it returns false without a search.
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
		// another opener: the first was a mention
		if _, a := th.marks.literal(i, p.Parts[0].Lit); a == matched {
			return false
		}
	}
	return false
}

// strayCloser drops a closer of reasoning, such as </think>, that was not opened, with the newlines
// that belong to it. Elsewhere it returns mismatch. The closer is dropped if it is the very first
// thing of a reply, is repeated, as in </mm:think></mm:think>, or follows text that was reasoning
// without a mark. The last is so if the prompt has opened the reasoning and the decoder does not
// know it: in R</think>T the text R was already sent and cannot be recalled, but the mark is not
// shown. A closer that consists of words, Granite's "Here is my response:", is dropped only if
// nothing precedes it.
func (th *thinking) strayCloser(p *declaration.Pattern) match {
	n, a := th.marks.literal(0, p.Parts[len(p.Parts)-1].Lit)
	if a != matched {
		return a
	}
	own := th.ownThinking(p)
	switch {
	// the very first thing, or the family's own closer repeated
	case th.page.blank && (th.page.gapAt == 0 || own):
	// another family's tag in a text is data; a word as a closer may be one
	case !own || declaration.IsProse(p.CloseMark()):
		return mismatch
	// after a sentence, or at the start of a line and not followed by a blank
	case th.page.glued() || th.page.lineStarts() && th.At(n) != ' ':
	default:
		return mismatch
	}
	a = th.page.dropMark(n, 0)
	th.closeReasoning(p)
	return a
}

// closeReasoning ends the reasoning after its closer, such as </think>; what follows is text. It
// skips the newlines that belong to the closer, or the blank after a closer that consists of words.
// The declaration says how many newlines belong to the closer: two for Qwen3, none for GLM-4.7.
// Further newlines are text.
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
	th.page.thoughtTo = th.Pos
}

// read reads reasoning up to its closing mark, a call that counts, or the end of the text. Tool
// syntax in reasoning is mostly a plan, as in "I could call <tool_call>…". So a call in backquotes
// does not count, and any other call counts only if the reply or the turn ends after it, with the
// exception in callInReasoning. Reasoning is never sent as content, even if its closing mark is
// missing. read also ends if the client no longer waits for the reply.
func (th *thinking) read() {
	th.page.fresh, th.page.blank = false, false
	th.code.endSpan()
	for th.page.state == chat.Reasoning {
		c := th.page.plain(&th.marks.index.Stops)
		if c < 0 || th.in.left() {
			return
		}
		// newlines before a closer may belong to it
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

// isNewline reports whether c is a newline. Only newlines may belong to a mark of reasoning;
// carriage returns belong to the reasoning.
func isNewline(c int) bool { return c == '\n' }

// reasoningEnds reads the closing mark of the reasoning, such as </think>, after n newlines, and
// reports whether it was there. If the mark is declared with a newline before it, the last of the n
// newlines belongs to the mark. The others belong to the reasoning. If the prompt has opened the
// reasoning, any closing mark of the family ends it: K2 Horizon has three pairs of marks, one for
// each effort.
func (th *thinking) reasoningEnds(n int) bool {
	first := max(n-1, 0)
	for _, p := range th.thinks {
		l := p.Parts[len(p.Parts)-1].Lit
		skip := first
		// the closer takes no newline: all belong to the thought
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

// closerCut reports whether the reply was cut by its length inside the closing mark of the
// reasoning, such as </think>. The mark begins n newlines after this point.
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

// plainOpens ends the reasoning if, after n newlines, a special token follows that begins the
// answer to the user, and reports whether it did. Command R and A write such a token,
// <|START_TEXT|>, without closing their reasoning. Only a special token ends reasoning in this way,
// because a tag may be part of the reasoning. The token itself is not consumed.
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

// noise keeps n newlines as reasoning and drops a mark after them that the declaration lists as
// meaningless. It returns false, and does nothing, if there is no such mark. A mark within
// backquotes is quoted, and stays.
func (th *thinking) noise(n int) bool {
	m := th.marks.firstMark(n, func(m *declaration.Mark) bool {
		return m.Kind == declaration.NoiseMark && !th.code.inSpan()
	})
	if m == nil {
		return false
	}
	th.page.keep(n)
	th.page.flushText()
	th.Pos += len(m.Key)
	return true
}

// maxDraft bounds a call inside open reasoning, in bytes. A model that has made up its mind calls
// at once, and a longer call is taken for a plan.
const maxDraft = 4096

// callInReasoning reads calls after n newlines as a draft, and reports whether they are taken. They
// are if the text or the turn ends after them, and the reasoning then ends before them. If </think>
// or prose follows, they stay reasoning. Qwen3.5, GLM, Kimi K2 and DeepSeek V3.2 forget </think>
// before a call; others write the call as a draft, close their thoughts, and call then. Only the
// text after the call distinguishes the two. Trinity's calls inside closed thoughts are real (flag
// think-calls).
func (th *thinking) callInReasoning(n int) bool {
	if th.marks.marksAt(n) == nil {
		return false
	}
	size := maxDraft
	if th.from >= th.Base && len(bytes.TrimSpace(th.Slice(th.from, th.Pos))) == 0 {
		size = maxUnmarked // nothing was thought, so it is not a plan
	}
	return th.drafts.draft(size, func() bool {
		th.Pos += n
		found := false
		for th.openers.markedCall() {
			found = true
			th.Pos += th.Space(0)
		}
		// a closer after the call: it was a plan, unless the family says otherwise
		closing := th.closesReasoning()
		return found && !th.calls.wasCut &&
			(th.marks.modelEnded() || closing == matched && th.marks.f.Flags.ThinkCalls ||
				closing == mismatch && th.marks.turnEnds())
	})
}

// closesReasoning returns matched if the closing mark of the reasoning, such as </think>, is here,
// incomplete if it is cut here, and mismatch otherwise. A mark that is cut at the end also shows
// that the text before it was reasoning.
func (th *thinking) closesReasoning() match {
	best := mismatch
	for _, p := range th.thinks {
		_, a := th.marks.literal(0, p.Parts[len(p.Parts)-1].Lit)
		best = max(best, a)
	}
	return best
}
