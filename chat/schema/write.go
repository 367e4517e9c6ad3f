package schema

import (
	"slices"
	"strconv"
)

// raw writes text as it is.
func (c *constrainer) raw(text string) { c.dst = append(c.dst, text...) }

// key writes the key of a member, with a comma unless it is the first.
func (c *constrainer) key(name string) {
	if c.dst[len(c.dst)-1] != '{' {
		c.raw(",")
	}
	c.dst = append(AppendQuote(c.dst, name), ':')
}

// number writes a member that is a number, unless there is none.
func (c *constrainer) number(name string, n *int) {
	if n != nil {
		c.key(name)
		c.raw(strconv.Itoa(*n))
	}
}

// put writes the root, and behind it what it refers to.
func (c *constrainer) put(root *shape) {
	if root.bottom {
		root = anything()
	}
	if root.ref != nil || root.open() && !c.o.Weak {
		root = &shape{alts: []*shape{root}} // the root is an object that takes $defs
	}
	c.shape(root, 0)
	c.dst = c.dst[:len(c.dst)-1] // the brace that closes the root
	start := len(c.dst)
	for i := 0; i < len(c.defs); i++ {
		if i == 0 {
			c.key("$defs")
			c.raw("{")
		}
		c.key("r" + strconv.Itoa(i))
		c.definition(c.defs[i])
	}
	if c.free > 0 {
		c.freeValues(start)
	}
	if len(c.dst) > start {
		c.raw("}")
	}
	c.raw("}")
}

// definition writes a place that was referred to.
func (c *constrainer) definition(ref *shape) {
	s := ref.doc.opened(ref)
	if s.bottom {
		s = &shape{kinds: Null} // whoever refers to it cannot be satisfied
	}
	c.shape(s, 0)
}

// freeDepth is how deep a value of any kind is nested.
const freeDepth = 3

// freeValues writes the definitions of values of any kind.
func (c *constrainer) freeValues(start int) {
	if len(c.dst) == start {
		c.key("$defs")
		c.raw("{")
	}
	for depth := freeDepth; depth >= 0; depth-- {
		c.key("any" + strconv.Itoa(depth))
		c.anyOf(func(part func()) {
			for _, k := range []Kinds{String, Number | Integer, Boolean, Null} {
				part()
				c.shape(&shape{kinds: k}, 0)
			}
			if depth > 0 {
				inner := `{"$ref":"#/$defs/any` + strconv.Itoa(depth-1) + `"}`
				part()
				c.raw(`{"type":"array","items":` + inner)
				if n := c.o.elements(); n >= 0 {
					c.number("maxItems", &n)
				}
				c.raw("}")
				part()
				c.raw(`{"type":"object","additionalProperties":` + inner + `}`)
			}
		})
	}
}

// anyOf writes a union; write calls part in front of each alternative.
func (c *constrainer) anyOf(write func(part func())) {
	c.raw(`{"anyOf":[`)
	first := true
	write(func() {
		if !first {
			c.raw(",")
		}
		first = false
	})
	c.raw("]}")
}

// anyValue writes a place that takes anything.
func (c *constrainer) anyValue() {
	if !c.o.Weak {
		c.free++
		c.raw(`{"$ref":"#/$defs/any` + strconv.Itoa(freeDepth) + `"}`)
		return
	}
	c.raw(`{"anyOf":[`)
	for _, k := range []Kinds{String, Number | Integer, Boolean} {
		c.shape(&shape{kinds: k}, 0)
		c.raw(",")
	}
	c.raw(`{"type":"null"},{"type":"array"},{"type":"object"}]}`)
}

// shape writes one place.
func (c *constrainer) shape(s *shape, depth int) {
	switch {
	case s.open() || len(c.dst) > maxWritten || depth > maxDepth:
		c.anyValue()
	case s.ref != nil:
		c.reference(s)
	case s.alts != nil:
		c.alternatives(s.alts, depth)
	default:
		c.parts(s, depth)
	}
}

// alternatives writes a union, each different alternative once.
func (c *constrainer) alternatives(alts []*shape, depth int) {
	seen := map[string]bool{}
	c.raw(`{"anyOf":[`)
	for _, alt := range alts {
		before := len(c.dst)
		if len(seen) > 0 {
			c.raw(",")
		}
		start := len(c.dst)
		c.shape(alt, depth+1)
		if text := string(c.dst[start:]); seen[text] {
			c.dst = c.dst[:before]
		} else {
			seen[text] = true
		}
	}
	c.raw("]}")
}

// reference writes a reference to a definition, which is written later.
func (c *constrainer) reference(s *shape) {
	at := slices.IndexFunc(c.defs, func(d *shape) bool { return d.ref == s.ref })
	if at < 0 {
		at = len(c.defs)
		c.defs = append(c.defs, s)
	}
	c.raw(`{"$ref":"#/$defs/r` + strconv.Itoa(at) + `"}`)
}

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
		kinds = s.manyValues(c)
	} else if kinds == anyKind {
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
func (s *shape) manyValues(c *constrainer) (k Kinds) {
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
	low, high := int64(-maxInteger), int64(maxInteger)
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
