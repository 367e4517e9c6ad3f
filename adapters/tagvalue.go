package adapters

import (
	"slices"

	"toolnorm/adapters/internal/declaration"
	"toolnorm/adapters/internal/lenient"
	"toolnorm/adapters/internal/repair"
	"toolnorm/adapters/internal/scan"
	"toolnorm/chat/schema"
)

// tagValue reads the value of one tag. A string streams; anything else waits until it is whole and becomes what the schema
// says. The hold of the key ends where a streaming value begins, else behind the value.
// A file that is written streams as its text; <parameter=days>3</parameter> must become 3, and can only be read when all of it
// is there. A raw null counts where the schema allows null; "None" for an optional integer leaves the member out.
func (d *decoder) tagValue(p *declaration.Pattern, h head, t *schema.Type) {
	typ := t.Prop(h.key)
	if d.lined(p, h) && (!d.plan.made || d.Pos < d.plan.to) {
		h.own = declaration.NewLiteral("\n"+h.own.Text, "value", "")
		d.Pos++
	}
	h.cdata = d.openCDATA(p.Family)
	if h.isText(t, typ) && !(h.wire == "" && typ.Known() && typ.Allows(schema.Null) && d.NullAhead()) {
		d.HoldOff()
		d.PutByte('"')
		d.rawValue(p, h, t, true)
		d.PutByte('"')
		return
	}
	// a list or an object streams from its bracket on
	if n := d.Space(0); !h.cdata && h.isJSON(typ) && d.jsonOpens(n, typ) {
		d.Pos += n
		d.HoldOff()
		from, at := d.Pos, d.Out.Written()
		d.argsAt = from
		d.Value(typ)
		d.decide(from, at, "", repair.Args{Type: typ})
		d.argsAt = -1
		d.skipValue(p, h, t)
		return
	}
	at := d.Out.Written()
	d.rawValue(p, h, t, false)
	text := string(d.Held(at))
	if lenient.IsNull(text) && !typ.Allows(schema.String) && d.Omitted(t, h.key) {
		d.TakeBack(h.at)
		d.Seen = d.Seen[:len(d.Seen)-1]
	} else {
		d.TakeBack(at)
		d.Put(h.read(text, typ))
	}
	d.HoldOff()
}

// lined reports whether a value stands on lines of its own in tags that are borrowed: the model's family writes no such
// tags, another one does, and beside the value. Without its own template or name such a model is read by the marks alone,
// and <parameter=city>\nParis\n</parameter>, which is how Qwen3-Coder writes a city, must not become "\nParis\n".
func (d *decoder) lined(p *declaration.Pattern, h head) bool {
	return p.Family != d.f && d.At(0) == '\n' && !h.onLines()
}

// onLines says whether the family writes values on lines of their own. A further argument in place of a closer then has a newline in
// front, and a tag in the middle of a line is quoted.
func (h head) onLines() bool { return h.own.Units[0].Kind == declaration.OneNewline }

// isText says whether the value is its own text: the tag says so and the schema allows it, or the tag says nothing and the
// schema allows nothing else.
// DSML's string="true" and Kimi K3's type="string" say it on the wire, and the wire wins: "42" stays a text. Elsewhere the schema
// decides, and a parameter that it does not name is a text.
// Texts of an enum are read by the schema all the same, which puts their spelling right.
func (h head) isText(t, typ *schema.Type) bool {
	switch h.wire {
	// string="true" (DSML), type="string" (Kimi K3)
	case "true", "string", "str":
		return !typ.Known() || typ.Allows(schema.String) && typ.Enum() == nil
	case "":
		return len(t.Members()) > 0 && !t.Has(h.key) || typ.Only(schema.String|schema.Null) && typ.Allows(schema.String) && typ.Enum() == nil
	}
	return false
}

// isJSON says whether the value can only be an object or a list.
// Such a value can stream, since nothing else can come of it.
func (h head) isJSON(typ *schema.Type) bool {
	return h.wire != "true" && typ.Only(schema.Object|schema.Array)
}

