package adapters

import (
	"toolnorm/adapters/internal/declaration"
	"toolnorm/adapters/internal/lenient"
	"toolnorm/adapters/internal/scan"
	"toolnorm/adapters/internal/toolset"
)

// match is what matching says up to the commit. The names are unqualified, since every function up to there answers one.
type match = scan.Match

const (
	mismatch   = scan.Mismatch
	incomplete = scan.Incomplete
	matched    = scan.Matched
	committed  = scan.Committed
)

// incompleteAtEnd is incomplete where c is the end of the text, else m.
// It is where every attempt says that the text, and not the model, ended it.
func incompleteAtEnd(c int, m match) match { return scan.IncompleteAtEnd(c, m) }

// literal matches a literal at offset i and answers the offset behind it.
// What it lets pass is in docs/families.md, White space: any newline of a declaration is any white space or none, a quote may be
// another one or missing, a bar may be ASCII's or DeepSeek's wide one. Exact bytes are exact: they are what tells one mark from
// another. incomplete means that the text ended while all of it fitted.
func (d *decoder) literal(i int, l declaration.Literal) (int, match) {
	for _, u := range l.Units {
		switch u.Kind {
		case declaration.Exact:
			switch d.At(i) {
			case int(u.Byte):
				i++
			case -1:
				return i, incomplete
			default:
				return i, mismatch
			}
		// next to a value or reasoning only one newline is the mark's, the rest is data
		case declaration.OneNewline:
			if d.At(i) == '\n' {
				i++
			}
		case declaration.AnyBar:
			n, a := d.bar(i)
			if a != matched {
				return i, a
			}
			i += n
		case declaration.AnyQuote:
			i = d.optionalQuote(i)
		case declaration.Suffix:
			i = d.optionalSuffix(i)
		// between two tags: <function = f>
		case declaration.Pad:
			i += d.Space(i)
		case declaration.AnyEquals:
			i += d.Space(i)
			if c := d.At(i); c != '=' {
				return i, incompleteAtEnd(c, mismatch)
			}
			i++
			i += d.Space(i)
		default:
			n := d.Elastic(i)
			if n == 0 && u.Kind == declaration.SomeSpace {
				return i, incompleteAtEnd(d.At(i), mismatch)
			}
			i += n
		}
	}
	return i, matched
}

// bar is the length of the bar at offset i.
// DeepSeek's marks have the wide one, U+FF5C; <|tool▁calls▁begin|> is a look-alike that means the same.
func (d *decoder) bar(i int) (int, match) {
	if d.At(i) == '|' {
		return 1, matched
	}
	for n := range len(declaration.WideBar) {
		if c := d.At(i + n); c != int(declaration.WideBar[n]) {
			return 0, incompleteAtEnd(c, mismatch)
		}
	}
	return len(declaration.WideBar), matched
}

// hasKey says whether the key of a mark stands at offset i, its bars spelled either way.
// It looks at the first solid piece of a mark only: what follows a value's closer need not be whole to be believed.
func (d *decoder) hasKey(i int, l declaration.Literal) bool {
	_, a := d.literal(i, l.Head())
	return a == matched && len(l.Units) > 0
}

// stands says whether the mark stands at offset i.
func (d *decoder) stands(i int, m *declaration.Mark) bool { return d.markSize(i, m) > 0 }

// markSize is how many bytes the mark m has at offset i, 0 when it does not stand there.
// Suffixes (<｜hy_eos:opensource｜>) belong to it, and the blanks that Kimi K3 and others write: <|open|> tools <|sep|>.
// A mark is compared as a whole here; the index has looked at its first two bytes alone.
func (d *decoder) markSize(i int, m *declaration.Mark) int {
	if len(m.Loose.Units) > 0 {
		if end, a := d.literal(i, m.Loose); a == matched {
			return end - i
		}
	} else if d.Has(i, m.Key) {
		return len(m.Key)
	}
	return 0
}

// optionalQuote is the offset behind a quote at offset i, or i. MiniMax M2 and Dots write name="f", name='f' and name=f; inside
// a JSON string it comes escaped.
func (d *decoder) optionalQuote(i int) int {
	switch d.At(i) {
	case '"', '\'':
		return i + 1
	case '\\':
		if d.At(i+1) == '"' {
			return i + 2
		}
	}
	return i
}

// optionalSuffix is the offset behind a colon and a word at offset i, or i.
// Hunyuan's checkpoints end every tag in a word of their own, <tool_calls:opensource>, <arg_key:6124c78e>.
func (d *decoder) optionalSuffix(i int) int {
	if d.At(i) != ':' {
		return i
	}
	return i + 1 + d.Run(i+1, declaration.MaxSuffix-1, func(c int) bool { return scan.IsWord(c) || c == '-' })
}

