package schema

import (
	"slices"
	"strings"
)

const (
	maxAlternatives = 32 // of a union that is made of two
	maxMerged       = 12 // levels below a merge
)

// merge is the shape of what fits both. Where that cannot be said, the second one's part is dropped.
func (d *source) merge(a, b *shape, depth int) *shape {
	if a.ref != nil && a.ref == b.ref || b.open() {
		return a
	}
	if a.open() {
		return b
	}
	if depth > maxMerged {
		d.drop(b.at, "")
		return a
	}
	a, b = d.opened(a), d.opened(b)
	switch {
	case a.bottom || b.bottom:
		return never()
	case a.alts != nil || b.alts != nil:
		return d.mergeUnions(a, b, depth)
	}
	s := *a
	if s.kinds &= b.kinds; s.kinds == 0 {
		return never()
	}
	if !s.mergeEnum(b) {
		return never()
	}
	s.hints |= b.hints
	d.mergeScalars(&s, b)
	d.mergeArrays(&s, b, depth)
	d.mergeObjects(&s, b, depth)
	s.settle()
	return &s
}

// opened is a reference read.
func (d *source) opened(s *shape) *shape {
	if s.ref == nil {
		return s
	}
	if slices.Contains(s.doc.reading, s.ref) {
		s.doc.drop(s.at, "")
		return anything()
	}
	reading := s.doc.reading
	s.doc.reading = append(reading, s.ref)
	out := s.doc.read(s.ref, s.at, 0)
	s.doc.reading = reading
	return out
}

// mergeUnions puts each alternative of one into each of the other.
func (d *source) mergeUnions(a, b *shape, depth int) *shape {
	one := func(s *shape) []*shape {
		if s.alts != nil {
			return s.alts
		}
		return []*shape{s}
	}
	left, right := one(a), one(b)
	if len(left)*len(right) > maxAlternatives && len(left) > 1 && len(right) > 1 {
		d.drop(b.at, "")
		return a
	}
	var all []*shape
	for _, x := range left {
		for _, y := range right {
			all = append(all, d.merge(x, y, depth+1))
		}
	}
	return union(all)
}

// mergeEnum keeps the values that both list, and that are of a type that is left. It answers false when none is.
func (s *shape) mergeEnum(b *shape) bool {
	list := s.enum
	switch {
	case list == nil:
		list = b.enum
	case b.enum != nil:
		other := map[string]bool{}
		for _, v := range b.enum {
			other[v] = true
		}
		list = slices.DeleteFunc(slices.Clone(list), func(v string) bool { return !other[v] })
	}
	if list == nil {
		return true
	}
	s.enum = slices.DeleteFunc(slices.Clone(list), func(v string) bool { return s.kinds&KindOf(v) == 0 })
	return len(s.enum) > 0
}

func (d *source) mergeScalars(s, b *shape) {
	s.pattern = d.mergeText(s.pattern, b.pattern, b.at, "pattern")
	s.format = d.mergeText(s.format, b.format, b.at, "format")
	s.minLength, s.maxLength = larger(s.minLength, b.minLength), smaller(s.maxLength, b.maxLength)
	s.minimum, s.maximum = larger(s.minimum, b.minimum), smaller(s.maximum, b.maximum)
	s.minItems, s.maxItems = larger(s.minItems, b.minItems), smaller(s.maxItems, b.maxItems)
}

// mergeText keeps the first of two.
func (d *source) mergeText(a, b, at, keyword string) string {
	if a != "" && b != "" && a != b {
		d.drop(at, keyword)
	}
	if a == "" {
		return b
	}
	return a
}

func larger[T int | int64](a, b *T) *T {
	if a == nil || b != nil && *b > *a {
		return b
	}
	return a
}

func smaller[T int | int64](a, b *T) *T {
	if a == nil || b != nil && *b < *a {
		return b
	}
	return a
}

func (d *source) mergeArrays(s, b *shape, depth int) {
	at := func(s *shape, i int) *shape { // the shape of element i; nil: anything
		if i < len(s.prefix) {
			return s.prefix[i]
		}
		return s.items
	}
	var prefix []*shape
	for i := range max(len(s.prefix), len(b.prefix)) {
		prefix = append(prefix, d.both(at(s, i), at(b, i), depth))
	}
	s.items, s.prefix = d.both(s.items, b.items, depth), prefix
}

// both merges shapes that may be missing.
func (d *source) both(a, b *shape, depth int) *shape {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	return d.merge(a, b, depth+1)
}

func (d *source) mergeObjects(s, b *shape, depth int) {
	var props []field
	for _, f := range s.props {
		other := b.field(f.name)
		if other == nil {
			other = b.more
		}
		props = append(props, field{f.name, d.both(f.s, other, depth)})
	}
	for _, f := range b.props {
		if s.field(f.name) == nil {
			props = append(props, field{f.name, d.both(f.s, s.more, depth)})
		}
	}
	s.props, s.listed = props, s.listed || b.listed
	s.more = d.both(s.more, b.more, depth)
	s.required = slices.Clone(s.required)
	for _, name := range b.required {
		if !slices.Contains(s.required, name) {
			s.required = append(s.required, name)
		}
	}
}

// settle takes out members that nothing fits; when one of them is required, nothing fits the object.
func (s *shape) settle() {
	s.props = slices.DeleteFunc(s.props, func(f field) bool {
		if f.s.bottom && slices.Contains(s.required, f.name) {
			s.bottom = true
		}
		return f.s.bottom
	})
}

// set puts a member at the end, or in the place of one with this name.
func (s *shape) set(name string, to *shape) {
	for i := range s.props {
		if s.props[i].name == name {
			s.props[i].s = to
			return
		}
	}
	s.props = append(s.props, field{name, to})
}

// escapeStep is a name in a JSON pointer.
func escapeStep(name string) string { return strings.NewReplacer("~", "~0", "/", "~1").Replace(name) }
