package demo

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"toolnorm/chat/schema"
	"toolnorm/engine/upstream"
)

// maxParts is how many elements or members are made, whatever a schema demands, because "minItems":
// 1000000 would fill a reply.
const maxParts = 32

// maxFill is how deep a schema is filled. A schema may refer to itself, so deeper values are null.
const maxFill = 8

// maxShown is the depth down to which lists get optional elements, and unions get values other than
// null. Below it a schema that refers to itself ends: {"children": [{"children": []}]}.
const maxShown = maxFill / 2

// maxValues is how many values are tried for one call, because a schema that refers to itself in
// every alternative has more than can be counted. Further values are null.
const maxValues = 1 << 12

// fill returns the arguments of a call as one JSON object. It has the required members, and those
// for which the user's message has a value. fill needs the tool's whole schema, because it would
// break the rules of keywords that it does not see. (A real model is shown a reduced schema.) Its
// results for a tool with city (required), days and unit (celsius, fahrenheit):
//
//	"How is the weather in New York for 3 days in Fahrenheit?"  {"city":"New York","days":3,"unit":"fahrenheit"}
//	"weather"                                                   {"city":"example city"}
func fill(f upstream.Function, message string) json.RawMessage {
	return find(message).object(schema.Parse(f.Parameters).Arguments(), 0)
}

// slot is a member that an object may have, and whether it is required. Values from the user's
// message are used for required members first.
type slot struct {
	schema.Member
	required bool
}

// slots returns the members that a schema lists, followed by those that it requires without listing
// them. They are in the schema's order, in which a model would write them.
func slots(p *schema.Place) (all []slot) {
	for _, m := range p.Members {
		all = append(all, slot{m, slices.Contains(p.Required, m.Name)})
	}
	for _, name := range p.Required {
		if p.Member(name) == nil {
			all = append(all, slot{schema.Member{Name: name, Place: orAnything(p.More)}, true})
		}
	}
	return all
}

// orAnything returns the schema p. If p is nil, which means that there are no rules, it returns a
// schema that any value fits.
func orAnything(p *schema.Place) *schema.Place {
	if p == nil {
		return &schema.Place{Kinds: schema.Any}
	}
	return p
}

// n returns the number of a keyword such as minLength. If the schema does not have the keyword, c
// is nil, and n returns fallback.
func n(c *schema.Count, fallback int) int {
	if c == nil {
		return fallback
	}
	return c.N
}

// object returns an object that fits the schema p. It has the required members, and those for which
// the user's message has a value. Required members get these values first. If the schema has
// alternatives, object uses the first one. If minProperties demands more members, it adds some,
// with made-up names if the schema lists too few.
func (f *finds) object(p *schema.Place, depth int) []byte {
	if p = p.Follow(); p.Alternatives != nil {
		return f.object(p.Alternatives[0], depth)
	}
	all := slots(p)
	values := make([][]byte, len(all))
	filled := 0
	// Required members come first: they must have a value, and the message may have only one.
	for _, required := range []bool{true, false} {
		for i, m := range all {
			if m.required == required {
				values[i] = f.value(m.Name, m.Place, required, depth+1)
				filled += count(values[i] != nil)
			}
		}
	}
	least := n(p.MinMembers, 0)
	for i, m := range all {
		if values[i] == nil && filled < least {
			values[i] = f.value(m.Name, m.Place, true, depth+1)
			filled++
		}
	}
	dst := []byte{'{'}
	add := func(name string, value []byte) {
		if len(dst) > 1 {
			dst = append(dst, ',')
		}
		dst = append(append(append(dst, quote(name)...), ':'), value...)
	}
	for i, m := range all {
		if values[i] != nil {
			add(m.Name, values[i])
		}
	}
	for ; filled < min(least, maxParts); filled++ { // members with made-up names
		name := fmt.Sprintf("key%d", filled+1)
		add(name, f.value(name, orAnything(p.More), true, depth+1))
	}
	return append(dst, '}')
}

