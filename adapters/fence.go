package adapters

import (
	"slices"
	"strings"

	"toolnorm/adapters/internal/prose"
	"toolnorm/adapters/internal/scan"
)

// maxLabel bounds the label of a fence, in bytes. Labels are one word. A longer first line is text
// after backquotes.
const maxLabel = 32

// fenced reads a fence that contains nothing but calls, and reports whether they were taken. Of 234
// calls of a 1.5B model 73 were in a fence that the prompt had not asked for. For example, this
// fence is a call at the start of a reply, and after "Let me check:".
//
//	```json
//	{"name": "get_weather", "arguments": {"city": "Rome"}}
//	```
//
// In a block labelled go, bash or log the same line is program text. Every other fence is text: see
// [code.opens].
func (um *unmarked) fenced(start bool) bool {
	n := um.fenceLine()
	if n == 0 {
		return um.program(start)
	}
	if start {
		return um.fencedCalls(n, true, alone)
	}
	front := um.announcedHere()
	return front.said != prose.Never && um.fencedCalls(n, false, front)
}

// fenceLabels are the labels of fences that may contain calls. The label "python" is not among
// them, because such a block is program text. gemma3's Python calls have the label tool_code.
var fenceLabels = []string{"", "json", "jsonc", "json5", "xml", "tool", "tool_call", "tool_calls",
	"tool_code", "tool_use", "function", "function_call", "function_calls"}

// program reads a block labelled python that ends the reply and is one call of a tool with
// constants as arguments. It reports whether the call was taken. After a text, the text must
// announce the call. At the start of a reply, the user must have asked for it. A block with any
// other line is a program and not a call.
func (um *unmarked) program(start bool) bool {
	n := um.marks.ticks(0)
	if n == 0 {
		return false
	}
	label, whole := um.marks.restOfLine(n)
	if !whole || strings.ToLower(label) != "python" {
		return false
	}
	meant := um.drafts.wanted
	if !start {
		front := um.announcedHere()
		if front.said == prose.Never {
			return false
		}
		meant = func() bool { return um.drafts.announcedBy(front) }
	}
	return um.drafts.draft(maxUnmarked, func() bool {
		um.Pos += n + um.Run(n, maxInfo, func(c int) bool { return c != '\n' })
		um.Pos += um.Space(0)
		if um.patterns.attempt(barePython) != committed {
			return false
		}
		um.Pos += um.Space(0)
		um.Pos += um.marks.ticks(0)
		return um.drafts.complete() && um.marks.over(0) && meant()
	})
}

// labelled reads a call in a span of code that ends the reply, after a label that says that it is a
// call. It reports whether the call was taken.
//
//	**Tool call:** `{"name": "get_weather", "arguments": {"city": "Rome"}}`
func (um *unmarked) labelled() bool {
	if um.tools == nil || um.At(1) != '{' || !um.readsUnmarked() {
		return false
	}
	um.page.gapAt, um.page.markAt = um.Pos, um.Pos
	return prose.Labels(um.page.announcement()) && um.drafts.draft(maxUnmarked, func() bool {
		um.Pos++
		if !um.bareCall() || um.At(0) != '`' {
			return false
		}
		um.Pos++
		return um.drafts.complete() && um.marks.over(0)
	})
}

// fenceLine returns the length of the opening of a fence here that may contain calls, or 0 if there
// is none. The opening is a line, or the backquotes and a label before JSON on the same line. The
// line must be complete, since a label that is cut by the end of the text may become any other
// label. Words after a label are skipped. A fence of tildes must be labelled as JSON.
func (um *unmarked) fenceLine() int {
	n := um.marks.ticks(0)
	if n == 0 {
		return 0
	}
	word := um.Run(n, maxLabel, scan.IsWord)
	known := slices.Contains(fenceLabels,
		strings.ToLower(string(um.Slice(um.Pos+n, um.Pos+n+word))))
	if json := n + word + um.Run(n+word, maxLabel, isBlank); known &&
		(um.At(json) == '{' || um.At(json) == '[') {
		return json
	}
	label, whole := um.marks.restOfLine(n)
	first, _, _ := strings.Cut(strings.ToLower(label), " ")
	if !whole || !slices.Contains(fenceLabels, first) ||
		um.At(0) == '~' && !strings.HasPrefix(first, "json") {
		return 0
	}
	for um.At(n) != '\n' {
		n++
	}
	return n
}

