package adapters

import (
	"io"

	"toolnorm/chat"
)

// reader is one buffer over the text of a source. Positions are absolute: they count bytes of text since the start.
//
//	base <= pos <= base+len(buf)
//
// Bytes in front of pos that may still be needed are kept (compact), the others dropped when more is read.
type reader struct {
	src  chat.Source
	buf  []byte
	base int // position of buf[0]

	last   string // the piece read last
	lastAt int    // its position

	limit int  // at answers -1 from here on: the virtual end of a draft
	hit   bool // at has answered -1 because of limit
	ended bool // no text follows before the barrier (or at all)

	barrier chat.Event // the event that ended the text; None at the end of the source
	finish  chat.Event // the Finish event, once seen
	usage   chat.Event // the Usage event, once seen
	err     error      // why the source failed
}

// unlimited is a limit that no text reaches.
const unlimited = 1 << 62

// compactAt is how many dropped bytes are worth moving the rest for.
const compactAt = 4096

// at is byte i from here, read when needed; -1 behind the end of the text.
func (d *decoder) at(i int) int {
	if p := d.pos + i - d.base; p < len(d.buf) && d.pos+i < d.limit {
		return int(d.buf[p])
	}
	return d.more(i)
}

// more is at for a byte that is not buffered.
func (d *decoder) more(i int) int {
	if d.pos+i >= d.limit {
		d.hit = true
		return -1
	}
	for d.pos+i-d.base >= len(d.buf) {
		if !d.fill() {
			d.sawEnd()
			return -1
		}
	}
	return int(d.buf[d.pos+i-d.base])
}

// window is what is buffered from here on, for loops that stop only at bytes that mean something.
func (d *decoder) window() []byte {
	end := min(len(d.buf), d.limit-d.base)
	return d.buf[min(d.pos-d.base, end):end]
}

// fill reads one more piece of text, after sending what is decided. It answers false at the end of the text.
func (d *decoder) fill() bool {
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
			d.last, d.lastAt = e.Text, d.base+len(d.buf)
			d.buf = append(d.buf, e.Text...)
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
func (d *decoder) compact() {
	keep := d.pos
	if d.textFrom < d.textTo {
		keep = d.textFrom
	}
	if d.pin >= 0 {
		keep = min(keep, d.pin)
	}
	if d.calling.from >= 0 {
		keep = min(keep, d.calling.from)
	}
	if n := keep - lookBack - d.base; n >= compactAt {
		d.buf = append(d.buf[:0], d.buf[n:]...)
		d.base += n
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

// slice is the text between two positions that are both buffered.
func (d *decoder) slice(from, to int) []byte { return d.buf[from-d.base : to-d.base] }

func isSpace(c int) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }

// maxSpace bounds the white space between the parts of a call, in bytes.
const maxSpace = 4096

// space counts the white space from offset i on, up to maxSpace.
func (d *decoder) space(i int) int {
	n := i
	for n < i+maxSpace && isSpace(d.at(n)) {
		n++
	}
	return n - i
}

// has says whether s stands at offset i. Bytes are asked for one by one, so nothing waits that cannot be s.
func (d *decoder) has(i int, s string) bool {
	for k := 0; k < len(s); k++ {
		if d.at(i+k) != int(s[k]) {
			return false
		}
	}
	return true
}
