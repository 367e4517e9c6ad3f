package adapters

import (
	"slices"

	"toolnorm/adapters/internal/declaration"
	"toolnorm/chat/schema"
)

// The part of a call that was sent cannot be taken back. So a plan begins where the text first
// deviates from the way its family writes. The part before that point is fixed. After that point
// nothing is sent before the whole call is known.

// tagPlan says how the rest of a call in tags is divided into arguments. It is made when the whole
// text of the call is known, if a tag in the call is damaged.
type tagPlan struct {
	made   bool
	args   []*tagArg // the arguments after the value that was being read
	base   int       // the position that the offsets of args count from
	to     int       // the position where the value being read ends; -1: it does not end
	end    int       // the position after the call
	closed bool      // its last closer was seen
	open   bool      // the text ends after an argument
}

// planDamaged decides how a call is read if the tags before its first argument's value are damaged.
// Nothing of the call was sent yet, so if it may mean two things, all of it becomes text.
func (tg *tagged) planDamaged(p *declaration.Pattern, t *schema.Type) {
	tg.plan = tagPlan{made: true, base: tg.Pos, to: -1}
	if tg.searched > maxSearched {
		tg.Out.Doubt = true
		return
	}
	s := tg.newTagSearch(p, t)
	s.next(nil, 0, 0, 0)
	s.run()
	if r, ok := s.choose("", false); ok && !r.cut && r.args != nil {
		tg.followPlan(r)
		tg.plan.to = tg.Pos
	} else {
		cut := ok && r.cut || tg.in.lengthCut()
		tg.Out.Doubt = tg.Out.Doubt || !cut && (!ok || r.args == nil)
		tg.Out.Broken = cut
	}
}

// planTags decides how the rest of the call is divided into arguments, from inside the value of h.
// It takes the division that assumes the fewest damaged tags. If none is clearly the best, the call
// is marked as doubtful. If the best one ends inside a value, the call is cut. The function before
// returns the part of the value that was read already. It is nil if that part does not matter.
func (tg *tagged) planTags(p *declaration.Pattern, h head, t *schema.Type, before func() string) {
	tg.plan = tagPlan{made: true, base: tg.Pos, to: -1}
	if tg.searched > maxSearched {
		tg.Out.Doubt = true
		return
	}
	s := tg.newTagSearch(p, t)
	text := ""
	if before != nil {
		text = before()
	}
	s.start = h.from - tg.Pos
	s.add(0, tagState{head: h})
	s.run()
	r, ok := s.choose(text, before == nil)
	if !ok || r.cut {
		tg.Out.Doubt = tg.Out.Doubt || (!ok || s.endsClosed()) && !tg.in.lengthCut()
		return
	}
	tg.followPlan(r)
	// the text before the start of the value has been read
	if tg.plan.args[0].from > 0 && h.from < tg.Pos &&
		(before == nil || text != "" && t.Prop(h.key).Allows(schema.String)) {
		tg.Out.Doubt = true
	}
	tg.planNext()
}

// endsClosed reports whether the text ends with the closing tag of a call. If so, the model has
// ended the call itself, and the call is doubtful if it can only be read as one that was cut.
func (s *tagSearch) endsClosed() bool {
	if len(s.tokens) == 0 {
		return false
	}
	last := s.tokens[len(s.tokens)-1]
	return last.kind == closeTag && last.cost == 0 && s.blank(last.end, s.textEnd())
}

// tagForms returns the tags of the call's pattern for a tool. They are kept for the next call,
// which usually has the same pattern.
func (tg *tagged) tagForms(p *declaration.Pattern, t *schema.Type) *tagForms {
	if tg.forms == nil || tg.forms.p != p || tg.forms.typ != t {
		tg.forms = newTagForms(p, t)
	}
	return tg.forms
}

// followPlan makes r, a division of the rest of the call into arguments, the plan by which the call
// is read. It records a repair if r assumes a wrong or missing tag. To take a tag for text is no
// repair.
func (tg *tagged) followPlan(r tagReading) {
	for a := r.args; a != nil; a = a.prev {
		tg.plan.args = append(tg.plan.args, a)
	}
	slices.Reverse(tg.plan.args)
	tg.plan.end, tg.plan.closed, tg.plan.open = tg.plan.base+r.end, r.closed, r.open
	if r.cost%quarter > 0 {
		tg.written.slip = true
		tg.Repaired("closers")
	}
}

// planNext moves to the value of the next argument of the plan (the division of the rest of the
// call into arguments), and returns the tags before that value. It returns false after the last
// one.
func (tg *tagged) planNext() (head, bool) {
	if len(tg.plan.args) == 0 {
		return head{}, false
	}
	a := tg.plan.args[0]
	tg.plan.args = tg.plan.args[1:]
	tg.Pos, tg.plan.to = tg.plan.base+a.from, tg.plan.base+a.to
	return a.head, true
}
