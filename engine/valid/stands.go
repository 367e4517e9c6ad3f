package valid

import (
	"bytes"
	"strconv"

	"toolnorm/chat/schema"
)

// Trimmed are the arguments without the members that the schema forbids, byte for byte otherwise; ok says that nothing else
// is wrong with them. A member that may be a misspelt one, or that another part of the schema knows, is not left out, and
// neither is any while a member is missing. Of two members that say the same one is left.
// {"title":"Q4","reason":"asked"} under a closed schema: to have the call written again would cost a generation, and what was
// right in it. What is left out here has no place in the schema at all.
func (v *Validator) Trimmed(args []byte) (trimmed []byte, ok bool) {
	m, ok := v.marks(args)
	if !ok || len(m.all) == 0 {
		return nil, false
	}
	gone := &trouble{}
	for _, k := range m.all {
		if k.what != surplus && k.what != again {
			return nil, false
		}
		gone.put(k.path, k.what)
	}
	trimmed = edited(nil, args, m.at, gone)
	return trimmed, len(v.Check(trimmed)) == 0
}

// edited appends the text of n without the members that go, and with the values that take the place of others.
// A comma goes with the member behind it; what is in front of the first member that stays goes as well.
func edited(dst, text []byte, n *node, by *trouble) []byte {
	switch {
	// A number at its bound takes the place of the one that was written.
	case by != nil && by.now != "":
		return append(dst, by.now...)
	// Nothing below changes, so the text is taken as it is, blanks included.
	case by == nil || len(n.members)+len(n.items) == 0:
		return append(dst, text[n.start:n.end]...)
	}
	dst = append(dst, text[n.start])
	end, first := n.start+1, true // of the member before, with what is cut
	write := func(start int, value *node, inner *trouble) {
		from := end
		if first {
			from = end + len(text[end:]) - len(bytes.TrimLeft(text[end:], " \t\r\n,"))
			from = min(from, start)
		}
		dst = append(dst, text[from:value.start]...)
		dst = edited(dst, text, value, inner)
		first = false
	}
	seen := map[string]bool{}
	for _, s := range n.members {
		// Of members with one name and one value the first is left.
		if inner := by.in[s.name]; !inner.is(surplus) && !seen[s.name] {
			write(s.start, s.value, inner)
		}
		seen[s.name] = true
		end = s.value.end
	}
	for i, item := range n.items {
		write(item.start, item, by.in[strconv.Itoa(i)])
		end = item.end
	}
	return append(dst, bytes.TrimLeft(text[end:n.end], " \t\r\n,")...)
}

// trouble is what has to change at a place, and within it.
// It is a tree of the marks' paths, so that a walk through the text looks up each place in one step.
type trouble struct {
	what  change
	now   string // the value that takes its place; empty: none does
	in    map[string]*trouble
	order []string // the names in it, as they came
}

// put adds a mark, and gives its place. Several marks of one place add up.
func (t *trouble) put(path []string, what change) *trouble {
	for _, step := range path {
		if t.in == nil {
			t.in = map[string]*trouble{}
		}
		next := t.in[step]
		if next == nil {
			next = &trouble{}
			t.in[step] = next
			t.order = append(t.order, step)
		}
		t = next
	}
	t.what |= what
	return t
}

// leadsTo says whether a place, or one that holds it, is marked: what lies in a member that goes need not be repaired.
func (t *trouble) leadsTo(path []string) bool {
	for _, step := range path {
		if t = t.in[step]; t == nil {
			return false
		}
		if t.what != 0 {
			return true
		}
	}
	return false
}

// is says whether any of the changes is wanted at the place itself.
func (t *trouble) is(what change) bool { return t != nil && t.what&what != 0 }

// Stands is what of the arguments is as the schema wants it, down to single members and elements; nil when that cannot be
// said, or when nothing stands because the object as a whole is wrong.
func (v *Validator) Stands(args []byte) *schema.Standing {
	m, ok := v.marks(args)
	if !ok {
		return nil
	}
	root := &trouble{}
	for _, k := range m.all {
		root.put(k.path, k.what)
	}
	// The whole is wrong, so there is nothing that a new call could be held to.
	if root.is(anew) {
		return nil
	}
	return standing(args, m.at, root)
}

// standing is what stands of an object or array. Members that are missing come last, without a value: they are what the model
// is to write, and the constraint lists them behind what stands.
func standing(text []byte, n *node, t *trouble) *schema.Standing {
	s := &schema.Standing{Array: text[n.start] == '[', More: t.is(few)}
	for i, item := range n.items {
		s.Parts = append(s.Parts, standingPart(text, "", item, t.in[strconv.Itoa(i)]))
	}
	seen := map[string]bool{}
	for _, member := range n.members {
		switch inner := t.in[member.name]; {
		// It is not in what stands, so nothing of it is asked for.
		case inner.is(surplus):
		case inner.is(doubt):
			s.More = true // what it says may belong to one that is not there
		case !seen[member.name]:
			s.Parts = append(s.Parts, standingPart(text, member.name, member.value, inner))
		}
		seen[member.name] = true
	}
	for _, name := range t.order {
		if !seen[name] && t.in[name].is(wanted) {
			s.Parts = append(s.Parts, schema.Part{Name: name})
		}
	}
	return s
}

// standingPart is what stands of a member or element: all of it where no mark lies in it, its sound parts where it is an object
// or array with marks inside, else its name alone.
func standingPart(text []byte, name string, n *node, t *trouble) schema.Part {
	switch open := text[n.start] == '{' || text[n.start] == '['; {
	case t == nil || t.what&^again == 0 && t.in == nil:
		return schema.Part{Name: name, Raw: string(text[n.start:n.end])}
	// A scalar with a mark has nothing in it that could stand.
	case t.is(anew|wanted) || !open:
		return schema.Part{Name: name}
	}
	return schema.Part{Name: name, Open: standing(text, n, t)}
}
