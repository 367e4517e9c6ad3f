package engine

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/valyala/fastjson"
)

const (
	maxSchemaDepth = 24
	maxSchemaSize  = 256 << 10 // bytes of a reduced schema; recursion through $ref could grow it without end
	maxNote        = 200       // bytes of one keyword's value in a description
)

// reduce writes a tool's schema in the words that every version of Ollama takes and prints: type, description, enum,
// properties, required, items, anyOf. Some others make the whole request fail, some vanish; their sense goes into the
// description. The order of properties is kept. The result is always an object with properties.
func reduce(schema json.RawMessage) json.RawMessage {
	root, err := fastjson.ParseBytes(schema)
	if err != nil || root.Type() != fastjson.TypeObject {
		return json.RawMessage(`{"type":"object","properties":{}}`)
	}
	r := &reducer{root: root}
	v, _ := r.resolve(root)
	r.raw(`{"type":"object","properties":`)
	r.properties(v, 1)
	r.required(v)
	r.raw("}")
	return r.dst
}

// reducer writes one reduced schema.
type reducer struct {
	root *fastjson.Value
	dst  []byte
	refs []string // the references that are being followed
}

// raw writes s as it is.
func (r *reducer) raw(s string) { r.dst = append(r.dst, s...) }

// member writes a key, and a comma where one is needed.
func (r *reducer) member(key string) {
	if r.dst[len(r.dst)-1] != '{' {
		r.raw(",")
	}
	r.raw(`"` + key + `":`)
}

// string writes s as a JSON string.
func (r *reducer) string(s string) {
	quoted, _ := json.Marshal(s)
	r.dst = append(r.dst, quoted...)
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
		path, ok := strings.CutPrefix(ref, "#/")
		if !ok || slices.Contains(r.refs, ref) {
			return nil, pushed
		}
		if v = r.root.Get(strings.Split(path, "/")...); v == nil {
			return nil, pushed
		}
		r.refs = append(r.refs, ref)
		pushed++
	}
	return nil, pushed
}

// schema writes one place.
func (r *reducer) schema(v *fastjson.Value, depth int) {
	at, pushed := r.resolve(v)
	defer func() { r.refs = r.refs[:len(r.refs)-pushed] }()
	outer := string(v.GetStringBytes("description")) // beside a $ref
	if at == nil || at.Type() != fastjson.TypeObject || depth > maxSchemaDepth || len(r.dst) > maxSchemaSize {
		r.raw(`{"description":`)
		r.string(strings.TrimSpace(outer + " (any value)"))
		r.raw("}")
		return
	}
	r.raw("{")
	if text := annotated(at, outer); text != "" {
		r.member("description")
		r.string(text)
	}
	if t := types(at); t != "" {
		r.member("type")
		r.raw(t)
	}
	r.enum(at)
	if at.Get("properties") != nil {
		r.member("properties")
		r.properties(at, depth+1)
		r.required(at)
	}
	if items := at.Get("items"); items != nil && items.Type() == fastjson.TypeObject {
		r.member("items")
		r.schema(items, depth+1)
	}
	r.anyOf(at, depth)
	r.raw("}")
}

// properties writes the members of an object.
func (r *reducer) properties(v *fastjson.Value, depth int) {
	r.raw("{")
	comma := ""
	v.GetObject("properties").Visit(func(key []byte, member *fastjson.Value) {
		r.raw(comma)
		comma = ","
		r.string(string(key))
		r.raw(":")
		r.schema(member, depth)
	})
	r.raw("}")
}

// required writes the names of the required members.
func (r *reducer) required(v *fastjson.Value) {
	var names []string
	for _, n := range v.GetArray("required") {
		if n.Type() == fastjson.TypeString {
			names = append(names, string(n.GetStringBytes()))
		}
	}
	if len(names) > 0 {
		list, _ := json.Marshal(names)
		r.member("required")
		r.dst = append(r.dst, list...)
	}
}

// enum writes the allowed values; a const is an enum of one.
func (r *reducer) enum(v *fastjson.Value) {
	if e := v.Get("enum"); e != nil && e.Type() == fastjson.TypeArray {
		r.member("enum")
		r.dst = e.MarshalTo(r.dst)
	} else if c := v.Get("const"); c != nil {
		r.member("enum")
		r.raw("[")
		r.dst = c.MarshalTo(r.dst)
		r.raw("]")
	}
}

// anyOf writes the alternatives, oneOf being the same to a model.
func (r *reducer) anyOf(v *fastjson.Value, depth int) {
	of := v.GetArray("anyOf")
	if of == nil {
		of = v.GetArray("oneOf")
	}
	if len(of) == 0 {
		return
	}
	r.member("anyOf")
	open := "["
	for _, a := range of {
		r.raw(open)
		open = ","
		r.schema(a, depth+1)
	}
	r.raw("]")
}

// known are the type names of JSON Schema: others make a server refuse the request.
var known = []string{"string", "number", "integer", "boolean", "object", "array", "null"}

// types is the type member as JSON, without unknown names; guessed where it is left out, empty when nothing is known.
func types(v *fastjson.Value) string {
	var names []string
	t := v.Get("type")
	for _, n := range append(slices.Clone(t.GetArray()), t) {
		if s := string(n.GetStringBytes()); slices.Contains(known, s) {
			names = append(names, s)
		}
	}
	switch {
	case len(names) == 1:
		return `"` + names[0] + `"`
	case len(names) > 1:
		return `["` + strings.Join(names, `","`) + `"]`
	case v.Get("properties") != nil:
		return `"object"`
	case v.Get("items") != nil:
		return `"array"`
	case v.GetStringBytes("enum", "0") != nil, v.GetStringBytes("const") != nil:
		return `"string"`
	}
	return ""
}

// said are the keywords that a reduced schema has itself or that say nothing to a model.
var said = []string{
	"type", "description", "enum", "const", "properties", "required", "items", "anyOf", "oneOf", "$ref", "title",
	"$schema", "$id", "$defs", "definitions", "$comment", "examples", "additionalProperties",
}

// annotated is a place's description with the keywords that are lost: "A day. (format: date)".
func annotated(v *fastjson.Value, outer string) string {
	text := outer
	if text == "" {
		text = string(v.GetStringBytes("description"))
	}
	var notes []string
	v.GetObject().Visit(func(key []byte, value *fastjson.Value) {
		k := string(key)
		if slices.Contains(said, k) || strings.HasPrefix(k, "x-") {
			return
		}
		raw := string(value.MarshalTo(nil))
		if value.Type() == fastjson.TypeString {
			raw = string(value.GetStringBytes())
		}
		if len(raw) <= maxNote {
			notes = append(notes, k+": "+raw)
		}
	})
	if len(notes) == 0 {
		return text
	}
	return strings.TrimSpace(text + " (" + strings.Join(notes, ", ") + ")")
}
