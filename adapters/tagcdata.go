package adapters

import (
	"strings"

	"toolnorm/adapters/internal/declaration"
)

// openCDATA skips the opener of CDATA around a value, and reports whether there was one. MiniCPM5
// wraps a value in CDATA exactly if the value contains <, & or a newline. If the opener is cut, the
// call is marked as broken.
func (tg *tagged) openCDATA(f *declaration.Family) bool {
	if !f.Flags.CDATA {
		return false
	}
	n, a := tg.marks.literal(tg.Space(0), declaration.Exactly(declaration.CDATAOpen))
	if a == incomplete && tg.At(tg.Space(0)) >= 0 {
		tg.Out.Broken = true
		tg.ToEnd()
	}
	if a == matched {
		tg.Pos += n
	}
	return a == matched
}

// cdataEnd reports whether CDATA ends here, and returns the number of bytes to skip: those of ]]>
// and of the value's closing tag. Inside CDATA every mark is text. The text of a page may contain
// ]]> as well as any tag, so ]]> ends the CDATA only if the value's closing tag follows.
func (tg *tagged) cdataEnd(p *declaration.Pattern, h head) (int, bool) {
	n, a := tg.marks.literal(0, declaration.Exactly(declaration.CDATAClose))
	if a == matched {
		i := n + tg.Elastic(n)
		end, b := tg.marks.literal(i, h.own)
		if b == matched && tg.afterValue(p, end) {
			return end, true
		}
		// <![CDATA[["a"]]]></function>: the value's own closer is missing
		if b == mismatch && tg.closersFollow(p, i) {
			return i, true
		}
		a = b
	}
	if a != incomplete {
		return 0, false
	}
	for tg.At(n) >= 0 {
		n++
	}
	return n, true
}

// cdataInside reports whether the value that ends here contains another <![CDATA[ without its ]]>.
// The ]]> here may then belong to that inner CDATA.
func (ta *tagsAhead) cdataInside(h head) bool {
	text := string(ta.Slice(max(h.from, ta.Base), ta.Pos))
	return strings.LastIndex(text, declaration.CDATAOpen) > strings.LastIndex(text,
		declaration.CDATAClose)
}
