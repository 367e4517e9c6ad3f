package adapters

import (
	"bytes"
	"slices"

	"toolnorm/adapters/internal/declaration"
	"toolnorm/chat/schema"
)

// The search does not know tags that are named like the parameters, CDATA, and messages. In these
// the text after a possible end decides whether the value ends, and visible damage puts the call in
// doubt.

// headAgain reports whether a value begins with a repetition of its own opening tags. It is for
// tags that are named like the parameter, and for messages. The value may then begin after either
// of the two.
func (tg *tagged) headAgain(p *declaration.Pattern, h head) bool {
	if !h.p.Keyed() && p != p.Family.Header {
		return false
	}
	n := tg.Space(0)
	again, a := tg.ahead.argHead(p.Family, n)
	return a == matched && again.key == h.key || tg.Has(n, "<"+h.key+">")
}

// lastOf reports whether a value ends here, and returns the number of bytes to skip. The function
// end reports the same by a look at the closing tag alone. In one case lastOf returns false
// although end returns true: all closing tags of the call follow, and later in the reply there are
// closing tags without an opening tag. The value then continues up to those.
func (tg *tagged) lastOf(p *declaration.Pattern, h head, t *schema.Type, end func() (int, bool)) (
	int, bool) {
	n, ok := end()
	if !ok {
		return n, false
	}
	at := 0
	if tg.Has(0, declaration.CDATAClose) {
		at = len(declaration.CDATAClose) + tg.Elastic(len(declaration.CDATAClose))
	}
	if step, behind := tg.ahead.tailAt(p, at); step < 0 {
		over, left := tg.ahead.behindCall(p, behind)
		if left {
			return 0, false
		}
		tg.Out.Doubt = tg.Out.Doubt || !over && tg.ahead.closedOften(p, behind)
		tg.calls.endUnsure(h.cdata && tg.ahead.cdataInside(h) ||
			tg.ahead.goesOn(p, h.from-tg.Pos, lacksOne(t, tg.Seen), behind))
	}
	return n, true
}

// simpleEnd reports whether a value ends here, and returns how many bytes of its closing tag to
// skip. It is for values in messages, and in tags that are named like the parameters; for all
// others there is valueEnd.
func (tg *tagged) simpleEnd(p *declaration.Pattern, h head, t *schema.Type) (int, bool) {
	n, a := tg.marks.literal(0, h.own)
	tg.Out.Doubt = tg.Out.Doubt || a == matched && tg.At(0) != '\n' &&
		h.closerIndented(tg.Slice(max(h.from, tg.Base), tg.Pos))
	if a == matched && tg.afterValue(p, n) {
		if p == p.Family.Header &&
			bytes.HasSuffix(bytes.TrimSpace(tg.Slice(max(h.from, tg.Pos-maxBorder), tg.Pos)),
				[]byte("|>")) {
			tg.Out.Doubt = true // this may be the mark that ends the message
		}
		tg.Out.Doubt = tg.Out.Doubt || p == p.Family.Header && tg.ahead.opensInside(p, h) &&
			tg.ahead.closedLater(h, n)
		return n, true
	}
	if a == matched && p == p.Family.Header {
		_, again := tg.marks.literal(n+tg.Elastic(n), h.own)
		tg.Out.Doubt = tg.Out.Doubt || again == matched || tg.Pos == h.from
	}
	// junk after the closer, where it cannot be text
	if a == matched {
		if end := tg.junkBehind(p, h, t, n); end > 0 {
			return end, true
		}
	}
	lead, trims := 0, h.own.Units[0].Kind == declaration.OneNewline
	if tg.At(0) == '\n' {
		if !trims {
			return 0, false
		}
		lead = 1
	}
	// the closer is cut, or missing: the text is the value
	if a == incomplete && n > lead+1 || tg.At(lead) < 0 {
		for tg.At(n) >= 0 {
			n++
		}
		tg.Unclosed = true
		// a cut, whatever the finish reason says
		tg.Out.Broken = tg.Out.Broken || a != incomplete || p == p.Family.Header
		return n, true
	}
	over := tg.closersFollow(p, lead)
	if over || (lead > 0 || !h.onLines()) && !p.Family.Args[0].Keyed() && tg.nextArg(p.Family, t,
		lead) {
		tail := string(tg.Slice(max(h.from, tg.Pos-maxBorder), tg.Pos))
		tg.Out.Doubt = tg.Out.Doubt || over && tg.ahead.closedLater(h, 0) || endsInTag(tail) ||
			endsInHalf(tail, h.own.Trimmed().Plain()) || endsInName(tail, h.own.Trimmed().Plain())
		return lead, true
	}
	tg.Out.Doubt = tg.Out.Doubt || h.p.Keyed() && tg.tagInText(h, t)
	return 0, false
}

