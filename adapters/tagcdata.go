package adapters

import "toolnorm/adapters/internal/declaration"

// openCDATA steps over the opener of CDATA around a value, if one stands here.
// MiniCPM5 wraps a value in it exactly when it holds <, & or a newline.
func (d *decoder) openCDATA(f *declaration.Family) bool {
	if !f.Flags.CDATA {
		return false
	}
	n, a := d.literal(d.Space(0), declaration.Exactly(declaration.CDATAOpen))
	if a == incomplete && d.At(d.Space(0)) >= 0 {
		d.Out.Broken = true
		d.ToEnd()
	}
	if a == matched {
		d.Pos += n
	}
	return a == matched
}

// cdataEnd says whether CDATA ends here, and how many bytes of it and of the value's closer to step over. Inside it no mark
// counts, and its closer only where the value's closer follows.
// The text of a page may hold ]]> as well as any tag; what follows it decides, as for every closer.
func (d *decoder) cdataEnd(p *declaration.Pattern, h head) (int, bool) {
	n, a := d.literal(0, declaration.Exactly(declaration.CDATAClose))
	if a == matched {
		i := n + d.Elastic(n)
		end, b := d.literal(i, h.own)
		if b == matched && d.afterValue(p, end) {
			return end, true
		}
		// <![CDATA[["a"]]]></function>: the value's own closer is missing
		if b == mismatch && d.closersFollow(p, i) {
			return i, true
		}
		a = b
	}
	if a != incomplete {
		return 0, false
	}
	for d.At(n) >= 0 {
		n++
	}
	return n, true
}
