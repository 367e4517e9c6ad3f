package adapters

import (
	"encoding/json"
	"slices"

	"toolnorm/adapters/internal/declaration"
	"toolnorm/adapters/internal/lenient"
	"toolnorm/adapters/internal/repair"
	"toolnorm/adapters/internal/scan"
	"toolnorm/chat/schema"
)

// tagValue reads the value of one tag and writes it as the value of a member. A text is sent as it
// arrives, for example a file that the model writes. So is an object or a list, from its bracket
// on. Any other value is held back until it is complete, and its key with it. It then becomes JSON
// of the type in the schema: <parameter=days>3</parameter> becomes 3. A null without quotes becomes
// null if the schema allows null. If the schema allows neither null nor a text, null or None
// removes an optional member.
func (tg *tagged) tagValue(p *declaration.Pattern, h head, t *schema.Type) {
	typ := t.Prop(h.key)
	if tg.lined(p, h) && (!tg.plan.made || tg.Pos < tg.plan.to) {
		h.own = declaration.NewLiteral("\n"+h.own.Text, "value", "")
		tg.Pos++
	}
	h.cdata = tg.openCDATA(p.Family)
	stepIn(tg, &h)
	// a CDATA mark in a family without CDATA may not be part of the value
	tg.Out.Doubt = tg.Out.Doubt || !tg.plan.made && tg.headAgain(p, h) ||
		!h.cdata && tg.Has(tg.Space(0), declaration.CDATAOpen)
	if h.cdata && tg.plan.made { // the plan does not handle CDATA
		tg.plan.to -= len(declaration.CDATAClose)
		tg.Out.Doubt = tg.Out.Doubt || tg.plan.to < tg.Pos ||
			!tg.Has(tg.plan.to-tg.Pos, declaration.CDATAClose)
	}
	if h.isText(t, typ) && !(h.wire == "" && typ.Known() && typ.Allows(schema.Null) &&
		tg.NullAhead()) {
		tg.HoldOff()
		tg.PutByte('"')
		tg.rawValue(p, h, t, true)
		tg.PutByte('"')
		return
	}
	// a list or an object streams from its bracket on
	if n := tg.Space(0); !h.cdata && h.isJSON(typ) && tg.jsonOpens(n, typ) {
		tg.Pos += n
		tg.HoldOff()
		from, at := tg.Pos, tg.Out.Written()
		tg.calls.argsAt = from
		doubt := tg.Out.Doubt // the doubt of an earlier value, which this value does not remove
		tg.Out.Doubt, tg.Unclosed = false, false
		tg.Value(typ)
		tg.args.noticeRest()
		end := tg.Pos
		tg.args.decide(from, at, "", repair.Args{Type: typ})
		tg.Out.Doubt = tg.Out.Doubt || doubt
		tg.written.value(h.key, !tg.Out.Odd || from >= tg.Base && end <= tg.Pos &&
			tg.args.writtenAsPython(string(tg.Slice(from, end)), tg.Out.From(at)))
		tg.calls.argsAt = -1
		tg.skipValue(p, h, t, tg.Out.Odd && !tg.Out.Doubt)
		return
	}
	at := tg.Out.Written()
	tg.rawValue(p, h, t, false)
	text := string(tg.Held(at))
	tg.noticeValue(h, text, typ)
	tg.Out.Doubt = tg.Out.Doubt || h.p.Keyed() && unsureTree(h.p, text, typ)
	if lenient.IsNull(text) && !typ.Allows(schema.String) && tg.Omitted(t, h.key) {
		tg.TakeBack(h.at)
		tg.Seen = tg.Seen[:len(tg.Seen)-1]
	} else {
		tg.TakeBack(at)
		tg.Put(h.read(text, typ))
	}
	tg.HoldOff()
}

// unsureTree reports whether a value that consists of nested tags may have another meaning, because
// its tags do not match or a word in it may be a literal such as true.
func unsureTree(p *declaration.Pattern, text string, typ *schema.Type) bool {
	var v any
	_ = json.Unmarshal([]byte(treeOf(p, text).json(typ)), &v)
	return oddTree(p, text) || holdsWord(v, typ)
}

// stepIn skips the blanks of the layout before a value, and records in h where the value begins.
func stepIn(tg *tagged, h *head) {
	h.line = tg.ahead.before(0) == '\n'
	if tg.ahead.indentedLine(h) {
		tg.written.slip = true
		tg.Pos += len(h.indent)
	} else {
		tg.Out.Doubt = tg.Out.Doubt || tg.ahead.laidOut(h)
	}
	h.from = tg.Pos
}

