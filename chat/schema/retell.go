package schema

import (
	"bytes"
	"encoding/json"
	"slices"

	"toolnorm/chat"
	"toolnorm/internal/jsontree"
)

// The keywords whose values are schemas: one, a list of them, or schemas by names. items, which was
// a list up to draft 2019-09, is either of the first two. Only below these is a word a keyword: in
// an enum, a const or a default "description" is data, and so is a member of "properties" that is
// called so.
var (
	HoldOne   = []string{"additionalProperties", "not", "if", "then", "else", "contains", "propertyNames", "unevaluatedItems", "unevaluatedProperties", "additionalItems"}
	HoldList  = []string{"allOf", "anyOf", "oneOf", "prefixItems"}
	HoldNamed = []string{"properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies"}
)

// Retold returns a schema whose descriptions are what tell makes of them; without tell it has none,
// nor $schema, titles, comments and examples, which speak to people alone. What decides whether
// arguments fit stays as it is, in its order and with the digits of its numbers. A text that is no
// schema comes back unchanged.
//
// It serves where tools are longer than a model's context:
// {"type":"string","title":"City","description":"A city in Norway."} is {"type":"string"}, by which
// the call is still read, constrained and checked as before.
func Retold(raw []byte, tell func(description string) string) []byte {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return raw
	}
	// A schema that is nested deeper than a tree may be keeps all its words.
	root := parse(b.Bytes())
	if root == nil {
		return raw
	}
	r := reteller{tell: tell}
	r.part(root, false)
	return r.dst
}

// reteller writes one schema anew.
type reteller struct {
	dst  []byte
	tell func(description string) string // nil: nothing that speaks to people stays
}

// part writes a schema, a list of them or, where they are named, schemas by their names. What is
// none of these, such as true, has no words in it.
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

// comma writes a comma unless nothing stands behind the bracket yet.
func (r *reteller) comma(open byte) {
	if r.dst[len(r.dst)-1] != open {
		r.dst = append(r.dst, ',')
	}
}

// unsaid reports whether a keyword is left out.
func (r *reteller) unsaid(m jsontree.Member) bool {
	return r.tell == nil && (described(m) || slices.Contains([]string{"$schema", "title", "examples", "$comment"}, m.Name))
}

// described reports whether a member is a description. One that is no text is none, and harms
// nobody.
func described(m jsontree.Member) bool { return m.Name == "description" && kind(m.Value) == String }

// member writes what a member of a schema holds, or the schema of that name.
func (r *reteller) member(m jsontree.Member, named bool) {
	switch {
	case named, m.Name == "items", slices.Contains(HoldOne, m.Name), slices.Contains(HoldList, m.Name):
		r.part(m.Value, false)
	case slices.Contains(HoldNamed, m.Name):
		r.part(m.Value, true)
	case described(m):
		r.dst = chat.AppendQuoted(r.dst, r.tell(m.Value.Text))
	default:
		r.dst = append(r.dst, m.Value.Raw...)
	}
}
