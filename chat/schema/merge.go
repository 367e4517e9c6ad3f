package schema

import (
	"cmp"
	"slices"
	"strings"
)

// The bounds of merging. An allOf in a filter language may lead back to the filter itself, and
// would be joined with its own alternatives again and again.
const (
	maxAlternatives = 32 // of a union that is made of two
	maxMerged       = 12 // levels below a merge: each level of a schema that refers to itself could be merged with the next
)

// mergeAll returns the place of what fits all of some places, at least one. Those that are no
// unions are merged by halves: one after the other, each merge would copy all members so far.
// Unions multiply, so their order decides which of them is dropped.
func (d *Doc) mergeAll(list []*Place) (all *Place) {
	plain := func(p *Place) bool { return p.ref == nil && p.Alternatives == nil }
	for len(list) > 0 {
		n := 1
		for plain(list[0]) && n < len(list) && plain(list[n]) {
			n++
		}
		run := d.mergeHalves(list[:n])
		if list = list[n:]; all != nil {
			run = d.merge(all, run, 0)
		}
		all = run
	}
	return all
}

// mergeHalves merges each half of a list, and then the two.
func (d *Doc) mergeHalves(list []*Place) *Place {
	if len(list) == 1 {
		return list[0]
	}
	half := len(list) / 2
	return d.merge(d.mergeHalves(list[:half]), d.mergeHalves(list[half:]), 0)
}

// merge returns the place of what fits both. Servers hold an allOf of objects at best, and
// templates and grammars have no words for one, so it is worked out here. Where what fits both
// cannot be said, the second one's part is dropped. Types are compared by their sets. Number holds
// Integer, so integer beside number stays integer.
func (d *Doc) merge(a, b *Place, depth int) *Place {
	// Two references to one target need not be followed.
	if a.ref != nil && a.ref == b.ref || b.Open() {
		return a
	}
	if a.Open() {
		return b
	}
	// Deeper, the first one alone holds. It is a constraint that lets too much through, never one
	// that lets too little.
	if depth > maxMerged {
		d.Drop(b.At, "")
		return a
	}
	a, b = a.Follow(), b.Follow()
	switch {
	case a.Never || b.Never:
		return never()
	case a.Alternatives != nil || b.Alternatives != nil:
		return d.mergeUnions(a, b, depth)
	}
	p := *a
	// Nothing is of both types, or in both lists.
	if p.Kinds &= b.Kinds; p.Kinds == 0 || !p.mergeEnum(b) {
		return never()
	}
	p.hints |= b.hints
	p.mergeScalars(b)
	d.mergeArrays(&p, b, depth)
	d.mergeObjects(&p, b, depth)
	// What was merged may have left a member that nothing fits.
	p.settle()
	return &p
}

// mergeUnions puts each alternative of one into each of the other. Two unions multiply, and an
// allOf can join any number of them; from maxAlternatives on the second one is dropped rather than
// written out. Three unions of ten in an allOf are a thousand alternatives; the budget has bounded
// each list, not the product.
func (d *Doc) mergeUnions(a, b *Place, depth int) *Place {
	one := func(p *Place) []*Place {
		if p.Alternatives != nil {
			return p.Alternatives
		}
		return []*Place{p}
	}
	left, right := one(a), one(b)
	if len(left)*len(right) > maxAlternatives && len(left) > 1 && len(right) > 1 {
		d.Drop(b.At, "")
		return a
	}
	var all []*Place
	for _, x := range left {
		for _, y := range right {
			all = append(all, d.merge(x, y, depth+1))
		}
	}
	return Union(all)
}

// mergeEnum keeps the values that both list, and that are of a type that is left. It answers false
// when none is. Values are compared as they are written, so 1 and 1.0 are two.
// ["a", "b"] and ["b", "c"] leave ["b"], in the order of the first list.
func (p *Place) mergeEnum(b *Place) bool {
	list := p.Enum
	switch {
	case list == nil:
		list = b.Enum
	case b.Enum != nil:
		other := map[string]bool{}
		for _, v := range b.Enum {
			other[v] = true
		}
		list = slices.DeleteFunc(slices.Clone(list), func(v string) bool { return !other[v] })
	}
	if list == nil {
		return true
	}
	p.Enum = slices.DeleteFunc(slices.Clone(list), func(v string) bool { return p.Kinds&KindOf(v) == 0 })
	return len(p.Enum) > 0
}

