package adapters

import (
	"bytes"
	"strings"

	"toolnorm/adapters/internal/declaration"
	"toolnorm/adapters/internal/scan"
	"toolnorm/adapters/internal/toolset"
)

// closers reads the text around the arguments of a call: brackets, fences and closing tags such as
// </tool_call>. Any of them may be missing or surplus. It is used after the decision that the text
// is a call, so it never fails: a missing piece is recorded as repaired, and a surplus one is
// skipped.
type closers struct {
	below
}

// skipClosers skips the closing tags of a call, and reports whether it saw the last one, whole or
// cut by the end of the text. Any of them may be missing, doubled or late. For example, a reply
// that stops after </function> is a complete call of qwen3-coder. The result matters for calls at
// the end of a reply: without its last closing tag a call is not complete if the reply was cut by
// its length.
func (cl *closers) skipClosers(p *declaration.Pattern) bool {
	if p == p.Family.Header {
		n, ok := cl.marks.closerAt(cl.Space(0), p)
		cl.Pos += n
		return ok
	}
	closed := len(p.Close) == 0
	for i, l := range p.Close {
		cl.skipJunk(p)
		n, a := cl.marks.literal(cl.Elastic(0), l)
		// half a closer at the end is not shown; white space alone is not part of a closer
		if a == incomplete && (cl.At(cl.Elastic(0)) >= 0 || cl.in.abandoned() && cl.At(0) >= 0) ||
			a == matched {
			cl.Pos += n
			closed = a == incomplete || i == len(p.Close)-1 // half a closer closes what precedes it
		}
	}
	return closed || cl.openerAsCloser(p)
}

// maxAside bounds, in bytes, a meaningless text after a call's arguments on their last line. A
// sentence may follow a call whose closer is missing, and must stay text. On the same line, up to
// 64 bytes are taken for a remark.
const maxAside = 64

// skipJunk skips a comment, or a few words on the same line, if the first closing tag of the call
// follows. So the calls {"name": …} // get the weather</tool_call> and {"name": …}]</tool_call> end
// properly. If skipped text has a comma, a quote or a colon, it may be a member of the arguments
// after a brace that came too early. The call then has two meanings, and is marked as doubtful.
func (cl *closers) skipJunk(p *declaration.Pattern) {
	n := cl.Elastic(0)
	end, what := n, "extra-closer"
	if size := cl.Comment(n); size > 0 {
		end, what = n+size, "comments"
	} else if !cl.out.drafting {
		end = cl.marks.lineRest(n)
	}
	if _, ok := cl.marks.closerAt(end+cl.Space(end), p); ok && end > n {
		// `}, "days": 3}</tool_call>` would lose days
		if junk := cl.Slice(cl.Pos+n, cl.Pos+end); cl.Out != nil && what != "comments" &&
			string(bytes.Trim(junk, "]}) \n")) != `"` &&
			(junk[0] == ',' || bytes.ContainsAny(junk, `"':=`) ||
				len(p.Family.Args) > 0 && bytes.ContainsAny(junk, "<>[]")) {
			cl.Out.Doubt = true // members of the call, perhaps
		}
		cl.Pos += end
		cl.Repaired(what)
	}
}

// openerAsCloser skips the opening mark of a call that a model has written in place of the closing
// one, and reports whether it did. It does so only if the reply ends after that mark, as in
// <tool_call>{…}<tool_call>. If text follows, a second call may begin there.
func (cl *closers) openerAsCloser(p *declaration.Pattern) bool {
	if p.Markless() {
		return false
	}
	n, a := cl.marks.literal(cl.Elastic(0), p.Parts[0].Lit)
	if a != matched || cl.At(n+cl.Space(n)) >= 0 || cl.in.lengthCut() {
		return false
	}
	cl.Pos += n
	cl.Repaired("closers")
	return true
}

// extraClosers skips the surplus closing braces and brackets here that are among the characters in
// chars. It records them as repaired.
func (cl *closers) extraClosers(chars string) {
	for c := cl.At(0); c >= 0 && strings.IndexByte(chars, byte(c)) >= 0; c = cl.At(0) {
		cl.Pos++
		cl.Repaired("extra-closer")
	}
}

// closeFence skips the end of a fence around arguments, if there is one. It does nothing if the
// fence is itself a closing mark of the call, as in DeepSeek V3; skipClosers reads that one.
func (cl *closers) closeFence() {
	n := cl.Space(0)
	_, own := cl.marks.closerAt(n, cl.trial.closing)
	if size := cl.marks.ticks(n); size > 0 && !own {
		cl.Pos += n + size
	}
}

// skipFence skips the opening line of a fence before JSON, if there is one. The fence is around
// arguments only if a brace follows its label.
func (cl *closers) skipFence() {
	n := cl.Space(0)
	if !cl.Has(n, "```") {
		return
	}
	n += 3 + cl.Run(n+3, scan.Unlimited, func(c int) bool { return c >= 'a' && c <= 'z' })
	n += cl.Space(n)
	if cl.At(n) == '{' {
		cl.Pos += n
	}
}

// brackets skips the brackets that open a list of calls, at most limit of them, and returns how
// many it skipped. Small models double them, and leave them out for a single call. No model was
// seen to write more than two, so a third bracket belongs to a value.
func (cl *closers) brackets(limit int) (n int) {
	for cl.Pos += cl.Space(0); n < limit && cl.At(0) == '['; n++ {
		cl.Pos++
		cl.Pos += cl.Space(0)
	}
	return n
}

// closeBrackets skips up to n closing brackets of a list of calls, and returns how many of the n
// are missing. The caller interprets a missing bracket: if the last call was cut, its bracket is
// missing as well.
func (cl *closers) closeBrackets(n int) int {
	for ; n > 0 && cl.At(cl.Space(0)) == ']'; n-- {
		cl.Pos += cl.Space(0) + 1
	}
	return n
}

// enclosed reads a call's arguments with the function read, skips the closing tags or brackets
// after them, and ends the call. The arguments may be in a fence, or missing. It returns committed,
// or the result of read if read did not commit the call.
func (cl *closers) enclosed(p *declaration.Pattern, t *toolset.Tool, id string,
	read func() match) match {
	cl.skipFence()
	// nothing between name and closer: no arguments
	if n, ok := cl.marks.closerAt(cl.Space(0), p); ok && n > 0 {
		cl.calls.commitWith(t, id, "{}")
	} else if a := read(); a != committed {
		return a
	}
	cl.extraClosers("}]")
	cl.closeFence()
	cl.calls.endCall(cl.skipClosers(p))
	return committed
}

// zeroWidth returns the number of bytes of the zero-width characters here, including the white
// space around them, or 0 if there are no such characters.
func (cl *closers) zeroWidth() int {
	n := cl.Space(0)
	for size := cl.ZeroWidth(n); size > 0; size = cl.ZeroWidth(n) {
		n += size
		n += cl.Space(n)
		if cl.ZeroWidth(n) == 0 {
			return n
		}
	}
	return 0
}

// separator returns the offset after the separator of two objects: white space, commas, semicolons
// and braces. A brace may be among these because the object before it was closed by too many
// braces.
func (cl *closers) separator() int {
	n := cl.Space(0)
	for c := cl.At(n); c == ',' || c == ';' || c == '}'; c = cl.At(n) {
		n++
		n += cl.Space(n)
	}
	return n
}
