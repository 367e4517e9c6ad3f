package engine

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/valyala/fastjson"

	"toolnorm/chat/schema"
)

// open begins to reduce a schema, and gives the parts of its root.
func (r *reducer) open(text json.RawMessage) []*fastjson.Value {
	root, err := fastjson.ParseBytes(text)
	if err != nil || root.Type() != fastjson.TypeObject {
		return nil
	}
	r.root, r.text = root, text
	all, _ := r.parts(root)
	return all
}

// variants are the alternatives of a root that has no properties of its own: theirs count, none of them required.
func (r *reducer) variants(all []*fastjson.Value) (variants []*fastjson.Value) {
	if member(all, "properties") != nil {
		return nil
	}
	for _, a := range alternatives(all) {
		parts, _ := r.parts(a)
		variants = append(variants, parts...)
	}
	return variants
}

// resolve follows a reference into the same schema, and an allOf of one. It returns the place and how many references
// were pushed; nil when the place is not there, is being written already, or lies too deep.
func (r *reducer) resolve(v *fastjson.Value) (*fastjson.Value, int) {
	pushed := 0
	for range maxSchemaDepth {
		if only := v.GetArray("allOf"); len(only) == 1 && !v.Exists("properties") {
			v = only[0]
			continue
		}
		ref := string(v.GetStringBytes("$ref"))
		if ref == "" {
			return v, pushed
		}
		if ref == "#" || slices.Contains(r.refs, ref) { // it is being written
			return nil, pushed
		}
		if v = r.at(ref); v == nil {
			return nil, pushed
		}
		r.refs = append(r.refs, ref)
		pushed++
	}
	return nil, pushed
}

// at is what a reference leads to, nil when that is not in the schema. Each is looked for once.
func (r *reducer) at(ref string) *fastjson.Value {
	if v, ok := r.found[ref]; ok {
		return v
	}
	var v *fastjson.Value
	if path, ok := strings.CutPrefix(ref, "#/"); ok {
		v = r.root.Get(pointer(path)...)
	} else { // an anchor or an id
		if r.doc == nil {
			r.doc = schema.Parse(r.text)
		}
		if raw, ok := r.doc.At(ref); ok {
			v, _ = fastjson.ParseBytes(raw)
		}
	}
	if r.found == nil {
		r.found = map[string]*fastjson.Value{}
	}
	r.found[ref] = v
	return v
}

// parts are a place and the parts of its allOf, references followed, and how many references were pushed. None when the
// place is not there or no object.
func (r *reducer) parts(v *fastjson.Value) (all []*fastjson.Value, pushed int) {
	at, pushed := r.resolve(v)
	if at == nil || at.Type() != fastjson.TypeObject {
		return nil, pushed
	}
	all = append(all, at)
	for _, part := range at.GetArray("allOf") {
		p, n := r.resolve(part)
		pushed += n
		if p != nil && p.Type() == fastjson.TypeObject {
			all = append(all, p)
		}
	}
	return all, pushed
}

// member is the first of the parts' members of that name, nil when there is none.
func member(all []*fastjson.Value, key string) *fastjson.Value {
	for _, at := range all {
		if v := at.Get(key); v != nil {
			return v
		}
	}
	return nil
}

// alternatives are those of an anyOf, or of a oneOf, which is the same to a model.
func alternatives(all []*fastjson.Value) []*fastjson.Value {
	if of := member(all, "anyOf"); len(of.GetArray()) > 0 {
		return of.GetArray()
	}
	return member(all, "oneOf").GetArray()
}
