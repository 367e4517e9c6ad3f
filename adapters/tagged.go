package adapters

import (
	"slices"
	"strings"

	"toolnorm/adapters/internal/declaration"
	"toolnorm/adapters/internal/lenient"
	"toolnorm/adapters/internal/toolset"
	"toolnorm/chat"
	"toolnorm/chat/schema"
)

// tagged reads calls whose arguments are tags. While a call is written as its family writes it, its
// values stream. At the first deviation, the rest is decided as a whole (see tagPlan).
type tagged struct {
	below
	closers *closers
	args    *arguments
	headers *headers
	ahead   *tagsAhead
	tagging
}

// tagging is the part of the state of the reader tagged that stays valid if a tentative reading is
// undone. It is therefore kept apart from the state that is restored.
type tagging struct {
	plan     tagPlan
	written  asWritten
	forms    *tagForms
	searched int // bytes that were searched
}

// read reads the arguments of a call, which are tags, and the closing tags of the call, and ends
// the call. It returns mismatch or incomplete if there are no such arguments. Many families write
// <tag=key>value</tag> of some kind. They differ in their marks, and in whether the tag or the
// schema says a value's type.
func (tg *tagged) read(p *declaration.Pattern, t *toolset.Tool, id string) match {
	tg.noticeHead(p, t)
	a := tg.taggedBody(p, t, id)
	if a == committed {
		from, closed := tg.Pos, tg.plan.closed
		if !closed {
			closed = tg.closers.skipClosers(p)
			tg.noticeClosers(p, from)
		}
		if tg.Out != nil {
			tg.Out.Doubt = tg.Out.Doubt || !tg.Out.Broken && (!closed && tg.tagBehind(p) ||
				tg.unsure(p, t.Type()))
		}
		tg.plan = tagPlan{}
		tg.calls.endCall(closed)
	}
	return a
}

// moreMayFollow reports whether the tool has a parameter that has no value yet. A reply that stops
// before the closing tags of a call may have lost that parameter too. It returns false if the
// server gave up the reply, because the server has then read the call to its end.
func (tg *tagged) moreMayFollow(t *schema.Type) bool {
	if tg.in.abandoned() {
		return false
	}
	members := t.Members()
	return len(members) == 0 || slices.ContainsFunc(members, func(key string) bool {
		return !slices.Contains(tg.Seen, key)
	})
}

// taggedBody reads arguments that are tags, or one JSON object in their place; the caller ends the
// call. It commits the call at the first complete tag of an argument, at a brace, or at a closing
// tag. If none of these is here, it returns mismatch, or incomplete if the text ends in one.
// Poolside's and K2 Horizon's models put JSON between the tags of a call, DeepSeek V3.2 in place of
// its parameters. A name after a mark is not enough, because "<tool_call>get_weather is the tag" is
// prose.
func (tg *tagged) taggedBody(p *declaration.Pattern, t *toolset.Tool, id string) match {
	n := tg.ahead.loneKeys(p, tg.Elastic(0))
	// <tool_call>get_weather⏎{"city": "Oslo"}</tool_call>
	if tg.At(n) == '{' {
		tg.Pos += n
		a := tg.args.read(t, id, nil)
		if a == committed {
			tg.closers.extraClosers("}")
		}
		return a
	}
	// <tool_call>get_time</tool_call>: a call without arguments
	if _, ok := tg.marks.closerAt(n, p); ok {
		tg.Pos += n
		return tg.calls.commitWith(t, id, "{}")
	}
	first, a := tg.ahead.argHead(p.Family, n)
	// <tool_call>get_weather⏎<arg_k or </tool_c: cut, not a mention
	if a == mismatch && tg.marks.cutCloser(p, n) {
		a = incomplete
	}
	tg.trial.evidence = tg.trial.evidence || a == incomplete
	damaged := false
	if p != p.Family.Header && !p.Family.Args[0].Keyed() {
		heads := tg.ahead.headsAt(tg.tagForms(p, t.Type()), n)
		damaged = len(heads) > 0 && (a == mismatch || len(heads) > 1 || heads[0].key != first.key)
	}
	if a != matched && !damaged {
		return a
	}
	tg.calls.commit(t, id)
	if p == p.Family.Header {
		tg.written = asWritten{}
	}
	if damaged {
		tg.planDamaged(p, t.Type())
	}
	tg.tags(p, t.Type())
	if p == p.Family.Header {
		tg.Out.Doubt = tg.Out.Doubt || tg.unsure(p, t.Type())
	}
	return committed
}

// head holds the opening tags of a tagged argument, such as <parameter=city>, and the place where
// its value begins. If the value is null and may be left out, the output is cut back to the
// position in the field at, where the argument begins.
type head struct {
	p     *declaration.Pattern
	own   declaration.Literal // the closer of its value
	again string              // the opening tag, if it may nest in the value; "" elsewhere
	key   string
	wire  string // the type of the value as the tag gives it; "" if it gives none
	end   int    // offset after the head, where the value begins
	cdata bool   // the value is in CDATA
	from  int    // position where the value begins
	at    int    // position in the arguments where the member begins
	odd   bool   // the key contains characters that no name has
	line  bool   // the value begins after a line break

	indent string // the blanks before it on its line
	apart  bool   // a blank line precedes it
}

