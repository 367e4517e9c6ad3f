package adapters

import (
	"bytes"

	"toolnorm/adapters/internal/declaration"
)

// closerAt says whether one of the pattern's closers stands at offset i, and where it ends.
func (d *decoder) closerAt(i int, p *declaration.Pattern) (int, bool) {
	if p == nil {
		return i, false
	}
	for _, l := range p.Close {
		if n, a := d.literal(i, l); a == yes {
			return n, true
		}
	}
	return i, false
}

// close steps over the closers of a call, each of them optional, and says whether the last one was seen. A closer that the
// end of the text cut is structure too.
func (d *decoder) close(p *declaration.Pattern) bool {
	if p == nil {
		return true
	}
	list := p.Close
	closed := len(list) == 0
	for i, l := range list {
		d.skipJunk(p)
		n, a := d.literal(d.elastic(0), l)
		if a == cut && (!isSpace(d.at(0)) || d.abandoned()) && d.at(0) >= 0 || a == yes {
			d.pos += n
			closed = a == yes && i == len(list)-1
		}
	}
	return closed || d.openerAsCloser(p)
}

// maxAside bounds what stands behind a body on its last line and means nothing, in bytes.
const maxAside = 64

// skipJunk steps over a comment, or a few words on the same line, behind which the first closer of a call stands.
func (d *decoder) skipJunk(p *declaration.Pattern) {
	n := d.elastic(0)
	if _, ok := d.closerAt(n, p); ok || d.at(n) < 0 || len(p.Close) == 0 {
		return
	}
	end, what := n, "extra-closer"
	if d.comment(n) {
		end, what = d.commentEnd(n), "comments"
	} else if !d.drafting {
		end = d.lineRest(n)
	}
	if _, ok := d.closerAt(end+d.space(end), p); ok && end > n {
		if junk := d.slice(d.pos+n, d.pos+end); d.call != nil && what != "comments" && (junk[0] == ',' || bytes.ContainsAny(junk, `"':=`)) {
			d.call.doubt = true // members of the call, perhaps
		}
		d.pos += end
		d.repaired(what)
	}
}

// lineRest is the offset of the first sign of a mark, or of the line's end, behind offset i.
func (d *decoder) lineRest(i int) int {
	for n := i; n < i+maxAside; n++ {
		if c := d.at(n); c < 0 || c == '\n' || c == '<' || c == '[' || c == '{' || c == '`' || c >= 0x80 && d.marksAt(n) != nil {
			return n
		}
	}
	return i
}

// openerAsCloser steps over the opener of a call where its closer is due and nothing follows: models mix up the two.
func (d *decoder) openerAsCloser(p *declaration.Pattern) bool {
	if p.Markless() {
		return false
	}
	n, a := d.literal(d.elastic(0), p.Parts[0].Lit)
	if a != yes || d.at(n+d.space(n)) >= 0 || d.lengthCut() {
		return false
	}
	d.pos += n
	d.repaired("closers")
	return true
}
