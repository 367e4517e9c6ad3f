package adapters

import (
	"bytes"
	"slices"

	"toolnorm/adapters/internal/declaration"
	"toolnorm/adapters/internal/scan"
)

// tagTails records where calls in tags open and close in the rest of a reply. The text is searched
// once per reply, when text follows a call.
type tagTails struct {
	family   *declaration.Family
	from, to int // the positions between which the text was searched
	marks    []tailMark
	lone     []int // positions where values close outside of calls
	tags     []tailTag
	other    int // position where the last call in another notation begins
}

// tailMark is a place in the rest of a reply where a call of the family opens (step 1) or closes
// (step -1). The field least shows whether some closing tag after this place has no opening tag.
type tailMark struct {
	at    int
	step  int // 1 opens, -1 closes
	least int // the least sum that the steps from here reach; below 0: a closer has no opener
}

// behindCall examines the text at offset i, after a whole call. The result over is true if the
// reply ends there or a further call of an offered tool follows. The result left is true if later
// in the text there are closing tags of a call without an opening tag. They show that the call goes
// on, and that the closing tags before i were part of a value.
func (ta *tagsAhead) behindCall(p *declaration.Pattern, i int) (over, left bool) {
	n := i + ta.Elastic(i)
	if ta.At(n) < 0 || ta.callBegins(p.Family, n) || ta.marks.cutCloser(p, n) {
		return true, false
	}
	if end, ok := ta.marks.sectionEnds(n, p.Family); ok {
		if n = end + ta.Elastic(end); ta.At(n) < 0 || ta.callBegins(p.Family, n) {
			return true, false
		}
	}
	// </minimax:tool_call> after borrowed tags is the closer of a wrapper that no family here knows
	if p.Family != ta.marks.f && ta.Has(n, "</") {
		end := n + ta.Run(n, maxAside, func(c int) bool { return c >= 0 && c != '>' })
		if ta.At(end) == '>' && ta.At(end+1+ta.Elastic(end+1)) < 0 {
			return true, false
		}
	}
	m := ta.tailFrom(p, i)
	return false, m.least < 0
}

// closedOften reports whether calls close several times after offset i, and the last closing tag
// ends the reply. The text may then be a document about calls, in which the numbers of opening and
// closing tags may differ.
func (ta *tagsAhead) closedOften(p *declaration.Pattern, i int) bool {
	ta.tailFrom(p, i)
	closed := 0
	for _, m := range ta.tails.marks {
		if m.at >= ta.Pos+i && m.step < 0 {
			closed++
		}
	}
	return closed > 2 && ta.tails.marks[len(ta.tails.marks)-1].step < 0
}

// tailFrom returns the first place after offset i where a call opens or closes, or the zero
// tailMark if there is none.
func (ta *tagsAhead) tailFrom(p *declaration.Pattern, i int) tailMark {
	t, at := &ta.tails, ta.Pos+i
	if t.family != p.Family || at < t.from || at >= t.to {
		ta.lookForTails(p, i)
	}
	if k, _ := slices.BinarySearchFunc(t.marks, at,
		func(m tailMark, at int) int { return m.at - at }); k < len(t.marks) {
		return t.marks[k]
	}
	return tailMark{}
}

// lookForTails records the places where calls open (step 1) and close (step -1) from offset i to
// the end of the reply. For each place it also records the lowest sum that the steps from there on
// reach. If that sum is below 0, a call closes that was opened before the place. It adds from the
// end of the reply, so the text is read only once.
//
//	</parameter></function></tool_call>   -1: closers, whose opener is before offset i
//	… <function=f><parameter=a>…          +1
//	… </parameter></function>             -1: matched
func (ta *tagsAhead) lookForTails(p *declaration.Pattern, i int) {
	t := &ta.tails
	t.family, t.from, t.marks = p.Family, ta.Pos+i, t.marks[:0]
	t.lone, t.tags, t.other = t.lone[:0], t.tags[:0], -1
	for n := i; ; {
		c := ta.At(n)
		if c < 0 || n-i > maxTagText {
			t.to = ta.Pos + n
			break
		}
		step, end := 0, n+1
		if p.Family.CloseBytes[c] {
			step, end = ta.tailAt(p, n)
		}
		if p.Family.CloseBytes[c] {
			if step == 0 && ta.valueCloses(p, n) {
				t.lone = append(t.lone, ta.Pos+n)
			}
			ta.noteTag(p, n, step)
		}
		if step == 0 {
			other := false
			if end, other = ta.otherCall(p, n); other {
				t.tags, t.other = append(t.tags, tailTag{at: ta.Pos + n, kind: openTag}), ta.Pos+n
			}
		}
		if step != 0 {
			t.marks = append(t.marks, tailMark{at: ta.Pos + n, step: step})
		}
		n = end
	}
	least := 0
	for k := len(t.marks) - 1; k >= 0; k-- {
		least = min(t.marks[k].step, t.marks[k].step+least)
		t.marks[k].least = least
	}
	ta.sumTags()
}

