package adapters

import "strings"

// maxLabel bounds the label of a fence, in bytes.
const maxLabel = 32

// isFence says whether the family writes its calls in a fence. Such an example is for printing: a fence in a reply is read
// by its label and what it holds, in every family alike.
func (p *pattern) isFence() bool { return strings.HasPrefix(p.parts[0].lit.text, "```") }

// fenced reads a fence that holds nothing but calls. Every other is text: see codeOpens.
func (d *decoder) fenced(start bool) bool {
	if !d.has(0, "```") {
		return false
	}
	n := 3
	for n < maxLabel && d.at(n) >= 0 && d.at(n) != '\n' {
		n++
	}
	if d.at(n) != '\n' {
		return false
	}
	label := strings.ToLower(strings.TrimSpace(string(d.slice(d.pos+3, d.pos+n))))
	if readable(label) && (start || d.announced()) && d.fencedCalls(n, label, start) {
		return true
	}
	return false
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
	before := d.pos
	d.pos += n
	d.pos += d.space(0)
	if start && (d.at(0) == '{' || d.at(0) == '[') && d.bareStream() {
		return true
	}
	d.pos = before
	return d.draft(maxUnmarked, func() bool {
		d.pos += n
		d.pos += d.space(0)
		for d.bareCall() || d.markedCall() {
			d.pos += d.space(0)
		}
		if d.has(0, "```") {
			d.pos += 3
		} else if d.at(0) >= 0 && d.pos > before && !d.closedFence() {
			return false
		}
		return d.complete() && (start || d.over())
	})
}

// closedFence says whether the closing backquotes have just been read, as part of a call's closers.
func (d *decoder) closedFence() bool {
	return d.pos-d.base >= 3 && string(d.slice(d.pos-3, d.pos)) == "```"
}
