package adapters

import (
	"strings"

	"toolnorm/adapters/internal/declaration"
	"toolnorm/adapters/internal/lenient"
	"toolnorm/adapters/internal/repair"
	"toolnorm/adapters/internal/scan"
	"toolnorm/adapters/internal/toolset"
	"toolnorm/chat/schema"
)

// maxBehind bounds, in bytes, how far after arguments the end of their call is searched for.
const maxBehind = 512

// decideArguments decides the meaning of a call's arguments, by calling decide, and records the
// result in Out. The arguments begin at position from. A member of the object around the arguments,
// or a tool's name as a key, may follow them. The parameter quotes lists the family's own quotes,
// if the family has any. The parameter open says that the opening brace was left out.
func (ar *arguments) decideArguments(from int, t *toolset.Tool, quotes []lenient.Delim, open bool) {
	g := repair.Args{Type: t.Type(), Open: open, Around: byte(ar.outside.around),
		Envelope: func(key string) bool {
			return lenient.OfEnvelope(key) || ar.tools.Find(key) != nil
		}}
	for _, q := range quotes {
		g.Quotes = append(g.Quotes, q.Open)
	}
	ar.Out.Odd = ar.Out.Odd || g.Around != 0 || ar.goesOn(t.Type()) || ar.shutEarly(t.Type()) ||
		ar.leftOpen() || ar.damagedQuote(from, g.Quotes)
	ar.decide(from, 0, t.Name, g)
	ar.Out.Doubt = ar.Out.Doubt || ar.Unclosed && ar.goesOnBehind(t.Type()) || ar.closerMoved()
	// a reply that stops inside the arguments is cut, whatever its finish reason
	if ar.Unclosed && ar.At(ar.Space(0)) < 0 {
		ar.Out.Broken = true
	}
	// Between a family's own quotes any text is allowed, so all text before the call's closer
	// belongs to the argument.
	if len(quotes) > 0 && !ar.Out.Broken && !ar.ended(from) {
		ar.Out.Doubt = true
	}
}

// leftOpen reports whether the object around the arguments is not closed here: no brace and no
// comma follows. Its brace may have been read as the last brace of a text in the arguments.
func (ar *arguments) leftOpen() bool {
	if p := ar.trial.closing; p.Index("call") < 0 && p.Index("calls") < 0 && p.Index("named") < 0 {
		return false
	}
	c := ar.At(ar.Space(0))
	return c != '}' && c != ','
}

// shutEarly reports whether an object in the arguments may have been closed too early: more closing
// braces follow the arguments than their call has opened, and an object in them is followed by a
// member that the tool does not have.
func (ar *arguments) shutEarly(t *schema.Type) bool {
	more := 0
	for n := ar.Space(0); ar.At(n) == '}'; n += 1 + ar.Space(n+1) {
		more++
	}
	if p := ar.trial.closing; p.Index("call") >= 0 || p.Index("calls") >= 0 ||
		p.Index("named") >= 0 ||
		p.Markless() {
		more-- // the brace of the object around the call
	}
	if more <= 0 || len(t.Members()) == 0 {
		return false
	}
	fields := scan.Fields(ar.Out.From(0))
	for i := 1; i < len(fields); i++ {
		if before := fields[i-1]; !t.Has(fields[i].Key) && before.Value[0] == '{' &&
			t.Has(before.Key) {
			return true
		}
	}
	return false
}

// closerMoved reports whether the closing tag of the call is missing after the arguments, and is in
// a text inside the arguments instead.
func (ar *arguments) closerMoved() bool {
	p, n := ar.trial.closing, ar.Space(0)
	for end := n + maxAside; n < end && scan.IsCloser(ar.At(n)) &&
		!ar.endsCall(n); n += 1 + ar.Space(n+1) {
	}
	if len(p.Close) == 0 || ar.marks.cutCloser(p, n) {
		return false
	}
	for _, l := range p.Close[0].Pieces() {
		if _, a := ar.marks.literal(n, l); a == matched {
			return false
		}
		if mark := l.Trimmed().Plain(); len(mark) > 3 && strings.Contains(ar.Out.From(0), mark) {
			return true
		}
	}
	return false
}

