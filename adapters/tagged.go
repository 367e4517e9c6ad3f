package adapters

import (
	"strings"

	"toolnorm/adapters/internal/declaration"
	"toolnorm/adapters/internal/lenient"
	"toolnorm/adapters/internal/toolset"
	"toolnorm/chat"
	"toolnorm/chat/schema"
)

// taggedCall reads a call whose arguments are tags, and its closers.
// Many families write <tag=key>value</tag> of some kind: they differ in marks, and in who says a value's type.
func (d *decoder) taggedCall(p *declaration.Pattern, t *toolset.Tool, id string) match {
	a := d.taggedBody(p, t, id)
	if a == committed {
		closed := d.plan.made && d.plan.closed || !d.plan.made && d.skipClosers(p)
		d.plan = tagPlan{}
		d.endCall(closed)
	}
	return a
}

// taggedBody reads arguments that are tags, or one JSON object in their place, and leaves the call open. It commits at the
// first complete head of an argument, at a brace, or at a closer.
// Poolside's and K2 Horizon's models put JSON between the tags of a call, DeepSeek V3.2 in place of its parameters. A name in front
// of which a mark stood is not enough to commit: "<tool_call>get_weather is the tag" is prose.
func (d *decoder) taggedBody(p *declaration.Pattern, t *toolset.Tool, id string) match {
	n := d.loneKeys(p, d.Elastic(0))
	// <tool_call>get_weather⏎{"city": "Oslo"}</tool_call>
	if d.At(n) == '{' {
		d.Pos += n
		a := d.arguments(t, id, nil)
		if a == committed {
			d.extraClosers("}")
		}
		return a
	}
	// <tool_call>get_time</tool_call>: no arguments is legal
	if _, ok := d.closerAt(n, p); ok {
		d.Pos += n
		return d.commitWith(t, id, "{}")
	}
	first, a := d.argHead(p.Family, n)
	// <tool_call>get_weather⏎<arg_k: cut, and no mention
	d.evidence = d.evidence || a == incomplete
	damaged := false
	if p != p.Family.Header && !p.Family.Args[0].Keyed() {
		heads := d.headsAt(d.tagForms(p, t.Type()), n)
		damaged = len(heads) > 0 && (a == mismatch || len(heads) > 1 || heads[0].key != first.key)
	}
	if a != matched && !damaged {
		return a
	}
	d.commit(t, id)
	if damaged {
		d.planDamaged(p, t.Type())
	}
	d.tags(p, t.Type())
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
func (d *decoder) argHead(f *declaration.Family, i int) (head, match) {
	best := mismatch
	for _, p := range f.Args {
		h, a := d.headBy(p, i)
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
func (d *decoder) headBy(p *declaration.Pattern, i int) (head, match) {
	h := head{p: p, own: p.Parts[len(p.Parts)-1].Lit}
	for k := 0; ; k += 2 {
		end, a := d.literal(i, p.Parts[k].Lit)
		if a != matched {
			return head{}, a
		}
		hole := p.HoleAt(k + 1)
		if hole == "value" {
			// tags named like the parameter close by that name, and may nest
			if h.end = end; p.Keyed() {
				h.own, h.again = declaration.Exactly(p.CloseTag(h.key)), p.OpenTag(h.key)
			}
			// <parameter=city>>
			if !h.onLines() || d.At(end) != '>' || d.At(end+1) != '\n' {
				return h, matched
			}
			h.end += 2
			return h, matched
		}
		end += d.Space(end)
		i = d.upTo(end, p.Parts[k+2].Lit)
		if i <= end {
			return head{}, incompleteAtEnd(i, mismatch)
		}
		word := strings.Trim(string(d.Slice(d.Pos+end, d.Pos+i)), "\"' \t\r\n")
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

// loneKeys is the offset behind the keys without a value that stand at offset i: they are no arguments.
// Poolside's models write <arg_key>days</arg_key></tool_call>; an empty text for it would be a value that nobody wrote.
// They may follow each other, so it goes on until something else stands there.
func (d *decoder) loneKeys(p *declaration.Pattern, i int) int {
	a := p.Family.Args[0]
	// only families whose keys have a closer of their own
	if len(a.Parts) < 4 || !strings.HasPrefix(a.Parts[2].Lit.Text, "</") {
		return i
	}
	opener, closer := a.Parts[0].Lit, a.Parts[2].Lit.Pieces()[0]
	for {
		end, found := d.literal(i, opener)
		if found != matched {
			return i
		}
		if end = d.upTo(end, closer); end <= i {
			return i
		}
		end, _ = d.literal(end, closer)
		end += d.Elastic(end)
		// with a value's tag behind the key's closer it is an argument
		_, closed := d.closerAt(end, p)
		if _, another := d.literal(end, opener); !closed && another != matched {
			return i
		}
		i = end
	}
}

// upTo is the offset of a literal that stands on the same line from offset i on: 0 when none does, -1 when the text ends
// before that is known. Where the tag that the literal begins with stands, the rest must follow.
// Keys stand on one line, but for white space in front of the next tag. Where < begins that tag and the rest does not follow,
// the key would run over a tag.
// Zero and -1 are apart so that a text that ended in a tag is a cut call, and a tag that is another one no call.
func (d *decoder) upTo(i int, l declaration.Literal) int {
	for n := i; n < i+lenient.MaxKey; n++ {
		c := d.At(n)
		if c < 0 {
			return -1
		}
		// the literal can begin here; only then is it compared
		if begins(l, c) {
			switch _, a := d.literal(n, l); {
			case a == incomplete:
				return -1
			case a == matched && n > i:
				return n
			case c == '<' && d.hasKey(n, l):
				return 0
			}
		}
		if c == '\n' { // only white space may stand on the next lines
			end := n + d.Space(n)
			switch _, a := d.literal(end, l); a {
			case incomplete:
				return -1
			case matched:
				return end
			}
			break
		}
	}
	return 0
}

// tags reads the arguments one after the other and writes them as one object.
// Each key is held until its value begins, as in an object. Where an argument may begin and something that looks like one
// stands, <parameterdays>…, the arguments may not be all there are: a doubt, and the call is text.
// Seen holds the keys so far: a parameter comes once, so a known one that was seen is part of a value (nextArg).
func (d *decoder) tags(p *declaration.Pattern, t *schema.Type) {
	d.PutByte('{')
	for {
		h, ok := d.nextArgument(p)
		if !ok {
			break
		}
		h.key = d.Meant(t, h.key, d.Seen)
		h.at = d.HoldOn()
		if len(d.Seen) > 0 {
			d.PutByte(',')
		} else {
			d.HoldWrapper(t, h.key, h.at)
		}
		d.Out.Doubt = d.Out.Doubt || !t.Has(h.key) && h.odd
		d.Seen = append(d.Seen, h.key)
		d.Out.JSON = append(chat.AppendQuoted(d.Out.JSON, h.key), ':')
		d.tagValue(p, h, t)
	}
	// <parameter=arguments>{"city": "Oslo"}</parameter> alone: its members are the arguments
	d.Unwrap()
	d.PutByte('}')
}

// nextArgument steps to the value of the next argument, and answers false behind the last one. Where the rest of the call was
// decided as a whole, that says which it is.
// Without a plan a head stands here or the call ends: the value in front was ended by nothing else. Only tags that the search
// does not know can be followed by something that begins like one, and then there may be more arguments than were read.
func (d *decoder) nextArgument(p *declaration.Pattern) (head, bool) {
	if d.plan.made {
		h, ok := d.planNext()
		if !ok && d.plan.to >= 0 {
			d.Pos = d.plan.end
		}
		return h, ok
	}
	n := d.Elastic(0)
	// the text ends between two arguments
	if d.At(n) < 0 {
		return head{}, false
	}
	if end := d.loneKeys(p, n); end > n {
		d.Repaired("extra-closer") // tags that hold nothing
		d.Pos += end
		n = 0
	}
	h, a := d.argHead(p.Family, n)
	switch a {
	case matched:
		d.Pos += h.end
	case incomplete: // inside the head of one: which, nobody can say
		d.Out.Broken = true
		d.ToEnd()
	default: // something else that begins as a tag may be an argument
		c := d.At(n)
		if _, ok := d.closerAt(n, p); c >= 0 && !ok && p.Family.CloseBytes[c] && !d.endMark(n) {
			d.Out.Doubt = true
		}
	}
	return h, a == matched
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
