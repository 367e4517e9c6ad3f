package adapters

import "toolnorm/chat"

// draft reads calls without sending anything, under a virtual end of the text size bytes ahead. When read answers true
// what was read leaves, else everything is as before. Reaching the virtual end is a no.
func (d *decoder) draft(size int, read func() bool) bool {
	if d.drafting || d.exhausted() {
		return false
	}
	d.flush()
	before := d.checkpoint()
	d.drafting, d.drafted, d.draftGlue = true, d.drafted[:0], -1
	d.setLimit(d.pos + size)
	d.hit = false
	if d.pin < 0 {
		d.pin = d.gapAt
	}
	ok := read() && !d.hit && !d.wasCut && d.done > before.done
	d.drafting, d.hit = false, false
	d.setLimit(unlimited)
	if !ok {
		d.undo(&before)
		return false
	}
	d.acceptText(&before)
	if d.state == chat.Reasoning {
		d.state, d.fresh = chat.Text, true
	}
	for _, e := range d.drafted {
		d.emit(e)
	}
	return true
}

// acceptText lets the text in front of an accepted draft leave.
func (d *decoder) acceptText(before *checkpoint) {
	here, blank := d.pos, d.blank
	d.gapAt, d.markAt, d.blank = before.gapAt, before.markAt, before.blank
	d.textFrom, d.textTo, d.textKind = before.textFrom, before.textTo, before.textKind
	d.leave(d.draftGlue)
	d.pos, d.blank, d.pin = here, blank, -1
	d.textFrom, d.textTo = d.pos, d.pos
}

// undo takes a failed draft back; what was read from the source meanwhile stays.
func (d *decoder) undo(before *checkpoint) {
	d.waste += d.pos - before.pos
	d.restore(before)
	d.call = nil
	d.resetArgs()
}
