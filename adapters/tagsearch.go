package adapters

import (
	"bytes"
	"slices"
)

// A call in tags that is not written as its family writes it is read by costs. Every way to divide
// its text into values is a reading. Each slip that a reading assumes has a cost, and so has each
// tag that it takes for text. The cheapest reading counts if no other reading of nearly the same
// cost gives other values. Otherwise the call is in doubt.
//
// Inside a value tags nest: an opener together with its closer is text, at no cost. So a document
// about calls is read whole.

// tagArg is an argument in a reading, which is one way to divide a call into arguments. Its value
// is between the offsets from and to. Each argument points to the one before it, because readings
// share their beginnings: a thousand readings of a file contain its path once.
type tagArg struct {
	head
	from, to int
	prev     *tagArg
	opened   bool // its head is damaged
	loose    bool // its closer is damaged or missing
	guessed  bool // its head is missing: the key is a parameter that had no value
	doubt    bool // the text after it may be another argument
}

// tagState is a division of the call's text into arguments up to a tag, which is inside the value
// of the last argument. Two states with the same arguments, the same key and the same beginning of
// the value continue alike, so only the cheaper one is kept.
type tagState struct {
	cost int
	args *tagArg
	head head
	from int
	odd  bool // the head is damaged

	guessed bool // the head was left out, and the key is a parameter that fits
}

// tagReading is one way to divide the rest of a call into arguments. Its cost is the sum of the
// slips (characters or tags that are wrong or missing) that it assumes.
type tagReading struct {
	cost   int
	args   *tagArg
	end    int
	cut    bool // the text ends inside a value
	closed bool // the last closer was seen
	open   bool // the text ends between two arguments
	unsure bool // the text after the call may be part of its last value
}

// tagSearch finds the readings of the rest of a call: the ways to divide its text into values.
type tagSearch struct {
	d       *tagsAhead
	f       *tagForms
	slip    bool // something before the searched text is damaged
	first   int  // the number of arguments that were read before the search
	start   int  // offset of the beginning of the value in which the search began
	tokens  []tagToken
	opened  []int // the token that each token closes, plus one; 0: none
	states  [][]tagState
	borders map[string][]int // see countBorders
	rest    []int            // what the tags from each token on cost as text
	done    []tagReading
	best    int
}

// maxTagText bounds the text of one search, in bytes, and maxSearched the text of all searches of a
// reply. A call that needs more is in doubt, so a hostile reply costs no more than a large one.
// maxStates bounds the readings that are followed at a tag. Only the cheapest are kept, because a
// reading that costs much more would not be chosen, whatever follows.
const (
	maxTagText  = 4 << 20
	maxSearched = 16 << 20
	maxStates   = 48
)

// textEnd returns the offset of the end of the text that was read.
func (s *tagSearch) textEnd() int { return len(s.d.Window()) }

// from returns the index of the first token that begins at the given offset or later, or the number
// of tokens if there is none.
func (s *tagSearch) from(offset int) int {
	n, _ := slices.BinarySearchFunc(s.tokens, offset, func(t tagToken, at int) int {
		return t.at - at
	})
	return n
}

// add adds a state that continues at the given token. It drops states that cost too much. Of two
// equal states it keeps the cheaper one.
func (s *tagSearch) add(token int, v tagState) {
	if v.cost > s.best+tagWindow {
		return
	}
	list := s.states[token]
	for k := range list {
		if o := &list[k]; o.args == v.args && o.head.key == v.head.key && o.from == v.from {
			o.cost = min(o.cost, v.cost)
			return
		}
	}
	s.states[token] = append(list, v)
}

// run finds the readings of the text: the ways to divide it into arguments. At each tag it
// continues those that do not cost much more than the best one that is complete.
func (s *tagSearch) run() {
	for k := range s.states {
		list := s.states[k]
		slices.SortStableFunc(list, func(a, b tagState) int { return a.cost - b.cost })
		if len(list) > maxStates {
			list = list[:maxStates]
		}
		for _, v := range list {
			if v.cost > s.best+tagWindow {
				break
			}
			if k == len(s.tokens) {
				s.finish(tagReading{cost: v.cost + s.endCost(v.head),
					args: &tagArg{head: v.head, from: v.from, to: s.textEnd(), prev: v.args},
					cut:  true})
				continue
			}
			s.step(k, v)
		}
		s.states[k] = nil
	}
}

// finish records r, a way to divide the text into arguments up to the end of the call, as a result
// of the search.
func (s *tagSearch) finish(r tagReading) {
	s.best = min(s.best, r.cost)
	s.done = append(s.done, r)
}

