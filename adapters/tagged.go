package adapters

import (
	"strings"

	"toolnorm/adapters/internal/declaration"
	"toolnorm/adapters/internal/lenient"
	"toolnorm/adapters/internal/toolset"
	"toolnorm/chat"
	"toolnorm/chat/schema"
)

// tagged reads calls whose arguments are tags.
type tagged struct {
	*lenient.Reader
	in      *input
	marks   *marks
	trial   *trial
	calls   *calls
	closers *closers
	args    *arguments
	headers *headers
}

// read reads a call whose arguments are tags, and its closers.
// Many families write <tag=key>value</tag> of some kind: they differ in marks, and in who says a value's type.
func (tg *tagged) read(p *declaration.Pattern, t *toolset.Tool, id string) match {
	a := tg.taggedBody(p, t, id)
	if a == committed {
		tg.calls.endCall(tg.closers.skipClosers(p))
	}
	return a
}

// taggedBody reads arguments that are tags, or one JSON object in their place, and leaves the call open. It commits at the
// first complete head of an argument, at a brace, or at a closer.
// Poolside's and K2 Horizon's models put JSON between the tags of a call, DeepSeek V3.2 in place of its parameters. A name in front
// of which a mark stood is not enough to commit: "<tool_call>get_weather is the tag" is prose.
func (tg *tagged) taggedBody(p *declaration.Pattern, t *toolset.Tool, id string) match {
	n := tg.loneKeys(p, tg.Elastic(0))
	// <tool_call>get_weather⏎{"city": "Oslo"}</tool_call>
	if tg.At(n) == '{' {
		tg.Pos += n
		a := tg.args.read(t, id, nil)
		if a == committed {
			tg.closers.extraClosers("}")
		}
		return a
	}
	// <tool_call>get_time</tool_call>: no arguments is legal
	if _, ok := tg.marks.closerAt(n, p); ok {
		tg.Pos += n
		return tg.calls.commitWith(t, id, "{}")
	}
	if _, a := tg.argHead(p.Family, n); a != matched {
		// <tool_call>get_weather⏎<arg_k: cut, and no mention
		tg.trial.evidence = tg.trial.evidence || a == incomplete
		return a
	}
	tg.calls.commit(t, id)
	tg.tags(p, t.Type())
	return committed
}

// head is the opening of one tagged argument.
// Two of its fields are for the way back: what was written of the member can be removed from at on, when its value is null
// and may be left out.
type head struct {
	p     *declaration.Pattern
	own   declaration.Literal // the closer of its value
	again string              // the tag once more, where it may nest; "" elsewhere
	key   string
	wire  string // what the tag says of the value's type; "" when it says nothing
	end   int    // offset behind it: where the value begins
	cdata bool   // the value stands in CDATA
	at    int    // position in the arguments where the member begins
	odd   bool   // the key holds what no name does
}

// argHead reads the head of an argument at offset i.
// An incomplete head is remembered, as the text may have ended inside the one that was meant.
// The first pattern that matches counts: families with two spellings list the one with more in it first, as Kimi K3's with type.
func (tg *tagged) argHead(f *declaration.Family, i int) (head, match) {
	best := mismatch
	for _, p := range f.Args {
		h, a := tg.headBy(p, i)
		if a == matched {
			return h, matched
		}
		if a == incomplete {
			best = incomplete
		}
	}
	return head{}, best
}

