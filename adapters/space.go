package adapters

import "toolnorm/adapters/internal/scan"

// blanks copies white space and drops comments; odd spaces become plain ones.
func (d *argReader) blanks() {
	for {
		c := d.At(0)
		switch {
		case scan.IsSpace(c):
			d.putByte(byte(c))
			d.Pos++
		case (c == '/' && d.At(1) == '/' || c == '#') && d.comment(0):
			d.skipLine()
		case c == '/' && d.At(1) == '*':
			d.skipComment()
		case c >= 0x80:
			n := d.oddSpace()
			if n == 0 {
				return
			}
			d.putByte(' ')
			d.Pos += n
		default:
			return
		}
	}
}

// loose counts what may stand between the parts of an envelope at offset i: white space, also odd one, and comments.
func (d *argReader) loose(i int) int {
	n := i
	for n < i+scan.MaxSpace {
		n += d.Space(n)
		switch c := d.At(n); {
		case c == '/' && (d.At(n+1) == '/' || d.At(n+1) == '*') && d.comment(n):
			n = d.commentEnd(n)
			d.repaired("comments")
			continue
		case c >= 0x80:
			if size := d.oddSpaceAt(n); size > 0 {
				n += size
				d.repaired("odd-space")
				continue
			}
		}
		break
	}
	return n - i
}

func (d *argReader) skipLine() {
	d.repaired("comments")
	for c := d.At(0); c >= 0 && c != '\n'; c = d.At(0) {
		d.Pos++
	}
}

func (d *argReader) skipComment() {
	d.repaired("comments")
	d.Pos += 2
	for d.At(0) >= 0 && !d.Has(0, "*/") {
		d.Pos++
	}
	if d.At(0) >= 0 {
		d.Pos += 2
	}
}

// oddSpaces are spaces that JSON does not know.
var oddSpaces = []string{"\u00a0", "\u3000", "\u2028", "\u2029", "\u2003", "\u2002", "\u2009", "\u200b", "\ufeff"}

// oddSpace is the length of the odd space that stands here, 0 when none does.
func (d *argReader) oddSpace() int {
	n := d.oddSpaceAt(0)
	if n > 0 {
		d.repaired("odd-space")
	}
	return n
}

// oddSpaceAt is the same at offset i.
func (d *argReader) oddSpaceAt(i int) int {
	for _, s := range oddSpaces {
		if d.Has(i, s) {
			return len(s)
		}
	}
	return 0
}
