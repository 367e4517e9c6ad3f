package schema

import (
	"cmp"
	"slices"
	"strings"
)

// The bounds of merging. They are needed because an allOf in a filter language may lead back to the
// filter itself, which would then be merged with its own alternatives again and again.
const (
	maxAlternatives = 32 // of a union that is made of two
	// maxMerged bounds the levels below a merge, because each level of a schema that refers to
	// itself could be merged with the next.
	maxMerged = 12
)

// mergeAll returns a schema that allows every value that fits all schemas in list, which must not
// be empty. Schemas without unions are merged by halves, because merging one after the other would
// copy all members so far each time. Unions are merged in their order: the sizes of two multiply,
// and the one that makes the result too large is dropped.
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

// mergeHalves merges each half of a list, and returns the merged halves as one Place.
func (d *Doc) mergeHalves(list []*Place) *Place {
	if len(list) == 1 {
		return list[0]
	}
	half := len(list) / 2
	return d.merge(d.mergeHalves(list[:half]), d.mergeHalves(list[half:]), 0)
}

// merge returns a subschema that allows every value that fits both a and b. Schemas are merged
// here, because servers enforce an allOf at best for objects, and templates and grammars cannot
// express one. If the result cannot be expressed, b's part is dropped. Types are compared as sets.
// Number includes Integer, so integer beside number remains integer.
func (d *Doc) merge(a, b *Place, depth int) *Place {
	// Two references to one target need not be followed.
	if a.ref != nil && a.ref == b.ref || b.Open() {
		return a
	}
	if a.Open() {
		return b
	}
	// Below that depth only a applies. The constraint may then allow too much, but never too
	// little.
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
	// No value is of both types, or in both lists.
	if p.Kinds &= b.Kinds; p.Kinds == 0 || !p.mergeEnum(b) {
		return never()
	}
	p.hints |= b.hints
	p.mergeScalars(b)
	d.mergeArrays(&p, b, depth)
	d.mergeObjects(&p, b, depth)
	// The merge may have produced a member that nothing fits.
	p.settle()
	return &p
}

// mergeUnions returns a union in which each alternative of a is merged with each of b. A place
// without alternatives is treated as a single one. Two unions multiply, and an allOf can join any
// number of them: three unions of ten make a thousand alternatives. The budget does not prevent
// this, because it bounds each list and not the product. If there would be more than
// maxAlternatives, the second union is dropped and not written out.
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

// mergeEnum reduces p's list of values to the values that b lists as well and whose type is still
// allowed. It returns false if no value is left. Values are compared by their spelling, so 1 and
// 1.0 differ. ["a", "b"] and ["b", "c"] leave ["b"], in the order of the first list.
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
	p.Enum = slices.DeleteFunc(slices.Clone(list), func(v string) bool {
		return p.Kinds&KindOf(v) == 0
	})
	return len(p.Enum) > 0
}

// mergeScalars adds b's constraints on strings, numbers and lengths to p's. Of two bounds it keeps
// the tighter one. It keeps all patterns and formats, because only the writer knows which of them
// it can express. Of two multipleOf it keeps p's, because no writer enforces them, and the demo,
// which invents values, needs only one.
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

// bothWords returns the words of two lists, each text once. One part of an allOf often repeats the
// pattern of another.
func bothWords(a, b []Word) []Word {
	for _, w := range b {
		if !slices.ContainsFunc(a, func(have Word) bool { return have.Text == w.Text }) {
			a = append(slices.Clip(a), w)
		}
	}
	return a
}

// larger returns the one of two lower bounds that allows fewer values. A nil bound allows
// everything.
func larger(a, b *Count) *Count {
	if a == nil || b != nil && b.N > a.N {
		return b
	}
	return a
}

// smaller returns the one of two upper bounds that allows fewer values. A nil bound allows
// everything.
func smaller(a, b *Count) *Count {
	if a == nil || b != nil && b.N < a.N {
		return b
	}
	return a
}

// mergeArrays merges two array schemas element by element. If one of them has its own schema for
// element i, and the other has a schema for all elements, both apply to element i.
func (d *Doc) mergeArrays(p, b *Place, depth int) {
	at := func(p *Place, i int) *Place { // the place of element i, or nil for anything
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

// both merges two places that may be nil. If one is nil, it returns the other. The merge is one
// level deeper than the parameter depth.
func (d *Doc) both(a, b *Place, depth int) *Place {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	return d.merge(a, b, depth+1)
}

// mergeObjects merges b's members into p, for a value to which both apply (allOf). If only one of
// the two lists a member, the member must also fit the other's additionalProperties. So if one has
// additionalProperties false, nothing fits members that only the other lists. The specification
// demands this, and authors often write it by mistake. settle removes such members.
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

// settle removes the members of p that no value fits. If one of them is required, no value fits p
// either, and settle marks it so. For example, if a union with alternatives for the kinds "a" and
// "b" is merged with "kind": "b", the alternative for "a" is not written.
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

// set adds a member at the end, or replaces the member with this name, whose position does not
// change.
func (p *Place) set(name string, to *Place) {
	for i := range p.Members {
		if p.Members[i].Name == name {
			p.Members[i].Place = to
			return
		}
	}
	p.Members = append(p.Members, Member{name, to})
}

// escapeStep returns a name escaped for a JSON pointer.
func escapeStep(name string) string { return pointerSteps.Replace(name) }

// pointerSteps makes the two escapes of RFC 6901, section 3. A Replacer goes through the text once,
// so ~ is not escaped twice.
var pointerSteps = strings.NewReplacer("~", "~0", "/", "~1")
