package valid

import (
	"bytes"
	"slices"
	"strings"

	"toolnorm/chat/schema"
)

// Trimmed returns the arguments without the members that the schema forbids, byte for byte
// otherwise; ok reports whether nothing else is wrong with them. A member that may be a misspelt
// one, or that another part of the schema knows, is not left out, and neither is any while a member
// is missing. Of two members that say the same one is left. {"title":"Q4","reason":"asked"} under a
// closed schema: to have the call written again would cost a generation, and what was right in it.
// What is left out here has no place in the schema at all.
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

// edited appends the text of n without the members that go, and with the values that take the place
// of others. A comma goes with the member behind it; what is in front of the first member that
// stays goes as well.
func (n *node) edited(dst []byte) []byte {
	switch {
	// A number at its bound takes the place of the one that was written.
	case n.trouble != nil && n.now != "":
		return append(dst, n.now...)
	// Nothing below changes, so the text is taken as it is, blanks included.
	case n.trouble == nil || len(n.inside) == 0:
		return append(dst, n.Raw...)
	}
	dst = append(dst, n.Raw[0])
	end, first := 1, true // of the member before, with what is cut
	seen := map[string]bool{}
	for _, one := range n.inside {
		// Of members with one name and one value the first is left.
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

// trouble is what has to change at a node, and within it.
type trouble struct {
	what  change   // several marks of one place add up
	now   string   // the value that takes its place; empty: none does
	deep  bool     // something has to change within it
	lacks []string // names of members that have to be there, as they came
}

// spread notes marks at the nodes that they speak of, each beginning at a depth of its path.
// Members of one name share them. Each place sorts the marks that lie in it, so that a walk through
// the text knows of each place in one step.
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

// is reports whether any of the changes is wanted at the place itself.
func (t *trouble) is(what change) bool { return t != nil && t.what&what != 0 }

// Stands returns what of the arguments is as the schema wants it, down to single members and
// elements. It returns nil when that cannot be said, or when nothing is right because the object as
// a whole is wrong.
func (v *Validator) Stands(args []byte) *schema.Standing {
	m, ok := v.marks(args)
	if !ok {
		return nil
	}
	// Where the whole is wrong there is nothing that a new call could be held to.
	if m.doc.spread(m.all, 0); m.doc.is(anew) {
		return nil
	}
	return m.doc.standing()
}

// Standing returns what has left of the arguments, to which more may come; nil when a text has left
// in part, or nothing has.
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

// begun returns what is right of an object or array that is open, as are its last parts down to a
// depth.
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

// standing returns what is right of an object or array. Members that are missing come last, without
// a value: they are what the model is to write, and the constraint lists them after the rest.
func (n *node) standing() *schema.Standing {
	s := &schema.Standing{Array: n.Raw[0] == '[', More: n.is(few)}
	seen := map[string]bool{}
	for _, one := range n.inside {
		switch part := one.part(); {
		case s.Array:
			s.Parts = append(s.Parts, part)
		// It is not in what stands, so nothing of it is asked for.
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

// written returns the values of a member that is there more than once.
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

// part returns what is right of a member or element: all of it where no mark lies in it, its sound
// parts where it is an object or array with marks inside, else nothing.
func (n *node) part() (part schema.Part) {
	switch open := n.Raw[0] == '{' || n.Raw[0] == '['; {
	case n.trouble == nil || n.what&^again == 0 && !n.deep:
		part.Raw = n.Raw
	// A scalar with a mark has nothing in it that could stand.
	case open && !n.is(anew|wanted):
		part.Open = n.standing()
	}
	return part
}
