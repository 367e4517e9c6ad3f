package adapters

import (
	"slices"

	"toolnorm/adapters/internal/declaration"
	"toolnorm/adapters/internal/lenient"
)

// tailTag is a tag in the rest of a reply that is not a mention in a sentence.
type tailTag struct {
	at   int
	kind tagKind
	// whether the tags from here on can be whole calls: outside of a call, inside a value, after a
	// value
	calls [3]bool
}

// noteTag records the tag at offset i. An opener counts as the head that follows it. The closer of
// a value that ends a call counts as the closer of the call as well.
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

// sumTags finds, from the end of the reply, which tags begin a series of whole calls. Outside of a
// call a head opens a value, the value's closer ends it, and then another head or the call's closer
// follows. A reply that was cut for its length may stop anywhere.
func (ta *tagsAhead) sumTags() {
	const outside, inValue, behindValue = 0, 1, 2
	calls := [3]bool{true, ta.marks.in.lengthCut(), true}
	for k := len(ta.tails.tags) - 1; k >= 0; k-- {
		switch t := &ta.tails.tags[k]; t.kind {
		case headTag:
			t.calls = [3]bool{calls[inValue], false, calls[inValue]}
		case valueTag:
			t.calls = [3]bool{false, calls[behindValue], false}
		default:
			t.calls = [3]bool{calls[outside], false, calls[outside]}
		}
		calls = ta.tails.tags[k].calls
	}
}

// wholeCalls reports whether the tags after offset i, where a call ends, form whole calls as the
// family writes them. If they do not, the call may not have ended at i: the rest may be a document
// about calls. For families whose values nest it only compares the numbers of openers and closers.
func (ta *tagsAhead) wholeCalls(p *declaration.Pattern, i int) bool {
	if m := ta.tailFrom(p, i); p.Family.Args[0].Keyed() {
		return m.least >= 0
	}
	k, _ := slices.BinarySearchFunc(ta.tails.tags, ta.Pos+i, func(t tailTag, at int) int {
		return t.at - at
	})
	return k == len(ta.tails.tags) || ta.tails.tags[k].calls[0]
}

// goesOn reports whether a value that began at an offset may go on after offset i, where its call
// seems to end: it has several lines or the call lacks a parameter, and no whole calls follow.
func (ta *tagsAhead) goesOn(p *declaration.Pattern, from int, lacks bool, i int) bool {
	return (lacks || ta.severalLines(from, 0)) && !ta.wholeCalls(p, i)
}

// tailTag returns the kind of the tag at offset i. It returns false if there is none, or one that
// is mentioned inside a line.
func (ta *tagsAhead) tailTag(p *declaration.Pattern, i int) (tagKind, bool) {
	for _, arg := range p.Family.Args {
		if _, a := ta.marks.literal(i, arg.Parts[0].Lit); a != matched {
			continue
		}
		if _, a := ta.headBy(arg, i); a == matched {
			c := ta.before(i)
			return headTag, c == '\n' || c == '>' || c < 0
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

// valueCloser returns the offset after the closer of a value, if one of this form is at offset i.
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
