package adapters

import (
	"toolnorm/adapters/internal/scan"
	"toolnorm/chat"
)

// text reads the reply outside of reasoning. Plain bytes are sent as they come, and each byte that
// could begin a mark, a call or code is tried. Code comes first, because in a fenced block only its
// end has a meaning, and backquotes on a line hide marks until they close.
func (d *decoder) text() {
	for d.page.state == chat.Text {
		switch c := d.page.plain(&d.marks.index.Stops); {
		case c < 0 || d.in.left():
			return
		// a block of code: marks in it are examples
		case d.code.inBlock():
			if !d.openers.behindOpenFence() {
				d.code.inFence(c)
			}
		case scan.IsSpace(c) || d.page.fresh || d.page.blank && c == '`':
			d.gap()
		case c == '`':
			d.page.gapAt, d.page.markAt = d.Pos, d.Pos
			// the model's own fence, after text without a line break: "I look that
			// up.```tool_code⏎…"
			if !d.code.inSpan() && (d.marks.ownMark(0) && d.openers.tryMarks(c, false) ||
				d.unmarked.labelled()) {
				continue
			}
			d.code.opens(false)
		default:
			d.page.gapAt, d.page.markAt = d.Pos, d.Pos
			if !d.openers.tryMarks(c, false) {
				d.page.solid(1)
			}
		}
	}
}

// gap reads the white space here and the mark or the text after it, at the start of a line or of
// the reply. White space is held back until it is known whether it belongs to the mark after it,
// because trailing newlines cannot be removed from text that was sent. A line that begins with "> "
// is a quotation, so marks on it are mentions.
func (d *decoder) gap() {
	n, line := 0, d.page.fresh
	for n < maxGap {
		size := d.ZeroWidth(n)
		if scan.IsSpace(d.At(n)) {
			size = 1
		}
		if size == 0 {
			break
		}
		line = line || d.At(n) == '\n'
		n += size
	}
	if line {
		d.code.endSpan()
	}
	d.page.gapAt, d.page.markAt = d.Pos, d.Pos+n
	c := d.At(n)
	// after the last call
	if c < 0 && d.page.blank && d.calls.done > 0 {
		d.Pos += n // such white space is not text
		return
	}
	if n >= maxGap || c < 0 {
		d.page.fresh = line
		d.page.keep(n)
		return
	}
	d.page.fresh = false
	d.Pos += n
	// a quoted line
	if line && c == '>' && d.At(1) == ' ' {
		d.code.quoteLine()
	}
	if d.openers.tryMarks(c, line || d.page.blank) {
		return
	}
	d.Pos = d.page.gapAt
	d.page.keep(n)
	if c == '`' || c == '~' {
		d.code.opens(line || d.page.blank)
	} else {
		d.page.solid(1)
	}
}
