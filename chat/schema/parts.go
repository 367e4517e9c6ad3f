package schema

import (
	"slices"
	"strconv"
)

// maxValues is how many values a server compares with quickly enough.
const maxValues = 500

// parts writes a place that is no union: one schema for each type.
func (c *constrainer) parts(s *shape, depth int) {
	if s.enum != nil && len(s.enum) <= maxValues {
		c.values(s.enum)
		return
	}
	kinds := s.kinds
	if s.enum != nil {
		kinds = s.manyValues()
	} else if kinds == Any {
		kinds = s.hints
	}
	var parts []func(*shape, int)
	for _, p := range []struct {
		kind  Kinds
		write func(*shape, int)
	}{{String, c.string}, {Number, c.float}, {Integer, c.integer}, {Boolean, c.boolean}, {Null, c.null}, {Object, c.object}, {Array, c.array}} {
		if kinds&p.kind != 0 && (p.kind != Integer || kinds&Number == 0) {
			parts = append(parts, p.write)
		}
	}
	switch len(parts) {
	case 0:
		c.anyValue()
		return
	case 1:
		parts[0](s, depth)
		return
	}
	c.anyOf(func(part func()) {
		for _, write := range parts {
			part()
			write(s, depth)
		}
	})
}

// manyValues drops a list that is too long, but for its types and its longest text.
func (s *shape) manyValues() (k Kinds) {
	s.doc.drop(s.at, "enum")
	longest := 0
	for _, v := range s.enum {
		k |= KindOf(v)
		longest = max(longest, len(v))
	}
	s.maxLength = smaller(s.maxLength, &longest)
	return k
}

// values writes a list of values.
func (c *constrainer) values(list []string) {
	if len(list) == 1 {
		c.raw(`{"const":` + list[0] + `}`)
		return
	}
	c.raw(`{"enum":[`)
	for i, v := range list {
		if i > 0 {
			c.raw(",")
		}
		c.raw(v)
	}
	c.raw("]}")
}

func (c *constrainer) boolean(*shape, int) { c.raw(`{"type":"boolean"}`) }
func (c *constrainer) null(*shape, int)    { c.raw(`{"type":"null"}`) }

func (c *constrainer) float(s *shape, _ int) {
	for keyword, bound := range map[string]*int64{"minimum": s.minimum, "maximum": s.maximum} {
		if bound != nil {
			s.doc.drop(s.at, keyword)
		}
	}
	c.raw(`{"type":"number"}`)
}

func (c *constrainer) integer(s *shape, _ int) {
	if s.minimum == nil && s.maximum == nil && !c.o.Weak { // one rule for all, since a range makes a long one
		c.integers = true
		c.raw(`{"$ref":"#/$defs/integer"}`)
		return
	}
	low, high := -c.o.integer(), c.o.integer()
	if s.minimum != nil {
		low = *s.minimum
		high = max(high, low)
	}
	if s.maximum != nil {
		high = *s.maximum
		if s.minimum == nil {
			low = min(low, high)
		}
	}
	c.raw(`{"type":"integer"`)
	if low <= high && !c.o.Weak {
		c.raw(`,"minimum":` + strconv.FormatInt(low, 10) + `,"maximum":` + strconv.FormatInt(high, 10))
	}
	c.raw("}")
}

func (c *constrainer) string(s *shape, _ int) {
	c.raw(`{"type":"string"`)
	switch {
	case s.pattern != "":
		c.key("pattern")
		c.dst = AppendQuote(c.dst, s.pattern)
	case s.format != "":
		c.key("format")
		c.dst = AppendQuote(c.dst, s.format)
	default:
		c.number("minLength", s.minLength)
		c.number("maxLength", within(s.minLength, s.maxLength, c.o.length()))
	}
	c.raw("}")
}

// within is an upper bound that is at least least and, where that allows it, at most bound.
func within(least, most *int, bound int) *int {
	if bound >= 0 {
		most = smaller(most, &bound)
	}
	if most != nil && least != nil && *most < *least {
		return least
	}
	return most
}

func (c *constrainer) array(s *shape, depth int) {
	most := within(s.minItems, s.maxItems, c.o.elements())
	prefix := s.prefix
	if i := slices.IndexFunc(prefix, func(p *shape) bool { return p.bottom }); i >= 0 {
		prefix = prefix[:i]
	}
	if most != nil && len(prefix) > *most {
		prefix = prefix[:*most]
	}
	if len(prefix) > 0 {
		c.raw(`{"type":"array","prefixItems":[`)
		for i, p := range prefix {
			if i > 0 {
				c.raw(",")
			}
			c.shape(p, depth+1)
		}
		c.raw("]") // and no items: servers would take these for all elements
		most = s.maxItems
		if n := len(prefix); s.items != nil && s.items.bottom || n < len(s.prefix) {
			most = smaller(most, &n)
		} else if s.items != nil {
			s.doc.drop(s.at, "items")
		}
		c.number("minItems", s.minItems)
		c.number("maxItems", most)
		c.raw("}")
		return
	}
	item, none := s.items, 0
	if item == nil || item.bottom {
		if item != nil || s.prefix != nil {
			most = &none
		}
		item = anything()
	}
	c.raw(`{"type":"array","items":`)
	c.shape(item, depth+1)
	c.number("minItems", s.minItems)
	c.number("maxItems", most)
	c.raw("}")
}

func (c *constrainer) object(s *shape, depth int) {
	c.raw(`{"type":"object"`)
	props := s.props
	for _, name := range s.required { // a server writes listed members only
		if s.field(name) == nil {
			props = append(slices.Clip(props), field{name, orAnything(s.more)})
		}
	}
	if s.listed || len(props) > 0 {
		c.key("properties")
		c.raw("{")
		for _, f := range props {
			c.key(f.name)
			c.shape(f.s, depth+1)
		}
		c.raw("}")
	}
	if len(s.required) > 0 {
		c.key("required")
		c.raw("[")
		for i, name := range s.required {
			if i > 0 {
				c.raw(",")
			}
			c.dst = AppendQuote(c.dst, name)
		}
		c.raw("]")
	}
	c.more(s, props, depth)
	c.raw("}")
}

func orAnything(s *shape) *shape {
	if s == nil || s.bottom {
		return anything()
	}
	return s
}

// more writes what members may be there besides. Where some are listed, only a schema for the others lets them in:
// servers write no others unless they are told to.
func (c *constrainer) more(s *shape, props []field, depth int) {
	switch {
	case s.more != nil && s.more.bottom:
		c.key("additionalProperties")
		c.raw("false")
	case s.more != nil && (len(props) == 0 || plainNames(props)):
		c.key("additionalProperties")
		c.shape(s.more, depth+1)
	case s.more != nil && s.doc != nil:
		s.doc.drop(s.at, "additionalProperties")
	case s.more == nil && !s.listed && len(props) == 0 && !c.o.Weak:
		c.key("additionalProperties")
		c.anyValue()
	}
}

// plainNames says that a server can write a rule for every other name than these.
func plainNames(props []field) bool {
	return !slices.ContainsFunc(props, func(f field) bool {
		return f.name == "" || slices.ContainsFunc([]byte(f.name), func(b byte) bool { return !isAlnum(rune(b)) && b != '_' })
	})
}