// lined reports whether a value begins on the line after its tag although the tag's family writes
// values on the line of the tag. It returns false for the family that was configured. Qwen3-Coder
// writes <parameter=city>\nParis\n</parameter>. If the family is not known, the tag may be taken
// for another family's, but the value must not become "\nParis\n".
func (tg *tagged) lined(p *declaration.Pattern, h head) bool {
	return p.Family != tg.marks.f && tg.At(0) == '\n' && !h.onLines()
}

// onLines reports whether the family writes each value on lines of its own, between a line with the
// opening tag and a line with the closing tag. In such a family a newline precedes each tag, and a
// tag in the middle of a line is quoted.
func (h head) onLines() bool { return h.own.Units[0].Kind == declaration.OneNewline }

// isText reports whether the value is a string, so that its text is used as it is. It is if the tag
// gives the type string and the schema allows it, or if the tag gives no type and the schema allows
// only strings. DSML's string="true" and Kimi K3's type="string" give the type in the tag. The tag
// wins over the schema: "42" stays a text. A parameter that is not in the schema is a text. Texts
// of an enum are still read by the schema, which corrects their spelling.
func (h head) isText(t, typ *schema.Type) bool {
	switch h.wire {
	// string="true" (DSML), type="string" (Kimi K3)
	case "true", "string", "str":
		return !typ.Known() || typ.Allows(schema.String) && typ.Enum() == nil
	case "":
		return len(t.Members()) > 0 && !t.Has(h.key) || typ.Only(schema.String|schema.Null) &&
			typ.Allows(schema.String) && typ.Enum() == nil
	}
	return false
}

// isJSON reports whether the value can only be an object or a list. Such a value can stream, since
// it cannot become anything else.
func (h head) isJSON(typ *schema.Type) bool {
	return h.wire != "true" && typ.Only(schema.Object|schema.Array)
}

// jsonOpens reports whether an object or a list that the schema allows opens at offset i and looks
// like JSON after its bracket. Such a value streams from there. {not json and [see above] do not;
// they are held back and stay texts. Only one byte after the bracket is examined, so a value that
// streams can still turn out to be broken; missing brackets are added then.
func (tg *tagged) jsonOpens(i int, typ *schema.Type) bool {
	n := i + 1 + tg.Space(i+1)
	c := tg.At(n)
	switch tg.At(i) {
	case '{':
		return typ.Allows(schema.Object) && c == '"'
	case '[':
		return typ.Allows(schema.Array) && (c == '"' || c == '{' || c == '[' || c == '-' ||
			c >= '0' && c <= '9')
	}
	return false
}

// skipValue drops the text between a value that was read and its closing tag, and skips that tag. A
// surplus bracket or comma in the text means nothing. Other text may be further elements of the
// value, as in ["a"], "b"], and marks the call as doubtful, unless the parameter decided is true,
// which means that the caller knows of no further elements. If the reply ends before the tag, the
// call is marked as broken.
func (tg *tagged) skipValue(p *declaration.Pattern, h head, t *schema.Type, decided bool) {
	for tg.At(0) >= 0 {
		if n, ends := tg.valueEnd(p, h, t, nil); ends {
			tg.Pos += n
			return
		}
		// ["a", "b"]]</parameter>
		if c := tg.At(0); !scan.IsSpace(c) {
			tg.Repaired("extra-closer")
			// these may be elements of the value
			tg.Out.Doubt = tg.Out.Doubt || !decided && !scan.IsCloser(c) && c != ',' && c != ';'
		}
		tg.Pos++
	}
	tg.Out.Broken = true // the text ends inside it
}

// read returns the raw text of a tag as JSON, by the schema. If the value may consist of tags in
// tags, these are read first, because they show lists and objects that the plain text does not.
func (h head) read(text string, t *schema.Type) string {
	// <items><item>…
	if h.p.Keyed() {
		return treeOf(h.p, text).json(t)
	}
	if list, ok := listOf(text, t); ok {
		return list
	}
	value := lenient.FromText(text, t)
	if t.Only(schema.Object|schema.Array|schema.Null) && !lenient.Fits(value, t) &&
		!json.Valid([]byte(text)) {
		if meant, ok := lenient.FromDamaged(text, h.key, t); ok {
			return meant
		}
	}
	return value
}

