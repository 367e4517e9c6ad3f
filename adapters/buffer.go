package adapters

// buffer is the text read so far. Positions are absolute: they count bytes of text since the start.
//
//	base <= pos <= base+len(buf)
//
// Bytes in front of pos that may still be needed are kept, the others dropped when more is read (drop). at(i) is the only
// way to look forward: what is built on it cannot tell how the text was cut into pieces, because a byte that is not there
// yet is waited for, and only the end of the text answers -1.
type buffer struct {
	buf  []byte
	base int // position of buf[0]
	pos  int // position of the next byte to read
	till int // what is buffered ends here, or the limit does: at looks no further without asking

	limit  int    // at answers -1 from here on: the virtual end of a draft
	hit    bool   // at has answered -1 because of limit
	source filler // nil: the text is whole
}

// filler reads on for a buffer.
type filler interface {
	fill() bool // appends at least a byte; false: the text is over
	sawEnd()    // somebody has asked for a byte behind the end
}

// unlimited is a limit that no text reaches.
const unlimited = 1 << 62

// append adds text behind what is buffered.
func (b *buffer) append(text string) {
	b.buf = append(b.buf, text...)
	b.setLimit(b.limit)
}

// drop forgets the n bytes at the front.
func (b *buffer) drop(n int) {
	b.buf = append(b.buf[:0], b.buf[n:]...)
	b.base += n
}

// setLimit puts a virtual end to the text, at a position.
func (b *buffer) setLimit(limit int) {
	b.limit = limit
	b.till = min(limit, b.base+len(b.buf))
}

// at is byte i from here, read when needed; -1 behind the end of the text. It is what all reading is made of, so it is
// short enough to be inlined.
func (b *buffer) at(i int) int {
	if i += b.pos; i < b.till {
		return int(b.buf[i-b.base])
	}
	return b.more(i)
}

// more is at for the byte at position p, which is not buffered.
func (b *buffer) more(p int) int {
	if p >= b.limit {
		b.hit = true
		return -1
	}
	for p >= b.till {
		if b.source == nil {
			return -1
		}
		if !b.source.fill() {
			b.source.sawEnd()
			return -1
		}
	}
	return int(b.buf[p-b.base])
}

// window is what is buffered from here on, for loops that stop only at bytes that mean something.
func (b *buffer) window() []byte {
	end := b.till - b.base
	return b.buf[min(b.pos-b.base, end):end]
}

// slice is the text between two positions that are both buffered.
func (b *buffer) slice(from, to int) []byte { return b.buf[from-b.base : to-b.base] }

// maxSpace bounds the white space between the parts of a call, in bytes.
const maxSpace = 4096

// space counts the white space from offset i on, up to maxSpace.
func (b *buffer) space(i int) int {
	n := i
	for n < i+maxSpace && isSpace(b.at(n)) {
		n++
	}
	return n - i
}

// has says whether s stands at offset i. Bytes are asked for one by one, so nothing waits that cannot be s.
func (b *buffer) has(i int, s string) bool {
	for k := 0; k < len(s); k++ {
		if b.at(i+k) != int(s[k]) {
			return false
		}
	}
	return true
}

// byteNewline is a newline as tokenizers with byte tokens spell it.
const byteNewline = "<0x0A>"

// elastic counts white space at offset i, also newlines spelled as the two characters \ n or as a byte token.
func (b *buffer) elastic(i int) int {
	n := i
	for {
		n += b.space(n)
		switch {
		case n > i+maxSpace:
			return n - i
		case b.at(n) == '\\' && b.at(n+1) == 'n':
			n += 2
		case b.has(n, byteNewline):
			n += len(byteNewline)
		default:
			return n - i
		}
	}
}

// toEnd steps over the rest of the text.
func (b *buffer) toEnd() {
	for b.at(0) >= 0 {
		b.pos += len(b.window())
	}
}