// step continues the state v, a division of the text into arguments up to the tag with the index k,
// which is inside a value. The tag ends the value in one of several ways, or is part of the value:
//
//	its closing tag, whole or damaged             the value ends
//	the closing tag of a key in its place         the two were swapped
//	a closing tag of the call                     the value's own is missing
//	the opening tag of a parameter without value  the same
//	its own opening tag, before any text          the tag is doubled
func (s *tagSearch) step(k int, v tagState) {
	t := &s.tokens[k]
	closed := func(to, i, cost int) {
		if v.guessed && s.blank(v.from, to) {
			return // neither a head nor a value: nothing shows that this was an argument
		}
		s.next(&tagArg{v.head, v.from, max(to, v.from), v.args, v.odd, t.kind != valueTag ||
			t.cost > 0, v.guessed, false}, i, cost, 0)
	}
	// a missing closer also takes the line break before it; if there are two, one may be the
	// value's
	missing := func(to, i, cost int) {
		closed(to, i, cost)
		if before := s.lineEnd(to, v.from); before < to && v.head.onLines() {
			closed(before, i, cost)
		}
	}
	line := s.lineEnd(t.at, v.from)
	// without a closer of its own the value would end in a tag, which at a border is never text
	lost := v.cost + slipCost
	if k > 0 && !s.tokens[k-1].opens && s.tokens[k-1].at >= v.from &&
		s.blank(s.tokens[k-1].end, t.at) {
		lost += leftCost
	}
	nests := 0
	if t.opens && t.kind != headTag && s.blank(v.from, t.at) && s.again(v.head, t) {
		nests = textCost
		s.add(s.from(t.end), tagState{v.cost + slipCost, v.args, v.head, t.end, true, false})
	}
	if t.opens && t.kind == valueTag && k+1 < len(s.tokens) && s.blank(t.end, s.tokens[k+1].at) &&
		s.tokens[k+1].kind == headTag && s.fresh(v, s.tokens[k+1].heads[0].key) {
		nests = textCost
	}
	switch {
	case t.key != "" && t.key != v.head.key:
	case t.kind == valueTag:
		to, cost := valueEnd(s, v, t, line)
		closed(to, t.end, cost)
	// closers swapped
	case t.kind == innerTag:
		closed(t.at, t.end, v.cost+t.cost+slipCost)
	// the closer of the value is missing
	case t.kind == closeTag:
		// a sentence goes on after it
		if t.asText == mentionCost && t.end+s.d.Space(t.end) < s.textEnd() {
			lost += 4 * quarter
		}
		missing(line, t.at, lost)
	case t.kind == headTag && s.blank(v.from, t.at) && t.heads[0].key == v.head.key:
		nests = textCost
		s.add(s.from(t.end), tagState{v.cost + slipCost + t.cost, v.args, v.head, t.heads[0].end,
			true, false})
	case t.kind == headTag && t.cost == 0 && s.fresh(v, t.heads[0].key) &&
		(!v.head.onLines() || s.d.before(t.at) == '\n' || t.at == v.from):
		missing(line, t.at, lost)
	}
	s.asText(k, v, nests)
}

// valueEnd returns the offset where the last value of the state v ends if the tag t closes it, and
// the cost of v with that tag. The parameter line is the offset of the line break before the tag.
// If the value is on lines of its own, it ends there.
func valueEnd(s *tagSearch, v tagState, t *tagToken, line int) (to, cost int) {
	to, cost = t.at, v.cost+t.cost
	if v.head.onLines() || s.f.p.Family != s.d.marks.f && s.d.At(v.from) == '\n' {
		to = line
	}
	// a line of its own is where it belongs
	if v.head.onLines() && line == t.at && v.from < t.at && s.d.before(v.from) == '\n' {
		cost += lostCost
	}
	return to, cost
}

// asText adds the states in which the tag at token k is text of the value in which it stands. They
// continue the state v, a division of the text into arguments up to that tag. In the first new
// state only the tag is text. If the tag has a closing tag, a second state takes both tags and all
// between them for text. The parameter nests is its extra cost, which is higher if a value seems to
// end between the two tags.
//
//	write_file content=…, and in it   <tool_call>…</tool_call>   one piece of text
//	                                  <tool_call> is a mark      a mention, which costs little
//	                                  ⏎</parameter>⏎             text only as a last resort
func (s *tagSearch) asText(k int, v tagState, nests int) {
	t := &s.tokens[k]
	text := t.asText
	behind := k > 0 && s.tokens[k-1].kind == valueTag &&
		s.tokens[k-1].end+s.d.Elastic(s.tokens[k-1].end) == t.at
	if t.kind == headTag && t.cost == 0 && s.fresh(v, t.heads[0].key) && !v.head.onLines() &&
		!behind {
		// in a text of several lines a mention cannot be told from an argument
		if text = textCost; bytes.IndexByte(
			bytes.TrimSpace(s.d.Slice(s.d.Pos+v.from, s.d.Pos+t.at)), '\n') >= 0 {
			text = slipCost - 1
		}
	}
	s.add(k+1, tagState{v.cost + text, v.args, v.head, v.from, v.odd, v.guessed})
	if t.pair > 0 {
		switch {
		case s.endsInside(v, t.pair-1, t.pair):
			nests = 2 * leftCost
		case s.endsInside(v, k, t.pair):
			nests = 2 * textCost
		case t.kind == headTag && t.cost == 0 && t.asText == textCost && s.fresh(v, t.heads[0].key):
			nests = textCost
		}
		s.add(t.pair+1, tagState{v.cost + nests, v.args, v.head, v.from, v.odd, v.guessed})
	}
}

// lineEnd returns the offset of the line break directly before offset i, or i if there is none
// after the offset from.
func (s *tagSearch) lineEnd(i, from int) int {
	if i > from && s.d.before(i) == '\n' {
		i--
		if i > from && s.d.before(i) == '\r' {
			i--
		}
	}
	return i
}

// blank reports whether there is only white space between two offsets.
func (s *tagSearch) blank(from, to int) bool {
	return len(bytes.TrimSpace(s.d.Slice(s.d.Pos+from, s.d.Pos+to))) == 0
}

// fresh reports whether key is a parameter of the tool that has no value yet: not in the state v,
// and not among the arguments that were read before the search began.
func (s *tagSearch) fresh(v tagState, key string) bool {
	return s.f.typ.Has(key) && key != v.head.key && !s.seen(v.args, key)
}

// seen reports whether the parameter named key has a value already: among the arguments up to args,
// or among those that were read before the search began.
func (s *tagSearch) seen(args *tagArg, key string) bool {
	for ; args != nil; args = args.prev {
		if args.key == key {
			return true
		}
	}
	return slices.Contains(s.d.Seen[:s.first], key)
}