// goesOnBehind reports whether arguments that lack their closing brace continue after the mark
// here, such as </tool_call>, which seemed to end them. They do if a comma, a quote or a parameter
// of the tool follows the mark, perhaps after brackets. The model may have written the mark in
// place of a comma.
func (ar *arguments) goesOnBehind(t *schema.Type) bool {
	n := ar.Space(0)
	if end, ok := ar.marks.closerAt(n, ar.trial.closing); ok {
		n = end
	} else if ar.At(n) == '<' {
		n += ar.Run(n, maxAside, func(c int) bool { return c >= 0 && c != '>' })
		if ar.At(n) < 0 {
			return false // the mark is cut
		}
		n++
	} else {
		return false
	}
	for end := n + maxAside; n < end && (scan.IsCloser(ar.At(n)) || ar.Space(n) > 0); n += max(
		ar.Space(n), 1) {
	}
	key, value := ar.KeyAt(n)
	return ar.At(n) == '"' || value > 0 && t.Has(key) ||
		ar.At(n) == ',' && !ar.endsCall(n) && ar.At(n+1+ar.Space(n+1)) != '{'
}

// ended reports whether the arguments that begin at position from are complete. They are if they
// have a closing brace, or if only closing brackets are between them and the end of the call. The
// call ends with its closing tag, that of a section, the next call, or the end of the reply.
func (ar *arguments) ended(from int) bool {
	if from < ar.Base || strings.HasSuffix(strings.TrimSpace(string(ar.Slice(from, ar.Pos))), "}") {
		return true
	}
	n := ar.Space(0)
	for scan.IsCloser(ar.At(n)) && !ar.endsCall(n) {
		n += 1 + ar.Space(n+1)
	}
	if _, ok := ar.marks.sectionEnds(n, ar.trial.closing.Family); ok || ar.endsCall(n) ||
		ar.marks.over(n) || ar.marks.cutCloser(ar.trial.closing, n) {
		return true
	}
	return ar.marks.firstMark(n, func(m *declaration.Mark) bool {
		return opensCall(m) &&
			m.Pattern.Family == ar.trial.closing.Family
	}) != nil
}

// decide decides what odd JSON, which was just read, means. It does nothing if nothing was odd. The
// JSON begins at position from of the text, and its result at offset at of Out. If the result is
// the only likely meaning, it is kept. If another meaning is the only likely one, that one replaces
// the result, unless a different text was sent already. In all other cases Out is marked as
// doubtful, or as broken if it was cut. After an oddity nothing is sent before the decision (see
// lenient.Output.Odd), so the call can still become text.
func (ar *arguments) decide(from, at int, name string, g repair.Args) {
	out := ar.Out
	if !out.Odd {
		return
	}
	if from < ar.Base || ar.Pos-from > lenient.MaxMended {
		out.Doubt = true
		return
	}
	// the part that was sent must not depend on how the text was cut into pieces
	if n := out.BeforeEnd(); !ar.out.drafting && ar.calls.mayLeave(n) {
		ar.calls.sendArgs(max(n-out.Sent(), 0))
	}
	end := ar.Pos
	defer out.UnseeEnd()()
	text := ar.damaged(from)
	if !ar.atMark(from, len(text)) && ar.in.lengthCut() &&
		(out.Broken || out.Doubt || ar.Unclosed) || ar.stopsInside(from) {
		out.Broken, out.Doubt = true, false // the rest never came
		ar.Pos = end
		return
	}
	ar.Pos = from
	g.Mark = func(i int) bool { return ar.IsMark(i) || ar.Has(i, "```") || ar.outside.argCloser(i) }
	direct := ""
	// a value in a tag ends with its tag, and was not cut
	if !out.Doubt && !out.Broken && !(ar.Unclosed && name == "") {
		direct = out.From(at)
	}
	// in a tag nothing follows a value; arguments are followed by the rest of their call
	alone := name != "" || strings.TrimSpace(text[end-from:]) == ""
	m, ok := lenient.Meaning{Args: direct}, direct != "" && alone &&
		ar.writtenAsPython(text[:end-from], direct)
	if !ok {
		m, ok = lenient.Decide(text, g, name, direct)
		// a value in a tag is all that the tag holds
		ok = ok && (name != "" || !startsElement(text[min(m.End, len(text)):]))
	}
	ar.Pos = end
	switch {
	case ok && direct != "" && lenient.SameJSON(m.Args, direct):
	case ok && out.Replace(at, m.Args):
		out.Doubt, out.Broken, ar.Unclosed = false, false, m.Open
		ar.Pos = from + m.End
	default:
		// the missing part is not known
		n := from + len(text) - ar.Pos
		over := ar.At(n) < 0 || ar.marks.cutCloser(ar.trial.closing, n)
		cut := !ar.atMark(from, len(text)) &&
			(ar.Unclosed || out.Broken || over && ar.in.lengthCut())
		out.Broken, out.Doubt = cut, !cut
	}
}

