package repair

import (
	"regexp"
	"strings"

	"toolnorm/adapters/internal/scan"
	"toolnorm/chat"
)

// closeHere adds to the search the reading in which the string ends here without a closing
// quotation mark. This is likely before a member in the schema. Directly after another quotation
// mark it is unlikely, because that mark was probably meant as the end.
func (x *stringReader) closeHere() {
	cost := slip
	if x.ownQuotes && strings.ContainsAny(x.run, "<>|") {
		return // perhaps its closing quote is damaged
	}
	if x.n.Flags&sBare != 0 {
		cost = 0 // its cost was counted at the opening quote
		if strings.HasSuffix(x.run, " ") || ClosesMore(x.run) ||
			x.n.inList() && !scan.IsCloser(x.at(x.i)) && !typeOf(x.n.Stack.Want).Item().Known() {
			// the blank at its end or the bracket in it may belong to it, or what follows in a list
			// of anything
			x.n.Flags |= unsure
		}
	} else if x.run == "" && x.i > 0 && x.text[x.i-1] == '"' {
		cost = slip + small // rather the quote before is the end
	} else if _, known := x.memberAhead(x.i+1, x.n.Stack); known {
		cost = likely
	}
	to := x.n.behind(x.i)
	if x.d.raw && ownEnd.MatchString(x.run) {
		to.Flags |= unsure // the text ends with a damaged quote of the family, or a comment
	}
	if x.run == "" && x.n.Out != nil && x.n.Out.text == `"` {
		to.Flags |= unsure // an empty text
	}
	if x.n.Flags&sBare == 0 && x.i > 0 && (x.text[x.i-1] == '"' || x.text[x.i-1] == '\'') {
		cost = 2 * slip // the quote before is the end, though of another kind
	}
	if x.n.Flags&sBare == 0 && (x.n.Flags&sDirty != 0 || x.atBorder(x.i-1) || x.literal()) {
		// perhaps an earlier quote was the end, the last sign does not belong to the text, or it is
		// a number
		to.Flags |= unsure
	}
	x.step(cost, to, x.run, `"`)
}

// ClosesMore reports whether a text closes more braces or square brackets than it opens. The end of
// an object or a list is then perhaps in it.
func ClosesMore(text string) bool {
	return strings.Count(text, "{") < strings.Count(text, "}") ||
		strings.Count(text, "[") < strings.Count(text, "]")
}

// ownEnd matches the end of a text that may not belong to it: the model family's quotation mark
// with brackets of another kind, or a comment.
var ownEnd = regexp.MustCompile(`[＜\[]\w+[＞\]]$|&lt;\w+&gt;$|\s(?://|#|--|/\*|<!--)`)

// atBorder reports whether it is uncertain that the byte at offset i is part of the text. The byte
// may instead separate two values, or stand where a quotation mark is missing.
func (x *stringReader) atBorder(i int) bool {
	return sign(x.text, i) > 0 && !scan.IsCloser(x.at(i)) || x.at(i) >= 0 && strings.IndexByte(
		" |&.=\"'*#_^~@%-/<", byte(x.at(i))) >= 0
}

// literal reports whether the text read so far is a number or a word such as true, in a place where
// the schema allows such a value as well as a string.
func (x *stringReader) literal() bool {
	value, _ := Scalar(strings.TrimSpace(x.run))
	return value != "" && x.n.Flags&sLoose != 0
}

// bareEnd adds two readings of a quotation mark in a string without an opening mark, as in a.txt":
// it ends the string, or it is part of the text, which costs more.
func (x *stringReader) bareEnd() {
	to := x.n.behind(x.i + x.quoteAt(x.i))
	if c := x.text[x.i]; c != '"' && c != '\'' || x.n.Flags&sPlain != 0 ||
		strings.HasSuffix(x.text[:x.i], `\`) {
		to.Flags |= unsure // it may belong to the text
	}
	x.step(0, to, x.run, `"`)
	x.step(odd, x.n.stay(x.i+x.quoteAt(x.i)), x.run,
		string(chat.AppendEscaped(nil, x.text[x.i:x.i+x.quoteAt(x.i)])))
}

// atStructure reports whether the quotation mark at x.i is next to signs of JSON's structure or to
// other quotation marks. The parameter behind is the offset after the mark. To read such a mark as
// part of the text is a guess, because it may as well be the end of the string. For the second mark
// of a quotation the result is false before closing brackets and the string's own mark, as after hi
// in "echo "hi"".
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

// commaInside adds to the search the reading in which the string ends here and the comma after it
// was written inside its quotation marks, as in {"x": "a," "y": 1}. The parameter run is the text
// before the comma, and behind is the offset after the closing mark.
func (x *stringReader) commaInside(behind int, run string) {
	if x.n.Stack == nil {
		return
	}
	next := x.blank(behind)
	if key, quoted := x.keyAhead(next); key != "" && (quoted || knows(x.n.Stack, key)) ||
		(x.likelyEnd(behind, x.n.Stack) == 2 || next > behind && x.n.Stack.Kind == anObject) &&
			x.quoteAt(next) > 0 {
		to := x.n.next(behind)
		to.Flags &^= uint64(sAll)
		if separatorLast(run) {
			to.Flags |= unsure // perhaps both belong to the text, or neither
		}
		x.step(small, to, run, `",`)
	}
}
