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