// headBy reads a head by one pattern: literals with a key, perhaps a type, between them.
// <parameter=city>, <arg_key>city</arg_key><arg_value>, <|open|>argument key="city" type="string"<|sep|>: parts alternate, literal
// and hole, so k goes in steps of two. Keys hold blanks and signs, as everything up to the next literal is the key.
func (tg *tagged) headBy(p *declaration.Pattern, i int) (head, match) {
	h := head{p: p, own: p.Parts[len(p.Parts)-1].Lit}
	for k := 0; ; k += 2 {
		end, a := tg.seam(i, p, k)
		if a != matched {
			return head{}, a
		}
		hole := p.HoleAt(k + 1)
		if hole == "value" {
			// tags named like the parameter close by that name, and may nest
			if h.end = end; p.Keyed() {
				h.own, h.again = declaration.Exactly(p.CloseTag(h.key)), p.OpenTag(h.key)
			}
			return h, matched
		}
		end += tg.Space(end)
		i = tg.upToSeam(end, p, k+2)
		if i <= end {
			return head{}, incompleteAtEnd(i, mismatch)
		}
		word := strings.Trim(string(tg.Slice(tg.Pos+end, tg.Pos+i)), "\"' \t\r\n")
		// ]<]minimax[>[</city>: a closer is no parameter
		if hole == "key" && p.Keyed() && strings.ContainsAny(word, "/<\" ") {
			return head{}, mismatch // another tag than a parameter's
		}
		if hole == "key" {
			h.odd = oddKey(p.Family, word)
			// key="a&amp;b"
			if h.key = word; p.Family.Flags.Entities {
				h.key = plainly.Replace(word)
			}
		} else if strings.ContainsAny(word, "<>") {
			return head{}, mismatch // the end of the tag is missing
		} else {
			h.wire = strings.Trim(word, "=:\"'`“” ")
		}
	}
}

// seam matches literal k of an argument's head at offset i. Behind a key models forget one of its two tags, or write another
// closing tag of the argument.
// GLM writes <arg_key>city</arg_key>⏎Oslo</arg_value> (the value's opener lost), <arg_key>city<arg_value>Oslo… (the key's closer) and
// <arg_key>city</arg_value>⏎<arg_value>… (the wrong closer). The first is believed only if the value closes at the next tag.
func (tg *tagged) seam(i int, p *declaration.Pattern, k int) (int, match) {
	end, a := tg.marks.literal(i, p.Parts[k].Lit)
	if a != mismatch || k == 0 || p.Keyed() {
		return end, a
	}
	tags := p.Parts[k].Lit.Pieces()
	if len(tags) != 2 {
		return end, a
	}
	last := p.Parts[len(p.Parts)-1].Lit
	// behind the key stands its own closer, or that of a value
	for _, closer := range []declaration.Literal{tags[0], last} {
		n, a := tg.marks.literal(i, closer)
		if a != matched {
			continue
		}
		n += tg.Elastic(n)
		if end, a = tg.marks.literal(n, tags[1]); a != mismatch {
			return end, a
		}
		if tg.marks.closesNext(n, last) {
			return n, matched
		}
	}
	// the key's closer is missing: <arg_key>city<arg_value>Oslo
	return tg.marks.literal(i, tags[1])
}

// upToSeam is upTo for what stands between a key and its value.
// Where neither tag is whole it looks for the first < on the way, no further than a key is long.
// Keys in tags that are named by them have no seam: there the tag itself is the key.
func (tg *tagged) upToSeam(i int, p *declaration.Pattern, k int) int {
	n := tg.marks.upTo(i, p.Parts[k].Lit)
	if n != 0 || p.Keyed() {
		return n
	}
	n = i + tg.Run(i, lenient.MaxKey, func(c int) bool { return c >= 0 && c != '<' })
	switch _, a := tg.seam(n, p, k); {
	case a == incomplete:
		return -1
	case a == matched && n > i:
		return n
	}
	return 0
}

