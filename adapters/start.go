package adapters

import (
	"slices"
	"strings"
)

// begun are the calls and plain replies of a family whose marks every prompt of it opens already, without what the prompt
// says of them.
func (f *Format) begun(list []*pattern) []*pattern {
	var out []*pattern
	for _, p := range list {
		for _, mark := range f.ahead {
			if rest, ok := strings.CutPrefix(p.parts[0].lit.text, mark); ok {
				q := *p
				q.parts = slices.Clone(p.parts)
				if q.parts[0].lit = (literal{text: rest, units: units(rest, "", p.holeAt(1))}); rest == "" {
					q.parts = q.parts[1:]
				}
				out = append(out, &q)
			}
		}
	}
	return out
}

// wordLine says whether a single word stands on the line that begins here.
func (d *decoder) wordLine() bool {
	n := 0
	for c := d.at(n); n < maxName && (isWord(c) || c == '-' || c == '.'); c = d.at(n) {
		n++
	}
	c := d.at(n)
	return n > 0 && (c == '\n' || c < 0)
}

// behindPrompt reads what the prompt has opened: a plain reply or a call. What is neither stays text.
func (d *decoder) behindPrompt() {
	for _, p := range d.f.begun(d.f.plain) {
		if n, a := d.literal(0, p.parts[0].lit); a == yes {
			d.pos += n
			d.textFrom, d.textTo = d.pos, d.pos
			return
		}
	}
	if d.tools == nil || !d.wordLine() {
		return
	}
	for _, p := range d.f.begun(d.f.call) {
		switch d.attempt(p) {
		case committed:
			return
		case cut:
			if d.lengthCut() {
				d.dropRest(0)
				return
			}
		}
	}
}
