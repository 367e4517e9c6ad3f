package lenient

import "toolnorm/adapters/internal/scan"

// copier copies what needs no decision from the text to what is written: white space, signs between
// tokens, characters and escapes.
type copier struct {
	Text
	Writer
}

// blanks copies white space and drops comments; odd spaces become plain ones. Legal white space
// stays as it was, so a call without defects leaves byte for byte as the model wrote it. Comments
// go, since JSON has none; that a # or // is one is asked of Comment, because a bare word may begin
// like it.
func (cp *copier) blanks() {
	for {
		c := cp.At(0)
		switch {
		case scan.IsSpace(c):
			cp.PutByte(byte(c))
			cp.Pos++
		// {"a": 1, // first, and # as in Python
		case (c == '/' && cp.At(1) == '/' || c == '#') && cp.Comment(0) > 0:
			cp.dropTo("\n") // which is white space of the JSON
		// {"a": 1 /* one */}
		case c == '/' && cp.At(1) == '*':
			cp.Pos += 2
			cp.dropTo("*/")
			cp.Pos += min(2, len(cp.Window()))
		// a no-break space between two tokens
		case c >= 0x80 && cp.oddSpaceAt(0) > 0:
			cp.Pos += cp.oddSpaceAt(0)
			cp.Repaired("odd-space")
			cp.PutByte(' ')
		default:
			return
		}
	}
}

// Loose counts what may stand between the parts of an envelope at offset i: white space, also odd
// one, and comments. It counts and consumes nothing. Models write {"name": "f", /* tool */
// "arguments": {…}} and no-break spaces around arguments as they do inside them, and to repair
// these in one place only would lose the call. Odd spaces and comments are counted up to MaxSpace
// bytes, like white space.
func (cp *copier) Loose(i int) int {
	n := i
	for n < i+scan.MaxSpace {
		n += cp.Space(n)
		size, what := cp.oddSpaceAt(n), "odd-space"
		if cp.At(n) == '/' {
			size, what = cp.Comment(n), "comments"
		}
		if size == 0 {
			break
		}
		n += size
		cp.Repaired(what)
	}
	return n - i
}

// dropTo drops a comment up to what ends it, // and # as well as those that C and JSON with
// comments have. One that never ends is the rest of the text; whatever is open is then closed as at
// any end. A line's comment leaves the line break, which is white space of the JSON.
func (cp *copier) dropTo(end string) {
	cp.Repaired("comments")
	for cp.At(0) >= 0 && !cp.Has(0, end) {
		cp.Pos++
	}
}
