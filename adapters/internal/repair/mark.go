package repair

import (
	"strings"
	"unicode/utf8"

	"toolnorm/chat"
	"toolnorm/chat/schema"
)

// ownQuote returns the length of the model family's own quotation mark at offset i, or 0 if there
// is none.
func (g *look) ownQuote(i int) int {
	for _, d := range g.delims[len(delims):] {
		if g.has(i, d.open) {
			return len(d.open)
		}
	}
	return 0
}

// damagedEnd reads a damaged form of the model family's own quotation mark, such as <|" for <|"|>.
// The parameter sizes has the possible lengths of the damaged form. It adds to the search the
// readings in which the mark ends the string, and one in which it is text.
func (x *stringReader) damagedEnd(sizes []int) {
	ended := false
	for _, size := range sizes {
		to := x.n.behind(x.i + size)
		ends := x.likelyEnd(x.i+size, x.n.Stack) == 2
		if x.text[x.i] != x.d.open[0] {
			to.Flags |= unsure // the text before it may belong to it
		}
		ended = ended || ends
		x.step(pick(ends, small, likely), to, x.run, `"`)
	}
	_, size := utf8.DecodeRuneInString(x.text[x.i:])
	x.step(pick(ended, slip, small), x.n.stay(x.i+size), x.run,
		string(chat.AppendEscaped(nil, x.text[x.i:x.i+size])))
}

// damagedQuote returns the possible lengths of a damaged form of the model family's own quotation
// mark, such as <|" for <|"|>, at offset i. It returns nil if there is none, or if the mark is
// there undamaged.
func (g *look) damagedQuote(i int, d *delim) []int {
	if !d.raw || len(d.open) < 2 || g.has(i, d.open) {
		return nil
	}
	return DamagedMark(g.text[i:], d.open)
}

// DamagedMark returns the possible lengths of a damaged form of mark, a tag such as <tool_call>, at
// the beginning of a text. It may have one error: a missing, surplus or wrong character, two
// swapped characters, or brackets of another kind. The result is nil if there is no such form, or
// if the tag is there undamaged.
func DamagedMark(text, mark string) (sizes []int) {
	if text == "" || strings.HasPrefix(text, mark) {
		return nil
	}
	inner := mark[1 : len(mark)-1]
	for _, angles := range [...][2]string{{"&lt;", "&gt;"}, {"＜", "＞"}, {"[", "]"}} {
		if form := angles[0] + inner + angles[1]; strings.HasPrefix(text, form) {
			return []int{len(form)}
		}
	}
	// in here<escape> the tag is not damaged
	if text[0] != mark[0] && text[0] != mark[1] || strings.HasPrefix(text[1:], mark) {
		return nil
	}
	for size := len(mark) - 1; size <= min(len(mark)+1, len(text)); size++ {
		if oneSlip(text[:size], mark) {
			sizes = append(sizes, size)
		}
	}
	return sizes
}

// oneSlip reports whether a text differs from mark only by one surplus, missing or wrong character,
// or by two swapped ones.
func oneSlip(text, mark string) bool {
	front, back := 0, 0
	for front < min(len(text), len(mark)) && text[front] == mark[front] {
		front++
	}
	for back < min(len(text), len(mark))-front && text[len(text)-1-back] == mark[len(mark)-1-back] {
		back++
	}
	a, b := text[front:len(text)-back], mark[front:len(mark)-back]
	return len(a) <= 1 && len(b) <= 1 || len(a) == 2 && len(b) == 2 && a[0] == b[1] && a[1] == b[0]
}

// QuotedText reports whether a text that begins with three quotation marks may be a quoted text
// whose own marks are doubled, as in CSV. For example, """x""" is x in Python, but in CSV it is x
// with its quotation marks. A line break, an escaped or a single quotation mark shows that it is
// Python, so the result is false. It is also false if the closing three marks are missing.
func QuotedText(text string) bool {
	inner, _, ok := strings.Cut(text[3:], `"""`)
	return ok && !strings.ContainsAny(inner, "\n\r") && !strings.Contains(inner, `\"`) &&
		!strings.Contains(strings.ReplaceAll(inner, `""`, ""), `"`)
}

// quotedText reports whether the delimiter d at the offset at may be three quotation marks as in
// CSV: one mark around the string, and a doubled one that belongs to the text (see [QuotedText]).
// The schema must allow any text there.
func (x *valueReader) quotedText(d *delim, at int) bool {
	return d.open == `"""` && !x.python && x.t.Allows(schema.String) && x.t.Enum() == nil &&
		QuotedText(x.text[at:])
}