// jsonOpens says whether an object or a list that the schema allows opens at offset i, and what it holds looks like JSON.
// From there on it streams.
// {not json and [see above] open like JSON too; they wait and stay texts.
// It looks at one byte behind the bracket, so a value that streams can still turn out to be broken: closers are then added.
func (d *decoder) jsonOpens(i int, typ *schema.Type) bool {
	n := i + 1 + d.Space(i+1)
	c := d.At(n)
	switch d.At(i) {
	case '{':
		return typ.Allows(schema.Object) && c == '"'
	case '[':
		return typ.Allows(schema.Array) && (c == '"' || c == '{' || c == '[' || c == '-' || c >= '0' && c <= '9')
	}
	return false
}

// skipValue steps over what stands behind a complete value, up to where the value of the tag ends.
// A bracket too many or a comma means nothing there. Other things may be further elements, ["a"], "b"], and are a doubt.
// What is skipped is not kept: the value was complete in front of it.
func (d *decoder) skipValue(p *declaration.Pattern, h head, t *schema.Type) {
	for d.At(0) >= 0 {
		if n, ends := d.valueEnd(p, h, t, nil); ends {
			d.Pos += n
			return
		}
		// ["a", "b"]]</parameter>
		if c := d.At(0); !scan.IsSpace(c) {
			d.Repaired("extra-closer")
			d.Out.Doubt = d.Out.Doubt || !scan.IsCloser(c) && c != ',' && c != ';' // elements of the value, perhaps
		}
		d.Pos++
	}
	d.Out.Broken = true // the text ends inside it
}

// read turns the raw text of a tag into JSON, by the schema.
// A nested value is read as tags first: what they say is more than their text.
func (h head) read(text string, t *schema.Type) string {
	// <items><item>…
	if h.p.Keyed() {
		return treeOf(h.p, text).json(t)
	}
	if list, ok := listOf(text, t); ok {
		return list
	}
	return lenient.FromText(text, t)
}

// rawValue reads a value up to where it ends, and writes its bytes, escaped for a JSON string or as they are.
// Values are data: no entity is decoded, and white space counts but for the newlines that the declaration shows. It stops at the
// first bytes of closers only, the rest is copied in pieces. A value that the end of the text ends is cut, whatever the reply
// says of its end.
func (d *decoder) rawValue(p *declaration.Pattern, h head, t *schema.Type, escape bool) {
	depth, inside := 0, false
	at := d.Out.Written()
	ends := func(c int) (int, bool) {
		// a value of nested tags is over where its own tag closes, not an inner one of that name
		if !escape {
			depth, inside = d.nested(h, depth)
		}
		if inside || c != '\n' && !p.Family.CloseBytes[c] && !d.plan.made {
			return 0, false
		}
		before := func() string { return string(d.Held(at)) }
		if escape {
			before = nil
		}
		return d.valueEnd(p, h, t, before)
	}
	if !d.rawText(p.Family.ValueStops, escape, ends) {
		d.Out.Broken = true
	}
}

// valueEnd says whether the value ends here, and how many bytes of its closer to step over. Where the text is as its family
// writes it, that is seen at once; anything else that looks like one of the call's tags is decided by what follows, to the
// end of the reply (planTags). before is what was read of a value that waits; nil: nothing of it matters.
func (d *decoder) valueEnd(p *declaration.Pattern, h head, t *schema.Type, before func() string) (int, bool) {
	switch {
	case d.plan.made:
		return 0, d.plan.to >= 0 && d.Pos >= d.plan.to
	case h.cdata:
		return d.lastOf(p, func() (int, bool) { return d.cdataEnd(p, h) })
	case h.p.Keyed():
		return d.lastOf(p, func() (int, bool) { return d.simpleEnd(p, h, t) })
	case p == p.Family.Header:
		return d.simpleEnd(p, h, t)
	}
	n, a := d.literal(0, h.own)
	if a == matched && d.surelyBehind(p, t, n) {
		return n, true
	}
	lead := 0
	if d.At(0) == '\n' {
		// a closer that is missing takes line breaks along
		if lead = 1; d.At(1) == '\n' {
			lead = 2
		}
		if !p.Family.CloseBytes[max(d.At(lead), 0)] {
			return 0, false
		}
		if _, own := d.literal(lead, h.own); own == matched && (lead == 2 || !h.onLines()) {
			return 0, false
		}
	}
	if a != matched {
		s := tagSearch{d: d, f: d.tagForms(p, t)}
		if _, ok := s.tokenAt(lead); !ok {
			return 0, false
		}
	}
	d.planTags(p, h, t, before)
	return 0, d.plan.to >= 0 && d.Pos >= d.plan.to
}