// tailAt returns 1 if a call of the family opens at offset i, -1 if a call closes there and 0
// otherwise. It also returns the offset at which to continue. It looks for an opening tag with its
// first argument, and for closing tags of a call after that of a value, because single tags are
// often mentioned in prose.
func (ta *tagsAhead) tailAt(p *declaration.Pattern, i int) (step, end int) {
	for _, arg := range p.Family.Args {
		n, ok := ta.valueCloser(arg, i)
		if !ok {
			continue
		}
		for _, l := range p.Close { // </invoke></call>: all of them
			if m, a := ta.marks.literal(n+ta.Elastic(n), l); a == matched {
				step, n = -1, m
			}
		}
		if step < 0 {
			return step, n
		}
	}
	if n, args, ok := ta.callHead(p, i); ok && args {
		return 1, n
	}
	return 0, i + 1
}

// callHead reports whether a call in the family's tags begins at offset i (ok), and whether it has
// arguments (args). The result end is the offset after the opening tags of the first argument, or
// after the call's closing tag if there are no arguments.
func (ta *tagsAhead) callHead(p *declaration.Pattern, i int) (end int, args, ok bool) {
	for _, q := range p.Family.Calls {
		if q.PlaceholderAt(1) != "name" {
			continue
		}
		for _, l := range []declaration.Literal{q.Parts[0].Lit, lastPiece(q.Parts[0].Lit)} {
			n, a := ta.marks.literal(i, l)
			if a != matched {
				continue
			}
			if c := ta.At(n + ta.Space(n)); !scan.IsName(c) && c != '"' && c < 0x80 {
				continue // no name
			}
			for most := n + maxAside; n < most; n++ {
				if c := ta.At(n); c < 0 || !p.Family.CloseBytes[c] {
					continue
				}
				if h, a := ta.argHead(p.Family, n); a == matched {
					return h.end, true, true
				}
				if m, ends := ta.marks.closerAt(n, p); ends {
					end, ok = m, true
					break // it has no arguments
				}
				if _, again := ta.opener(p, n); again {
					break
				}
			}
		}
	}
	return end, false, ok
}

// opener returns the offset after the opening tags of a call at offset i. The last of these tags is
// enough, as <function= of <tool_call><function=. It returns false if none is there.
func (ta *tagsAhead) opener(p *declaration.Pattern, i int) (int, bool) {
	for _, q := range p.Family.Calls {
		if q.PlaceholderAt(1) != "name" {
			continue
		}
		for _, l := range []declaration.Literal{q.Parts[0].Lit, lastPiece(q.Parts[0].Lit)} {
			if n, a := ta.marks.literal(i, l); a == matched {
				return n, true
			}
		}
	}
	return i, false
}

// valueCloses reports whether the closing tag of a value is at offset i, at the end of a line or
// before another tag. Elsewhere such a tag is only mentioned in a text.
func (ta *tagsAhead) valueCloses(p *declaration.Pattern, i int) bool {
	for _, arg := range p.Family.Args {
		if n, a := ta.marks.literal(i, arg.Parts[len(arg.Parts)-1].Lit.Trimmed()); a == matched &&
			!arg.Keyed() {
			c := ta.At(n)
			return c < 0 || c == '\n' || c == '<'
		}
	}
	return false
}

// valueBehind reports whether a value closes after offset i, and no other call begins or ends
// before that. If so, the call that seems to end at i goes on, or the text after i belongs to it.
func (ta *tagsAhead) valueBehind(p *declaration.Pattern, i int) bool {
	next := ta.tailFrom(p, i)
	k, _ := slices.BinarySearch(ta.tails.lone, ta.Pos+i)
	return k < len(ta.tails.lone) && (next.at == 0 || ta.tails.lone[k] < next.at)
}

// lastPiece returns the last tag of a literal. It is needed because models leave out the outer tag
// of two: <function=f> begins a call also without <tool_call> before it.
func lastPiece(l declaration.Literal) declaration.Literal {
	all := l.Pieces()
	if len(all) == 0 {
		return l
	}
	return all[len(all)-1]
}

