package schema

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// source reads the shapes of one document.
type source struct {
	document
	c       *constrainer
	label   string   // in front of its dropped keywords
	reading []*value // the references that are being followed to one place
	around  []*value // those and the ones around them
}

// document parses a schema. One that cannot be read, or is empty, allows everything.
func (c *constrainer) document(label string, raw json.RawMessage) *source {
	d := &source{c: c, label: label}
	if raw = bytes.TrimSpace(raw); len(raw) == 0 || string(raw) == "null" {
		raw = json.RawMessage("{}")
	}
	if d.root = parse(raw); d.root == nil {
		c.drop(label)
		d.root = parse([]byte("{}"))
	}
	return d
}

// whole is the shape of the document; where nothing could fit, everything does.
func (d *source) whole() *shape {
	s := d.read(d.root, "", 0)
	if s.bottom {
		d.drop("", "")
		return anything()
	}
	return s
}

// object is the shape of the document as far as it is an object.
func (d *source) object() *shape {
	s := d.merge(d.whole(), &shape{kinds: Object}, 0)
	if s.bottom {
		d.drop("", "type")
		return &shape{kinds: Object}
	}
	return s
}

// drop notes that a keyword of the place at is not held.
func (d *source) drop(at, keyword string) {
	if keyword != "" {
		at += "/" + keyword
	}
	d.c.drop(d.label + at)
}

// unheld are the keywords that no server holds.
var unheld = []string{"not", "if", "dependentRequired", "dependentSchemas", "dependencies", "minProperties", "maxProperties", "propertyNames",
	"unevaluatedProperties", "unevaluatedItems", "uniqueItems", "contains", "multipleOf", "oneOf", "$recursiveRef"}

// read is the shape of a place. depth counts places in places.
func (d *source) read(v *value, at string, depth int) *shape {
	switch {
	case v.kind() == Boolean && v.raw == "false":
		return never()
	case v.kind() != Object:
		return anything()
	}
	if d.c.budget--; d.c.budget < 0 || depth > maxDepth {
		d.drop(at, "")
		return anything()
	}
	for _, k := range unheld {
		if says(k, v.get(k)) {
			d.drop(at, k)
		}
	}
	s := d.own(v, at, depth)
	for _, k := range []string{"$ref", "$dynamicRef"} {
		if ref := v.get(k); ref.kind() == String {
			s = d.merge(s, d.follow(ref.text, at+"/"+k, depth), 0)
		}
	}
	for i, one := range v.get("allOf").list() {
		s = d.merge(s, d.read(one, at+"/allOf/"+strconv.Itoa(i), depth+1), 0)
	}
	for _, k := range []string{"anyOf", "oneOf"} {
		if list := v.get(k).list(); len(list) > 0 {
			s = d.merge(s, d.union(list, at+"/"+k, depth), 0)
		}
	}
	if n := v.get("nullable"); n != nil && n.raw == "true" {
		s = union([]*shape{s, {kinds: Null}})
	}
	return s
}

// says tells whether a keyword that is not held constrains anything.
func says(keyword string, v *value) bool {
	switch {
	case v.kind()&^Null == 0:
		return false
	case keyword == "uniqueItems":
		return v.raw == "true"
	case strings.HasPrefix(keyword, "unevaluated"):
		return v.raw != "true"
	}
	return true
}

// list are the elements of an array.
func (v *value) list() []*value {
	if v == nil {
		return nil
	}
	return v.items
}

func (d *source) union(list []*value, at string, depth int) *shape {
	const most = 100
	if len(list) > 10*most {
		d.drop(at, "")
		return anything()
	}
	var alts []*shape
	for i, one := range list {
		alts = append(alts, d.read(one, at+"/"+strconv.Itoa(i), depth+1))
	}
	s := union(alts)
	if len(s.alts) > most {
		d.drop(at, "")
		return anything()
	}
	s.at = at
	return s
}

// follow reads what a reference at this very place leads to.
func (d *source) follow(ref, at string, depth int) *shape {
	to, place := d.resolve(ref)
	switch {
	case to == nil, d.c.o.Weak && slices.Contains(d.around, to):
		d.drop(at, "")
		return anything()
	case slices.Contains(d.reading, to): // it leads back here without going deeper: nothing is gained by it
		d.drop(at, "")
		return never()
	}
	reading, around := d.reading, d.around
	d.reading, d.around = append(reading, to), append(around, to)
	s := d.read(to, place, depth+1)
	d.reading, d.around = reading, around
	return s
}

// child is the shape of a member or element. One that is nothing but a reference stays one, except in a weak constraint.
func (d *source) child(v *value, at string, depth int) *shape {
	if ref := v.get("$ref"); ref.kind() == String && !d.c.o.Weak && lone(v) {
		if to, place := d.resolve(ref.text); to != nil {
			return &shape{ref: to, doc: d, at: place}
		}
	}
	if d.c.o.Weak && depth > maxWeakDepth {
		d.drop(at, "")
		return anything()
	}
	reading := d.reading
	d.reading = nil
	s := d.read(v, at, depth+1)
	d.reading = reading
	return s
}

// maxWeakDepth is how deep a weak constraint follows a schema.
const maxWeakDepth = 8

// lone says that beside a reference stands nothing that constrains.
func lone(v *value) bool {
	return !slices.ContainsFunc(v.members, func(m member) bool {
		return !slices.Contains([]string{"$ref", "description", "title", "default", "examples", "$comment", "deprecated", "readOnly", "writeOnly", "example"}, m.name)
	})
}
