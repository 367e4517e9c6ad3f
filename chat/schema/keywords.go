package schema

import (
	"math"
	"math/big"
	"slices"
	"strconv"
)

// own reads the keywords of the place itself.
func (d *source) own(v *value, at string, depth int) *shape {
	s := &shape{kinds: Any, doc: d, at: at}
	if t := v.get("type"); t.kind()&^Null != 0 {
		if s.kinds = kindsOf(t); s.kinds == 0 {
			s.kinds = Any
			d.drop(at, "type")
		}
	}
	d.values(s, v)
	d.ofString(s, v, at)
	d.ofNumber(s, v, at)
	d.ofArray(s, v, at, depth)
	d.ofObject(s, v, at, depth)
	s.hints = hintsOf(v)
	s.settle()
	return s
}

// hints are the keywords that belong to one type.
var hints = []struct {
	kinds Kinds
	words []string
}{
	{String, []string{"pattern", "format", "minLength", "maxLength"}},
	{Integer | Number, []string{"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"}},
	{Array, []string{"items", "prefixItems", "minItems", "maxItems", "uniqueItems", "contains"}},
	{Object, []string{"properties", "required", "additionalProperties", "patternProperties", "minProperties", "maxProperties", "propertyNames", "dependentRequired"}},
}

// hintsOf are the types whose keywords a place has.
func hintsOf(v *value) (k Kinds) {
	for _, h := range hints {
		for _, word := range h.words {
			if w := v.get(word); w.kind()&^Null != 0 {
				k |= h.kinds
			}
		}
	}
	return k
}

// values reads enum and const.
func (d *source) values(s *shape, v *value) {
	list := v.get("enum").list()
	if c := v.get("const"); c != nil {
		list = []*value{c}
	}
	if list == nil {
		return
	}
	d.c.budget -= len(list)
	s.enum = []string{}
	for _, one := range list {
		if s.kinds&KindOf(one.raw) != 0 {
			s.enum = append(s.enum, one.raw)
		}
	}
	s.enum = each(s.enum)
	s.bottom = len(s.enum) == 0
}

// heldFormats are the formats that servers know.
var heldFormats = []string{"date", "time", "date-time", "uuid"}

func (d *source) ofString(s *shape, v *value, at string) {
	if p := v.get("pattern"); p.kind() == String {
		if text, ok := serverPattern(p.text, d.c.o.length()); ok && !d.c.o.Weak {
			s.pattern = text
		} else {
			d.drop(at, "pattern")
		}
	}
	if f := v.get("format"); f.kind() == String && s.kinds&String != 0 {
		if slices.Contains(heldFormats, f.text) && s.pattern == "" && !d.c.o.Weak {
			s.format = f.text
		} else {
			d.drop(at, "format")
		}
	}
	s.minLength, s.maxLength = count(v.get("minLength")), count(v.get("maxLength"))
	if s.minLength != nil && (s.pattern != "" || s.format != "" || *s.minLength > 1999 || d.c.o.Weak && *s.minLength > d.c.o.length()) {
		d.drop(at, "minLength")
		s.minLength = nil
	}
	if s.maxLength != nil && (s.pattern != "" || s.format != "") {
		d.drop(at, "maxLength")
		s.maxLength = nil
	}
}

// count is a bound, nil when there is none.
func count(v *value) *int {
	if n := v.count(); n >= 0 {
		return &n
	}
	return nil
}

// ofNumber reads the bounds of integers; those of other numbers are not held.
func (d *source) ofNumber(s *shape, v *value, at string) {
	low, lowKey := bound(v, "minimum", "exclusiveMinimum", 1)
	high, highKey := bound(v, "maximum", "exclusiveMaximum", -1)
	if s.kinds&Number != 0 && s.kinds != Any || d.c.o.Weak {
		for _, k := range []string{lowKey, highKey} {
			if k != "" {
				d.drop(at, k)
			}
		}
		return
	}
	s.minimum, s.maximum = low, high
}

