package adapters

import (
	"bytes"
)

// next adds the possible continuations after an argument, where another argument, a closing tag or
// the end of the call should come. It skips white space and repeated closing tags. A line break
// that is written as a backslash and n adds to the cost, because it occurs in source text that
// quotes a call.
func (s *tagSearch) next(args *tagArg, i, cost, depth int) {
	if cost > s.best+tagWindow || depth > 4 {
		return
	}
	d, n := s.d, i+s.d.Space(i)
	if escaped := i + d.Elastic(i); escaped > n { // spelled line breaks occur in texts
		n, cost = escaped, cost+slipCost
	}
	if over := d.At(n) < 0; over || d.marks.cutCloser(s.f.p, n) {
		if d.At(i) == ' ' { // a sentence goes on after the tag
			cost += lostCost
		}
		_, a := d.argHead(s.f.p.Family, n)
		cut := a == incomplete && !over
		s.finish(tagReading{cost: cost + slipCost, args: args, end: n, cut: cut, open: over})
		return
	}
	if size := s.comment(n); size > 0 {
		s.next(args, n+size, cost+asideCost, depth+1)
	}
	if end := d.loneKeys(s.f.p, n); end > n {
		s.next(args, end, cost+slipCost, depth+1)
	}
	if s.nextCall(n) {
		s.over(args, n, cost+slipCost, true)
		return
	}
	tag, twice := false, 0
	if c := d.At(n); s.f.p.Family.CloseBytes[c] && d.At(n+1) == c { // <<parameter=city>
		twice = 1
	}
	for _, h := range d.headsAt(s.f, n+twice) {
		tag = true
		c := cost + h.cost + twice*slipCost
		if s.seen(args, h.key) {
			c += 2 * slipCost
		}
		s.add(s.from(h.end), tagState{c, args, h.head, h.end, h.cost+twice > 0, false})
	}
	for _, v := range s.f.values {
		if end, c, ok := d.tagAt(n, v); ok {
			tag = true
			s.next(args, end, cost+max(c, slipCost), depth+1)
			break
		}
	}
	for k, f := range s.f.closes {
		if end, c, ok := d.tagAt(n, f); ok {
			tag = true
			s.closers(args, k+1, end, cost+slipCost*k+c, 0)
			break
		}
	}
	if !tag && d.marks.endMark(n) {
		s.over(args, n, cost+slipCost, true)
	} else if !tag {
		s.between(args, i, n, cost, depth)
	}
}

// between adds the possible continuations if there is text at offset i, between two arguments of
// the call. Either the opening tags of an argument are missing there, or the text means nothing.
// The parameter of such an argument is not known, so each parameter without a value makes one
// continuation. If two of them fit, the call is doubtful. Words on the line of a closing tag are a
// remark, but a paragraph is not.
func (s *tagSearch) between(args *tagArg, i, n, cost, depth int) {
	d := s.d
	for _, key := range s.f.keys {
		if s.seen(args, key) {
			continue
		}
		arg := s.f.p.Family.Args[0]
		h := head{p: arg, own: arg.Parts[len(arg.Parts)-1].Lit, key: key, end: n}
		s.add(s.from(n), tagState{cost + lostCost, args, h, n, true, true})
	}
	k := s.from(n)
	if k < len(s.tokens) && s.tokens[k].at > n && s.tokens[k].at-n <= maxAside &&
		bytes.IndexByte(bytes.TrimRight(d.Slice(d.Pos+i, d.Pos+s.tokens[k].at), "\n "), '\n') < 0 {
		if args != nil && (depth > 0 || s.tokens[k].kind == valueTag ||
			bytes.ContainsAny(d.Slice(d.Pos+n, d.Pos+s.tokens[k].at), "<>=:[]/'\"")) {
			unsure := *args
			unsure.doubt = true
			args = &unsure
		}
		s.next(args, s.tokens[k].at, cost+junkCost, depth+1)
	}
}

// closers adds the possible continuations after a closing tag of the call. The tag with the index k
// is due next. The outer closing tags are usually missing because the model has stopped after the
// first, such as </function>. Each missing tag then costs half as much as a damaged tag. If text
// follows, all missing tags together cost as much as two damaged ones.
func (s *tagSearch) closers(args *tagArg, k, i, cost, depth int) {
	d := s.d
	if cost > s.best+tagWindow || depth > 4 {
		return
	}
	n := i + d.Elastic(i)
	if size := s.comment(n); size > 0 {
		n += size + d.Elastic(n+size)
	}
	if s.nextCall(n) {
		s.over(args, i, cost+halfCost*(len(s.f.closes)-k), true)
		return
	}
	for j, f := range s.f.closes {
		end, c, ok := d.tagAt(n, f)
		switch {
		case !ok:
			continue
		case j < k: // a repeated closer
			s.closers(args, k, end, cost+max(c, slipCost), depth+1)
		default:
			s.closers(args, j+1, end, cost+c+slipCost*(j-k), depth+1)
		}
		return
	}
	for _, v := range s.f.values {
		if end, c, ok := d.tagAt(n, v); ok && c == 0 {
			if k == len(s.f.closes) && args != nil && s.d.closesAt(s.f.closes, end) {
				twice := *args // all closers once more: the first ones may be part of the value
				twice.doubt = true
				args = &twice
			}
			s.closers(args, k, end, cost+slipCost, depth+1)
			return
		}
	}
	switch {
	case k == len(s.f.closes):
		s.over(args, i, cost, true)
	case d.At(n) < 0 || d.marks.cutCloser(s.f.p, n):
		s.finish(tagReading{cost: cost + halfCost*(len(s.f.closes)-k), args: args, end: n})
	case d.marks.endMark(n):
		s.over(args, i, cost+halfCost*(len(s.f.closes)-k), true)
	default:
		s.over(args, i, cost+2*slipCost, true)
	}
}

// nextCall reports whether another call of an offered tool begins at offset i.
func (s *tagSearch) nextCall(i int) bool { return s.d.callBegins(s.f.p.Family, i) }
