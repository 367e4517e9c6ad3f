package adapters

import (
	"slices"
	"strings"

	"toolnorm/adapters/internal/declaration"
	"toolnorm/adapters/internal/prose"
	"toolnorm/adapters/internal/scan"
	"toolnorm/adapters/internal/wrapper"
	"toolnorm/chat"
)

// wrappers reads a whole reply that names tools and contains their arguments in a form of no known
// family; see [wrapper.Calls]. It is tried last, when no other reader finds a call.
type wrappers struct {
	below
	drafts *drafts
	fences *unmarked // knows the labels of fences that may contain calls
	off    bool      // only the forms of one family are read
}

// wrapped is the pattern that is used for wrappers: it has no marks, and two newlines before the
// call are glue.
var wrapped = &declaration.Pattern{Family: new(declaration.Family), Glue: 2}

// read reads a wrapper (a text that names a tool and contains its arguments) that begins here with
// the byte c. It reports whether it read any calls, or a text that may mean calls and is sent as
// text. Only white space may precede the wrapper, and nothing may follow it, because a wrapper in
// prose is usually an example. The reply is held back until it is over, or until it can no longer
// be a wrapper.
func (wr *wrappers) read(c int) bool {
	if wr.tools == nil || wr.off || !wr.page.blank || wr.page.state != chat.Text {
		return false
	}
	switch {
	case wr.calls.done > 0 && c != '<' && c != '[':
		return false // behind a call JSON is what the tool might answer
	case c == '~' && wr.fences.fenceLine() == 0, c == '`' && !wr.mayHold(),
		strings.IndexByte("<{[\"`~-#*@/$!&(\u2192", byte(c)) < 0 && !scan.IsLetter(byte(c)):
		return false
	}
	doubt, size := "", 0
	if wr.drafts.draft(maxUnmarked, func() bool {
		end := wr.marks.replyEnd(wrapper.NewAhead(wr.tools).Goes)
		if end < 0 {
			return false
		}
		text := string(wr.Slice(wr.Pos, wr.Pos+end))
		found, form := wrapper.Calls(text, wr.tools)
		if slices.ContainsFunc(found, func(c wrapper.Call) bool { return wr.shown(c, form) }) {
			return false
		}
		if len(found) == 0 {
			doubt, size = wrapper.Doubtful(text, wr.tools), wr.Pos+end-wr.page.gapAt
		}
		wr.ToEnd()
		return len(found) > 0 && wr.trial.attemptBy(wrapped, func() match {
			return sendCalls(wr.calls, found)
		}) == committed
	}) {
		return true
	}
	if doubt == "" {
		return false
	}
	wr.drafts.Repaired("two-readings")
	wr.Pos = wr.page.gapAt
	wr.page.doubtful(doubt, func() { wr.page.solid(size) })
	return true
}

// mayHold reports whether the text after backquotes here may be a call. A block may be one if its
// label says so or names a tool, and a span of code always may.
func (wr *wrappers) mayHold() bool {
	n := wr.marks.ticks(0)
	if n == 0 || wr.fences.fenceLine() > 0 {
		return true
	}
	label, whole := wr.marks.restOfLine(n)
	return whole && wrapper.Labelled(label, wr.tools)
}

// shown reports whether the call is only to be read: the user asked to see a call in this form, or
// the model was given the call as part of a text. For a call that is written as a shell command it
// also returns true, unless the user asked for what the command does.
func (wr *wrappers) shown(c wrapper.Call, form wrapper.Form) bool {
	heard := wr.drafts.heard.evidence(chat.Call{Name: c.Tool.Name, Args: []byte(c.Args)})
	if form == wrapper.Known {
		return heard&prose.Pasted != 0
	}
	return heard&(prose.Pasted|prose.Taught) != 0 ||
		form == wrapper.Command && heard&prose.Asked == 0
}
