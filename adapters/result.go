package adapters

import (
	"slices"
	"strings"
)

// Models sometimes go on behind a call with the tool's answer, in the form in which their prompts show it. That answer is
// made up, since the tool has not run yet: it is neither text nor reasoning.

// resultMarks are the first and the last mark around what tools answered, "" when a pattern has none.
func (p *pattern) resultMarks() (open, end string) {
	first, last := p.parts[0], p.parts[len(p.parts)-1]
	open, end = strings.TrimSpace(first.lit.text), strings.TrimSpace(last.lit.text)
	from := strings.LastIndexAny(end, "<[")
	if first.hole != "" || last.hole != "" || from < 0 || open[0] != '<' && open[0] != '[' {
		return "", ""
	}
	if i := strings.IndexAny(open, ">] {"); i > 0 {
		open = strings.TrimRight(open[:i+1], " {")
	}
	return open, end[from:]
}

// addResults adds the marks around what tools answered. Plain tags count in their own family only, unless they name tools.
func (v *view) addResults(f *Format) {
	for _, p := range []*pattern{f.results, f.result} {
		if p == nil {
			continue
		}
		open, end := p.resultMarks()
		if m := (mark{key: open}); len(open) > 2 && len(end) > 2 && (v.own || m.special() || strings.Contains(open, "tool")) {
			v.addWord(resultOpen, open, p)
		}
	}
}

// madeUp drops what stands behind a call as the tool's answer: up to its last mark, or to where another call or the end of the
// turn shows that the mark is missing.
func (d *decoder) madeUp(p *pattern) answer {
	if !d.afterCall || !d.blank {
		return no
	}
	_, text := p.resultMarks()
	end := literal{units: units(text, "", "")}
	d.leave(0)
	for d.pos++; d.at(0) >= 0; d.pos++ {
		if c := d.at(0); c != '<' && c != '[' {
			continue
		}
		if n, a := d.literal(0, end); a == yes {
			d.pos += n
			break
		}
		if d.goesOn() {
			break
		}
	}
	d.textFrom, d.textTo = d.pos, d.pos
	return committed
}

// goesOn says whether a call, a message or a mark of the turn stands here.
func (d *decoder) goesOn() bool {
	return slices.ContainsFunc(d.marksAt(0), func(m mark) bool {
		begins := m.kind == sectionOpen || m.kind == callOpen || m.kind == headerOpen || m.kind == turnMark
		return begins && d.stands(0, &m)
	})
}
