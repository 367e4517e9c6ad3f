package valid

import (
	"bytes"
	"slices"
	"strings"

	"toolnorm/chat/schema"
)

// Trimmed returns the arguments without the members that the schema forbids, otherwise byte for
// byte. Of two members with the same name and value it leaves out one. For example,
// {"title":"Q4","reason":"asked"} loses reason if the schema allows only title. To have the model
// write the call again would cost a generation, and risk the parts that were right. Trimmed returns
// false if no member is forbidden or repeated, or if there is another problem, such as a missing
// member. It also returns false if a forbidden member may be a misspelt one, or is listed by
// another part of the schema.
func (v *Validator) Trimmed(args []byte) (trimmed []byte, ok bool) {
	m, ok := v.marks(args)
	if !ok || len(m.all) == 0 {
		return nil, false
	}
	if slices.ContainsFunc(m.all, func(k mark) bool {
		return k.what != surplus && k.what != again
	}) {
		return nil, false
	}
	m.doc.spread(m.all, 0)
	trimmed = m.doc.edited(nil)
	return trimmed, len(v.Check(trimmed)) == 0
}

// edited appends the text of n to dst, without the members to remove, and with the new values. A
// member is removed together with the comma before it. If the first members are removed, the text
// between them and the first one that stays is removed, too.
func (n *node) edited(dst []byte) []byte {
	switch {
	// The value is replaced, for example a number by its bound.
	case n.trouble != nil && n.now != "":
		return append(dst, n.now...)
	// Nothing inside changes, so the text is copied, including blanks.
	case n.trouble == nil || len(n.inside) == 0:
		return append(dst, n.Raw...)
	}
	dst = append(dst, n.Raw[0])
	end, first := 1, true // of the member before, with what is cut
	seen := map[string]bool{}
	for _, one := range n.inside {
		// Of members with the same name and value the first stays.
		if !one.is(surplus) && !seen[one.name] {
			if first {
				end = min(len(n.Raw)-len(strings.TrimLeft(n.Raw[end:], " \t\r\n,")),
					one.from-n.Start)
			}
			dst = one.edited(append(dst, n.Raw[end:one.Start-n.Start]...))
			first = false
		}
		seen[one.name] = true
		end = one.Start - n.Start + len(one.Raw)
	}
	return append(dst, strings.TrimLeft(n.Raw[end:], " \t\r\n,")...)
}

// trouble is what has to change at a node (a value of the arguments), and inside that node.
type trouble struct {
	what  change   // the changes of all marks of the place
	now   string   // the value that replaces it; empty: none
	deep  bool     // something has to change inside it
	lacks []string // names of missing members, in the order of the marks
}

// spread stores each mark at the node of the part that the mark is about, so that a later walk
// through the arguments finds a node's marks without a search. A mark says how a part of the
// arguments must change. All these parts are n or inside n: the first depth steps of each path lead
// to n. Members with the same name get the same marks.
func (n *node) spread(all []mark, depth int) {
	if n.trouble == nil {
		n.trouble = &trouble{}
	}
	inside := map[string][]mark{}
	for _, k := range all {
		if len(k.path) == depth {
			n.what, n.now = n.what|k.what, k.now
			continue
		}
		name := k.path[depth]
		inside[name] = append(inside[name], k)
		if n.deep = true; len(k.path) == depth+1 && k.what == wanted {
			n.lacks = append(n.lacks, name)
		}
	}
	for _, one := range n.inside {
		if here := inside[one.name]; here != nil {
			one.spread(here, depth+1)
		}
	}
}

// is reports whether the value itself needs one of the changes in the parameter what. It returns
// false if t is nil.
func (t *trouble) is(what change) bool { return t != nil && t.what&what != 0 }

// Stands returns the parts of the arguments that fit the schema and so can be kept, down to single
// members and elements. It returns nil if the arguments cannot be checked, or if the object as a
// whole is wrong.
func (v *Validator) Stands(args []byte) *schema.Standing {
	m, ok := v.marks(args)
	if !ok {
		return nil
	}
	// If the whole is wrong, there is nothing that a new call could keep.
	if m.doc.spread(m.all, 0); m.doc.is(anew) {
		return nil
	}
	return m.doc.standing()
}

// Standing returns the members and elements of the arguments that were already sent. A new call
// must repeat them and may add others. It returns nil if nothing was sent, if the object is
// complete, or if what was sent ends inside a text.
func (p *Prefix) Standing() *schema.Standing {
	closed := bytes.TrimRight(slices.Clone(p.text[:p.safe]), ", \n\t\r")
	if len(closed) == 0 || p.state == finished {
		return nil
	}
	for _, o := range slices.Backward(p.stack) {
		closed = append(closed, o.closer())
	}
	doc, err := parse(closed)
	if err != nil {
		return nil
	}
	return doc.begun(len(p.stack) - 1)
}

// begun returns the parts of an object or array whose end has not come yet. If depth is 0, all
// these parts are complete. If depth is 1, the last part is itself an object or array without its
// end. A greater depth says the same of the last part of the last part, and so on.
func (n *node) begun(depth int) *schema.Standing {
	s := &schema.Standing{Array: n.Raw[0] == '[', More: true}
	for i, one := range n.inside {
		part := schema.Part{Name: one.name, Raw: one.Raw}
		if i == len(n.inside)-1 && depth > 0 {
			part = schema.Part{Name: one.name, Open: one.begun(depth - 1)}
		}
		if s.Array {
			part.Name = ""
		}
		s.Parts = append(s.Parts, part)
	}
	return s
}

// standing returns the parts of an object or array that can be kept. After these it lists the
// required members that are missing, without a value, so that the model has to write them.
func (n *node) standing() *schema.Standing {
	s := &schema.Standing{Array: n.Raw[0] == '[', More: n.is(few)}
	seen := map[string]bool{}
	for _, one := range n.inside {
		switch part := one.part(); {
		case s.Array:
			s.Parts = append(s.Parts, part)
		// A surplus member is not kept, and not asked for.
		case one.is(surplus):
		case one.is(doubt):
			s.More = true // what it says may belong to one that is not there
		case !seen[one.name]:
			if part.Name = one.name; part.Raw == "" && part.Open == nil {
				part.Either = n.written(one.name)
			}
			s.Parts = append(s.Parts, part)
		}
		seen[one.name] = true
	}
	for _, name := range n.lacks {
		if !seen[name] {
			s.Parts = append(s.Parts, schema.Part{Name: name})
		}
		seen[name] = true
	}
	return s
}

// written returns the values of a member that occurs more than once, or nil if it occurs once or
// never.
func (n *node) written(name string) (all []string) {
	for _, one := range n.inside {
		if one.name == name {
			all = append(all, one.Raw)
		}
	}
	if len(all) == 1 {
		return nil
	}
	return all
}

// part returns what can be kept of a member or element in which some places are marked as wrong. It
// is the whole value if no mark is on it or in it, and the right parts of an object or array that
// has marks inside. Otherwise it is empty.
func (n *node) part() (part schema.Part) {
	switch open := n.Raw[0] == '{' || n.Raw[0] == '['; {
	case n.trouble == nil || n.what&^again == 0 && !n.deep:
		part.Raw = n.Raw
	// A scalar with a mark has no part that could be kept.
	case open && !n.is(anew|wanted):
		part.Open = n.standing()
	}
	return part
}