// value returns a value for the member with that name. If the member is not required, and the
// user's message has no value for it, it returns nil. If the schema allows several types, each type
// is first tried with the values in the message. A value is made up only if none of the types gets
// one in this way.
func (f *finds) value(name string, p *schema.Place, required bool, depth int) []byte {
	if f.values++; depth > maxFill || f.values > maxValues {
		return []byte("null")
	}
	p = p.Follow()
	switch {
	case len(p.Enum) == 1:
		return []byte(p.Enum[0])
	case len(p.Enum) > 1:
		return f.choice(p.Enum, required)
	case p.Alternatives != nil:
		return f.alternative(name, p.Alternatives, required, depth)
	}
	all := kinds(p)
	for _, kind := range all {
		if v := f.ofKind(name, kind, p, false, depth); v != nil {
			return v
		}
	}
	if !required {
		return nil
	}
	return f.ofKind(name, all[0], p, true, depth)
}

// kinds returns the types that the value may have. Null is among them only if there is no other. A
// schema that names no type gets text, because clients that write schemas by hand leave out the
// type of texts.
func kinds(p *schema.Place) (kinds []schema.Kinds) {
	k := p.Types()
	if k == schema.Any || k == 0 {
		return []schema.Kinds{schema.String}
	}
	for _, kind := range []schema.Kinds{schema.String, schema.Number, schema.Integer,
		schema.Boolean, schema.Array, schema.Object} {
		if k&kind != 0 && (kind != schema.Integer || k&schema.Number == 0) {
			kinds = append(kinds, kind)
		}
	}
	if kinds == nil {
		return []schema.Kinds{schema.Null}
	}
	return kinds
}

// alternative returns a value that fits one of the options. It uses the first option, other than a
// constant, for which the user's message has a value. If there is none, it returns nil, or, if a
// value is required, a made-up value for the first option that is not null. Null comes last, since
// Pydantic writes an optional text as "anyOf": [{"type": "string"}, {"type": "null"}].
func (f *finds) alternative(name string, options []*schema.Place, required bool, depth int) []byte {
	options = slices.Clone(options)
	slices.SortStableFunc(options, func(a, b *schema.Place) int {
		return count(a.Kinds == schema.Null) - count(b.Kinds == schema.Null)
	})
	for _, one := range options {
		if v := f.value(name, one, false, depth+1); v != nil && len(one.Enum) != 1 {
			return v
		}
	}
	if !required {
		return nil
	}
	if last := options[len(options)-1]; depth > maxShown && last.Kinds == schema.Null {
		return []byte("null")
	}
	return f.value(name, options[0], true, depth+1)
}

// ofKind returns a value of the type kind for the member with the given name. If the member is not
// required, it returns nil for a boolean, an object or null, and also if the user's message has no
// value of the type. A required boolean is true, since an option's name says what true does.
func (f *finds) ofKind(name string, kind schema.Kinds, p *schema.Place, required bool,
	depth int) []byte {
	switch {
	case kind&(schema.Integer|schema.Number) != 0:
		return f.number(name, kind, p, required)
	case kind == schema.Array:
		return f.array(name, p, required, depth)
	case kind == schema.String:
		return f.text(name, p, required)
	case !required:
		return nil
	case kind == schema.Object:
		return f.object(p, depth)
	case kind == schema.Boolean:
		return []byte("true")
	}
	return []byte("null")
}

// example returns the first value of the given type that the schema itself proposes (default,
// examples), or "" if it proposes none.
func example(p *schema.Place, kind schema.Kinds) string {
	for _, v := range p.Proposed {
		if schema.KindOf(v)&kind != 0 {
			return v
		}
	}
	return ""
}

