package schema

import (
	"slices"
	"strconv"

	"toolnorm/chat"
)

// maxValues is how many values a server can compare quickly enough, because each value is an
// alternative that remains open until the text differs from it. With 5,000 values a server slowed
// down to a few tokens a second.
const maxValues = 500

// parts writes a place (a subschema) that is not a union, with one schema for each type. In an
// anyOf of single types no server has to know which keywords belong to which type.
func (c *constrainer) parts(s *Place, depth int) {
	// A list of values is all that a server needs, because values of other types were left out when
	// the place was read.
	if s.Enum != nil && len(s.Enum) <= maxValues {
		c.values(s.Enum)
		return
	}
	kinds := s.Types()
	if s.Enum != nil {
		kinds, s = s.manyValues()
	}
	switch all := kinds.each(); len(all) {
	case 0:
		c.anyValue()
	case 1:
		c.ofKind(all[0], s, depth)
	default:
		c.anyOf(len(all), func(i int) { c.ofKind(all[i], s, depth) })
	}
}

// ofKind writes the part of the subschema s that is about one type.
func (c *constrainer) ofKind(kind Kinds, s *Place, depth int) {
	switch kind {
	case String:
		c.string(s)
	case Number:
		c.float(s)
	case Integer:
		c.integer(s)
	case Boolean:
		c.raw(`{"type":"boolean"}`)
	case Null:
		c.raw(`{"type":"null"}`)
	case Object:
		c.object(s, depth)
	case Array:
		c.array(s, depth)
	}
}

// manyValues records that an enum is dropped because it has too many values. It returns the types
// of the values, and a copy of s without the list, in which strings are at most as long as the
// longest value, so that a model does not write on. Whether a value is in the list is checked after
// the call.
func (s *Place) manyValues() (k Kinds, _ *Place) {
	out := *s
	s.doc.Drop(s.At, "enum")
	longest := &Count{Origin: Origin{s.At, "maxLength"}}
	for _, v := range s.Enum {
		k |= KindOf(v)
		longest.N = max(longest.N, len(v))
	}
	out.MaxLength = smaller(s.MaxLength, longest)
	return k, &out
}

// values writes a list of values, or a const for a single value. It uses the schema's own text, so
// that the digits of numbers do not change.
func (c *constrainer) values(list []string) {
	if len(list) == 1 {
		c.raw(`{"const":` + list[0] + `}`)
		return
	}
	c.raw(`{"enum":[`)
	c.list(len(list), func(i int) { c.raw(list[i]) })
	c.raw("]}")
}

// float writes a number without its bounds, because servers do not enforce bounds on fractions:
// llama.cpp's converter has rules only for the digits of integers. When the call is checked, a
// number beyond the bounds is written again or set to the bound, depending on the operator's
// setting.
func (c *constrainer) float(s *Place) {
	c.unbounded(s.Minimum, s)
	c.unbounded(s.Maximum, s)
	c.raw(`{"type":"number"}`)
}

// unbounded records that the limit b, unless it is nil, is dropped from the constraint. Servers
// would accept its keyword and not enforce it, so it is not sent.
func (c *constrainer) unbounded(b *Bound, s *Place) {
	if b != nil {
		s.doc.Drop(b.At, b.Keyword)
	}
}

// integer writes an integer with its range. A weak constraint, for a server that refused the full
// one, has no range, and the bounds are recorded as dropped. Servers make grammar rules from the
// digits of a range. The range that nearly all integers have is written only once, under $defs,
// because grammars of Ollama 0.24 end at 32 KB. An integer with only a minimum or a maximum gets
// the general bound at its other end, or the minimum or maximum itself where that is farther out.
func (c *constrainer) integer(s *Place) {
	least, most := s.Minimum.Whole(1), s.Maximum.Whole(-1)
	if least == nil || c.o.Weak {
		c.unbounded(s.Minimum, s)
	}
	if most == nil || c.o.Weak {
		c.unbounded(s.Maximum, s)
	}
	low, high := -c.o.integer(), c.o.integer()
	switch {
	case c.o.Weak:
		c.raw(`{"type":"integer"}`)
		return
	// all of them share one rule, because the rule of a range is long
	case least == nil && most == nil:
		c.integers = true
		c.raw(`{"$ref":"#/$defs/integer"}`)
		return
	case most == nil:
		low, high = *least, max(high, *least)
	case least == nil:
		low, high = min(low, *most), *most
	default:
		low, high = *least, *most
	}
	c.between(low, high)
}