// closerIndented reports whether the closing tag of a value on lines of its own is indented. The
// parameter text is the value up to that tag. The value's lines may then be indented as well, and
// it is not known which of their blanks belong to the layout.
func (h head) closerIndented(text []byte) bool {
	line := bytes.TrimRight(text, " \t")
	return h.onLines() && len(line) < len(text) && bytes.HasSuffix(line, []byte("\n")) &&
		(h.indent != "" || text[0] == ' ' || text[0] == '\t' ||
			bytes.ContainsRune(bytes.TrimSpace(text), '\n'))
}

// opensInside reports whether the value that ends here contains, shortly before its end, a tag that
// begins an argument and has no closing tag. The closing tag here may belong to that argument, as
// in a text about calls.
func (ta *tagsAhead) opensInside(p *declaration.Pattern, h head) bool {
	tail := ta.Slice(max(h.from, ta.Pos-maxBorder), ta.Pos)
	opener := p.Family.Args[0].Parts[0].Lit.Trimmed().Plain()
	return bytes.LastIndex(tail, []byte(opener)) > bytes.LastIndex(tail,
		[]byte(h.own.Trimmed().Plain()))
}

// closedLater reports whether the closing tag of a value occurs after offset i of the reply; h has
// the value's opening tags. If it does, a message that seems to begin inside the value may be
// quoted in the value.
func (ta *tagsAhead) closedLater(h head, i int) bool {
	n := i
	for n < i+maxTagText && ta.At(n) >= 0 {
		n++
	}
	return bytes.Contains(ta.Slice(ta.Pos+i, ta.Pos+n), []byte(h.own.Trimmed().Plain()))
}

// junkBehind returns the offset after meaningless text that begins at offset i, between the closing
// tag of a value and the next argument or the end of the call. It returns 0 if there is no such
// text, or if the closing tag may be part of the value. A comment is meaningless. So are words, if
// the schema does not allow a text as the value, or if the value's closing tag contains the name of
// the parameter. For example, MiniMax M3 wrote <user_id>1</user_id>junk<note>… (each tag after its
// token).
func (tg *tagged) junkBehind(p *declaration.Pattern, h head, t *schema.Type, i int) int {
	n := i + tg.Elastic(i)
	// <parameter=city>Oslo</parameter> // the town
	if size := tg.Comment(n); size > 0 {
		if end := n + size; tg.nextArg(p.Family, t, end+tg.Elastic(end)) ||
			tg.closersFollow(p, end+tg.Elastic(end)) {
			tg.Repaired("comments")
			return end
		}
	}
	typ := t.Prop(h.key)
	text := !typ.Known() || typ.Allows(schema.String)
	if text && h.again == "" {
		return 0
	}
	for ; n < i+maxJunk && tg.At(n) >= 0; n++ {
		if _, a := tg.marks.literal(n, h.own); a == matched {
			return 0
		}
		if tg.nextArg(p.Family, t, n) || !text && tg.closersFollow(p, n) {
			tg.Repaired("extra-closer")
			tg.Out.Doubt = tg.Out.Doubt || bytes.ContainsAny(tg.Slice(tg.Pos+i, tg.Pos+n), "<>")
			return n
		}
	}
	return 0
}