// startsElement reports whether a text begins with a possible element of a list, perhaps after
// surplus closers and commas.
func startsElement(text string) bool {
	text = strings.TrimLeft(text, " \t\r\n]},")
	// a lone quote is a surplus one
	if text != "" && scan.IsQuote(int(text[0])) {
		text = text[1:]
	}
	return text != "" && (scan.IsWord(int(text[0])) || text[0] == '[' || text[0] == '{')
}

// noticeRest records that the value that has just ended is odd, if other text follows it, as in
// ["a"], "b"]. That text may be a part of the value.
func (ar *arguments) noticeRest() {
	n := ar.Space(0)
	if c := ar.At(n); c >= 0 && c != '<' && !ar.IsMark(n) && !ar.outside.argCloser(n) {
		ar.Out.Odd = true
	}
}

// damagedQuote reports whether the arguments contain a damaged form of the family's own quote,
// which does not occur in ordinary text. It returns false if the family has no such quote.
func (ar *arguments) damagedQuote(from int, quotes []string) bool {
	if len(quotes) == 0 || len(quotes[0]) < 2 || from < ar.Base {
		return false
	}
	q := quotes[0]
	text := string(ar.Slice(from, ar.Pos))
	for i := 0; i < len(text); i++ {
		if strings.HasPrefix(text[i:], q) {
			i += len(q) - 1
		} else if !strings.HasPrefix(text[i+1:], q) && len(repair.DamagedMark(text[i:], q)) > 0 {
			// a character before a whole quote is text
			return true
		}
	}
	return false
}

// goesOn reports whether the text here, after the arguments, looks like more of the arguments. They
// may then have ended inside a text, or too early. Closing brackets and a fence are skipped. A
// quote, a backslash, or a comma before a comment or another parameter looks like more arguments.
func (ar *arguments) goesOn(t *schema.Type) bool {
	n := ar.Space(0)
	for end := n + maxAside; n < end && scan.IsCloser(ar.At(n)); n += 1 + ar.Space(n+1) {
	}
	if ar.Has(n, "```") {
		n += 3 + ar.Space(n+3)
	}
	c := ar.At(n)
	if c == ',' {
		c = ar.At(n + 1 + ar.Space(n+1))
		if c == '{' {
			at := n + 2 + ar.Space(n+1)
			if key, value := ar.KeyAt(at + ar.Space(at)); value > 0 && t.Has(key) &&
				!lenient.OfEnvelope(key) {
				return true // a member in an object of its own
			}
			c = ar.At(at)
		}
		return c >= 0 && strings.IndexByte("/#<-\\", byte(c)) >= 0
	}
	return c == '"' || c == '\\'
}

// damaged returns the text of the arguments that begin at position from, with the text after them
// up to the end of their call. A mark such as <tool_call> ends them too, unless one of their
// brackets is still open, because the mark may then be part of a text. If nothing ends them, at
// most maxBehind bytes more are returned, since brackets may follow.
func (ar *arguments) damaged(from int) string {
	n := 0
	for ; n < maxBehind && ar.At(n) >= 0; n++ {
		if ar.endsCall(n) || ar.outside.argCloser(n) || !ar.Unclosed && ar.IsMark(n) {
			break
		}
	}
	return string(ar.Slice(from, ar.Pos+n))
}

// endsCall reports whether the closing tag of the call, such as </tool_call>, is n bytes ahead. At
// the end of the text its first half is enough. A single bracket is not such a tag, because it may
// close a list in the arguments.
func (ar *arguments) endsCall(n int) bool {
	_, closer := ar.marks.closerAt(n, ar.trial.closing)
	return closer && strings.IndexByte("]})", byte(ar.At(n))) < 0 ||
		ar.marks.cutCloser(ar.trial.closing, n)
}

// atMark reports whether a mark, such as </tool_call>, or the closer of an argument is n bytes
// after position from. A text that ends without a mark may have been cut. A text that ends with a
// mark is complete, whatever is missing in it.
func (ar *arguments) atMark(from, n int) bool {
	i := from + n - ar.Pos
	return ar.IsMark(i) || ar.At(i) >= 0 && ar.outside.argCloser(i)
}
