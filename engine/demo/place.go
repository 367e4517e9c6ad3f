package demo

import (
	"math"
	"slices"
	"strings"

	"github.com/valyala/fastjson"
)

// maxParts is how many schemas are looked at for one place: a schema, what it refers to, and the members of its allOf.
const maxParts = 32

// place is all that schemas say of one value, the most important first. References are followed.
type place struct {
	parts  []part
	chosen []*fastjson.Value // the parts of whose union one alternative was taken
}

// part is one schema, and the document that its references point into.
type part struct {
	doc *fastjson.Value
	*fastjson.Value
}

// placed is the place of the schema s of doc.
func placed(doc, s *fastjson.Value) place {
	var p place
	p.add(doc, s)
	return p
}

// add adds a schema with what it refers to and the members of its allOf.
func (p *place) add(doc, s *fastjson.Value) {
	if s == nil || s.Type() != fastjson.TypeObject || len(p.parts) == maxParts {
		return
	}
	p.parts = append(p.parts, part{doc, s})
	if ref := s.GetStringBytes("$ref"); ref != nil {
		p.add(doc, referred(doc, string(ref)))
	}
	for _, all := range s.GetArray("allOf") {
		p.add(doc, all)
	}
}

// referred is what a reference inside the document points at, nil when there is no such thing.
func referred(doc *fastjson.Value, ref string) *fastjson.Value {
	path, ok := strings.CutPrefix(ref, "#")
	if !ok {
		return nil
	}
	at := doc
	for _, key := range strings.Split(path, "/")[1:] {
		at = at.Get(strings.NewReplacer("~1", "/", "~0", "~").Replace(key))
	}
	return at
}

// alternatives are the places of a union, null behind the others; none when the value is in no union that is left open. Each
// leaves that union behind.
func (p place) alternatives() (all []place) {
	for _, union := range p.parts {
		list := append(union.GetArray("anyOf"), union.GetArray("oneOf")...)
		if len(list) == 0 || slices.Contains(p.chosen, union.Value) {
			continue
		}
		var nulls []place
		for _, s := range list {
			one := place{chosen: append(slices.Clip(p.chosen), union.Value)}
			one.add(union.doc, s)
			isNull := len(one.parts) > 0 && one.kinds()[0] == "null"
			one.parts = append(one.parts, p.parts...)
			if isNull {
				nulls = append(nulls, one)
			} else {
				all = append(all, one)
			}
		}
		return append(all, nulls...)
	}
	return nil
}

// get is the first part's value of a keyword, nil when none has it.
func (p place) get(keyword string) *fastjson.Value {
	for _, part := range p.parts {
		if v := part.Get(keyword); v != nil {
			return v
		}
	}
	return nil
}

// inside is the place of which a keyword's schemas speak, as that of the items.
func (p place) inside(keys ...string) (inner place) {
	for _, part := range p.parts {
		inner.add(part.doc, part.Get(keys...))
	}
	return inner
}

// count is the value of a keyword that is a number, otherwise when there is none.
func (p place) count(keyword string, otherwise int) int {
	if v := p.get(keyword); v != nil && v.Type() == fastjson.TypeNumber {
		return int(min(max(v.GetFloat64(), 0), math.MaxInt32))
	}
	return otherwise
}

// member is a property's name with its place.
type member struct {
	name     string
	place    place
	required bool
}

// members are the properties in their order, and behind them those that are required without being described.
func (p place) members() (all []member) {
	at := map[string]int{}
	named := func(name string) *member {
		i, known := at[name]
		if !known {
			i = len(all)
			at[name], all = i, append(all, member{name: name})
		}
		return &all[i]
	}
	for _, part := range p.parts {
		part.GetObject("properties").Visit(func(key []byte, s *fastjson.Value) {
			if s.Type() != fastjson.TypeFalse {
				named(string(key)).place.add(part.doc, s)
			}
		})
	}
	described := len(all)
	for _, part := range p.parts {
		for _, n := range part.GetArray("required") {
			named(string(n.GetStringBytes())).required = true
		}
	}
	for i := described; i < len(all); i++ {
		all[i].place = p.inside("additionalProperties")
	}
	return all
}

// kinds are the types that the value may have; null only when it is the only one. A schema that names none is known by its
// other keywords, and else takes text.
func (p place) kinds() (kinds []string) {
	if t := p.get("type"); t != nil {
		for _, k := range append(t.GetArray(), t) {
			if name := string(k.GetStringBytes()); name != "" && name != "null" {
				kinds = append(kinds, name)
			}
		}
		if kinds == nil {
			kinds = []string{"null"}
		}
		return kinds
	}
	for _, hint := range []struct{ keyword, kind string }{
		{"properties", "object"}, {"required", "object"}, {"additionalProperties", "object"}, {"items", "array"}, {"prefixItems", "array"}, {"minItems", "array"},
		{"minimum", "number"}, {"maximum", "number"}, {"exclusiveMinimum", "number"}, {"exclusiveMaximum", "number"}, {"multipleOf", "number"},
	} {
		if p.get(hint.keyword) != nil {
			return []string{hint.kind}
		}
	}
	return []string{"string"} // Void says no types
}
