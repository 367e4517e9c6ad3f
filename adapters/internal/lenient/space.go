package lenient

import "toolnorm/adapters/internal/scan"

// blanks copies white space and drops comments; odd spaces become plain ones.
// Legal white space stays as it was, so a call without defects leaves byte for byte as the model wrote it. Comments go, since
// JSON has none; that a # or // is one is asked of Comment, because a bare word may begin like it.
func (r *Reader) blanks() {
	for {
		c := r.At(0)
		switch {
		case scan.IsSpace(c):
			r.PutByte(byte(c))
			r.Pos++
		// {"a": 1, // first, and # as in Python
		case (c == '/' && r.At(1) == '/' || c == '#') && r.Comment(0) > 0:
			r.dropTo("\n") // which is white space of the JSON
		// {"a": 1 /* one */}
		case c == '/' && r.At(1) == '*':
			r.Pos += 2
			r.dropTo("*/")
			r.Pos += min(2, len(r.Window()))
		// a no-break space between two tokens
		case c >= 0x80 && r.oddSpaceAt(0) > 0:
			r.Pos += r.oddSpaceAt(0)
			r.Repaired("odd-space")
			r.PutByte(' ')
		default:
			return
		}
	}
}

// Loose counts what may stand between the parts of an envelope at offset i: white space, also odd one, and comments.
// It counts and consumes nothing. Models write {"name": "f", /* tool */ "arguments": {…}} and no-break spaces around
// arguments as they do inside them, and to repair these in one place only would lose the call.
// Odd spaces and comments are counted up to MaxSpace bytes, like white space.
func (r *Reader) Loose(i int) int {
	n := i
	for n < i+scan.MaxSpace {
		n += r.Space(n)
		size, what := r.oddSpaceAt(n), "odd-space"
		if r.At(n) == '/' {
			size, what = r.Comment(n), "comments"
		}
		if size == 0 {
			break
		}
		n += size
		r.Repaired(what)
	}
	return n - i
}

// dropTo drops a comment up to what ends it, // and # as well as those that C and JSON with comments have.
// One that never ends is the rest of the text; whatever is open is then closed as at any end.
// A line's comment leaves the line break, which is white space of the JSON.
func (r *Reader) dropTo(end string) {
	r.Repaired("comments")
	for r.At(0) >= 0 && !r.Has(0, end) {
		r.Pos++
	}
}

// oddSpaces are spaces that JSON does not know.
// In their order: no-break, ideographic, line and paragraph separator, em, en, thin, zero-width, byte order mark. They are
// replaced between tokens only; inside strings they are data and stay.
var oddSpaces = []string{"\u00a0", "\u3000", "\u2028", "\u2029", "\u2003", "\u2002", "\u2009", "\u200b", "\ufeff"}

// oddSpaceAt is the length of the odd space at offset i, 0 when none stands there.
// It looks only: a phrase without quotes may hold a no-break space, which is no repair.
func (r *Reader) oddSpaceAt(i int) int {
	if r.At(i) < 0x80 {
		return 0
	}
	for _, s := range oddSpaces {
		if r.Has(i, s) {
			return len(s)
		}
	}
	return 0
}
