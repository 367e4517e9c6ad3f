package engine

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/valyala/fastjson"

	"toolnorm/chat"
	"toolnorm/chat/schema"
)

const (
	maxSchemaDepth = 24
	maxSchemaSize  = 256 << 10 // bytes of a reduced schema; recursion through $ref could grow it without end
	maxNote        = 200       // bytes of one keyword's value in a description; the rest is cut
)

// reduced are a tool's description and schema for a server; the description says what the schema says of all arguments
// together, which is lost otherwise.
//
// The schema is in the words that every version of Ollama takes and prints: type, description, enum, properties, required,
// items, anyOf. Some others make the whole request fail, some vanish; their sense goes into the description, that of the
// root into the tool's. The order of properties is kept. The result is always an object with properties.
func reduced(t chat.Tool) (description string, parameters json.RawMessage) {
	r := &reducer{}
	all := r.open(t.Schema)
	r.raw(`{"type":"object","properties":`)
	if variants := r.variants(all); variants != nil {
		r.either(variants)
	} else {
		r.properties(all, 1)
	}
	r.required(all)
	r.raw("}")
	return annotated(all, t.Description, saidOfRoot), r.dst
}

// either writes the members of alternatives: what is not the same in all of them is one or the other.
func (r *reducer) either(variants []*fastjson.Value) {
	var names []string
	kinds := map[string][]*fastjson.Value{}
	for _, at := range variants {
		at.GetObject("properties").Visit(func(key []byte, member *fastjson.Value) {
			name := string(key)
			if kinds[name] == nil {
				names = append(names, name)
			}
			same := func(v *fastjson.Value) bool { return v.String() == member.String() }
			if !slices.ContainsFunc(kinds[name], same) {
				kinds[name] = append(kinds[name], member)
			}
		})
	}
	r.raw("{")
	for _, name := range names {
		r.member(name)
		if len(kinds[name]) == 1 {
			r.schema(kinds[name][0], 1)
			continue
		}
		r.raw("{")
		r.union(kinds[name], 1)
		r.raw("}")
	}
	r.raw("}")
}

// reducer writes one reduced schema.
type reducer struct {
	root  *fastjson.Value
	text  json.RawMessage // of root
	doc   *schema.Doc     // of text; made at the first reference that is no pointer
	dst   []byte
	refs  []string                   // the references that are being followed
	found map[string]*fastjson.Value // what references lead to
}

// raw writes s as it is.
func (r *reducer) raw(s string) { r.dst = append(r.dst, s...) }

// member writes a key, and a comma where one is needed.
func (r *reducer) member(key string) {
	if r.dst[len(r.dst)-1] != '{' {
		r.raw(",")
	}
	r.string(key)
	r.raw(":")
}

// string writes s as a JSON string.
func (r *reducer) string(s string) {
	quoted, _ := json.Marshal(s)
	r.dst = append(r.dst, quoted...)
}

// schema writes one place.
func (r *reducer) schema(v *fastjson.Value, depth int) {
	all, pushed := r.parts(v)
	defer func() { r.refs = r.refs[:len(r.refs)-pushed] }()
	outer := string(v.GetStringBytes("description")) // beside a $ref
	if all == nil || depth > maxSchemaDepth || len(r.dst) > maxSchemaSize {
		r.raw(`{"description":`)
		r.string(strings.TrimSpace(outer + " (any value)"))
		r.raw("}")
		return
	}
	r.raw("{")
	if text := annotated(all, outer, said); text != "" {
		r.member("description")
		r.string(text)
	}
	if t := types(all); t != "" {
		r.member("type")
		r.raw(t)
	}
	r.enum(all)
	if member(all, "properties") != nil {
		r.member("properties")
		r.properties(all, depth+1)
		r.required(all)
	}
	if items := member(all, "items"); items != nil && items.Type() == fastjson.TypeObject {
		r.member("items")
		r.schema(items, depth+1)
	}
	r.anyOf(all, depth)
	r.raw("}")
}

// properties writes the members of an object, each once.
func (r *reducer) properties(all []*fastjson.Value, depth int) {
	r.raw("{")
	written := map[string]bool{}
	for _, at := range all {
		at.GetObject("properties").Visit(func(key []byte, member *fastjson.Value) {
			if written[string(key)] {
				return
			}
			written[string(key)] = true
			r.member(string(key))
			r.schema(member, depth)
		})
	}
	r.raw("}")
}

// required writes the names of the required members.
func (r *reducer) required(all []*fastjson.Value) {
	var names []string
	for _, at := range all {
		for _, n := range at.GetArray("required") {
			if name := string(n.GetStringBytes()); n.Type() == fastjson.TypeString && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	if len(names) > 0 {
		list, _ := json.Marshal(names)
		r.member("required")
		r.dst = append(r.dst, list...)
	}
}

// enum writes the allowed values; a const is an enum of one, and an empty one says nothing.
func (r *reducer) enum(all []*fastjson.Value) {
	if e := member(all, "enum"); len(e.GetArray()) > 0 {
		r.member("enum")
		r.dst = e.MarshalTo(r.dst)
	} else if c := member(all, "const"); c != nil {
		r.member("enum")
		r.raw("[")
		r.dst = c.MarshalTo(r.dst)
		r.raw("]")
	}
}

// anyOf writes the alternatives.
func (r *reducer) anyOf(all []*fastjson.Value, depth int) {
	if of := alternatives(all); len(of) > 0 {
		r.union(of, depth)
	}
}

// union writes an anyOf.
func (r *reducer) union(of []*fastjson.Value, depth int) {
	r.member("anyOf")
	open := "["
	for _, a := range of {
		r.raw(open)
		open = ","
		r.schema(a, depth+1)
	}
	r.raw("]")
}
