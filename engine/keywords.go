package engine

import (
	"slices"
	"strings"

	"github.com/valyala/fastjson"
)

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