// The search does not know tags that are named like the parameters, nor CDATA. For these the rule of the last closers holds alone.

// lastOf is an end of a value, unless all closers of the call stand there and are left over once more later.
func (d *decoder) lastOf(p *declaration.Pattern, end func() (int, bool)) (int, bool) {
	n, ok := end()
	if !ok {
		return n, false
	}
	at := 0
	if d.Has(0, declaration.CDATAClose) {
		at = len(declaration.CDATAClose) + d.Elastic(len(declaration.CDATAClose))
	}
	if step, behind := d.tailAt(p, at); step < 0 {
		if _, left := d.behindCall(p, behind); left {
			return 0, false
		}
	}
	return n, true
}

// surelyBehind says whether what stands at offset i, behind the closer of a value, shows that the value has ended: the
// whole head of a parameter that the tool has and that is not there yet, or all closers of the call, and nothing later that
// takes them back.
func (d *decoder) surelyBehind(p *declaration.Pattern, t *schema.Type, i int) bool {
	i += d.Elastic(i)
	if h, a := d.argHead(p.Family, i); a != mismatch {
		return a == incomplete || (t.Has(h.key) || len(t.Members()) == 0) && !slices.Contains(d.Seen, h.key)
	}
	for _, l := range p.Close {
		n, a := d.literal(i+d.Elastic(i), l)
		if a == incomplete && d.At(i+d.Elastic(i)) >= 0 {
			return true
		}
		if a != matched {
			return false
		}
		i = n
	}
	_, left := d.behindCall(p, i)
	return len(p.Close) > 0 && !left
}

// simpleEnd is valueEnd for the values of tags that are named like the parameters, and in messages.
func (d *decoder) simpleEnd(p *declaration.Pattern, h head, t *schema.Type) (int, bool) {
	n, a := d.literal(0, h.own)
	if a == matched && d.afterValue(p, n) {
		return n, true
	}
	// junk behind the closer, where it cannot be text
	if a == matched {
		if end := d.junkBehind(p, h, t, n); end > 0 {
			return end, true
		}
	}
	lead, trims := 0, h.own.Units[0].Kind == declaration.OneNewline
	if d.At(0) == '\n' {
		if !trims {
			return 0, false
		}
		lead = 1
	}
	// the closer is cut, or there is none: what is there is the value
	if a == incomplete && n > lead+1 || d.At(lead) < 0 {
		for d.At(n) >= 0 {
			n++
		}
		d.Unclosed = true
		return n, true
	}
	if d.closersFollow(p, lead) || (lead > 0 || !h.onLines()) && !p.Family.Args[0].Keyed() && d.nextArg(p.Family, t, lead) {
		return lead, true
	}
	return 0, false
}

// junkBehind is the offset behind what means nothing at offset i, where the closer of a value ends, and in front of the next
// argument or the call's closers: a comment, or words that cannot belong to the value, since it is no text or its closer is
// named like it. It is 0 where the closer may be part of the value.
// MiniMax M3 wrote <user_id>1</user_id>junk<note>… (each tag behind its token): the junk and the next parameter landed in user_id.
func (d *decoder) junkBehind(p *declaration.Pattern, h head, t *schema.Type, i int) int {
	n := i + d.Elastic(i)
	// <parameter=city>Oslo</parameter> // the town
	if size := d.Comment(n); size > 0 {
		if end := n + size; d.nextArg(p.Family, t, end+d.Elastic(end)) || d.closersFollow(p, end+d.Elastic(end)) {
			d.Repaired("comments")
			return end
		}
	}
	typ := t.Prop(h.key)
	text := !typ.Known() || typ.Allows(schema.String)
	if text && h.again == "" {
		return 0
	}
	for ; n < i+maxJunk && d.At(n) >= 0; n++ {
		if _, a := d.literal(n, h.own); a == matched {
			return 0
		}
		if d.nextArg(p.Family, t, n) || !text && d.closersFollow(p, n) {
			d.Repaired("extra-closer")
			return n
		}
	}
	return 0
}

