package lenient

import "toolnorm/adapters/internal/scan"

// copier copies from the text to the output what needs no decision: white space, signs between
// tokens, characters and escapes.
type copier struct {
	Text
	Writer
}

// blanks copies white space and drops comments, which JSON does not have. Spaces that JSON does not
// allow, such as a no-break space, become plain ones. White space that JSON allows is not changed,
// so a call without defects is sent byte for byte as the model wrote it. The function Comment
// decides whether a # or // begins a comment, because a word without quotation marks may begin with
// these signs.
func (cp *copier) blanks() {
	for {
		c := cp.At(0)
		switch {
		case scan.IsSpace(c):
			cp.PutByte(byte(c))
			cp.Pos++
		// {"a": 1, // first, and # as in Python
		case (c == '/' && cp.At(1) == '/' || c == '#') && cp.Comment(0) > 0:
			cp.dropTo("\n") // the line break is copied as white space
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

// Loose returns the length of the white space and comments at offset i, between the parts of an
// object around arguments. It also counts spaces that JSON does not allow, and consumes nothing.
// Models write comments and no-break spaces around arguments as well as inside them, as in {"name":
// "f", /* tool */ "arguments": {…}}. Without Loose such a call would be lost. At most about
// scan.MaxSpace bytes are counted.
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

// dropTo drops a comment up to the sign that ends it, such as */, or the rest of the text if the
// comment never ends. The sign itself is not dropped.
func (cp *copier) dropTo(end string) {
	cp.Repaired("comments")
	for cp.At(0) >= 0 && !cp.Has(0, end) {
		cp.Pos++
	}
}
