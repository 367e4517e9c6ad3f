package adapters

import (
	"io"

	"toolnorm/adapters/internal/lenient"
	"toolnorm/chat"
)

// input is where a reply's text comes from, and what came beside it.
type input struct {
	src    chat.Source
	last   string // the piece read last
	lastAt int    // its position
	ended  bool   // no text follows before the barrier (or at all)

	barrier chat.Event // the event that ended the text; None at the end of the source
	finish  chat.Event // the Finish event, once seen
	usage   chat.Event // the Usage event, once seen
	err     error      // why the source failed
}

// compactAt is how many dropped bytes are worth moving the rest for.
const compactAt = 4096

// Fill reads one more piece of text, after sending what is decided. It answers false at the end of the text.
// Other events are barriers: a server's own call or thought ends the text in front of it, and no mark reaches over one. Usage
// is kept for the end, since some servers send it in the middle.
func (d *decoder) Fill() bool {
	if d.ended || d.dead {
		return false
	}
	d.flush()
	d.compact()
	for !d.dead {
		e, err := d.src.Next()
		if err != nil {
			d.ended = true
			if err != io.EOF {
				d.err = err
			}
			return false
		}
		switch {
		case e.Kind == chat.Text && e.Text == "" || e.Kind == chat.None:
		case e.Kind == chat.Text:
			d.last, d.lastAt = e.Text, d.Base+len(d.Buf)
			d.Append(e.Text)
			return true
		case e.Kind == chat.Usage:
			d.usage = e
		default:
			d.ended, d.barrier = true, e
			if e.Kind == chat.Finish {
				d.finish = e
			}
			return false
		}
	}
	return false
}

// compact drops bytes that nobody needs any more. The text just read stays: what announces a call is looked up there.
// A pin and text that has not left each keep what they need. Bytes move only when 4 KiB can
// go at once, so that a long reply is copied once and not once a token.
func (d *decoder) compact() {
	keep := d.Pos
	if d.textFrom < d.textTo {
		keep = d.textFrom
	}
	if d.pin >= 0 {
		keep = min(keep, d.pin)
	}
	if d.argsAt >= 0 && d.Pos-d.argsAt <= lenient.MaxMended {
		keep = min(keep, d.argsAt)
	}
	if n := keep - lookBack - d.Base; n >= compactAt {
		d.Drop(n)
	}
}

// lengthCut says whether the text ended by a limit, because the server gave up, or because the source failed, rather than
// by itself.
func (d *decoder) lengthCut() bool {
	return d.finish.Text == chat.Length || d.abandoned() || d.failed()
}

// failed says whether the source ended, by an error or not, without saying that the reply is over.
func (d *decoder) failed() bool { return d.ended && !d.dead && d.barrier.Kind == chat.None }

// abandoned says whether the server gave up the reply: then the model may well have written more.
func (d *decoder) abandoned() bool { return d.finish.Text == chat.Abandoned }
