package adapters

// behindOthers reads the first call of a list whose elements from position start on are no calls of offered tools: those
// are text, whole.
func (d *decoder) behindOthers(start int) match {
	repairs := d.Repairs
	for d.Pos = start; d.At(0) == '{'; {
		if _, a := d.Capture(func() { d.Value(nil) }); a != matched {
			return a
		}
		d.Repairs = repairs
		d.others = [2]int{start, d.Pos}
		d.Pos += d.separator()
		if a := d.envelope(0); a != mismatch {
			return a
		}
		d.Pos = d.others[1] + d.separatorAt(d.others[1])
	}
	return mismatch
}

// separatorAt is the length of what stands between two objects at a position.
func (d *decoder) separatorAt(pos int) int {
	d.Pos = pos
	return d.separator()
}

// keepOthers keeps the elements of a list that are no calls, in front of the call that begins now. It answers where they
// end, -1 when there are none.
func (d *decoder) keepOthers() int {
	from, to := d.others[0], d.others[1]
	d.others = [2]int{}
	if from == to {
		return -1
	}
	here := d.Pos
	d.Pos = from
	d.solid(to - from)
	d.flushText()
	d.Pos = here
	return to
}

// otherObject keeps an element of a list behind a call that is no call of an offered tool. A draft does not know it.
func (d *decoder) otherObject() bool {
	n := d.separator()
	if d.drafting || d.wasCut || d.At(n) != '{' {
		return false
	}
	start, repairs := d.Pos, d.Repairs
	if d.Out != nil {
		d.endCall(true)
	}
	d.Pos += n
	from := d.Pos
	_, a := d.Capture(func() { d.Value(nil) })
	d.Repairs = repairs
	end := d.Pos
	if d.Pos = start; a != matched {
		return false
	}
	d.Pos = from
	d.solid(end - from)
	return true
}