// attempt tries to read a call by its pattern from here on. What failed attempts may read in all is bounded, so that
// hostile text stays linear.
// While it reads, nothing is dropped from the buffer behind pin: the bytes may be read again by the next pattern. A section's
// glue stands for that of its first call, as its newlines are in front of the section.
func (d *decoder) attempt(p *declaration.Pattern) match {
	return d.attemptBy(p, func() match { return d.match(p) })
}

// attemptBy is an attempt by a reader of its own: the header of a message says what its body is, and no pattern does.
func (d *decoder) attemptBy(p *declaration.Pattern, read func() match) match {
	if d.exhausted() {
		return mismatch
	}
	start, pin, closing := d.Pos, d.pin, d.closing
	if pin < 0 {
		d.pin = d.gapAt
	}
	d.glue, d.closing = p.Glue, p
	if d.outer >= 0 {
		d.glue = d.outer
	}
	a := read()
	// a string that was never closed ran over the call's own closer: that is no cut call
	if a == incomplete && d.At(0) < 0 && d.ranOver(start) {
		a = mismatch
	}
	d.closing = closing
	if a != committed {
		d.others = [2]int{}
		d.waste += d.Pos - start
		d.Pos, d.pin = start, pin
	}
	return a
}

// exhausted says whether failed attempts have read so much that no more are made.
// The bound is 64 KiB and each byte twice more. A text of a million "<tool_call>" would otherwise be read to its end at each.
func (d *decoder) exhausted() bool { return d.waste > 1<<16+2*d.Pos }

// match reads the parts of a call pattern one after the other, up to the body, which commits.
// Nothing has left before that, so all of it can be taken back; see the three rules in doc.go. A pattern without a hole for
// arguments is a call without any.
func (d *decoder) match(p *declaration.Pattern) match {
	var t *toolset.Tool
	id := ""
	d.skipDoubled(p)
	for i, part := range p.Parts {
		a := matched
		switch {
		// [TOOL_CALLS]list_files and the end
		case t != nil && d.nothingMore(p, t):
			d.commitWith(t, id, "{}")
			d.endCall(false)
			return committed
		case part.Hole == "":
			a = d.skipLiteral(part.Lit, t != nil && !p.Headless && d.opens(p, i+1))
		case part.Hole == "name":
			t, a = d.name(p, i)
		// Inkling's name in front of its mark
		case part.Hole == "junk":
			a = d.junk(p, i)
		case part.Hole == "id":
			id, a = d.id(p, i)
			// the id is all there is: functions.NAME:0
			if a == matched && p.Hole("name") < 0 {
				t, a = d.meantBy(id, p, i+1)
			}
		case part.Hole == "count":
			a = d.count()
		case part.Hole == "index":
			a = d.callNumber(p.Parts[i+1].Lit)
		default:
			return d.body(p, i, t, id)
		}
		if a != matched {
			return a
		}
	}
	if t == nil {
		return mismatch
	}
	d.commitWith(t, id, "{}")
	d.endCall(true)
	return committed
}

// nothingMore says whether the model ended its reply behind the name of a tool that needs no arguments, under a mark of its
// family or a special token: models leave out all the rest of such a call.
// "[TOOL_CALLS]list_files" and stop is a call of list_files with {}. One that needs arguments is none.
// Marks that are words need the family: behind "Action: list_files" of another model a sentence may have ended.
func (d *decoder) nothingMore(p *declaration.Pattern, t *toolset.Tool) bool {
	return (p.Family == d.f || p.Special()) && !p.Markless() && len(t.Type().Required()) == 0 && d.over(0)
}

// skipLiteral steps over a literal. Where the body's first byte stands in its place it may be missing.
// [TOOL_CALLS]NAME{…} has lost its [ARGS], which servers drop as a control token. White space in front of a mark is no part
// of any, so it is tried without first.
func (d *decoder) skipLiteral(l declaration.Literal, optional bool) match {
	n, a := d.literal(0, l)
	// white space that the literal does not show
	if space := d.Space(0); a == mismatch && space > 0 {
		if n, a = d.literal(space, l); a == mismatch {
			n = 0
		}
	}
	if a == matched {
		d.Pos += n
	} else if optional {
		return matched
	}
	return a
}

// skipDoubled steps over an opener behind which the same stands once more.
// Poolside's models write <tool_call><tool_call>f…; the second says nothing new.
func (d *decoder) skipDoubled(p *declaration.Pattern) {
	if p.Markless() {
		return
	}
	n, a := d.literal(0, p.Open)
	if a != matched {
		return
	}
	n += d.Space(n)
	if _, a = d.literal(n, p.Open); a == matched {
		d.Pos += n
	}
}