// loneKeys is the offset behind the keys without a value that stand at offset i: they are no arguments.
// Poolside's models write <arg_key>days</arg_key></tool_call>; an empty text for it would be a value that nobody wrote.
// They may follow each other, so it goes on until something else stands there.
func (tg *tagged) loneKeys(p *declaration.Pattern, i int) int {
	a := p.Family.Args[0]
	// only families whose keys have a closer of their own
	if len(a.Parts) < 4 || !strings.HasPrefix(a.Parts[2].Lit.Text, "</") {
		return i
	}
	opener, closer := a.Parts[0].Lit, a.Parts[2].Lit.Pieces()[0]
	for {
		end, found := tg.marks.literal(i, opener)
		if found != matched {
			return i
		}
		if end = tg.marks.upTo(end, closer); end <= i {
			return i
		}
		end, _ = tg.marks.literal(end, closer)
		end += tg.Elastic(end)
		// with a value's tag behind the key's closer it is an argument
		_, closed := tg.marks.closerAt(end, p)
		if _, another := tg.marks.literal(end, opener); !closed && another != matched {
			return i
		}
		i = end
	}
}

// tags reads the arguments one after the other and writes them as one object.
// Each key is held until its value begins, as in an object. Where an argument may begin and something that looks like one
// stands, <parameterdays>…, the arguments may not be all there are: a doubt, and the call is text.
// Seen holds the keys so far: a parameter comes once, so a known one that was seen is part of a value (nextArg).
func (tg *tagged) tags(p *declaration.Pattern, t *schema.Type) {
	tg.PutByte('{')
	for {
		n := tg.Elastic(0)
		// the text ends between two arguments
		if tg.At(n) < 0 {
			break
		}
		if end := tg.loneKeys(p, n); end > n {
			tg.Repaired("extra-closer") // tags that hold nothing
			tg.Pos += end
			n = 0
		}
		h, a := tg.argHead(p.Family, n)
		// and here inside the head of one: which, nobody can say
		if a == incomplete {
			tg.Out.Broken = true
			tg.ToEnd()
		}
		if a != matched {
			tg.Out.Doubt = tg.Out.Doubt || a == mismatch && tg.likeArg(p, n)
			break
		}
		h.key = tg.Meant(t, h.key, tg.Seen)
		h.at = tg.HoldOn()
		if len(tg.Seen) > 0 {
			tg.PutByte(',')
		} else {
			tg.HoldWrapper(t, h.key, h.at)
		}
		tg.Out.Doubt = tg.Out.Doubt || !t.Has(h.key) && h.odd
		tg.Seen = append(tg.Seen, h.key)
		tg.Out.JSON = append(chat.AppendQuoted(tg.Out.JSON, h.key), ':')
		tg.Pos += h.end
		tg.tagValue(p, h, t)
	}
	// <parameter=arguments>{"city": "Oslo"}</parameter> alone: its members are the arguments
	tg.Unwrap()
	tg.PutByte('}')
}

// likeArg says whether what stands at offset i, where an argument may, begins as one does but is none.
// It compares the tag up to where its key begins: <parameter of <parameter=, <arg_key of <arg_key>.
func (tg *tagged) likeArg(p *declaration.Pattern, i int) bool {
	if _, ok := tg.marks.closerAt(i, p); ok || p.Family.Args[0].Keyed() {
		return false
	}
	tag := p.Family.Args[0].Parts[0].Lit.Key()
	if end := strings.IndexAny(tag, ":= >"); end > 0 {
		tag = tag[:end]
	}
	return tg.Has(i, tag) && !tg.marks.endMark(i)
}

// plainly undoes the escapes of attributes.
// Only Kimi K3 escapes, these two, and in attributes alone; in all other tags &lt; is data.
var plainly = strings.NewReplacer("&amp;", "&", "&quot;", `"`)

// oddKey says whether a parameter's name holds what no name does: a mark or a quote in the tag is wrong.
// <parameter="city"> or a key with a quote in it has lost a sign somewhere, and the value may belong to another one.
// In families with entities a quote in a key is written &quot;, so a plain one is wrong there, and the apostrophe is not.
func oddKey(f *declaration.Family, key string) bool {
	if f.Flags.Entities {
		return strings.ContainsAny(key, "\"=“”`")
	}
	return strings.ContainsAny(key, lenient.OddInKeys+"='“”‘’„\u00a0")
}
