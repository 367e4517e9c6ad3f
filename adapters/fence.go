package adapters

import "strings"

// maxLabel bounds the label of a fence, in bytes.
const maxLabel = 32

// fenced reads a fence that holds nothing but calls. Every other is text: see codeOpens.
func (d *decoder) fenced(start bool) bool {
	n, label := d.fenceLabel()
	if n == 0 {
		return false
	}
	if readable(label) && (start || d.announced()) && d.fencedCalls(n, label, start) {
		return true
	}
	return false
}

// fenceLabel is how long the opening line of the fence here is, and its label; 0 when none stands here.
func (d *decoder) fenceLabel() (int, string) {
	if !d.Has(0, "```") {
		return 0, ""
	}
	n := 3
	for n < maxLabel && d.At(n) >= 0 && d.At(n) != '\n' {
		n++
	}
	if d.At(n) != '\n' {
		return 0, ""
	}
	return n, strings.ToLower(strings.TrimSpace(string(d.Slice(d.Pos+3, d.Pos+n))))
}

// readable says whether a fence with this label may hold calls.
func readable(label string) bool {
	switch label {
	case "", "json", "xml", "tool", "tool_call", "tool_code":
		return true
	}
	return false
}

// fencedCalls reads the calls of a fence whose opening line has n bytes. At the start of the reply JSON streams.
func (d *decoder) fencedCalls(n int, label string, start bool) bool {
	before, sure := d.Pos, d.announcedForSure()
	d.Pos += n
	d.Pos += d.Space(0)
	if start && (d.At(0) == '{' || d.At(0) == '[') && d.bareStream() {
		return true
	}
	d.Pos = before
	return d.draft(maxUnmarked, func() bool {
		if !d.fenceOfCalls(n) {
			return false
		}
		for !start && d.nextFence() {
		}
		return d.complete() && (start || d.which == Eager || d.over() || sure && d.continues())
	})
}

// fenceOfCalls reads a fence whose opening line has n bytes, when it holds calls and nothing else.
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

// nextFence reads one more fence of calls behind white space.
func (d *decoder) nextFence() bool {
	start, kept := d.checkpoint(), len(d.drafted)
	d.Pos += d.Space(0)
	if n, label := d.fenceLabel(); n == 0 || !readable(label) || !d.fenceOfCalls(n) || d.done == start.done {
		d.drafted = d.drafted[:kept]
		d.restore(&start)
		return false
	}
	return true
}

// closedFence says whether the closing backquotes have just been read, as part of a call's closers.
func (d *decoder) closedFence() bool {
	return d.Pos-d.Base >= 3 && string(d.Slice(d.Pos-3, d.Pos)) == "```"
}
