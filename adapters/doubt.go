package adapters

import (
	"bytes"

	"toolnorm/adapters/internal/declaration"
	"toolnorm/adapters/internal/prose"
)

// doubt decides whether a mark in the text, such as <tool_call>, begins a call or is only
// mentioned. A mark on a line of its own usually begins a call. After any other mark the call is
// read tentatively, and the text after the call decides.
type doubt struct {
	below
	drafts  *drafts
	openers opener
	which   Which
}

// lookBack is how much of the text before a mark is examined, in bytes. A page or a list that was
// opened earlier is not noticed.
const lookBack = 1024

// maxTag is how many bytes directly before a mark are looked at to find out whether the mark is
// used as a word. It is enough for a tag.
const maxTag = 64

// maxHeld bounds, in bytes, a call between marks that is held back until the text after it is
// known. A file that is written in a doubted call is held back whole. Beyond a megabyte the mark
// counts as a mention.
const maxHeld = 1 << 20

// announced reports whether the text before this point announces a call that ends the reply.
func (db *doubt) announced() bool { return db.announcedBy(db.page.announcement()) }

// announcedBy reports whether a text announces the call after it, which must be the last thing in
// the reply. The caller passes the text before the call, because the buffer may no longer begin
// before it. It returns true for an empty text, and always with `--calls eager`.
func (db *doubt) announcedBy(text []byte) bool {
	return db.judged(text).Announces()
}

// behindTurn returns the text after this point. If that text begins with a mark that separates
// turns, such as <|im_end|>, the mark is left out.
func (db *doubt) behindTurn() []byte {
	behind := db.page.behind()
	if m := db.marks.firstMark(0, isTurn); m != nil {
		behind = behind[min(db.marks.markSize(0, m), len(behind)):]
	}
	return behind
}

// judged returns how well the text before a call announces it. It returns [prose.Surely] for an
// empty text and with `--calls eager`.
func (db *doubt) judged(text []byte) prose.Kind {
	if len(text) == 0 || db.which == Eager {
		return prose.Surely
	}
	return prose.Judge(text)
}

// doubts keeps what was found out about the text before a place of the reply. Many marks begin
// alike: <tool_call> begins the marks of a dozen families. So a dozen marks are tried at the same
// place, and the text before it is read only once.
type doubts struct {
	looked bool
	place  prose.Place
	front  []byte // the announcement, once a doubted mark is tried: the buffer may move
}

// unannounced is the place of another family's mark at the start of a line, after a text that
// announces no call.
const unannounced = prose.Sentence

// inWords is the place of a mark that is a control token of the model but arrived as ordinary
// characters. Such a mark is a mention, wherever it is.
const inWords = prose.Place(255)

// doubted returns where in its text the mark m here is, if a mark at such a place may be only
// mentioned. It returns [prose.Line] if the mark is certainly meant. Directly after a sentence the
// model's own marks are certainly meant; if no family was configured, all marks are its own. Doubt
// is needed because a false call runs a tool that the model did not call: of 48 texts made to look
// like calls 41 once ran one.
func (db *doubt) doubted(m *declaration.Mark, here *doubts) prose.Place {
	switch known, proven := db.marks.proof(0, m); {
	case proven:
		return prose.Line
	// right after a call it begins the next one
	case known && !(db.calls.done > 0 && db.page.afterCall && db.page.blank):
		return inWords
	}
	if !here.looked {
		here.looked, here.place = true, db.place()
	}
	switch {
	case m.Own && here.place == prose.Sentence:
		return prose.Line
	case !m.Own && here.place == prose.Sentence:
		return prose.Within
	case !m.Own && here.place == prose.Line && !db.expected():
		return unannounced
	}
	return here.place
}

// expected reports whether a call may be expected here: after only white space, after other calls,
// or after a text that announces one. With `--calls eager` it always returns true.
func (db *doubt) expected() bool {
	return db.which == Eager || db.page.blank || db.calls.done > 0 || db.announced()
}

