package schema

import (
	"bytes"
	"encoding/json"
	"slices"

	"toolnorm/chat"
	"toolnorm/internal/jsontree"
)

// The keywords whose values are schemas: one schema, a list of schemas, or schemas by name. items
// is in the first two groups, because it was a list up to draft 2019-09. Only below these is a word
// a keyword. "description" is data in an enum, a const or a default, and as the name of a member of
// "properties".
var (
	HoldOne = []string{"additionalProperties", "not", "if", "then", "else", "contains",
		"propertyNames", "unevaluatedItems", "unevaluatedProperties", "additionalItems"}
	HoldList  = []string{"allOf", "anyOf", "oneOf", "prefixItems"}
	HoldNamed = []string{"properties", "patternProperties", "$defs", "definitions",
		"dependentSchemas", "dependencies"}
)

// Retold returns a schema with each description replaced by the result of the function tell. If
// tell is nil, it removes all descriptions, and also $schema, titles, comments and examples, which
// are only for people. Everything that decides whether arguments fit remains, in its order and with
// the digits of its numbers. A text that is not a schema is returned unchanged.
//
// It is used where tools are longer than a model's context:
// {"type":"string","title":"City","description":"A city in Norway."} becomes {"type":"string"}, and
// calls are read, constrained and checked as before.
func Retold(raw []byte, tell func(description string) string) []byte {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return raw
	}
	// A schema that is nested too deeply to be parsed is returned with all its words.
	root := parse(b.Bytes())
	if root == nil {
		return raw
	}
	r := reteller{tell: tell}
	r.part(root, false)
	return r.dst
}

// reteller writes one schema again with other descriptions.
type reteller struct {
	dst  []byte
	tell func(description string) string // if nil, everything that is for people is removed
}

// part writes a value that is a schema or a list of schemas or, if named is true, an object whose
// members are schemas. Other values, such as true, contain no descriptions and are written
// unchanged.
func (r *reteller) part(v *jsontree.Value, named bool) {
	switch kind(v) {
	case Object:
		r.dst = append(r.dst, '{')
		for _, m := range v.Members {
			if named || !r.unsaid(m) {
				r.comma('{')
				r.dst = append(chat.AppendQuoted(r.dst, m.Name), ':')
				r.member(m, named)
			}
		}
		r.dst = append(r.dst, '}')
	case Array:
		r.dst = append(r.dst, '[')
		for _, one := range v.Items {
			r.comma('[')
			r.part(one, false)
		}
		r.dst = append(r.dst, ']')
	default:
		r.dst = append(r.dst, v.Raw...)
	}
}

// comma writes a comma unless the last byte is the opening bracket.
func (r *reteller) comma(open byte) {
	if r.dst[len(r.dst)-1] != open {
		r.dst = append(r.dst, ',')
	}
}

// unsaid reports whether the member m is left out of the schema that is written. If descriptions
// are removed, so are titles, comments, examples and $schema. If they are replaced, nothing is left
// out.
func (r *reteller) unsaid(m jsontree.Member) bool {
	return r.tell == nil &&
		(isDescription(m) || slices.Contains([]string{"$schema", "title", "examples", "$comment"},
			m.Name))
}

// isDescription reports whether a member is a description. It is false if the value is not a text,
// as for a property with the name "description".
func isDescription(m jsontree.Member) bool {
	return m.Name == "description" && kind(m.Value) == String
}

// member writes the value of the member m of a schema, with descriptions replaced. If named is
// true, the name of m is not a keyword but, say, a property's, so its value is a schema.
func (r *reteller) member(m jsontree.Member, named bool) {
	switch {
	case named, m.Name == "items", slices.Contains(HoldOne, m.Name),
		slices.Contains(HoldList, m.Name):
		r.part(m.Value, false)
	case slices.Contains(HoldNamed, m.Name):
		r.part(m.Value, true)
	case isDescription(m):
		r.dst = chat.AppendQuoted(r.dst, r.tell(m.Value.Text))
	default:
		r.dst = append(r.dst, m.Value.Raw...)
	}
}