// isBlank reports whether a byte is a blank or a tab.
func isBlank(c int) bool { return c == ' ' || c == '\t' }

// fencedCalls reads the calls of a fence whose opening line has n bytes, and reports whether they
// were taken. At the start of the reply JSON is sent while it is read. After text the text must
// announce the calls, and only the end of the reply, or prose that continues from them, may follow.
func (um *unmarked) fencedCalls(n int, start bool, front announcement) bool {
	before := um.Pos
	um.Pos += n
	um.Pos += um.Space(0)
	if start && (um.At(0) == '{' || um.At(0) == '[') &&
		um.patterns.attempt(bareStream) == committed {
		return true
	}
	um.Pos = before
	refused := false
	taken := um.drafts.draft(maxUnmarked, func() bool {
		if !um.fenceOfCalls(n) {
			return false
		}
		for !start && um.nextFence() {
		}
		refused = um.drafts.complete() && um.drafts.announcedBy(front)
		return refused && (start || um.which == Eager || um.marks.over(0) ||
			um.goesOn())
	})
	um.trial.refused = um.trial.refused || refused && !taken
	return taken
}

// fenceOfCalls reads a fence whose opening line has n bytes, and reports whether it contains only
// calls. Any other line makes it an example or a program. The closing line may be missing where the
// reply ends, since a stop token comes first.
func (um *unmarked) fenceOfCalls(n int) bool {
	before := um.Pos
	um.Pos += n
	um.Pos += um.Space(0)
	for n := um.names.Comment(0); n > 0; n = um.names.Comment(0) { // ```jsonc
		um.Pos += n + um.Space(n)
	}
	for (um.bareCall() || um.openers.markedCall()) && !um.closedFence() {
		um.Pos += um.Space(0)
	}
	if n := um.marks.ticks(0); n > 0 {
		um.Pos += n
		return true
	}
	return um.At(0) < 0 || um.Pos == before || um.closedFence()
}

// nextFence reads one more fence of calls after white space, and reports whether there was one.
// Some models write each of several calls into a fence of its own. A fence without a call ends the
// series.
func (um *unmarked) nextFence() bool {
	start := um.drafts.checkpoint()
	um.Pos += um.Space(0)
	if n := um.fenceLine(); n == 0 || !um.fenceOfCalls(n) || um.calls.done == start.done {
		um.drafts.restore(&start)
		return false
	}
	return true
}

// closedFence reports whether backquotes that close a fence were just read, together with the
// closing marks of a call. In deepseek-v3's form each call has a fence, whose end is one of these
// marks.
func (um *unmarked) closedFence() bool {
	if um.Pos-um.Base < 3 {
		return false
	}
	end := string(um.Slice(um.Pos-3, um.Pos))
	return end == "```" || end == "~~~"
}

// behindOpenFence reads calls in the model's own marks, at the start of a line, in a block of
// program text that is never closed. It reports whether they were taken. They are taken only at the
// very end of the reply, as if the block had ended before them. Calls before more text are a part
// of the code.
func (op *openers) behindOpenFence() bool {
	if !op.code.fence.lang || op.tools == nil || op.page.keptTo != op.Pos || op.Pos == op.Base ||
		op.Slice(op.Pos-1, op.Pos)[0] != '\n' {
		return false
	}
	marks := op.marks.marksAt(0)
	for i := range marks {
		m := &marks[i]
		if !m.Own || m.IsWord() || !opensCall(m) || !op.marks.stands(0, m) {
			continue
		}
		op.page.gapAt, op.page.markAt = op.Pos, op.Pos
		if op.doubt.drafts.draft(maxHeld, func() bool {
			if op.try(m) != committed {
				return false
			}
			for op.moreCalls() {
			}
			return op.marks.over(0) && op.doubt.drafts.complete()
		}) {
			op.code.leaveCode()
			return true
		}
	}
	return false
}