// bound reads a limit of integers as an inclusive one, in both forms of "exclusive"; step leads inwards. The keyword that
// counts is named. A limit beyond int64 is none.
func bound(v *value, inclusive, exclusive string, step int64) (*int64, string) {
	rat := func(key string) *big.Rat {
		if n := v.get(key); n.kind()&Number != 0 && len(n.raw) < 40 {
			if r, ok := new(big.Rat).SetString(n.raw); ok {
				return r
			}
		}
		return nil
	}
	limit, key, open := rat(inclusive), inclusive, false
	if e := v.get(exclusive); e != nil && e.raw == "true" {
		open = true
	} else if r := rat(exclusive); r != nil && (limit == nil || r.Cmp(limit)*int(step) >= 0) {
		limit, key, open = r, exclusive, true
	}
	if limit == nil {
		return nil, ""
	}
	n := new(big.Int).Div(limit.Num(), limit.Denom()) // towards minus infinity
	switch {
	case step > 0 && !limit.IsInt():
		n.Add(n, big.NewInt(1))
	case open && limit.IsInt():
		n.Add(n, big.NewInt(step))
	}
	if !n.IsInt64() || n.Int64() == math.MinInt64 || n.Int64() == math.MaxInt64 {
		return nil, key
	}
	whole := n.Int64()
	return &whole, key
}

func (d *source) ofArray(s *shape, v *value, at string, depth int) {
	s.minItems, s.maxItems = count(v.get("minItems")), count(v.get("maxItems"))
	items, prefix, rest := v.get("items"), v.get("prefixItems"), "items"
	if items.kind() == Array {
		prefix, items, rest = items, v.get("additionalItems"), "additionalItems"
	}
	for i, one := range prefix.list() {
		s.prefix = append(s.prefix, d.child(one, at+"/prefixItems/"+strconv.Itoa(i), depth))
	}
	if items != nil && items.kind()&(Object|Boolean) != 0 {
		s.items = d.child(items, at+"/"+rest, depth)
	}
	if s.minItems != nil && *s.minItems > 1000 {
		d.drop(at, "minItems")
		s.minItems = nil
	}
	if s.prefix != nil && (d.c.o.Weak || s.minItems != nil && *s.minItems > len(s.prefix)) {
		d.drop(at, "prefixItems")
		all := append(slices.Clone(s.prefix), anything())
		if s.items != nil {
			all[len(s.prefix)] = s.items
		}
		s.prefix, s.items = nil, union(all)
	}
}

func (d *source) ofObject(s *shape, v *value, at string, depth int) {
	if p := v.get("properties"); p.kind() == Object {
		s.listed = true
		for _, m := range p.members {
			if m.name == "$ref" { // servers take it for a reference
				d.drop(at+"/properties", "$ref")
				continue
			}
			place := at + "/properties/" + escapeStep(m.name)
			if m.v.raw == "false" { // a server does not write what is not listed; others may
				d.drop(place, "")
			}
			s.set(m.name, d.child(m.v, place, depth))
		}
	}
	s.required = v.get("required").words()
	s.required = slices.DeleteFunc(s.required, func(name string) bool { return name == "$ref" })
	if more := v.get("additionalProperties"); more.kind()&(Object|Boolean) != 0 && more.raw != "true" {
		s.more = d.child(more, at+"/additionalProperties", depth)
	}
	if p := v.get("patternProperties"); p.kind() == Object && len(p.members) > 0 {
		d.drop(at, "patternProperties")
		d.patterned(s, p, at, depth)
	}
}

// patterned takes the names of patternProperties for any names.
func (d *source) patterned(s *shape, p *value, at string, depth int) {
	all := []*shape{anything()}
	if s.more != nil {
		all[0] = s.more
	}
	for _, m := range p.members {
		all = append(all, d.child(m.v, at+"/patternProperties/"+escapeStep(m.name), depth))
	}
	s.more = union(all)
	if all[0].open() {
		s.more = nil
		if !s.listed {
			s.more = union(all[1:])
		}
	}
}