// rawValue reads a value up to its end, and writes its bytes. If escape is true, they are escaped
// for a JSON string. Values are data: no entity is decoded, and white space is kept, except for the
// newlines that the declaration has around values. Reading stops only at the first bytes of closing
// tags, and the rest is copied in pieces. If the text ends in the value, the value is cut, whatever
// the finish reason is.
func (tg *tagged) rawValue(p *declaration.Pattern, h head, t *schema.Type, escape bool) {
	depth, inside := 0, false
	first, at := tg.At(0), tg.Out.Written()
	ends := func(c int) (int, bool) {
		// a value of nested tags ends where its own tag closes, not at an inner tag of that name
		if !escape {
			depth, inside = tg.nested(h, depth)
		}
		if inside || c != '\n' && !tg.plan.made && !dressesIn(tg.ahead).mayBeTag(p.Family, 0) {
			return 0, false
		}
		before := func() string { return string(tg.Held(at)) }
		if escape {
			before = nil
		}
		n, over := tg.valueEnd(p, h, t, before)
		if over && escape {
			tg.noticeText(h, first)
		}
		return n, over
	}
	if !tg.args.rawText(p.Family.ValueStops, escape, ends) {
		tg.Out.Broken = true
		return
	}
	tg.noticeEnd(h)
}

// valueEnd reports whether the value ends here, and returns how many bytes of its closing tag to
// skip. If the text is as its family writes it, this is decided at once. If it is not, and a tag of
// the call may be here, the rest of the reply decides (see planTags). The function before returns
// the part that was read of a value that is held back. It is nil if that part does not matter.
func (tg *tagged) valueEnd(p *declaration.Pattern, h head, t *schema.Type, before func() string) (
	int, bool) {
	switch {
	case tg.plan.made:
		over := tg.plan.to >= 0 && tg.Pos >= tg.plan.to
		tg.Out.Doubt = tg.Out.Doubt || over &&
			h.closerIndented(tg.Slice(max(h.from, tg.Base), tg.Pos))
		return 0, over
	case h.cdata:
		return tg.lastOf(p, h, t, func() (int, bool) { return tg.cdataEnd(p, h) })
	case h.p.Keyed():
		return tg.lastOf(p, h, t, func() (int, bool) { return tg.simpleEnd(p, h, t) })
	case p == p.Family.Header:
		return tg.simpleEnd(p, h, t)
	}
	n, a := tg.marks.literal(0, h.own)
	if a == mismatch && h.onLines() && tg.At(0) == '\n' {
		// blanks before a closer on its own line are layout
		if blanks := tg.Run(1, maxIndent, func(c int) bool {
			return c == ' ' ||
				c == '\t'
		}); blanks > 0 {
			n, a = tg.marks.literal(1+blanks, h.own.Trimmed())
			tg.written.slip = tg.written.slip || a == matched
		}
	}
	if a == matched && tg.surelyBehind(p, h, t, n) {
		return n, true
	}
	lead := 0
	if tg.At(0) == '\n' {
		// a closer that is missing takes line breaks along
		if lead = 1; tg.At(1) == '\n' {
			lead = 2
		}
		if !dressesIn(tg.ahead).mayBeTag(p.Family, lead) {
			return 0, false
		}
		if _, own := tg.marks.literal(lead, h.own); own == matched && (lead == 2 || !h.onLines()) {
			return 0, false
		}
	}
	if a != matched {
		s := tagSearch{d: tg.ahead, f: tg.tagForms(p, t)}
		if _, ok := s.tokenAt(lead); !ok {
			return 0, false
		}
	}
	tg.planTags(p, h, t, before)
	return 0, tg.plan.to >= 0 && tg.Pos >= tg.plan.to
}

// maxIndent bounds the blanks before a closer, in bytes.
const maxIndent = 16

// surelyBehind reports whether the text at offset i, after the closing tag of a value, shows that
// the value has ended. That is so if the text begins a parameter that has no value yet, or has all
// closing tags of the call. It returns false if closing tags without an opening tag come later,
// because the value then goes up to them. If the rest is not a series of whole calls, the call is
// marked as doubtful.
func (tg *tagged) surelyBehind(p *declaration.Pattern, h head, t *schema.Type, i int) bool {
	i += tg.Elastic(i)
	if next, a := tg.ahead.argHead(p.Family, i); a != mismatch {
		return a == incomplete || (t.Has(next.key) || len(t.Members()) == 0) &&
			!slices.Contains(tg.Seen, next.key)
	}
	for _, l := range p.Close {
		n, a := tg.marks.literal(i+tg.Elastic(i), l)
		if a == incomplete && tg.At(i+tg.Elastic(i)) >= 0 {
			return true
		}
		if a != matched {
			return false
		}
		i = n
	}
	over, left := tg.ahead.behindCall(p, i)
	if len(p.Close) == 0 || left || scan.IsWord(tg.At(i)) || !over && tg.ahead.valueBehind(p, i) {
		return false
	}
	tg.calls.endUnsure(tg.ahead.goesOn(p, h.from-tg.Pos, lacksOne(t, tg.Seen), i))
	return true
}

// lacksOne reports whether a required parameter has no value. The call may then continue.
func lacksOne(t *schema.Type, seen []string) bool {
	return slices.ContainsFunc(t.Required(), func(key string) bool {
		return !slices.Contains(seen, key)
	})
}