// between writes an integer with its range. An empty range is not sent, because a server would
// refuse it.
func (c *constrainer) between(low, high int64) {
	c.raw(`{"type":"integer"`)
	if low <= high {
		c.raw(`,"minimum":` + strconv.FormatInt(low, 10) + `,"maximum":` +
			strconv.FormatInt(high, 10))
	}
	c.raw("}")
}

// heldFormats are the formats that servers enforce. They accept others, such as email, but enforce
// none of them.
var heldFormats = []string{"date", "time", "date-time", "uuid"}

// maxCount is the largest count of characters that servers accept. llama.cpp refuses a whole
// grammar in which a repetition comes to 2000 rules.
const maxCount = 1999

// string writes the schema of a text with its pattern, its format or its lengths, because servers
// enforce only one of these. The pattern is preferred, then the format. A maxLength above the
// general bound is replaced by that bound, which is not reported as dropped, because the bound is
// stricter.
func (c *constrainer) string(s *Place) {
	pattern := c.held(s.Patterns, s, func(text string) (string, bool) {
		return serverPattern(text, c.o.length())
	})
	format := c.held(s.Formats, s, func(text string) (string, bool) {
		return text, pattern == "" && slices.Contains(heldFormats, text)
	})
	least, most := s.MinLength, s.MaxLength
	if least != nil && (pattern != "" || format != "" || least.N > maxCount ||
		c.o.Weak && least.N > c.o.length()) {
		s.doc.Drop(least.At, least.Keyword)
		least = nil
	}
	c.raw(`{"type":"string"`)
	switch {
	case pattern != "":
		c.key("pattern")
		c.dst = chat.AppendQuoted(c.dst, pattern)
	case format != "":
		c.key("format")
		c.dst = chat.AppendQuoted(c.dst, format)
	default:
		c.number("minLength", least)
		c.number("maxLength", within(least, most, c.o.length()))
		most = nil
	}
	if most != nil {
		s.doc.Drop(most.At, most.Keyword)
	}
	c.raw("}")
}

// held returns the first of the patterns or formats in words that servers enforce, in the server's
// spelling, or "" if there is none or the constraint is weak. The function known translates one,
// and returns false if servers do not enforce it. All others are recorded as dropped. Several
// patterns come from an allOf. Joining them in one would need look-ahead, which servers do not
// read.
func (c *constrainer) held(words []Word, s *Place, known func(text string) (string, bool)) (
	out string) {
	for _, w := range words {
		text, ok := known(w.Text)
		if ok && out == "" && !c.o.Weak {
			out = text
		} else {
			s.doc.Drop(w.At, w.Keyword)
		}
	}
	return out
}

// within returns the smaller of two maximums: the schema's, which is the parameter most and may be
// nil, and the general bound. A negative bound means that there is none. It returns nil if there is
// neither maximum. It never returns less than the schema's minimum, which is the parameter least,
// because a shorter text would not fit the original.
func within(least, most *Count, bound int) *Count {
	if bound >= 0 {
		most = smaller(most, &Count{N: bound})
	}
	if most != nil && least != nil && most.N < least.N {
		return least
	}
	return most
}

// maxElements is the largest count of elements that servers accept.
const maxElements = 1000

// array writes an array. The schemas of the first elements (prefixItems) are written as they are.
// But if minItems requires more elements than these, or the constraint is weak, every element may
// fit any of the schemas. If no value fits one of the schemas, the list of schemas ends before it.
// An array that can have no elements gets maxItems 0.
func (c *constrainer) array(s *Place, depth int) {
	least := s.MinItems
	if least != nil && least.N > maxElements {
		s.doc.Drop(least.At, least.Keyword)
		least = nil
	}
	most := within(least, s.MaxItems, c.o.elements())
	prefix, item := s.Prefix, s.Items
	if prefix != nil && (c.o.Weak || least != nil && least.N > len(prefix)) {
		s.doc.Drop(s.At, "prefixItems") // each of these elements may then be at any position
		item, prefix = Union(append(slices.Clone(prefix), orAnything(item))), nil
	}
	// No element can follow a place that nothing fits.
	if i := slices.IndexFunc(prefix, func(p *Place) bool { return p.Never }); i >= 0 {
		prefix = prefix[:i]
	}
	if most != nil && len(prefix) > most.N {
		prefix = prefix[:most.N]
	}
	c.raw(`{"type":"array"`)
	if len(prefix) > 0 {
		most = c.tuple(s, prefix, depth)
	} else {
		// "items": false without places means an empty list, and so do places that cannot be
		// filled.
		if item == nil && s.Prefix != nil || item != nil && item.Never {
			most = &Count{}
		}
		c.key("items")
		c.shape(orAnything(item), depth+1)
	}
	c.number("minItems", least)
	c.number("maxItems", most)
	c.raw("}")
}

