package schema

import (
	"regexp/syntax"
	"strings"
)

// continued is s with what has left held to its values. Of a union the alternatives stay that what has left fits.
func (c *constrainer) continued(d *source, s *shape, from *sent) *shape {
	if out := c.fixed(d, s, from, true); !out.bottom {
		return out
	}
	return c.fixed(d, s, from, false)
}

// fixed is continued; strict says that what does not fit leaves nothing.
func (c *constrainer) fixed(d *source, s *shape, from *sent, strict bool) *shape {
	s = d.opened(s)
	if s.alts != nil {
		var alts []*shape
		for _, alt := range s.alts {
			if alt = d.opened(alt); alt.kinds&from.kind() != 0 || alt.alts != nil {
				alts = append(alts, c.fixed(d, alt, from, strict))
			}
		}
		return union(alts)
	}
	if s.kinds&from.kind() == 0 && strict {
		return never()
	}
	if from.array {
		return c.fixedArray(d, s, from, strict)
	}
	return c.fixedObject(d, s, from, strict)
}

// kind is the type of what has begun.
func (s *sent) kind() Kinds {
	if s.array {
		return Array
	}
	return Object
}

// fixedObject holds members.
func (c *constrainer) fixedObject(d *source, s *shape, from *sent, strict bool) *shape {
	out := &shape{kinds: Object, listed: true, more: s.more, doc: d, at: s.at}
	for _, p := range from.parts {
		spec := s.field(p.name)
		if spec == nil {
			if strict && s.more != nil && s.more.bottom {
				return never()
			}
			spec = orAnything(s.more)
		}
		one := c.fixedPart(d, spec, p, strict)
		if one.bottom {
			return one
		}
		out.set(p.name, one)
		out.required = append(out.required, p.name)
	}
	if from.state == atEnd {
		out.more = never()
		return out
	}
	for _, f := range s.props {
		if out.field(f.name) == nil {
			out.props = append(out.props, f)
		}
	}
	for _, name := range s.required {
		if !containsPart(from, name) {
			out.required = append(out.required, name)
		}
	}
	return out
}

func containsPart(from *sent, name string) bool {
	for _, p := range from.parts {
		if p.name == name {
			return true
		}
	}
	return false
}

// fixedPart holds one member or element of which something has left.
func (c *constrainer) fixedPart(d *source, spec *shape, p part, strict bool) *shape {
	switch {
	case p.open != nil:
		return c.fixed(d, spec, p.open, strict)
	case p.text != "":
		return begun(p.text)
	case p.raw == "":
		return spec
	}
	one := &shape{kinds: KindOf(p.raw), enum: []string{p.raw}}
	if strict && d.merge(spec, one, 0).bottom {
		return never()
	}
	return one
}

// begun is a string of which some has left.
func begun(text string) *shape {
	s := &shape{kinds: String}
	plain := text[1:]
	p := patternPrinter{bound: -1}
	if !strings.Contains(plain, `\`) {
		head := p.literal(&syntax.Regexp{Op: syntax.OpLiteral, Rune: []rune(plain)})
		if !p.failed {
			s.pattern = "^" + head + printClass(safe) + "*$"
		}
	}
	return s
}

// moreElements is how many elements may follow those that have left.
const moreElements = 4

// fixedArray holds elements. Servers take either so many elements of one kind or a list of kinds, so there is a list for
// each number of elements.
func (c *constrainer) fixedArray(d *source, s *shape, from *sent, strict bool) *shape {
	var prefix []*shape
	at := func(i int) *shape {
		if i < len(s.prefix) {
			return s.prefix[i]
		}
		return orAnything(s.items)
	}
	for i, p := range from.parts {
		one := c.fixedPart(d, at(i), p, strict)
		if one.bottom {
			return one
		}
		prefix = append(prefix, one)
	}
	most := len(prefix) + moreElements
	if s.maxItems != nil {
		most = min(most, max(*s.maxItems, len(prefix)))
	}
	if s.prefix != nil && s.items == nil {
		most = max(len(prefix), min(most, len(s.prefix)))
	}
	if from.state == atEnd {
		most = len(prefix)
	}
	var alts []*shape
	for n := len(prefix); n <= most; n++ {
		if n > len(prefix) {
			prefix = append(prefix[:len(prefix):len(prefix)], at(n-1))
		}
		if s.minItems == nil || n >= *s.minItems || n == most {
			none := 0
			alt := &shape{kinds: Array, prefix: prefix, doc: d, at: s.at}
			if n == 0 {
				alt.maxItems = &none
			}
			alts = append(alts, alt)
		}
	}
	return union(alts)
}
