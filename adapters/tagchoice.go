package adapters

import (
	"slices"

	"toolnorm/chat/schema"
)

// choose returns the division of the call into arguments that costs least. It returns false if
// there is none, or if another one costs nearly as little and gives the tool other values. A line
// break at another place is no other value if the parameter is a number. The parameter before is
// the part of the first value that was read before the search. If partly is true, that part is not
// known, and the value is not compared with its schema. A value that does not fit its schema costs
// extra. It may still be the only one; then the engine asks the model for it again.
func (s *tagSearch) choose(before string, partly bool) (tagReading, bool) {
	slices.SortStableFunc(s.done, func(a, b tagReading) int { return a.cost - b.cost })
	if len(s.done) == 0 {
		return tagReading{}, false
	}
	known := map[[2]int]string{}
	value := func(a *tagArg) string {
		at := [2]int{a.from, a.to}
		v, ok := known[at]
		if !ok {
			text := string(s.d.Slice(s.d.Pos+a.from, s.d.Pos+a.to))
			if a.from == 0 {
				text = before + text
			}
			v = a.read(text, s.f.typ.Prop(a.key))
			known[at] = v
		}
		return v
	}
	var list []tagReading
	for _, r := range s.done {
		if r.cost > s.done[0].cost+tagMargin+misfitCost || len(list) == maxStates {
			break
		}
		for a := r.args; a != nil; a = a.prev {
			typ := s.f.typ.Prop(a.key)
			if !(partly && a.from == 0) && !(r.cut && a == r.args) && typ.Known() &&
				!typ.Allows(schema.String) && !typ.Allows(schema.KindOf(value(a))) {
				r.cost += misfitCost
			}
		}
		if !r.cut && lacksArgument(s, r) {
			r.cost += misfitCost
		}
		list = append(list, r)
	}
	slices.SortStableFunc(list, func(a, b tagReading) int { return a.cost - b.cost })
	best := list[0]
	for _, r := range list[1:] {
		if r.cost >= best.cost+tagMargin {
			break
		}
		if r.cut != best.cut || !sameArgs(r.args, best.args, value) {
			return best, false
		}
	}
	return best, best.cost < leftCost && !best.unsure && (best.cut || !s.borderless(best)) &&
		!(s.d.calls.done > 0 && s.closersInside(best))
}

// lacksArgument reports whether r, one way to divide a call into arguments, has no value for a
// required parameter. Such a call does not fit its schema.
func lacksArgument(s *tagSearch, r tagReading) bool {
	return slices.ContainsFunc(s.f.typ.Required(), func(key string) bool {
		return !s.seen(r.args, key)
	})
}

// closersInside reports whether a value of a reading (one way to divide a call into arguments)
// contains the closing tag of a value followed by that of a call, without the opening tags for
// them. If another call precedes this one, it is then not clear where that call ended.
func (s *tagSearch) closersInside(r tagReading) bool {
	for a := r.args; a != nil; a = a.prev {
		for k := s.from(a.from); k+1 < len(s.tokens) && s.tokens[k].at < a.to; k++ {
			t, next := &s.tokens[k], &s.tokens[k+1]
			if t.kind == valueTag && next.kind == closeTag && !s.nested(a, k) &&
				t.cost+next.cost == 0 && s.blank(t.end, next.at) {
				return true
			}
		}
	}
	return false
}

// sameArgs reports whether two divisions of a call's text, whose last arguments are a and b, give
// the same arguments in the same order. The function value returns the value of an argument. Values
// that are the same part of the text are not compared.
func sameArgs(a, b *tagArg, value func(*tagArg) string) bool {
	for ; a != nil && b != nil; a, b = a.prev, b.prev {
		if a.key != b.key || (a.from != b.from || a.to != b.to) && value(a) != value(b) {
			return false
		}
	}
	return a == nil && b == nil
}