// mergeScalars keeps the tighter of two bounds. Patterns and formats are all kept: which of them
// can be said is the writer's to know. Of two multipleOf the first one stays: no writer holds a
// model to them, and the demo is content with one.
func (p *Place) mergeScalars(b *Place) {
	p.Patterns, p.Formats = bothWords(p.Patterns, b.Patterns), bothWords(p.Formats, b.Formats)
	p.MinLength, p.MaxLength = larger(p.MinLength, b.MinLength), smaller(p.MaxLength, b.MaxLength)
	p.MinItems, p.MaxItems = larger(p.MinItems, b.MinItems), smaller(p.MaxItems, b.MaxItems)
	p.MinMembers = larger(p.MinMembers, b.MinMembers)
	p.Minimum, p.Maximum = tighter(p.Minimum, b.Minimum, 1), tighter(p.Maximum, b.Maximum, -1)
	p.Unique = p.Unique || b.Unique
	p.Step = cmp.Or(p.Step, b.Step)
	p.Proposed = append(slices.Clip(p.Proposed), b.Proposed...)
}

// bothWords returns the words of two lists, each text once. A part of an allOf often repeats the
// pattern of the other.
func bothWords(a, b []Word) []Word {
	for _, w := range b {
		if !slices.ContainsFunc(a, func(have Word) bool { return have.Text == w.Text }) {
			a = append(slices.Clip(a), w)
		}
	}
	return a
}

// larger returns the lower bound that lets less through.
func larger(a, b *Count) *Count {
	if a == nil || b != nil && b.N > a.N {
		return b
	}
	return a
}

// smaller returns the upper bound that lets less through.
func smaller(a, b *Count) *Count {
	if a == nil || b != nil && b.N < a.N {
		return b
	}
	return a
}

// mergeArrays merges element by element: where one of the two has a place of its own for element i
// and the other speaks of all elements, both hold for it.
func (d *Doc) mergeArrays(p, b *Place, depth int) {
	at := func(p *Place, i int) *Place { // the place of element i; nil: anything
		if i < len(p.Prefix) {
			return p.Prefix[i]
		}
		return p.Items
	}
	var prefix []*Place
	for i := range max(len(p.Prefix), len(b.Prefix)) {
		prefix = append(prefix, d.both(at(p, i), at(b, i), depth))
	}
	p.Items, p.Prefix = d.both(p.Items, b.Items, depth), prefix
}

// both merges places that may be missing: what one of them does not speak of is what the other one
// says. It counts a level.
func (d *Doc) both(a, b *Place, depth int) *Place {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	return d.merge(a, b, depth+1)
}

// mergeObjects merges member by member. A member that only one of the two lists must fit what the
// other says of members that it does not list: with additionalProperties false in one part of an
// allOf, nothing fits the members of the others. That is the specification's letter, and a frequent
// mistake of authors; settle takes such members out.
func (d *Doc) mergeObjects(p, b *Place, depth int) {
	members := make([]Member, 0, len(p.Members)+len(b.Members))
	at := make(map[string]*Place, len(b.Members))
	for _, m := range b.Members {
		at[m.Name] = m.Place
	}
	for _, m := range p.Members {
		other := at[m.Name]
		delete(at, m.Name)
		if other == nil {
			other = b.More
		}
		members = append(members, Member{m.Name, d.both(m.Place, other, depth)})
	}
	for _, m := range b.Members {
		if at[m.Name] != nil {
			members = append(members, Member{m.Name, d.both(m.Place, p.More, depth)})
		}
	}
	p.Members, p.Listed = members, p.Listed || b.Listed
	p.More = d.both(p.More, b.More, depth)
	p.Barred = append(slices.Clip(p.Barred), b.Barred...)
	p.Required = each(slices.Concat(p.Required, b.Required))
}

// settle removes members that nothing fits; when one of them is required, nothing fits the object.
// That is what makes a union by a kind work: {"kind": {"const": "a"}} beside a kind that must be
// "b" leaves no alternative, and so is not written.
func (p *Place) settle() {
	p.Members = slices.DeleteFunc(p.Members, func(m Member) bool {
		if m.Never && slices.Contains(p.Required, m.Name) {
			p.Never = true
		}
		return m.Never
	})
	p.size = 0
	p.measure(p.Prefix...)
	p.measure(p.Items, p.More)
	for _, m := range p.Members {
		p.measure(m.Place)
	}
}

// set puts a member at the end, or in the place of one with this name.
// The place in the order stays that of the first mention.
func (p *Place) set(name string, to *Place) {
	for i := range p.Members {
		if p.Members[i].Name == name {
			p.Members[i].Place = to
			return
		}
	}
	p.Members = append(p.Members, Member{name, to})
}

// escapeStep returns a name in a JSON pointer.
func escapeStep(name string) string { return pointerSteps.Replace(name) }

// pointerSteps are the two escapes of RFC 6901, section 3. A Replacer goes through the text once,
// so ~ is not escaped twice.
var pointerSteps = strings.NewReplacer("~", "~0", "/", "~1")
