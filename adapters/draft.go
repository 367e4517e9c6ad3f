package adapters

import (
	"toolnorm/adapters/internal/scan"
	"toolnorm/chat"
)

// draft reads calls without sending anything, under a virtual end of the text size bytes ahead. When read answers true
// what was read leaves, else everything is as before. Reaching the virtual end is a no.
func (d *decoder) draft(size int, read func() bool) bool {
	if d.drafting || d.exhausted() {
		return false
	}
	d.flush()
	before := d.checkpoint()
	d.drafting, d.drafted, d.draftGlue = true, d.drafted[:0], -1
	d.SetLimit(d.Pos + size)
	d.Hit = false
	if d.pin < 0 {
		d.pin = d.gapAt
	}
	ok := read() && !d.Hit && !d.wasCut && d.done > before.done
	d.drafting, d.Hit = false, false
	d.SetLimit(scan.Unlimited)
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
	here, blank := d.Pos, d.blank
	d.gapAt, d.markAt, d.blank = before.gapAt, before.markAt, before.blank
	d.textFrom, d.textTo, d.textKind = before.textFrom, before.textTo, before.textKind
	d.leave(d.draftGlue)
	d.Pos, d.blank, d.pin = here, blank, -1
	d.textFrom, d.textTo = d.Pos, d.Pos
}

// undo takes a failed draft back; what was read from the source meanwhile stays.
func (d *decoder) undo(before *checkpoint) {
	d.waste += d.Pos - before.pos
	d.restore(before)
	d.Out = nil
	d.resetArgs()
}
