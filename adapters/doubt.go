package adapters

import (
	"bytes"

	"toolnorm/adapters/internal/declaration"
	"toolnorm/adapters/internal/prose"
)

// lookBack is how much of the text in front of a mark is looked at, in bytes.
// A page or a list that was opened further in front is not seen.
const lookBack = 1024

// maxHeld bounds a call between marks that is held until what follows it is known, in bytes.
// A file that is written in a doubted call is held whole; beyond a megabyte the mark is a mention.
const maxHeld = 1 << 20

// announced says whether the text in front of here announces a call that is the reply's last thing.
func (d *decoder) announced() bool { return d.announcedBy(d.announcement()) }

// announcedBy is announced for a text that stood in front.
// A mark that is read as a draft asks again when the draft has moved the buffer, so the text is passed in. Nothing in front
// needs no announcement, and with `--calls eager` nothing does.
func (d *decoder) announcedBy(text []byte) bool {
	return len(text) == 0 || d.which == Eager || prose.Announces(text)
}

// announcement is the text in front of here, as far as it is looked at.
// White space between text and call is not part of it: a call mostly stands on a line of its own.
func (d *decoder) announcement() []byte {
	return bytes.TrimSpace(d.Slice(max(d.Base, d.gapAt-prose.Reach), d.gapAt))
}

// doubts are what stands in front of a mark at one place. Many marks begin alike, and it is read once.
// <tool_call> has a dozen meanings, so the same place is asked a dozen times.
type doubts struct {
	looked bool
	place  prose.Place
	front  []byte // the announcement, once a doubted mark is tried: the buffer may move
}

// doubted says where the mark m here stands, if that makes a mention of it; [prose.Line] is no doubt.
// A false call runs a tool that nobody asked for: of 48 texts made to look like calls 41 once ran one. Behind a sentence the
// model's own marks are no mentions. A family that is not told owns all marks: then none is a stranger's.
func (d *decoder) doubted(m *declaration.Mark, here *doubts) prose.Place {
	if !here.looked {
		here.looked, here.place = true, d.place()
	}
	switch {
	case here.place != prose.Sentence:
		return here.place
	case m.Own:
		return prose.Line
	}
	return prose.Within
}

// place is where a mark here stands.
// A colon that announces nothing, "output: <tool_call>…", as in a log, ends no sentence.
func (d *decoder) place() prose.Place {
	if d.which == Eager {
		return prose.Line
	}
	from := d.gapAt
	if d.keptTo == d.gapAt {
		from = max(d.runFrom, d.markAt-lookBack, d.Base)
	}
	place := prose.Around(d.Slice(min(from, d.markAt), d.markAt))
	switch {
	case place != prose.Colon:
		return place
	case d.done == 0 && !d.announced():
		return prose.Within
	}
	return prose.Sentence
}

// tryDoubted reads the calls that a doubted mark begins as a draft, and lets what follows decide. Calls that are text are
// text to their last byte; a mark or a call that the end of the text cuts is what it is elsewhere, but for a quoted one.
// A family's own marks need less than another's: peers never read those, and a repaired call of theirs is a guess too many.
// What is rejected is remembered to its end: inside, no other mark is tried, or a call in a quoted call would run.
func (d *decoder) tryDoubted(m *declaration.Mark, why prose.Place, here *doubts) match {
	a, readTo, cutOff := mismatch, 0, false
	first, repairs := d.blank, len(d.Repairs)
	if here.front == nil {
		here.front = bytes.Clone(d.announcement())
	}
	front := here.front
	announced := func() bool { return d.announcedBy(front) }
	afterSentence := prose.EndsSentence(front)
	ok := d.draft(maxHeld, func() bool {
		done := d.done
		a = d.try(m)
		end := d.Pos
		for a == committed && !d.wasCut {
			if end = d.Pos; !d.moreCalls() {
				break
			}
		}
		cutOff = (a == incomplete || d.wasCut) && !d.Hit
		if a != committed || d.done == done {
			return false
		}
		readTo = end
		// own marks may be followed by other marks of theirs, such as the end of the turn
		last := d.over(0) || m.Own && d.structure(d.Space(0))
		sure := m.Own || afterSentence && why == prose.Within && (last || announced())
		// What had to be repaired is no clean call, and one that misses a parameter may be an outline.
		if why == prose.Page || !sure && len(d.Repairs) > repairs || !m.Own && !d.complete() {
			return false
		}
		switch {
		case why == prose.Indented:
			return last && (first || announced())
		// nothing stands behind it that could make a mention of it
		case last:
			return true
		}
		return why == prose.Within && (afterSentence && !m.Own || m.Own && d.At(0) == '\n') && announced()
	})
	switch {
	case ok:
		return committed
	case cutOff && (m.Own || afterSentence) && why != prose.Quoted && why != prose.Page && (d.lengthCut() || d.evidence):
		return d.try(m)
	case readTo > 0:
		d.rejected = readTo
	}
	return mismatch
}
