package adapters

// behindOthers reads the first call of a list whose elements from position start on are no calls of offered tools: those
// are text, whole.
func (d *decoder) behindOthers(start int) match {
	repairs := d.repairs
	for d.pos = start; d.at(0) == '{'; {
		if _, a := d.capture(func() { d.value(nil) }); a != matched {
			return a
		}
		d.repairs = repairs
		d.others = [2]int{start, d.pos}
		d.pos += d.separator()
		if a := d.envelope(0); a != mismatch {
			return a
		}
		d.pos = d.others[1] + d.separatorAt(d.others[1])
	}
	return mismatch
}

// separatorAt is the length of what stands between two objects at a position.
func (d *decoder) separatorAt(pos int) int {
	d.pos = pos
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
	here := d.pos
	d.pos = from
	d.solid(to - from)
	d.flushText()
	d.pos = here
	return to
}

// otherObject keeps an element of a list behind a call that is no call of an offered tool. A draft does not know it.
func (d *decoder) otherObject() bool {
	n := d.separator()
	if d.drafting || d.wasCut || d.at(n) != '{' {
		return false
	}
	start, repairs := d.pos, d.repairs
	if d.call != nil {
		d.endCall(true)
	}
	d.pos += n
	from := d.pos
	_, a := d.capture(func() { d.value(nil) })
	d.repairs = repairs
	end := d.pos
	if d.pos = start; a != matched {
		return false
	}
	d.pos = from
	d.solid(end - from)
	return true
}