// place returns where in its text the mark here is, such as on a line of its own or after a colon.
// After a colon whose text announces a call, the result is [prose.Sentence], as after a sentence.
// After any other colon, as in the log line "output: <tool_call>…", the mark is an example, and the
// result is [prose.Colon]. With `--calls eager` the result is always [prose.Line].
func (db *doubt) place() prose.Place {
	if db.which == Eager {
		return prose.Line
	}
	from := db.page.gapAt
	if db.page.keptTo == db.page.gapAt {
		from = max(db.page.runFrom, db.page.markAt-lookBack, db.Base)
	}
	place := prose.Around(db.Slice(min(from, db.page.markAt), db.page.markAt))
	switch {
	case place != prose.Colon:
		return place
	case db.expected():
		return prose.Sentence
	}
	return prose.Colon
}

// behindColon reports whether a call after a colon on its line is meant. The text front is before
// the call. The parameter own says that the call has the model's own marks, and last that it is the
// last thing in the reply. The text front must announce the call; if own is true, a colon after
// words of intent, or in a language whose words are not listed, is enough. In addition, last must
// be true, or own must be true and the call must end its line.
func (db *doubt) behindColon(front []byte, own, last bool) bool {
	said := db.judged(front)
	meant := db.drafts.announcedBy(announcement{said, string(front)}) ||
		own && (said == prose.ForeignColon || said == prose.IntentColon)
	return meant && (last || own && db.At(0) == '\n')
}

// tryCalls reads the calls that the mark m here begins. It returns the result of reading the first
// call, and the position where the last whole call ends.
func (db *doubt) tryCalls(m *declaration.Mark) (a match, end int) {
	a, end = db.openers.try(m), db.Pos
	for a == committed && !db.calls.wasCut {
		if end = db.Pos; !db.openers.moreCalls() {
			break
		}
	}
	return a, end
}

// tryDoubted reads, as a draft, the calls that the mark m begins if m may be only mentioned. The
// text after the calls decides whether they are taken. It returns committed if they are, and
// usually mismatch if not, so that the mark is text. If the mark or its call is cut by the end of
// the text, the result is mostly that of a mark that is certainly meant, unless the mark is quoted.
// Marks of another family need more evidence than the family's own: other engines never read them,
// and a repaired call in them is not believed. The end of a rejected call is remembered. Inside it
// no other mark is tried, because a call in a quoted call would run.
func (db *doubt) tryDoubted(m *declaration.Mark, why prose.Place, here *doubts) match {
	a, readTo, cutOff := mismatch, 0, false
	first, repairs := db.page.blank, len(db.Repairs)
	if here.front == nil {
		here.front = bytes.Clone(db.page.announcement())
	}
	front := here.front
	announced := func() bool { return db.announcedBy(front) }
	afterSentence := prose.EndsSentence(front)
	before := bytes.Clone(db.Slice(max(db.Base, db.page.markAt-maxTag), db.page.markAt))
	ok := db.drafts.draft(maxHeld, func() bool {
		done := db.calls.done
		var end int
		a, end = db.tryCalls(m)
		cutOff = (a == incomplete || db.calls.wasCut) && !db.Hit
		if a != committed || db.calls.done == done {
			return false
		}
		readTo = end
		// the family's own marks may be followed by more of its marks, such as the mark of the
		// turn's end
		last := db.marks.over(0) || m.Own && db.marks.continues(0)
		sure := m.Own || afterSentence && why == prose.Within && (last || announced())
		if why == unannounced {
			return last || db.drafts.announcedBy(announcement{db.judged(front), string(front)})
		}
		// A call that had to be repaired is not a clean call, and one without a required parameter
		// may be an outline.
		if why == prose.Page || why == inWords || !sure && len(db.Repairs) > repairs ||
			!m.Own && !db.drafts.complete() {
			return false
		}
		switch {
		case why == prose.Colon:
			return db.behindColon(front, m.Own, last)
		case why == prose.Indented:
			alone := m.Own && len(front) > 0 && db.At(0) == '\n'
			return last && (first || announced()) || alone && announced()
		case prose.Recorded(front):
			return last && m.Own
		// no text follows that could make it a mention
		case last:
			return true
		}
		if m.Own {
			return why == prose.Within && !prose.Mentions(before, db.behindTurn())
		}
		return why == prose.Within && afterSentence && announced()
	})
	switch {
	case ok:
		return committed
	case cutOff && (m.Own || afterSentence || why == unannounced) && why != inWords &&
		why != prose.Quoted && why != prose.Page && (db.in.lengthCut() || db.trial.evidence):
		return db.openers.try(m)
	case readTo > 0:
		db.trial.rejected = readTo
	}
	return mismatch
}
