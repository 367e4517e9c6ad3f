package adapters

// section reads the calls between the marks of a section. The opener is structure only when a call commits behind it, or
// its closer follows at once.
func (d *decoder) section(p *pattern) answer {
	n, a := d.literal(0, p.parts[0].lit)
	if a != yes {
		return a
	}
	d.glue = p.glue
	i := n + d.space(n)
	if end, ok := d.sectionEnds(i, p.f); ok {
		d.leave(p.glue)
		d.pos += end
		d.afterCall = true
		return committed
	}
	start := d.pos
	d.pos += i
	d.outer = p.glue
	if a = d.anyCall(p.f); a == no {
		a = d.callBehindJunk(p)
	}
	d.outer = -1
	if a != committed {
		d.pos = start
		return a
	}
	for d.anotherCall(p.f) {
	}
	if end, ok := d.sectionEnds(d.space(0), p.f); ok {
		d.pos += end
	}
	return committed
}

// maxJunk bounds what may stand between a section's opener and its first call, in bytes.
const maxJunk = 128

// callBehindJunk reads the first call of a section that begins with something else, where the marks are special tokens: the
// opener once more, or a word. It means nothing.
func (d *decoder) callBehindJunk(p *pattern) answer {
	if m := (mark{key: p.parts[0].lit.key()}); !m.special() {
		return no
	}
	for n := range maxJunk {
		if _, ends := d.sectionEnds(n, p.f); ends || d.at(n) < 0 {
			return no
		}
		for _, q := range p.f.call {
			if _, a := d.literal(n, q.parts[0].lit); a == yes {
				d.pos += n
				return d.anyCall(p.f)
			}
		}
	}
	return no
}

// sectionEnds says whether the closer of a section stands at offset i, and where it ends. Any of the family's closers ends
// any of its sections: models open with one word and close with another.
func (d *decoder) sectionEnds(i int, f *Family) (int, bool) {
	for _, p := range f.section {
		if end, ok := d.closerAt(i, p); ok {
			return end, true
		}
	}
	return i, false
}

// anyCall tries the call patterns of a format here.
func (d *decoder) anyCall(f *Family) answer {
	a := no
	for _, p := range f.call {
		switch d.attempt(p) {
		case committed:
			return committed
		case cut:
			a = cut
		}
	}
	return a
}

// anotherCall reads one more call of a section, behind white space.
func (d *decoder) anotherCall(f *Family) bool {
	start, n := d.pos, d.space(0)
	d.gapAt, d.markAt = d.pos, d.pos+n
	d.pos += n
	if d.anyCall(f) == committed {
		return true
	}
	d.pos = start
	return false
}
