package repair

import (
	"regexp"
	"strings"

	"toolnorm/adapters/internal/scan"
	"toolnorm/chat"
)

// closeHere offers the end of a string whose closing quote is missing.
// In front of a member that the schema knows it is likely that the quote is missing.
// Behind a quote that is escaped, that one was meant as the end.
func (x *stringReader) closeHere() {
	cost := slip
	if x.ownQuotes && strings.ContainsAny(x.run, "<>|") {
		return // what closes it is damaged, perhaps
	}
	if x.n.Flags&sBare != 0 {
		cost = 0 // it has been paid for
		if strings.HasSuffix(x.run, " ") {
			x.n.Flags |= unsure // a blank at its border may be its
		}
	} else if x.run == "" && x.i > 0 && x.text[x.i-1] == '"' {
		cost = slip + small // the quote in front is the end, rather
	} else if _, known := x.memberAhead(x.i+1, x.n.Stack); known {
		cost = likely
	}
	to := x.n.behind(x.i)
	if x.d.raw && ownEnd.MatchString(x.run) {
		to.Flags |= unsure // the family's own quote stands in front of that, damaged
	}
	if x.run == "" && x.n.Out != nil && x.n.Out.text == `"` {
		to.Flags |= unsure // an empty text
	}
	if x.n.Flags&sBare == 0 && x.i > 0 && (x.text[x.i-1] == '"' || x.text[x.i-1] == '\'') {
		cost = 2 * slip // the quote in front is the end, though not of the same kind
	}
	if x.n.Flags&sBare == 0 && (x.n.Flags&sDirty != 0 || x.atBorder(x.i-1) || x.literal()) {
		to.Flags |= unsure // one of its quotes was the end; the sign may stand behind the text; the quote in front of a number
	}
	x.step(cost, to, x.run, `"`)
}

// ownEnd is what may stand behind the end of a text: the family's quote in brackets of another
// kind, or a comment.
var ownEnd = regexp.MustCompile(`[＜\[]\w+[＞\]]$|&lt;\w+&gt;$|\s(?://|#|--|/\*|<!--)`)

// atBorder reports whether at i a sign or a blank stands that may be between two values, or in the
// place of the quote that is missing, or the quote that has begun a text.
func (x *stringReader) atBorder(i int) bool {
	return sign(x.text, i) > 0 && !scan.IsCloser(x.at(i)) || x.at(i) >= 0 && strings.IndexByte(" |&.=\"'*#_^~@%-/<", byte(x.at(i))) >= 0
}

// literal reports whether a text is a number or a word where such a value fits as well as a text.
func (x *stringReader) literal() bool {
	value, _ := Scalar(strings.TrimSpace(x.run))
	return value != "" && x.n.Flags&sLoose != 0
}

// bareEnd reads a quote that ends a text which has lost the one in front: a.txt".
func (x *stringReader) bareEnd() {
	to := x.n.behind(x.i + x.quoteAt(x.i))
	if c := x.text[x.i]; c != '"' && c != '\'' || x.n.Flags&sPlain != 0 || strings.HasSuffix(x.text[:x.i], `\`) {
		to.Flags |= unsure // it may be the text's own
	}
	x.step(0, to, x.run, `"`)
	x.step(odd, x.n.stay(x.i+x.quoteAt(x.i)), x.run, string(chat.AppendEscaped(nil, x.text[x.i:x.i+x.quoteAt(x.i)])))
}

// atStructure reports whether a quote from i to behind stands where signs of structure and quotes
// stand side by side. As a part of a text it is one guess of several: nobody knows which of the
// quotes is the text's. One that ends a quotation of the text may stand in front of closers and the
// text's own: "echo "hi"".
func (x *stringReader) atStructure(behind int) bool {
	pair := x.n.Flags&sDirty != 0 && x.n.Flags&sLone != 0
	if strings.HasSuffix(x.text[:x.i], x.d.close) || x.has(behind, x.d.close) {
		return !pair
	}
	signs, last := 0, 0
	for k := x.space(behind); k < behind+maxClosers; signs++ {
		switch size := sign(x.text, k); {
		case size > 0:
			last = x.at(k)
			k = x.space(k + size)
		case signs == 0 || pair && scan.IsCloser(last):
			return false
		default:
			key, _ := x.keyAhead(k)
			return key != "" || x.stringAhead(k)
		}
	}
	return true
}
