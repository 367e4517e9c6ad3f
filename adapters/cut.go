package adapters

import "toolnorm/chat"

// cutFrom steps over the rest of the text: together with what stands from position from on it is a call that was cut.
func (d *decoder) cutFrom(from int) {
	kept := append([]byte(nil), d.Slice(from, d.Pos)...)
	for d.At(0) >= 0 {
		w := d.Window()
		kept = append(kept, w[:min(len(w), max(chat.MaxCut-len(kept), 0))]...)
		d.Pos += len(w)
	}
	d.wasCut, d.cutText = true, string(kept)
}

// cutHeld notes a call that was cut before anything of it left: its name and the first n bytes of its arguments.
func (d *decoder) cutHeld(c *calling, n int) {
	d.cutText = c.tool.Name + " " + string(c.JSON[:min(n, chat.MaxCut)])
}
