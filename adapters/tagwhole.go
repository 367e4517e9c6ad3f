package adapters

import (
	"slices"

	"toolnorm/adapters/internal/declaration"
	"toolnorm/adapters/internal/lenient"
	"toolnorm/adapters/internal/scan"
	"toolnorm/adapters/internal/toolset"
)

// tailTag is a tag in the rest of a reply. Tags that are mentioned in a sentence are left out.
type tailTag struct {
	at   int
	kind tagKind
	// whether the tags from here on can form whole calls, if this tag is outside of a call, inside
	// a value, or after a value
	calls [3]bool
}

// noteTag records the kind of the tag at offset i. The parameter step is 1 if a call opens there;
// the tag is then recorded as the start of the call's first argument. It is -1 if a value and its
// call close there; both closing tags are then recorded.
func (ta *tagsAhead) noteTag(p *declaration.Pattern, i, step int) {
	kind, ok := ta.tailTag(p, i)
	switch t := &ta.tails; {
	case step > 0:
		t.tags = append(t.tags, tailTag{at: ta.Pos + i, kind: headTag})
	case step < 0 && ok:
		t.tags = append(t.tags, tailTag{at: ta.Pos + i, kind: valueTag},
			tailTag{at: ta.Pos + i + 1, kind: closeTag})
	case ok:
		t.tags = append(t.tags, tailTag{at: ta.Pos + i, kind: kind})
	}
}

// sumTags records for each tag in the rest of the reply whether the tags from it on form whole
// calls. In these an opening tag begins a value, the value's closing tag ends it, and then another
// value or the call's closing tag follows. The field calls has three answers: if the text before
// the tag is outside of calls, if it is inside a value, and if a value ends there. A reply that was
// cut by its length may stop anywhere.
func (ta *tagsAhead) sumTags() {
	const outside, inValue, behindValue = 0, 1, 2
	calls := [3]bool{true, ta.marks.in.lengthCut(), true}
	for k := len(ta.tails.tags) - 1; k >= 0; k-- {
		switch t := &ta.tails.tags[k]; t.kind {
		case headTag:
			t.calls = [3]bool{calls[inValue], false, calls[inValue]}
		case valueTag:
			t.calls = [3]bool{false, calls[behindValue], false}
		case openTag:
			t.calls = [3]bool{false, calls[inValue], false}
		default:
			t.calls = [3]bool{calls[outside], false, calls[outside]}
		}
		calls = ta.tails.tags[k].calls
	}
}

// wholeCalls reports whether the tags after offset i, where a call ends, form whole calls as the
// family writes them. If they do not, the call may not have ended at i, because the rest may be a
// document about calls. For families whose values nest, it only compares the numbers of opening and
// closing tags.
func (ta *tagsAhead) wholeCalls(p *declaration.Pattern, i int) bool {
	if m := ta.tailFrom(p, i); p.Family.Args[0].Keyed() {
		return m.least >= 0 && ta.tails.other < ta.Pos+i
	}
	k, _ := slices.BinarySearchFunc(ta.tails.tags, ta.Pos+i, func(t tailTag, at int) int {
		return t.at - at
	})
	return k == len(ta.tails.tags) || ta.tails.tags[k].calls[0]
}

// goesOn reports whether a value may continue after offset i, where its call seems to end. The
// value began at offset from. The result is true if the tags after i do not form whole calls, and
// the value has several lines or the call lacks a parameter, as the parameter lacks says.
func (ta *tagsAhead) goesOn(p *declaration.Pattern, from int, lacks bool, i int) bool {
	return (lacks || ta.severalLines(from, 0)) && !ta.wholeCalls(p, i)
}

// otherCall reports whether something that begins like a call is at offset i, but is not a call in
// the tags of p's family. A model that writes calls in tags continues in tags, so this is part of a
// text and not the next call. It is one of these: an opening tag of p's family without the name of
// an offered tool; a mark of any family with a name, an object or a list after it; an object with
// such a name. The result end is the offset at which to continue: after the opening tag if a tool's
// name follows it, or else i+1.
func (ta *tagsAhead) otherCall(p *declaration.Pattern, i int) (end int, other bool) {
	if ta.objectNames(i) {
		return i + 1, true
	}
	if ta.marks.marksAt(i) == nil && !p.Family.CloseBytes[max(ta.At(i), 0)] {
		return i + 1, false
	}
	if n, own := ta.opener(p, i); own {
		behind := n + ta.Elastic(n)
		switch c := ta.At(behind); {
		case c == '{' || c == '[':
			return i + 1, true
		case ta.names.toolAt(behind):
			_, _, whole := ta.callHead(p, i)
			return n, !whole
		default:
			return i + 1, c >= 0 && ta.startsLine(i)
		}
	}
	return i + 1, ta.marks.firstMark(i, func(m *declaration.Mark) bool {
		begins := opensCall(m) || m.Kind == declaration.HeaderOpen && p.Family.Header == nil
		return begins && (!m.IsWord() || ta.startsLine(i)) && ta.callBehind(p, i, m)
	}) != nil
}