// nextArg reports whether a further argument begins at offset i, in place of the closing tag of the
// value before it. The argument must be a parameter of the tool that was not seen yet. A text such
// as "say <arg_key>n</arg_key><arg_value>3</arg_value> ok", with n a parameter, looks the same.
func (tg *tagged) nextArg(f *declaration.Family, t *schema.Type, i int) bool {
	h, a := tg.ahead.argHead(f, i)
	return a == matched && t.Has(h.key) && !slices.Contains(tg.Seen, h.key)
}

// afterValue reports whether the text at offset i can follow a value's closing tag: another
// argument, a mark such as <|im_end|>, the end of the text, or a closing tag of the call. The last
// must itself be followed by a later closing tag, a mark or the end of the text, unless it is the
// call's last one and the family has no sections.
func (tg *tagged) afterValue(p *declaration.Pattern, i int) bool {
	i += tg.Elastic(i)
	// nothing more, or the section's closer
	if tg.At(i) < 0 || tg.marks.endMark(i) {
		return true
	}
	for _, arg := range p.Family.Args {
		if tg.marks.hasKey(i, arg.Parts[0].Lit) {
			return true
		}
	}
	for k, l := range p.Close {
		end, a := tg.marks.literal(i, l)
		if a == incomplete {
			return true
		}
		if a == matched {
			return k == len(p.Close)-1 && len(p.Family.Sections) == 0 || tg.closerOrEnd(p, k+1, end)
		}
	}
	return false
}

// closerOrEnd reports whether closing tag k of the call or a later one, a mark or the end of the
// text is at offset i, after the closing tag of a value. If prose is there instead, the value has
// not ended. A comment before the next tag is skipped, because models explain what they close.
func (tg *tagged) closerOrEnd(p *declaration.Pattern, k, i int) bool {
	i = tg.ahead.pastComment(i)
	if tg.At(i) < 0 || tg.marks.endMark(i) {
		return true
	}
	// After borrowed tags any closing tag will do: it belongs to a wrapper that no family here
	// knows.
	if p.Family != tg.marks.f && tg.At(i) == '<' && tg.At(i+1) == '/' {
		return true
	}
	for ; k < len(p.Close); k++ {
		if _, a := tg.marks.literal(i, p.Close[k]); a != mismatch {
			return true
		}
	}
	return false
}

// closersFollow reports whether a value ends at offset i although its own closing tag is missing.
// It does if the closing tags of the call are there, and a mark or the end of the text follows
// them. If other text follows, these tags are part of a value that talks about tags.
func (tg *tagged) closersFollow(p *declaration.Pattern, i int) bool {
	// Beam's arguments are in a message, which its end mark ends
	if p == p.Family.Header {
		return tg.headers.messageOver(p, i)
	}
	for k := range p.Close {
		end, a := tg.marks.literal(i, p.Close[k])
		if a != matched {
			continue
		}
		for _, l := range p.Close[k+1:] {
			if n, a := tg.marks.literal(tg.ahead.pastComment(end), l); a == matched {
				end = n
			}
		}
		end += tg.Elastic(end)
		return tg.At(end) < 0 && !tg.in.lengthCut() || tg.marks.endMark(end)
	}
	return false
}

// tagInText reports whether a tag here, inside a text, is directly followed by another tag. Either
// of them may be the value's closing tag.
func (tg *tagged) tagInText(h head, t *schema.Type) bool {
	typ, token := t.Prop(h.key), tokenOf(h.p)
	if !tg.Has(0, token) ||
		t.Has(h.key) && (!typ.Known() || typ.Allows(schema.Object|schema.Array)) {
		return false
	}
	n := len(token)
	for n < len(token)+maxAside && tg.At(n) > ' ' && !tg.Has(n, token) {
		n++
	}
	between := tg.Slice(tg.Pos+len(token), tg.Pos+n)
	return !t.Has(h.key) || tg.Has(n, token) && tagBetween.Match(between)
}
