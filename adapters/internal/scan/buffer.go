// Package scan has the buffer through which every reader looks at the text of a model.
//
// [Buffer.At] hides chunk borders: it waits for a byte that has not arrived, and returns -1 only at
// the end. So a text is read in the same way however it is split into chunks.
package scan

// Buffer is the text read so far. Positions are absolute: they count bytes of text since the start.
//
//	base <= pos <= base+len(buf)
//
// Bytes before Pos are kept while they may still be needed; the others are dropped when more is
// read (Drop). At(i) is the only way to look forward.
type Buffer struct {
	Buf  []byte
	Base int // position of buf[0]
	Pos  int // position of the next byte to read
	till int // the end of the buffered text, or the limit if that is less

	limit  int    // At returns -1 from here on: the virtual end of a draft
	Hit    bool   // At has returned -1 because of limit
	Source Filler // nil: the text is whole
}

// Filler reads more text for a buffer. The decoder is one: it asks its source for the next event.
type Filler interface {
	Fill() bool // appends at least one byte, or returns false at the end of the text
	SawEnd()    // is called when a byte after the end was asked for
}

// Unlimited is a limit that no text reaches.
const Unlimited = 1 << 62

// Whole returns a buffer of a complete text.
func Whole(text string) Buffer {
	b := Buffer{Buf: []byte(text)}
	b.SetLimit(Unlimited)
	return b
}

// Append adds text to the buffer. The limit of a draft is not changed.
func (b *Buffer) Append(text string) {
	b.Buf = append(b.Buf, text...)
	b.SetLimit(b.limit)
}

// Drop removes the first n bytes of the buffer. The decoder calls it for bytes that no attempt may
// read again.
func (b *Buffer) Drop(n int) {
	b.Buf = append(b.Buf[:0], b.Buf[n:]...)
	b.Base += n
}

// SetLimit sets a virtual end of the text, at a position. A draft is read up to it as if the text
// ended there, and Hit shows that this was not the real end.
func (b *Buffer) SetLimit(limit int) {
	b.limit = limit
	b.till = min(limit, b.Base+len(b.Buf))
}

// At returns byte i from the current position, and reads more if needed. It returns -1 after the
// end of the text. All reading uses it, so it is short enough to be inlined.
func (b *Buffer) At(i int) int {
	if i += b.Pos; i < b.till {
		return int(b.Buf[i-b.Base])
	}
	return b.more(i)
}

// more implements At for the byte at position p, which is not buffered. It returns -1 only at the
// end of the source, or at the virtual end of a draft.
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

// Window returns the buffered text from the current position on, for loops that skip many bytes at
// once.
func (b *Buffer) Window() []byte {
	end := b.till - b.Base
	return b.Buf[min(b.Pos-b.Base, end):end]
}

// Slice returns the text between two positions that are both buffered.
func (b *Buffer) Slice(from, to int) []byte { return b.Buf[from-b.Base : to-b.Base] }

// MaxSpace bounds the white space between the parts of a call, in bytes.
const MaxSpace = 4096

// Space counts the white space from offset i on, up to MaxSpace. The bound is for hostile text: a
// megabyte of newlines after each mark would be counted for each attempt.
func (b *Buffer) Space(i int) int {
	n := i
	for n < i+MaxSpace && IsSpace(b.At(n)) {
		n++
	}
	return n - i
}

// ZeroWidth returns the length of the invisible character at offset i, a byte order mark or a
// zero-width space, or 0 if there is none. Around a mark it counts as white space.
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
// text is in no class, so a run ends there.
func (b *Buffer) Run(i, most int, is func(c int) bool) int {
	n := 0
	for n < most && is(b.At(i+n)) {
		n++
	}
	return n
}

// Has reports whether the text at offset i begins with s. It looks at one byte at a time, so it
// waits for more text only while s is possible: prose that just begins like a mark is not held
// back.
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
// byte token. In ERNIE's replies newlines are <0x0A>, the name of a byte token that was not
// decoded.
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

// ToEnd skips the rest of the text.
func (b *Buffer) ToEnd() {
	for b.At(0) >= 0 {
		b.Pos += len(b.Window())
	}
}
