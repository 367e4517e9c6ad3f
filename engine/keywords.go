package engine

import (
	"net/url"
	"slices"
	"strings"

	"github.com/valyala/fastjson"

	"toolnorm/chat/schema"
)

// types is the type member as JSON, without unknown names; guessed where it is left out, empty when nothing is known.
func types(all []*fastjson.Value) string {
	names, _ := typesOf(member(all, "type"))
	switch {
	case len(names) == 1:
		return `"` + names[0] + `"`
	case len(names) > 1:
		return `["` + strings.Join(names, `","`) + `"]`
	case member(all, "properties") != nil:
		return `"object"`
	case member(all, "items") != nil:
		return `"array"`
	case member(all, "enum").GetStringBytes("0") != nil, member(all, "const").GetStringBytes() != nil:
		return `"string"`
	}
	return ""
}

// typesOf are the types that a type member names, and whether it names others as well.
func typesOf(t *fastjson.Value) (names []string, others bool) {
	for _, n := range append(slices.Clone(t.GetArray()), t) {
		word := string(n.GetStringBytes())
		kinds := schema.Named(word)
		if others = others || word != "" && kinds == 0; kinds == schema.Any {
			return nil, others
		}
		for _, name := range kinds.Names() {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names, others
}

// said are the keywords that a reduced schema has itself or that say nothing to a model.
var said = []string{
	"type", "description", "enum", "const", "properties", "required", "items", "allOf", "anyOf", "oneOf", "$ref", "title",
	"$schema", "$id", "$anchor", "$defs", "definitions", "$comment", "additionalProperties",
}

// saidOfRoot are the same of a tool's root, which shows its alternatives' properties only.
var saidOfRoot = slices.DeleteFunc(slices.Clone(said), func(word string) bool { return word == "anyOf" || word == "oneOf" })

// annotated is a place's description with the keywords that are lost: "A day. (format: date)".
func annotated(all []*fastjson.Value, outer string, said []string) string {
	text := outer
	for _, at := range all {
		if text == "" {
			text = string(at.GetStringBytes("description"))
		}
	}
	var notes []string
	for _, at := range all {
		at.GetObject().Visit(func(key []byte, value *fastjson.Value) {
			if k := string(key); lost(k, value, said) {
				notes = append(notes, k+": "+brief(value))
			}
		})
	}
	if len(notes) == 0 {
		return text
	}
	return strings.TrimSpace(text + " (" + strings.Join(notes, ", ") + ")")
}

// lost says whether a keyword that a model should know of has no place in a reduced schema.
func lost(key string, value *fastjson.Value, said []string) bool {
	switch key {
	case "type": // with a name that is none
		_, others := typesOf(value)
		return others
	case "items": // one for each place
		return value.Type() == fastjson.TypeArray
	case "additionalProperties": // what further members must be
		return value.Type() == fastjson.TypeObject && value.GetObject().Len() > 0
	}
	return !slices.Contains(said, key) && !strings.HasPrefix(key, "x-")
}

// brief is a keyword's value as text.
func brief(value *fastjson.Value) string {
	text := string(value.MarshalTo(nil))
	if value.Type() == fastjson.TypeString {
		text = string(value.GetStringBytes())
	}
	if len(text) <= maxNote {
		return text
	}
	return strings.ToValidUTF8(text[:maxNote], "") + "…"
}

// pointer is the path that a JSON pointer in a reference stands for.
func pointer(path string) []string {
	steps := strings.Split(path, "/")
	for i, step := range steps {
		if plain, err := url.PathUnescape(step); err == nil {
			step = plain
		}
		steps[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(step)
	}
	return steps
}
