package adapters

import (
	"strings"

	"toolnorm/adapters/internal/declaration"
	"toolnorm/adapters/internal/scan"
)

// trial keeps the state of the attempt to read a call at a mark. A failed attempt is undone: the
// position goes back to where the attempt began. Attempts nest (the attempt for a call is inside
// the attempt for its section), so each restores the state that it found. The bytes read in vain
// are counted, and beyond a bound no more attempts are made, which keeps time linear.
type trial struct {
	*scan.Buffer
	in    *input
	out   *outlet
	page  *page
	waste int // bytes that failed attempts have read
	trialState
}

// trialState is the state of an attempt to read a call: how far it has got, and what speaks for or
// against a call here.
type trialState struct {
	pin  int // position from which bytes may be read again; -1 without an attempt
	glue int // newlines before the mark that belong to it, and so are not text
	// newlines before the section whose first call is being read; -1: no section
	outer   int
	closing *declaration.Pattern // the pattern whose call is being read
	// the position where calls that are text end: no mark before it means anything
	rejected int
	others   [2]int // elements of a list before its first call, which are text
	refused  bool   // a call without marks was announced, and became text
	evidence bool   // more than a mark was read: a cut here is a cut call
}

// attemptBy calls the function read to read a call of the pattern p, and returns its result. If the
// result is not committed, the position is restored. After too many failed attempts, attemptBy
// returns mismatch and does not call read. The caller chooses the function because the header of a
// message, not the pattern, says how its body is read.
func (tr *trial) attemptBy(p *declaration.Pattern, read func() match) match {
	if tr.exhausted() {
		return mismatch
	}
	start, pin, closing := tr.Pos, tr.pin, tr.closing
	if pin < 0 {
		tr.pin = tr.page.gapAt
	}
	tr.glue, tr.closing = p.Glue, p
	if tr.outer >= 0 {
		tr.glue = tr.outer
	}
	a := read()
	// a string that was never closed ran over the call's own closer: that is not a cut call
	if a == incomplete && tr.At(0) < 0 && tr.ranOver(start) {
		a = mismatch
	}
	tr.closing = closing
	if a != committed {
		tr.others = [2]int{}
		tr.waste += tr.Pos - start
		tr.Pos, tr.pin = start, pin
	}
	return a
}

// exhausted reports whether failed attempts have read so much that no more are made. The bound is
// 64 KiB plus twice the bytes of the reply up to here. Without it, a text of a million
// "<tool_call>" would be read to its end at each of them.
func (tr *trial) exhausted() bool { return tr.waste > 1<<16+2*tr.Pos }

// ranOver reports whether the model stopped by itself and the text from position from to here
// contains the closing tag of the call. A string that was never closed has then run over that tag,
// so it also contains the text after the call. Where the string should end cannot be found.
func (tr *trial) ranOver(from int) bool {
	if tr.in.lengthCut() || len(tr.closing.Close) == 0 || tr.closing.Index("args") >= 0 {
		return false
	}
	closer := tr.closing.Close[len(tr.closing.Close)-1].Key()
	return len(closer) > 1 && strings.Contains(string(tr.Slice(from, tr.Pos)), closer)
}

// unpin lets the buffer drop the bytes of a call, unless the call is read tentatively and may turn
// back into text.
func (tr *trial) unpin() {
	if !tr.out.drafting {
		tr.pin = -1
	}
}

// bare reports whether the call being read has no marks such as <tool_call> around it. The
// arguments of such a call must begin with a parameter of its tool. Otherwise {"name":
// "get_weather", "arguments": {"type": …}}, which repeats the tool's declaration, would be a call,
// and so would a word and a brace in a program.
func (tr *trial) bare() bool {
	return tr.closing == bareStream || tr.closing == bareJSON || tr.closing == bareCounted
}
