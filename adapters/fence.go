package adapters

import (
	"slices"
	"strings"

	"toolnorm/adapters/internal/prose"
)

// maxLabel bounds the label of a fence, in bytes.
// Labels are one word; a longer first line is text behind backquotes.
const maxLabel = 32

// fenced reads a fence that holds nothing but calls. Every other is text: see codeOpens.
// Of 234 calls of a 1.5B model 73 stood in a fence that nobody had asked for.
//
//	```json
//	{"name": "get_weather", "arguments": {"city": "Rome"}}
//	```
//
// is a call at the start of a reply, and behind "Let me check:". In ```go, ```bash or ```log it is program text.
func (d *decoder) fenced(start bool) bool {
	n := d.fenceLine()
	return n > 0 && (start || (d.announced() || d.goesOnCalling()) && !d.calledInFront()) && d.fencedCalls(n, start)
}

// fenceLabels are those of the fences that may hold calls.
// "python" is not among them: such a block is program text, but for gemma3's, whose label is tool_code.
var fenceLabels = []string{"", "json", "xml", "tool", "tool_call", "tool_code"}

// fenceLine is how long the opening line of the fence here is that may hold calls; 0 when none stands here.
// The line must be whole: half a label at the end of the text may go on as any other.
func (d *decoder) fenceLine() int {
	n := len("```")
	if !d.Has(0, "```") {
		return 0
	}
	if label, whole := d.restOfLine(n); !whole || !slices.Contains(fenceLabels, strings.ToLower(label)) {
		return 0
	}
	for d.At(n) != '\n' {
		n++
	}
	return n
}

// fencedCalls reads the calls of a fence whose opening line has n bytes. At the start of the reply JSON streams.
// With prose behind it, the announcement must be free of words of an example, and the prose of any, see [prose.GoesOn].
func (d *decoder) fencedCalls(n int, start bool) bool {
	before, sure := d.Pos, prose.AnnouncesSurely(d.announcement())
	d.Pos += n
	d.Pos += d.Space(0)
	if start && (d.At(0) == '{' || d.At(0) == '[') && d.attempt(bareStream) == committed {
		return true
	}
	d.Pos = before
	refused := false
	taken := d.draft(maxUnmarked, func() bool {
		if !d.fenceOfCalls(n) {
			return false
		}
		for !start && d.nextFence() {
		}
		refused = d.complete()
		return refused && (start || d.which == Eager || d.over(0) || sure && prose.GoesOn(d.behind()) || d.callsAtEnd())
	})
	d.refused = d.refused || refused && !taken
	return taken
}

// fenceOfCalls reads a fence whose opening line has n bytes, when it holds calls and nothing else.
// One line of anything else makes an example or a program of it.
// The closing line may be missing where the reply ends, as a stop token comes first.
func (d *decoder) fenceOfCalls(n int) bool {
	before := d.Pos
	d.Pos += n
	d.Pos += d.Space(0)
	for (d.bareCall() || d.markedCall()) && !d.closedFence() {
		d.Pos += d.Space(0)
	}
	if d.Has(0, "```") {
		d.Pos += 3
		return true
	}
	return d.At(0) < 0 || d.Pos == before || d.closedFence()
}

// behind is the text behind here, as far as it is looked at.
func (d *decoder) behind() []byte {
	return d.Slice(d.Pos, d.Pos+d.Run(0, prose.Reach, func(c int) bool { return c >= 0 }))
}

// nextFence reads one more fence of calls behind white space.
// Some models write each of several calls into a fence of its own; a fence that holds none ends them.
func (d *decoder) nextFence() bool {
	start := d.checkpoint()
	d.Pos += d.Space(0)
	if n := d.fenceLine(); n == 0 || !d.fenceOfCalls(n) || d.done == start.done {
		d.restore(&start)
		return false
	}
	return true
}

// closedFence says whether the closing backquotes have just been read, as part of a call's closers.
// deepseek-v3's form has a fence in its own example, whose end goes with the closers.
func (d *decoder) closedFence() bool {
	return d.Pos-d.Base >= 3 && string(d.Slice(d.Pos-3, d.Pos)) == "```"
}
