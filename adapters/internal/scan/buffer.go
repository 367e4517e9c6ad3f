// Package scan has the buffer through which every reader looks at the text of a model.
//
// [Buffer.At] hides chunk borders: it waits for a byte that has not arrived, and returns -1 only at
// the end. So a text is read in the same way however it is split into chunks.
package scan

// Buffer is the text read so far. Positions are absolute, so they count bytes since the start of
// the text.
//
//	base <= pos <= base+len(buf)
//
// Bytes before Pos stay in the buffer until Drop removes them, because they may be needed again.
// Only At(i) looks forward and waits for bytes that have not arrived.
type Buffer struct {
	Buf  []byte
	Base int // the position of Buf[0]
	Pos  int // the position of the next byte to read
	till int // the end of the buffered text, or the limit if that is less

	limit  int    // At returns -1 from this position on, the virtual end of a draft (see SetLimit)
	Hit    bool   // At has returned -1 because of limit
	Source Filler // where more text comes from; nil if the text is complete
}

// Filler reads more text for a buffer. For example, the decoder asks its source for the next event.
type Filler interface {
	Fill() bool // appends at least one byte; returns false at the end of the text
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

// Append adds text to the buffer. It does not change the limit that SetLimit has set.
func (b *Buffer) Append(text string) {
	b.Buf = append(b.Buf, text...)
	b.SetLimit(b.limit)
}

// Drop removes the first n bytes of the buffer. The decoder calls it for bytes that will not be
// read again.
func (b *Buffer) Drop(n int) {
	b.Buf = append(b.Buf[:0], b.Buf[n:]...)
	b.Base += n
}

// SetLimit sets a virtual end of the text at the position limit, so that the text can be read as if
// it ended there. The field Hit then shows whether the reading came to that end.
func (b *Buffer) SetLimit(limit int) {
	b.limit = limit
	b.till = min(limit, b.Base+len(b.Buf))
}

// At returns the byte at offset i from the current position, and waits for more text if needed. It
// returns -1 after the end of the text, or after the limit. All reading uses At, so it is short
// enough to be inlined.
func (b *Buffer) At(i int) int {
	if i += b.Pos; i < b.till {
		return int(b.Buf[i-b.Base])
	}
	return b.more(i)
}

// more returns the byte at position p, which is not buffered yet, and reads from the source until
// it is. It returns -1 only at the end of the source, or at the limit.
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
// once. It is empty if nothing is buffered there.
func (b *Buffer) Window() []byte {
	end := b.till - b.Base
	return b.Buf[min(b.Pos-b.Base, end):end]
}

// Slice returns the text between two positions that are both buffered.
func (b *Buffer) Slice(from, to int) []byte { return b.Buf[from-b.Base : to-b.Base] }

// MaxSpace bounds the white space between the parts of a call, in bytes.
const MaxSpace = 4096

// Space counts the bytes of white space from offset i on, up to MaxSpace. The bound is for hostile
// text, in which a megabyte of newlines after each opening tag would be counted in each attempt.
func (b *Buffer) Space(i int) int {
	n := i
	for n < i+MaxSpace && IsSpace(b.At(n)) {
		n++
	}
	return n - i
}

// ZeroWidth returns the length of the invisible character at offset i, such as a byte order mark or
// a zero-width space, or 0 if there is none. Around an opening or closing tag these characters
// count as white space.
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

// Run counts the consecutive bytes from offset i on that belong to a class of bytes, up to the
// limit. The function class reports whether a byte belongs to it. The end of the text is -1, which
// is in no class, so a run ends there.
func (b *Buffer) Run(i, limit int, class func(c int) bool) int {
	n := 0
	for n < limit && class(b.At(i+n)) {
		n++
	}
	return n
}

// Has reports whether the text at offset i begins with s. It looks at one byte at a time and waits
// for more text only while s is still possible. So prose that merely begins like an opening tag is
// not delayed.
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

// Elastic returns the number of bytes of white space at offset i, however newlines are written
// there. A newline may be the two characters \n, or the name <0x0A> of a byte token that was not
// decoded, as in ERNIE's replies.
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
