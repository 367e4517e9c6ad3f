package adapters

import (
	"slices"

	"toolnorm/adapters/internal/declaration"
	"toolnorm/chat/schema"
)

// What is sent of a call cannot be taken back, so a plan begins where the text stops to be as its family writes it: what was
// read until then is fixed, and from there on nothing leaves before all of the call is known.

// tagPlan is how the rest of a call in tags is read, once that was decided by all of it.
type tagPlan struct {
	made   bool
	args   []*tagArg // what follows the value that was being read
	base   int       // the position that their offsets count from
	to     int       // the position where the value that is being read ends; -1: not at all
	end    int       // the position behind the call
	closed bool      // its last closer was seen
}

// tagging is what reading calls in tags keeps of a reply.
// It is no part of the progress: what was found in the text stays true when a draft is taken back.
type tagging struct {
	plan     tagPlan
	forms    *tagForms
	searched int // bytes that were searched
	tails    tagTails
}

// planDamaged decides how a call is read whose first argument has a damaged head.
// Nothing of the call has left then, so a doubt makes all of it text.
func (d *decoder) planDamaged(p *declaration.Pattern, t *schema.Type) {
	d.plan = tagPlan{made: true, base: d.Pos, to: -1}
	if d.searched > maxSearched {
		d.Out.Doubt = true
		return
	}
	s := d.newTagSearch(p, t)
	s.next(nil, 0, 0, 0)
	s.run()
	if r, ok := s.choose("", false); ok && !r.cut && r.args != nil {
		d.followPlan(r)
		d.plan.to = d.Pos
	} else {
		d.Out.Doubt = d.Out.Doubt || !ok || r.args == nil
		d.Out.Broken = ok && r.cut
	}
}

// planTags decides how the rest of the call is read, from inside the value of h on: by the reading that costs least. A call that
// has two such readings is in doubt, and one that ends inside a value is cut.
func (d *decoder) planTags(p *declaration.Pattern, h head, t *schema.Type, before func() string) {
	d.plan = tagPlan{made: true, base: d.Pos, to: -1}
	if d.searched > maxSearched {
		d.Out.Doubt = true
		return
	}
	s := d.newTagSearch(p, t)
	text := ""
	if before != nil {
		text = before()
	}
	s.add(0, tagState{head: h})
	s.run()
	r, ok := s.choose(text, before == nil)
	if !ok || r.cut {
		d.Out.Doubt = d.Out.Doubt || !ok
		return
	}
	d.followPlan(r)
	d.planNext()
}

// tagForms are the tags of the call's pattern for a tool.
// They stay for the next call, which mostly is of the same pattern.
func (d *decoder) tagForms(p *declaration.Pattern, t *schema.Type) *tagForms {
	if d.forms == nil || d.forms.p != p || d.forms.typ != t {
		d.forms = newTagForms(p, t)
	}
	return d.forms
}

// followPlan makes a reading the plan.
// A reading that takes tags for text and nothing for granted is no repair.
func (d *decoder) followPlan(r tagReading) {
	for a := r.args; a != nil; a = a.prev {
		d.plan.args = append(d.plan.args, a)
	}
	slices.Reverse(d.plan.args)
	d.plan.end, d.plan.closed = d.plan.base+r.end, r.closed
	if r.cost%quarter > 0 {
		d.Repaired("closers")
	}
}

// planNext goes on to the next argument of the plan, where its value begins. It is false behind the last one.
func (d *decoder) planNext() (head, bool) {
	if len(d.plan.args) == 0 {
		return head{}, false
	}
	a := d.plan.args[0]
	d.plan.args = d.plan.args[1:]
	d.Pos, d.plan.to = d.plan.base+a.from, d.plan.base+a.to
	return a.head, true
}