// opens says whether the body that is hole i of p begins right here.
// Arguments in tags have no such byte: their first tag is looked for by taggedBody.
func (d *decoder) opens(p *declaration.Pattern, i int) bool {
	switch p.HoleAt(i) {
	case "json", "pseudo":
		return d.At(0) == '{'
	}
	return false
}

// body reads the hole that holds the arguments, and what follows it.
// Which reader it is depends on the hole alone, whatever the family: the eight forms of bodies are shared.
func (d *decoder) body(p *declaration.Pattern, i int, t *toolset.Tool, id string) match {
	switch p.Parts[i].Hole {
	case "call", "calls":
		// A pair of special tokens that holds nothing is dropped, and no call comes of it. Inkling's
		// get_time<|content_invoke_tool_json|><|end_message|> would be markup as text. A pair that looks like tags,
		// <tool_call></tool_call>, stays text: people write about those.
		if n, ok := d.closerAt(d.Space(0), p); ok && p.Special() {
			d.afterCall = true
			return d.dropMark(n, p.Glue)
		}
		return d.objects(p)
	case "named":
		return d.namedObjects(p)
	case "python":
		return d.pythonCalls(p)
	}
	// without a tool nothing says what the arguments may be called
	if t == nil {
		return mismatch
	}
	if p.Parts[i].Hole == "args" {
		return d.taggedCall(p, t, id)
	}
	return d.namedCall(p, t, id)
}

// namedCall reads arguments whose tool is known already: a JSON object, a string or null in its place, or nothing but a closer.
// DeepSeek V3 writes the arguments in a fence of their own, and closes it or not. A brace too many behind them goes as well,
// as models end an envelope that this form does not have.
func (d *decoder) namedCall(p *declaration.Pattern, t *toolset.Tool, id string) match {
	start := d.Pos
	a := d.enclosed(p, t, id, func() match { return d.arguments(t, id, lenient.DelimsOf(p.Family.Quotes)) })
	if a != committed {
		d.Pos = start
	}
	return a
}

// enclosed reads the arguments between what ends a call's head and its closers: in a fence or not, or none at all.
func (d *decoder) enclosed(p *declaration.Pattern, t *toolset.Tool, id string, read func() match) match {
	d.skipFence()
	// nothing between name and closer: no arguments
	if n, ok := d.closerAt(d.Space(0), p); ok && n > 0 {
		d.commitWith(t, id, "{}")
	} else if a := read(); a != committed {
		return a
	}
	d.extraClosers("}]")
	d.closeFence()
	d.endCall(d.skipClosers(p))
	return committed
}

// closeFence steps over the end of a fence around arguments, unless the family closes its calls with one.
// For DeepSeek V3 the fence is part of its closer, so it is left to skipClosers there.
func (d *decoder) closeFence() {
	n := d.Space(0)
	if _, own := d.closerAt(n, d.closing); !own && d.Has(n, "```") {
		d.Pos += n + 3
	}
}

// skipFence steps over the opening line of a fence in front of JSON.
// Only a brace behind its label makes it one around arguments.
func (d *decoder) skipFence() {
	n := d.Space(0)
	if !d.Has(n, "```") {
		return
	}
	n += 3 + d.Run(n+3, scan.Unlimited, func(c int) bool { return c >= 'a' && c <= 'z' })
	n += d.Space(n)
	if d.At(n) == '{' {
		d.Pos += n
	}
}

// marksAt is the list of marks that could stand at offset i, by the first two bytes there.
// Two table look-ups end it for nearly every byte of prose; all marks of all families are in the one index.
func (d *decoder) marksAt(i int) []declaration.Mark {
	c := d.At(i)
	if c < 0 || d.index.Second[c] == nil {
		return nil
	}
	if next := d.At(i + 1); next < 0 || !d.index.Second[c][next] {
		return nil
	}
	return d.index.Marks[c]
}

// firstMark is the first mark of a kind that stands at offset i, nil when none does.
// Longer keys stand first in the index, so of <tool_call and <tool_calls> the longer one is found where it stands.
func (d *decoder) firstMark(i int, is func(m *declaration.Mark) bool) *declaration.Mark {
	marks := d.marksAt(i)
	for k := range marks {
		if m := &marks[k]; is(m) && d.stands(i, m) {
			return m
		}
	}
	return nil
}

// isTurn says whether a mark ends a turn or a message, and so may end what stands in front of it as well.
func isTurn(m *declaration.Mark) bool { return m.Kind == declaration.TurnMark }