// nextArg says whether the head of a further argument stands at offset i in place of the value's own closer: a parameter of
// the tool that was not seen yet.
// "say <arg_key>n</arg_key><arg_value>3</arg_value> ok", with n a parameter, cannot be told from it by anybody.
func (d *decoder) nextArg(f *declaration.Family, t *schema.Type, i int) bool {
	h, a := d.argHead(f, i)
	return a == matched && t.Has(h.key) && !slices.Contains(d.Seen, h.key)
}

// afterValue says whether what stands at offset i can follow a value's closer: another argument, a closer of the call that
// is followed in turn, a mark, or the end of the text.
// In a family with a section its last closer needs something behind it, too; in one without, the last closer ends all.
func (d *decoder) afterValue(p *declaration.Pattern, i int) bool {
	i += d.Elastic(i)
	// nothing more, or the section's closer
	if d.At(i) < 0 || d.endMark(i) {
		return true
	}
	for _, arg := range p.Family.Args {
		if d.hasKey(i, arg.Parts[0].Lit) {
			return true
		}
	}
	for k, l := range p.Close {
		end, a := d.literal(i, l)
		if a == incomplete {
			return true
		}
		if a == matched {
			return k == len(p.Close)-1 && len(p.Family.Sections) == 0 || d.closerOrEnd(p, k+1, end)
		}
	}
	return false
}

// closerOrEnd says whether a closer from the k-th on, a mark or the end of the text stands behind offset i.
// Prose behind a closer says that both are part of a value.
// A comment between two closers counts as white space, as models explain what they close.
func (d *decoder) closerOrEnd(p *declaration.Pattern, k, i int) bool {
	i = d.pastComment(i)
	if d.At(i) < 0 || d.endMark(i) {
		return true
	}
	// Behind borrowed tags any closing tag will do: it is the wrapper's, which no family here knows.
	if p.Family != d.f && d.At(i) == '<' && d.At(i+1) == '/' {
		return true
	}
	for ; k < len(p.Close); k++ {
		if _, a := d.literal(i, p.Close[k]); a != mismatch {
			return true
		}
	}
	return false
}

// pastComment is the offset behind white space, and perhaps a comment, at offset i.
// </parameter> <!-- or --> // the town </function>: models explain what they close, and a closer behind it is one all the same.
func (d *decoder) pastComment(i int) int {
	i += d.Elastic(i)
	if n := d.Comment(i); n > 0 {
		i += n + d.Elastic(i+n)
	}
	return i
}

// closersFollow says whether the rest of the call's closers and then a mark or the end of the text stand at offset i: the
// value's own closer was left out.
// Behind the last closer only a mark or the end may stand, or a text about the tags would be cut there.
func (d *decoder) closersFollow(p *declaration.Pattern, i int) bool {
	// Beam's arguments stand in a message, which its end mark ends
	if p == p.Family.Header {
		return d.messageOver(p, i)
	}
	for k := range p.Close {
		end, a := d.literal(i, p.Close[k])
		if a != matched {
			continue
		}
		for _, l := range p.Close[k+1:] {
			if n, a := d.literal(d.pastComment(end), l); a == matched {
				end = n
			}
		}
		end += d.Elastic(end)
		return d.At(end) < 0 && !d.lengthCut() || d.endMark(end)
	}
	return false
}

// endMark says whether a mark that ends or begins a call or a turn stands at offset i.
// Marks of every family count: borrowed tags end where the other family's marks do.
func (d *decoder) endMark(i int) bool {
	return d.firstMark(i, func(m *declaration.Mark) bool {
		return m.Kind >= declaration.SectionOpen && m.Kind <= declaration.TurnMark || m.Kind == declaration.CloseMark && len(m.Pattern.Family.Sections) > 0
	}) != nil
}