// tags reads the arguments one after the other and writes them as one object. Each key is held back
// until its value begins, as in an object. If a damaged tag, such as <parameterdays>…, is where an
// argument may begin, some arguments may be missing, so the call becomes text. The field Seen lists
// the keys so far. A parameter has only one value, so a tag with a key that was seen is part of a
// value (see nextArg).
func (tg *tagged) tags(p *declaration.Pattern, t *schema.Type) {
	tg.PutByte('{')
	for {
		from := tg.Pos
		h, ok := tg.nextArgument(p, t)
		if !ok {
			break
		}
		if !tg.plan.made {
			tg.noticeArgument(&h, from)
		}
		written := h.key
		h.key = tg.Meant(t, h.key, tg.Seen)
		tg.written.slip = tg.written.slip || h.key != written
		h.at = tg.HoldOn()
		if len(tg.Seen) > 0 {
			tg.PutByte(',')
		} else {
			tg.HoldWrapper(t, h.key, h.at)
		}
		tg.Out.Doubt = tg.Out.Doubt || !t.Has(h.key) && (h.odd || nearAbsent(t, h.key, tg.Seen))
		tg.Seen = append(tg.Seen, h.key)
		tg.Out.JSON = append(chat.AppendQuoted(tg.Out.JSON, h.key), ':')
		tg.tagValue(p, h, t)
	}
	// <parameter=arguments>{"city": "Oslo"}</parameter> alone: its members are the arguments
	tg.Unwrap()
	tg.PutByte('}')
}

// nearAbsent reports whether a key differs in one character from a parameter that has no value. The
// key may have lost that character to the value.
func nearAbsent(t *schema.Type, key string, seen []string) bool {
	return slices.ContainsFunc(t.Members(), func(name string) bool {
		return lenient.OneOff(key, name) && !slices.Contains(seen, name)
	})
}

// nextArgument moves to the value of the next argument, and returns the tags before it. It returns
// false after the last argument. If the rest of the call was divided into arguments as a whole
// (tg.plan), it follows that division. Otherwise either an argument begins here or the call ends.
// If something else that looks like a tag is here, the call may have more arguments than were read,
// and is marked as doubtful.
func (tg *tagged) nextArgument(p *declaration.Pattern, t *schema.Type) (head, bool) {
	if tg.plan.made {
		h, ok := tg.planNext()
		if !ok && tg.plan.to >= 0 {
			tg.Pos = tg.plan.end
			tg.Out.Broken = tg.Out.Broken || tg.plan.open && tg.moreMayFollow(t)
		}
		return h, ok
	}
	n := tg.Elastic(0)
	// the text ends between two arguments; a server may have left out the end of a message
	if tg.At(n) < 0 {
		tg.Out.Broken = tg.Out.Broken || p != p.Family.Header && tg.moreMayFollow(t)
		return head{}, false
	}
	if end := tg.ahead.loneKeys(p, n); end > n {
		tg.Repaired("extra-closer") // tags that hold nothing
		tg.Pos += end
		n = 0
	}
	h, a := tg.ahead.argHead(p.Family, n)
	switch a {
	case matched:
		tg.Pos += h.end
	case incomplete: // inside the head of an argument; which one is not known
		tg.Out.Broken = true
		tg.ToEnd()
	default: // something else that begins as a tag may be an argument
		c := tg.At(n)
		if _, ok := tg.marks.closerAt(n, p); c >= 0 && !ok && !tg.marks.cutCloser(p, n) &&
			p.Family.CloseBytes[c] && !tg.marks.endMark(n) {
			tg.Out.Doubt = true
		}
	}
	return h, a == matched
}

// plainly decodes the escapes in attributes. Only Kimi K3 escapes these two characters, and only in
// attributes. In all other tags &lt; is data.
var plainly = strings.NewReplacer("&amp;", "&", "&quot;", `"`)

// oddKey reports whether a parameter's name contains characters that no name has, because a mark or
// a quote in the tag is wrong. <parameter="city"> or a key with a quote in it has lost a character
// somewhere, and the value may belong to another parameter. In families with entities a quote in a
// key is written &quot;, so a plain quote is wrong there, while an apostrophe is not.
func oddKey(f *declaration.Family, key string) bool {
	if f.Flags.Entities {
		return strings.ContainsAny(key, "\"=“”`")
	}
	return strings.ContainsAny(key, lenient.OddInKeys+"='“”‘’„\u00a0")
}

// newTagSearch returns a search of the text from here.
func (tg *tagged) newTagSearch(p *declaration.Pattern, t *schema.Type) *tagSearch {
	s := &tagSearch{d: tg.ahead, f: tg.tagForms(p, t), slip: tg.written.slip, first: len(tg.Seen),
		best: 1 << 30}
	s.scan()
	s.countBorders()
	tg.searched += s.textEnd()
	s.states = make([][]tagState, len(s.tokens)+1)
	return s
}