// choice returns the first allowed value that occurs in the user's message. If none occurs, it
// returns nil, or, if required is true, the first allowed value. Whole words come before parts of
// words. A value of one or two letters is found only as a whole word, so that the unit "c" is not
// found in "celsius".
func (f *finds) choice(allowed []string, required bool) []byte {
	message := spaceWords(f.message)
	for _, holds := range []func(string, string) bool{holdsWord, strings.Contains} {
		for _, v := range allowed {
			text := ""
			_ = json.Unmarshal([]byte(v), &text) // a value that is not a string has no name
			s := spaceWords(text)
			if schema.KindOf(v)&schema.Number != 0 && slices.Contains(f.numbers, v) ||
				len(s) > 2 && holds(message, s) || s != "" && holdsWord(message, s) {
				return []byte(v)
			}
		}
	}
	if !required {
		return nil
	}
	return []byte(allowed[0])
}

// spaceWords returns s in lower case with blanks for the signs that join words in names, because
// users write "in progress" for "in_progress".
func spaceWords(s string) string {
	return strings.NewReplacer("_", " ", "-", " ").Replace(strings.ToLower(s))
}

// array returns a list with as few elements as the schema demands. A list of texts, or a required
// list of numbers, has as many elements as the user's message has for it. Only quoted texts and
// numbers are used as elements, since names and paths belong to other members more often. A
// required list has at least one element, because an empty list shows nothing. It returns nil for a
// list that is not required and would be empty.
func (f *finds) array(name string, p *schema.Place, required bool, depth int) []byte {
	least, most := n(p.MinItems, 0), min(n(p.MaxItems, maxParts), maxParts)
	items := orAnything(p.Items).Follow()
	var list [][]byte
	for _, one := range p.Prefix {
		if !required {
			return nil
		}
		list = append(list, f.value(name, one, true, depth+1))
	}
	least = min(max(least, len(list)), maxParts)
	most = max(most, least)
	for len(list) < most && len(p.Prefix) == 0 {
		before := len(f.quoted) + len(f.numbers)
		isText := kinds(items)[0] == schema.String
		if isText && len(f.quoted) == 0 || !isText && (!required || len(f.numbers) == 0) {
			break
		}
		// If the message has no value for an element, further ones would be made up without end.
		v := f.value(name, items, false, depth+1)
		if v == nil || before == len(f.quoted)+len(f.numbers) {
			break
		}
		list = appendOther(list, v, p.Unique)
	}
	if len(list) == 0 && !required {
		return nil
	}
	if least == 0 && most > 0 && p.Prefix == nil && depth <= maxShown {
		least = 1
	}
	for i := 0; len(list) < least && i < 2*maxParts; i++ {
		list = appendOther(list, f.another(name, items, i, p.Unique, depth), p.Unique)
	}
	return append(append([]byte{'['}, bytes.Join(list, []byte{','})...), ']')
}

// another returns a made-up value for the list element with index n. If unique is set, the value
// contains the index, so that the elements differ.
func (f *finds) another(name string, items *schema.Place, n int, unique bool, depth int) []byte {
	switch k := kinds(items)[0]; {
	case !unique || n == 0:
	case len(items.Enum) > 0:
		return []byte(items.Enum[n%len(items.Enum)])
	case k&(schema.Integer|schema.Number) != 0:
		return decimal(boundsOf(items, k).nearest(float64(n + 1)))
	default:
		name = fmt.Sprintf("%s %d", name, n+1)
	}
	return f.value(name, items, true, depth+1)
}

// appendOther appends v. If unique is set ("uniqueItems": true), it does so only if the list does
// not have v yet. Values are compared as text, which is enough for generated values.
func appendOther(list [][]byte, v []byte, unique bool) [][]byte {
	if unique && slices.ContainsFunc(list, func(have []byte) bool {
		return string(have) == string(v)
	}) {
		return list
	}
	return append(list, v)
}

// quote returns s as a JSON string.
func quote(s string) []byte {
	q, _ := json.Marshal(s)
	return q
}
