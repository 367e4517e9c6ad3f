// Package scan is one buffer over the text of a model: what every reader of such text looks at it
// through.
//
// Chunk borders do not exist for who reads by [Buffer.At]: it waits for a byte that is not there
// yet, and answers -1 only at the end. So any split of a text reads alike, by construction rather
// than by care.
package scan

// Buffer is the text read so far. Positions are absolute: they count bytes of text since the start.
//
//	base <= pos <= base+len(buf)
//
// Bytes in front of pos that may still be needed are kept, the others dropped when more is read
// (drop). at(i) is the only way to look forward: what is built on it cannot tell how the text was
// cut into pieces, because a byte that is not there yet is waited for, and only the end of the text
// answers -1.
type Buffer struct {
	Buf  []byte
	Base int // position of buf[0]
	Pos  int // position of the next byte to read
	till int // what is buffered ends here, or the limit does: at looks no further without asking

	limit  int    // at answers -1 from here on: the virtual end of a draft
	Hit    bool   // at has answered -1 because of limit
	Source Filler // nil: the text is whole
}

// Filler reads on for a buffer.
// The decoder is one: it asks its source for the next event.
type Filler interface {
	Fill() bool // appends at least a byte; false: the text is over
	SawEnd()    // somebody has asked for a byte behind the end
}

// Unlimited is a limit that no text reaches.
const Unlimited = 1 << 62

// Whole returns a buffer of a text that does not go on.
func Whole(text string) Buffer {
	b := Buffer{Buf: []byte(text)}
	b.SetLimit(Unlimited)
	return b
}

// Append adds text behind what is buffered.
// A piece that comes lifts till, not the limit: a draft's end stays where it is.
func (b *Buffer) Append(text string) {
	b.Buf = append(b.Buf, text...)
	b.SetLimit(b.limit)
}

// Drop forgets the n bytes at the front.
// Only what no attempt may read again can go; the decoder knows how far that is.
func (b *Buffer) Drop(n int) {
	b.Buf = append(b.Buf[:0], b.Buf[n:]...)
	b.Base += n
}

// SetLimit puts a virtual end to the text, at a position. A draft is read under it: everything
// unwinds as at any end of a text, and Hit says that it was not the real one.
func (b *Buffer) SetLimit(limit int) {
	b.limit = limit
	b.till = min(limit, b.Base+len(b.Buf))
}

// At returns byte i from here, read when needed, or -1 after the end of the text. It is what all
// reading is made of, so it is short enough to be inlined.
func (b *Buffer) At(i int) int {
	if i += b.Pos; i < b.till {
		return int(b.Buf[i-b.Base])
	}
	return b.more(i)
}

// more implements At for the byte at position p, which is not buffered. Only the end of the source,
// or the virtual one of a draft, gives -1: that is the whole of split invariance.
func (b *Buffer) more(p int) int {
	if p >= b.limit {
		b.Hit = true
		return -1
	}
	for p >= b.till {
		if b.Source == nil {
			return -1
		}
		if !b.Source.Fill() {
			b.Source.SawEnd()
			return -1
		}
	}
	return int(b.Buf[p-b.Base])
}

// Window returns what is buffered from here on, for loops that stop only at bytes that mean
// something.
func (b *Buffer) Window() []byte {
	end := b.till - b.Base
	return b.Buf[min(b.Pos-b.Base, end):end]
}

// Slice returns the text between two positions that are both buffered.
func (b *Buffer) Slice(from, to int) []byte { return b.Buf[from-b.Base : to-b.Base] }

// MaxSpace bounds the white space between the parts of a call, in bytes.
const MaxSpace = 4096

// Space counts the white space from offset i on, up to maxSpace. The bound is for hostile text: a
// megabyte of newlines behind each mark would be counted for each attempt.
func (b *Buffer) Space(i int) int {
	n := i
	for n < i+MaxSpace && IsSpace(b.At(n)) {
		n++
	}
	return n - i
}

// ZeroWidth counts the bytes of the sign without width at offset i: a byte order mark, a zero-width
// space; 0 for any other. Nobody sees it, so around a mark it means no more than a blank.
func (b *Buffer) ZeroWidth(i int) int {
	if b.At(i) < 0x80 {
		return 0
	}
	for _, s := range []string{"\u200b", "\ufeff", "\u2060"} {
		if b.Has(i, s) {
			return len(s)
		}
	}
	return 0
}

// Run counts the bytes from offset i on that are of a class, most of them at most. The end of the
// text is of no class, so a run ends there. What a run is counted for is bounded by most, so that a
// look ahead costs no more than that.
func (b *Buffer) Run(i, most int, is func(c int) bool) int {
	n := 0
	for n < most && is(b.At(i+n)) {
		n++
	}
	return n
}

// Has reports whether the text at offset i begins with s. Bytes are asked for one by one, so
// nothing waits that cannot be s. Asking for the whole of it at once would hold back prose that
// merely begins like a mark.
func (b *Buffer) Has(i int, s string) bool {
	for k := 0; k < len(s); k++ {
		if b.At(i+k) != int(s[k]) {
			return false
		}
	}
	return true
}

// byteNewline is a newline as tokenizers with byte tokens spell it.
const byteNewline = "<0x0A>"

// Elastic counts white space at offset i, also newlines spelled as the two characters \ n or as a
// byte token. <0x0A> is the name of a token that nobody turned into its byte: ERNIE's replies have
// it for newlines.
func (b *Buffer) Elastic(i int) int {
	n := i
	for {
		n += b.Space(n)
		switch {
		case n > i+MaxSpace:
			return n - i
		case b.At(n) == '\\' && b.At(n+1) == 'n':
			n += 2
		case b.Has(n, byteNewline):
			n += len(byteNewline)
		default:
			return n - i
		}
	}
}

// ToEnd steps over the rest of the text.
func (b *Buffer) ToEnd() {
	for b.At(0) >= 0 {
		b.Pos += len(b.Window())
	}
}
