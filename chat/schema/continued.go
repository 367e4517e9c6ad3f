package schema

import (
	"regexp/syntax"
	"slices"
	"strings"
)

// continued is s with what has left held to its values. Of a union the alternatives stay that what has left fits. When none
// does, the client has already read something that is wrong: then all of it is held all the same, since what follows must go
// on from there.
// Example: `{"kind":"b",` has left, and the schema is a union by kind: only the alternative of "b" stays, so the model cannot
// go on with members of "a".
func (c *constrainer) continued(d *Doc, s *Place, from *Standing) *Place {
	if out := c.fixed(d, s, from, true); !out.Never {
		return out
	}
	return c.fixed(d, s, from, false)
}

// fixed is continued; strict says that what does not fit leaves nothing.
// A reference is followed in place here: the definition holds for all places that refer to it, what has left for one of them.
func (c *constrainer) fixed(d *Doc, s *Place, from *Standing, strict bool) *Place {
	s = s.Follow()
	// A union in a union was joined before; an alternative that is a reference may lead to one, so it is kept and asked.
	if s.Alternatives != nil {
		var alts []*Place
		for _, alt := range s.Alternatives {
			if alt = alt.Follow(); alt.Kinds&from.kind() != 0 || alt.Alternatives != nil {
				alts = append(alts, c.fixed(d, alt, from, strict))
			}
		}
		return Union(alts)
	}
	if s.Kinds&from.kind() == 0 && strict {
		return never()
	}
	if from.Array {
		return c.fixedArray(d, s, from, strict)
	}
	return c.fixedObject(d, s, from, strict)
}

// kind is the type of what has begun.
func (s *Standing) kind() Kinds {
	if s.Array {
		return Array
	}
	return Object
}

// fixedObject holds members. What has left comes first and in its own order, since servers write the members of a schema in the
// order in which it lists them. A member that is not listed is held too; one that the schema forbids only when nothing else
// fits what has left.
func (c *constrainer) fixedObject(d *Doc, s *Place, from *Standing, strict bool) *Place {
	out := &Place{Kinds: Object, Listed: true, More: s.More, doc: d, At: s.At}
	for _, p := range from.Parts {
		spec := s.Member(p.Name)
		if spec == nil {
			if strict && s.More != nil && s.More.Never {
				return never()
			}
			spec = orAnything(s.More)
		}
		one := c.fixedPart(d, spec, p, strict)
		if one.Never {
			return one
		}
		out.set(p.Name, one)
		out.Required = append(out.Required, p.Name)
	}
	if !from.More {
		out.More = never()
		return out
	}
	// What has not left follows in the schema's own order; required is written in the order of what has left, then of the schema.
	for _, f := range s.Members {
		if out.Member(f.Name) == nil {
			out.Members = append(out.Members, f)
		}
	}
	for _, name := range s.Required {
		if !slices.ContainsFunc(from.Parts, func(p Part) bool { return p.Name == name }) { // it is not required a second time
			out.Required = append(out.Required, name)
		}
	}
	return out
}

// fixedPart holds one member or element of which something has left. A whole value becomes a list of one value, which is
// written as const; what has begun is held as far as it goes; behind a key alone comes the schema's own place.
func (c *constrainer) fixedPart(d *Doc, spec *Place, p Part, strict bool) *Place {
	switch {
	case p.Open != nil:
		return c.fixed(d, spec, p.Open, strict)
	case p.begun != "":
		return begun(p.begun)
	case p.Raw == "":
		return spec
	}
	// To merge the value with its place is to ask whether it fits, as far as a Place can tell; what it cannot tell is let through.
	one := &Place{Kinds: KindOf(p.Raw), Enum: []string{c.repeated(p.Raw)}}
	if strict && d.merge(spec, one, 0).Never {
		return never()
	}
	return one
}

// begun is a string of which some has left: a pattern that begins with it is the only way in which servers take a text that
// is known in part. With an escape in it there is no such pattern, and the model may write any text.
// `"Ro` has left: the pattern is ^Ro[…]*$, and Rome and Rotterdam fit it. Bounds and formats of the text go, since a server
// holds to one of these alone.
func begun(text string) *Place {
	s := &Place{Kinds: String}
	plain := text[1:]
	p := patternPrinter{bound: -1}
	if !strings.Contains(plain, `\`) {
		// What has left may hold characters that mean something in patterns, so it is written as a literal.
		head := p.literal(&syntax.Regexp{Op: syntax.OpLiteral, Rune: []rune(plain)})
		if !p.failed {
			s.begins = "^" + head + printClass(safe) + "*$"
		}
	}
	return s
}

// moreElements is how many elements may follow those that have left. Each number of them is an alternative of its own, so
// the bound is what keeps the grammar short.
// A model that needs more is cut short; whether what it wrote fits is then for the check to say.
const moreElements = 4

// fixedArray holds elements. Servers take either so many elements of one kind or a list of kinds, so there is a list for
// each number of elements.
// Each list is a prefixItems without items behind it, so its length is fixed by the number of its places. An array of no
// elements is said by maxItems instead, as an empty prefixItems is no schema.
func (c *constrainer) fixedArray(d *Doc, s *Place, from *Standing, strict bool) *Place {
	var prefix []*Place
	at := func(i int) *Place {
		if i < len(s.Prefix) {
			return s.Prefix[i]
		}
		return orAnything(s.Items)
	}
	for i, p := range from.Parts {
		one := c.fixedPart(d, at(i), p, strict)
		if one.Never {
			return one
		}
		prefix = append(prefix, one)
	}
	// The schema's own bounds hold too, but never for fewer elements than have left.
	most := len(prefix) + moreElements
	if s.MaxItems != nil {
		most = min(most, max(s.MaxItems.N, len(prefix)))
	}
	if s.Prefix != nil && s.Items == nil {
		most = max(len(prefix), min(most, len(s.Prefix)))
	}
	if !from.More {
		most = len(prefix)
	}
	var alts []*Place
	for n := len(prefix); n <= most; n++ {
		if n > len(prefix) {
			// The capacity is cut, so that each alternative has an array of its own.
			prefix = append(prefix[:len(prefix):len(prefix)], at(n-1))
		}
		if s.MinItems == nil || n >= s.MinItems.N || n == most {
			alt := &Place{Kinds: Array, Prefix: prefix, doc: d, At: s.At}
			if n == 0 {
				alt.MaxItems = &Count{}
			}
			alts = append(alts, alt)
		}
	}
	return Union(alts)
}