// callBehind reports whether a call begins after the mark m at offset i: an object, a list or the
// name of an offered tool follows. If m opens a section of several calls, an opening tag of m's
// family may follow instead. It returns false if an opening tag of p's family follows.
func (ta *tagsAhead) callBehind(p *declaration.Pattern, i int, m *declaration.Mark) bool {
	n := i + ta.marks.markSize(i, m)
	if end, a := ta.marks.literal(i, m.Pattern.Parts[0].Lit); a == matched {
		n = max(n, end)
	}
	n += ta.Elastic(n)
	if c := ta.At(n); c == '{' || c == '[' || ta.names.toolAt(n) {
		return true
	}
	if _, own := ta.opener(p, n); own {
		return false
	}
	begins := func(q *declaration.Pattern) bool {
		_, a := ta.marks.literal(n, q.Parts[0].Lit)
		return a == matched
	}
	return m.Kind == declaration.SectionOpen && slices.ContainsFunc(m.Pattern.Family.Calls, begins)
}

// objectNames reports whether an object or a list begins at offset i, at the start of a line, and
// the name of an offered tool is near its beginning.
func (ta *tagsAhead) objectNames(i int) bool {
	if c := ta.At(i); c != '{' && c != '[' || ta.before(i) != '\n' {
		return false
	}
	for n := i + 1; n < i+maxAside && ta.At(n) >= 0; n++ {
		if c := ta.before(n); (c == '"' || c == '[') && ta.names.toolAt(n) {
			return true
		}
	}
	return false
}

// toolAt reports whether the name of an offered tool is at offset i.
func (ns *names) toolAt(i int) bool {
	n := i + ns.Run(i, toolset.MaxName, scan.IsName)
	return ns.tools.Find(string(ns.Slice(ns.Pos+i, ns.Pos+n))) != nil
}

// startsLine reports whether offset i is at the beginning of a line or after another tag.
func (ta *tagsAhead) startsLine(i int) bool {
	c := ta.before(i)
	return c == '\n' || c == '>' || c < 0
}

// tailTag returns the kind of the tag at offset i in the text after a call. It returns false if no
// tag is there, or if the tag is inside a line of prose, where it is only mentioned.
func (ta *tagsAhead) tailTag(p *declaration.Pattern, i int) (tagKind, bool) {
	for _, arg := range p.Family.Args {
		if _, a := ta.marks.literal(i, arg.Parts[0].Lit); a != matched {
			continue
		}
		if _, a := ta.headBy(arg, i); a == matched {
			return headTag, ta.startsLine(i)
		}
	}
	for _, arg := range p.Family.Args {
		if n, ok := ta.valueCloser(arg, i); ok {
			return valueTag, ta.lineEnds(n)
		}
	}
	for _, l := range p.Close {
		if n, a := ta.marks.literal(i, l.Trimmed()); a == matched {
			return closeTag, ta.lineEnds(n)
		}
	}
	return 0, false
}

// lineEnds reports whether offset i, after a tag, is at the end of a line or before another tag.
func (ta *tagsAhead) lineEnds(i int) bool {
	c := ta.At(i)
	return c < 0 || c == '\n' || c == '<' || c == '\\' || c == ']'
}

// valueCloser returns the offset after a value's closing tag at offset i, for an argument that is
// written by the given pattern. It returns false if the tag is not there.
func (ta *tagsAhead) valueCloser(arg *declaration.Pattern, i int) (int, bool) {
	if arg.Keyed() { // </city>: it contains a name
		n, a := ta.marks.literal(i, arg.Parts[4].Lit)
		if a != matched {
			return i, false
		}
		i = n + ta.Run(n, lenient.MaxKey, func(c int) bool {
			return c > ' ' && c != '>' && c != '<'
		})
	}
	n, a := ta.marks.literal(i, arg.Parts[len(arg.Parts)-1].Lit.Trimmed())
	return n, a == matched
}
