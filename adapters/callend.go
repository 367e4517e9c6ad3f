package adapters

import (
	"bytes"

	"toolnorm/adapters/internal/declaration"
	"toolnorm/adapters/internal/scan"
)

// closerAt says whether one of the pattern's closers stands at offset i, and where it ends.
// The first that fits counts: </function> and </tool_call> are two, and a model may have left out either.
// A message has none of its own: any of its family's end marks closes it.
func (d *decoder) closerAt(i int, p *declaration.Pattern) (int, bool) {
	if p == p.Family.Header {
		n := d.messageEnds(p, i)
		return n, n > 0
	}
	for _, l := range p.Close {
		if n, a := d.literal(i, l); a == matched {
			return n, true
		}
	}
	return i, false
}

// skipClosers steps over the closers of a call, each of them optional, and says whether the last one was seen. A closer that the
// end of the text cut is structure too.
// Whether the last one was seen matters for calls at the end of a reply: without it one that was cut by its length is not complete.
// Any of them may be missing, doubled or late: a reply that stops behind </function> is a complete call of qwen3-coder.
func (d *decoder) skipClosers(p *declaration.Pattern) bool {
	if p == p.Family.Header {
		n, ok := d.closerAt(d.Space(0), p)
		d.Pos += n
		return ok
	}
	closed := len(p.Close) == 0
	for i, l := range p.Close {
		d.skipJunk(p)
		n, a := d.literal(d.Elastic(0), l)
		// half a closer at the end is not shown; white space alone is none of one
		if a == incomplete && (d.At(d.Elastic(0)) >= 0 || d.abandoned() && d.At(0) >= 0) || a == matched {
			d.Pos += n
			closed = a == incomplete || i == len(p.Close)-1 // half a closer closes what stands in front of it
		}
	}
	return closed || d.openerAsCloser(p)
}

// maxAside bounds what stands behind a body on its last line and means nothing, in bytes.
// A sentence may follow a call whose closer is missing, and must stay text; on the same line 64 bytes are a remark.
const maxAside = 64

// skipJunk steps over a comment, or a few words on the same line, behind which the first closer of a call stands.
// So {"name": …} // get the weather</tool_call> ends, or {"name": …}]</tool_call>. Junk with a comma, a quote or a colon may be
// a member that an early brace has shut out, which makes two readings.
func (d *decoder) skipJunk(p *declaration.Pattern) {
	n := d.Elastic(0)
	end, what := n, "extra-closer"
	if size := d.Comment(n); size > 0 {
		end, what = n+size, "comments"
	} else if !d.drafting {
		end = d.lineRest(n)
	}
	if _, ok := d.closerAt(end+d.Space(end), p); ok && end > n {
		// `}, "days": 3}</tool_call>` would lose days
		if junk := d.Slice(d.Pos+n, d.Pos+end); d.Out != nil && what != "comments" && (junk[0] == ',' || bytes.ContainsAny(junk, `"':=`)) {
			d.Out.Doubt = true // members of the call, perhaps
		}
		d.Pos += end
		d.Repaired(what)
	}
}

// lineRest is the offset of the first sign of a mark, or of the line's end, behind offset i.
// Beyond ASCII only a mark ends it, DeepSeek's ｜ or Kimi's ◁: letters of other scripts are words.
func (d *decoder) lineRest(i int) int {
	for n := i; n < i+maxAside; n++ {
		if c := d.At(n); c < 0 || c == '\n' || c == '<' || c == '[' || c == '{' || c == '`' || c >= 0x80 && d.marksAt(n) != nil {
			return n
		}
	}
	return i
}

// openerAsCloser steps over the opener of a call where its closer is due and nothing follows: models mix up the two.
// <tool_call>{…}<tool_call> at the end of a reply is such a one; with text behind it a second call may begin there.
func (d *decoder) openerAsCloser(p *declaration.Pattern) bool {
	if p.Markless() {
		return false
	}
	n, a := d.literal(d.Elastic(0), p.Parts[0].Lit)
	if a != matched || d.At(n+d.Space(n)) >= 0 || d.lengthCut() {
		return false
	}
	d.Pos += n
	d.Repaired("closers")
	return true
}

// CallEnds says whether what stands at offset i can follow the arguments as a whole.
// The reader of arguments asks it where a brace or a quote may be one too early: what follows says whether it is.
//
//	{"city": "Rome"}}, "days": 3}</tool_call>    a brace too many, or too early
//	{"city": "say "hi" now"}</tool_call>         which quote closes
//
// are told by it.
func (d *decoder) CallEnds(i int) bool {
	if d.Python {
		return d.pythonEnd(i)
	}
	i += d.Space(i)
	c := d.At(i)
	p := d.closing
	switch {
	case d.around != 0 && c == d.around:
		return true
	case c < 0 || c == '}' || c == ',' || c == ']' || c == ')' || c == ';' || d.IsMark(i):
		return true
	// the object around the arguments has to end first
	case p.Hole("call") >= 0 || p.Hole("calls") >= 0:
		return false
	// a name in front of the arguments: only the closer can follow them
	case len(p.Close) > 0:
		_, ok := d.closerAt(i, p)
		return ok
	}
	return true
}

// pythonEnd says whether what stands at offset i, behind the parenthesis that closes a Python call, can follow one: another
// call, the end of the list of calls, a mark. Behind a quote inside program text it is something else.
// Program text in an argument holds parentheses as well: get("a") inside of code='…' must not end the call.
//
//	[run(command='python -c 'print(1)'')]
//
// is one whole command: the parenthesis behind (1 is followed by a quote.
func (d *decoder) pythonEnd(i int) bool {
	i, line := d.pastSpace(i)
	c := d.At(i)
	switch {
	case c < 0 || d.IsMark(i) || d.Comment(i) > 0:
		return true
	// print( has a parenthesis of its own
	case c == ')' && d.printed:
		return d.pythonEnd(i + 1)
	case c == ']':
		i, line = d.pastSpace(i + 1)
		return line || d.At(i) < 0 || d.IsMark(i)
	case c == ',' || c == ';':
		i += 1 + d.Space(i+1)
		return d.At(i) == ']' || scan.IsWord(d.At(i)) && d.nameAhead(i)
	case scan.IsWord(c):
		return line && d.nameAhead(i) && (d.printed || !d.Has(i, "print("))
	}
	return false
}

// pastSpace is the offset behind the white space at offset i, and whether a newline is in it.
func (d *decoder) pastSpace(i int) (end int, line bool) {
	end = i + d.Space(i)
	return end, bytes.IndexByte(d.Slice(d.Pos+i, d.Pos+end), '\n') >= 0
}

// CallMark says whether a mark that can end or follow a call stands at offset i.
// Marks of reasoning are left out: an argument may speak of them, and no call is followed by them inside its braces.
func (d *decoder) CallMark(i int) bool {
	ofCall := func(m *declaration.Mark) bool {
		return m.Kind != declaration.ThinkOpen && m.Kind != declaration.ThinkClose
	}
	return d.firstMark(i, ofCall) != nil || d.Inside() && d.argCloser(i)
}

// argCloser says whether the closer of a tagged argument of the call that is read stands at offset i.
// It is what follows JSON inside of a tag: of <parameter=x>{"a": 1}}</parameter> the second brace is too many.
func (d *decoder) argCloser(i int) bool {
	for _, arg := range d.closing.Family.Args {
		if _, a := d.literal(i, arg.Parts[len(arg.Parts)-1].Lit); a == matched {
			return true
		}
	}
	return false
}
