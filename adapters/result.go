package adapters

import (
	"slices"

	"toolnorm/adapters/internal/declaration"
)

// Models sometimes go on behind a call with the tool's answer, in the form in which their prompts show it. That answer is
// made up, since the tool has not run yet: it is neither text nor reasoning.

// madeUp drops what stands behind a call as the tool's answer: up to its last mark, or to where another call or the end of the
// turn shows that the mark is missing.
func (d *decoder) madeUp(p *declaration.Pattern) match {
	if !d.afterCall || !d.blank {
		return mismatch
	}
	_, text := p.ResultMarks()
	end := declaration.NewLiteral(text, "", "")
	d.leave(0)
	for d.Pos++; d.At(0) >= 0; d.Pos++ {
		if c := d.At(0); c != '<' && c != '[' {
			continue
		}
		if n, a := d.literal(0, end); a == matched {
			d.Pos += n
			break
		}
		if d.goesOn() {
			break
		}
	}
	d.textFrom, d.textTo = d.Pos, d.Pos
	return committed
}

// goesOn says whether a call, a message or a mark of the turn stands here.
func (d *decoder) goesOn() bool {
	return slices.ContainsFunc(d.marksAt(0), func(m declaration.Mark) bool {
		begins := m.Kind == declaration.SectionOpen || m.Kind == declaration.CallOpen || m.Kind == declaration.HeaderOpen || m.Kind == declaration.TurnMark
		return begins && d.stands(0, &m)
	})
}