// tuple writes prefixItems, the schemas of an array's first elements. It returns how many elements
// the array may have at most, or nil for any number. The schema of the later elements is recorded
// as dropped and not written, because servers would apply it to all elements. If it allows none,
// the result is at most the number of the first ones.
func (c *constrainer) tuple(s *Place, prefix []*Place, depth int) (most *Count) {
	c.key("prefixItems")
	c.raw("[")
	c.list(len(prefix), func(i int) { c.shape(prefix[i], depth+1) })
	c.raw("]")
	if n := len(prefix); s.Items != nil && s.Items.Never || n < len(s.Prefix) {
		return smaller(s.MaxItems, &Count{N: n})
	}
	if s.Items != nil {
		s.doc.Drop(s.At, "items")
	}
	return s.MaxItems
}

// object writes an object. Members are written in the schema's order, which models follow and
// servers enforce. A required member that the schema does not list has to be listed for servers,
// because otherwise it would never be written.
func (c *constrainer) object(s *Place, depth int) {
	c.raw(`{"type":"object"`)
	// a server allows listed members only or, if others are allowed, all others
	for _, at := range s.Barred {
		s.doc.Drop(at, "")
	}
	props, required := c.namable(s)
	for _, name := range required {
		if s.Member(name) == nil {
			props = append(slices.Clip(props), Member{name, orAnything(s.More)})
		}
	}
	// An empty list of members also has a meaning, because clients write {"properties": {}} for
	// tools without parameters.
	if s.Listed || len(props) > 0 {
		c.key("properties")
		c.raw("{")
		for _, f := range props {
			c.key(f.Name)
			c.shape(f.Place, depth+1)
		}
		c.raw("}")
	}
	if len(required) > 0 {
		c.key("required")
		c.raw("[")
		c.list(len(required), func(i int) { c.dst = chat.AppendQuoted(c.dst, required[i]) })
		c.raw("]")
	}
	c.more(s, props, depth)
	c.raw("}")
}

// namable returns the members and the required members, without a member that is called $ref,
// because servers take that for a reference. If that member is required, no call under this
// constraint fits the schema, and the call is refused when it is checked.
func (c *constrainer) namable(s *Place) (members []Member, required []string) {
	if s.Member("$ref") == nil && !slices.Contains(s.Required, "$ref") {
		return s.Members, s.Required
	}
	s.doc.Drop(s.At+"/properties", "$ref")
	return slices.DeleteFunc(slices.Clone(s.Members), func(m Member) bool {
			return m.Name == "$ref"
		}),
		slices.DeleteFunc(slices.Clone(s.Required), func(name string) bool {
			return name == "$ref"
		})
}

// orAnything returns s. If s is nil or nothing fits it, it returns a subschema that allows
// anything. It is for parts that have to be written in any case.
func orAnything(s *Place) *Place {
	if s == nil || s.Never {
		return anything()
	}
	return s
}

// more writes the additionalProperties of an object schema: what members it may have besides those
// in props. If the schema does not say that, no others are allowed. Only an object that lists no
// members at all may have any, with values of bounded nesting. If a schema for other members cannot
// be written beside the names in props, it is dropped, and no other members are allowed.
func (c *constrainer) more(s *Place, props []Member, depth int) {
	switch {
	case s.More != nil && s.More.Never:
		c.key("additionalProperties")
		c.raw("false")
	case s.More != nil && (len(props) == 0 || plainNames(props)):
		c.key("additionalProperties")
		c.shape(s.More, depth+1)
	case s.More != nil:
		s.doc.Drop(s.At, "additionalProperties")
	case s.More == nil && !s.Listed && len(props) == 0 && !c.o.Weak:
		c.key("additionalProperties")
		c.anyValue()
	}
}

// plainNames reports whether all names in props consist of letters, digits and _. Only then can a
// server write a rule that allows all names except these. Such a rule spells out, character by
// character, where a name differs from these, and other characters have a meaning in it.
func plainNames(props []Member) bool {
	return !slices.ContainsFunc(props, func(f Member) bool {
		return f.Name == "" || slices.ContainsFunc([]byte(f.Name), func(b byte) bool {
			return !isAlnum(rune(b)) && b != '_'
		})
	})
}