// callBegins reports whether a call of an offered tool begins at offset i, perhaps after the mark
// that opens a section of several calls. If it does, the call before it has ended for certain, and
// no more text is needed to know that. Otherwise only the end of the reply shows it.
func (ta *tagsAhead) callBegins(f *declaration.Family, i int) bool {
	for _, s := range f.Sections {
		if n, a := ta.marks.literal(i, s.Parts[0].Lit); a == matched {
			i = n + ta.Elastic(n)
			break
		}
	}
	for _, q := range f.Calls {
		for _, l := range []declaration.Literal{q.Parts[0].Lit, lastPiece(q.Parts[0].Lit)} {
			n, a := ta.marks.literal(i, l)
			if a == incomplete && ta.At(i) >= 0 {
				return true
			}
			if a != matched {
				continue
			}
			switch q.PlaceholderAt(1) {
			case "name":
				n += ta.Space(n)
				if _, _, a := ta.names.offered(n, func(n, c int) bool {
					return c >= 0 &&
						ta.names.nameEnds(q, 1, n, c)
				}); a != mismatch {
					return true
				}
			case "call":
				if ta.objectBegins(n + ta.Space(n)) {
					return true
				}
			}
		}
	}
	return false
}

// objectBegins reports whether a JSON object begins at offset i, or the text ends there. It returns
// false for an object with escaped quotes, which is part of a program's source.
func (ta *tagsAhead) objectBegins(i int) bool {
	if c := ta.At(i); c != '{' {
		return c < 0
	}
	return ta.At(i+1+ta.Space(i+1)) != '\\'
}

// over records a division of the call into arguments that ends at offset i. Two things add to its
// cost: closing tags later in the reply, because they show that the call had not ended, and text
// after a call with damaged tags.
func (s *tagSearch) over(args *tagArg, i, cost int, closed bool) {
	over, _ := s.d.behindCall(s.f.p, i)
	tail := s.d.tailFrom(s.f.p, i)
	switch {
	case !over && (s.valueBehind(i) || s.parameterBehind(args, i)):
		cost += leftCost
	case tail.least < 0 || !over && tail.at > 0:
		cost += leftCost
	case !over && cost%quarter > 0 && s.argumentsBehind(i):
		cost += leftCost
	case !over && cost%quarter > 0:
		cost += slipCost
		// otherwise a value up to the cut would cost more, for the same tags
		if s.d.marks.in.lengthCut() {
			cost += s.rest[s.from(i)]
		}
	}
	unsure := (over && cost%quarter > 0 || args != nil && s.d.severalLines(args.from, args.to)) &&
		!s.d.wholeCalls(s.f.p, i)
	s.finish(tagReading{cost: cost, args: args, end: i, closed: closed, unsure: unsure})
}

// severalLines reports whether the value between two offsets has several lines, as a file has. It
// returns true if the beginning of the value is no longer in the buffer. The end of a value with
// several lines waits for the rest of the reply. A value of one line does not wait, so that
// parallel calls with short values are sent one by one.
func (ta *tagsAhead) severalLines(from, to int) bool {
	return ta.Pos+from < ta.Base || bytes.IndexByte(ta.Slice(ta.Pos+from, ta.Pos+to), '\n') >= 0
}

// closesAt reports whether one of the given closing tags of a call is at offset i.
func (ta *tagsAhead) closesAt(closers []tagForm, i int) bool {
	i += ta.Elastic(i)
	return slices.ContainsFunc(closers, func(f tagForm) bool {
		_, _, ok := ta.tagAt(i, f)
		return ok
	})
}

// valueBehind reports whether the first tag after offset i is the closing tag of a value or a key.
// If so, the call has not ended at i.
func (s *tagSearch) valueBehind(i int) bool {
	k := s.from(i)
	return k < len(s.tokens) && (s.tokens[k].kind == valueTag || s.tokens[k].kind == innerTag) &&
		s.tokens[k].cost == 0 && s.tokens[k].asText == textCost
}

// parameterBehind reports whether an opening tag of a parameter that has no value directly follows
// offset i, the end of the call.
func (s *tagSearch) parameterBehind(args *tagArg, i int) bool {
	k := s.from(i)
	if k == len(s.tokens) || s.tokens[k].kind != headTag || s.tokens[k].cost > 0 ||
		!s.blank(i, s.tokens[k].at) {
		return false
	}
	key := s.tokens[k].heads[0].key
	return s.f.typ.Has(key) && !s.seen(args, key)
}

// argumentsBehind reports whether tags of arguments come after offset i.
func (s *tagSearch) argumentsBehind(i int) bool {
	return slices.ContainsFunc(s.tokens[s.from(i):], func(t tagToken) bool {
		return (t.kind == valueTag || t.kind == headTag) && t.cost == 0
	})
}

// endCost returns the cost of a text that ends inside a value. It is 0 in a reply that was cut,
// since the model made no error there, and low if half of the value's closing tag is at the end.
func (s *tagSearch) endCost(h head) int {
	if s.d.marks.in.lengthCut() {
		return 0
	}
	closer := h.own.Trimmed().Plain()
	for n := min(len(closer)-1, s.textEnd()); n > 1; n-- {
		if s.d.Has(s.textEnd()-n, closer[:n]) {
			return halfCost
		}
	}
	return cutCost
}
