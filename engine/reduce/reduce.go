// Package reduce writes the schemas of tools with the keywords that every model server and chat
// template takes. What the other keywords say goes into the descriptions.
package reduce

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"toolnorm/chat"
	"toolnorm/chat/schema"
	"toolnorm/internal/clip"
	"toolnorm/internal/kept"
)

const (
	maxSchemaDepth = 24
	// bytes of a reduced schema; recursive references could let it grow without end
	maxSchemaSize = 256 << 10
	// bytes of one keyword's value in a description; longer values are cut
	maxNote = 200
)

// parts is what depends on the schema alone in the result of [Cache.Tool], so that it can be cached
// for a conversation's next turn.
type parts struct {
	own        string // the schema's own description, for a tool without one
	notes      string // what is appended to either description
	parameters json.RawMessage
}

// of returns the description and the schema that are sent to the server for a tool. The parameter
// description is the tool's own; if it is empty, the schema's is used. The rules of the schema that
// can only be said in words are appended to it.
func (p parts) of(description string) (string, json.RawMessage) {
	if description == "" {
		description = p.own
	}
	if p.notes != "" {
		description = strings.TrimSpace(description + " " + p.notes)
	}
	return description, p.parameters
}

// read returns the parts of the result for a schema, which is reduced to the keywords that every
// server accepts.
func read(text json.RawMessage) parts {
	root := schema.Parse(text).Written()
	if root.Opaque {
		return parts{parameters: json.RawMessage(`{"type":"object","properties":{}}`)}
	}
	r := &reducer{}
	r.raw(`{"type":"object","properties":`)
	members, listed := root.Members()
	if variants := root.Alternatives(); !listed && len(variants) > 0 {
		r.either(variants)
	} else {
		r.properties(members, 1)
	}
	r.required(root)
	r.raw("}")
	return parts{root.Description(), annotate("", root.Notes(true)), r.dst}
}

// maxKept is the most bytes of a schema that is cached, because references can make a short schema
// long.
const maxKept = 16 << 10

// Cache caches reduced schemas. A conversation sends the same tools with every turn, 18 to 44 KB
// with coding agents. The zero value is ready to use.
type Cache struct{ schemas kept.Cache[parts] }

// Tool returns a tool's description and schema for a server. It takes the reduced schema from the
// cache if it is there. The description includes the schema's rules about all arguments together,
// which would be lost otherwise.
//
// The schema has the keywords that every version of Ollama accepts and prints: type, description,
// enum, properties, required, items, anyOf. Some other keywords make the whole request fail, and
// some vanish. So their meaning goes into the description, and that of the root's keywords into the
// tool's description. The order of properties is kept. The result is always an object with
// properties.
//
//	{"type":"string","format":"date","description":"A day."}   {"description":"A day. (format: date)","type":"string"}
//	{"const":"x"}                                              {"type":"string","enum":["x"]}
//	true                                                       {"description":"(any value)"}
func (c *Cache) Tool(t chat.Tool) (description string, parameters json.RawMessage) {
	p := c.schemas.Get(t.Schema, func(text string) parts {
		if p := read(json.RawMessage(text)); len(p.parameters) <= maxKept {
			return p
		}
		return parts{}
	})
	if p.parameters == nil { // the cached value was too long to be kept
		p = read(t.Schema)
	}
	return p.of(t.Description)
}

// either writes the members of all alternatives as the members of one object. A member that is not
// the same in all of them becomes a choice. Which members belong together is lost, because
// parameters must be one object, and an anyOf at the root makes the whole request fail with
// Ollama's strategy native.
func (r *reducer) either(variants []*schema.Written) {
	var names []string
	kinds := map[string][]schema.WrittenMember{}
	for _, at := range variants {
		members, _ := at.Members()
		for _, m := range members {
			if kinds[m.Name] == nil {
				names = append(names, m.Name)
			}
			if !slices.ContainsFunc(kinds[m.Name], func(have schema.WrittenMember) bool {
				return have.Raw == m.Raw
			}) {
				kinds[m.Name] = append(kinds[m.Name], m)
			}
		}
	}
	r.raw("{")
	for _, name := range names {
		r.member(name)
		if len(kinds[name]) == 1 {
			r.schema(kinds[name][0].At, 1)
			continue
		}
		var of []*schema.Written
		for _, m := range kinds[name] {
			of = append(of, m.At)
		}
		r.raw("{")
		r.union(of, 1)
		r.raw("}")
	}
	r.raw("}")
}

// reducer writes one reduced schema.
type reducer struct{ dst []byte }

// raw writes s as it is.
func (r *reducer) raw(s string) { r.dst = append(r.dst, s...) }

// member writes a key, and a comma before it unless the key is the first.
func (r *reducer) member(key string) {
	if r.dst[len(r.dst)-1] != '{' {
		r.raw(",")
	}
	r.json(key)
	r.raw(":")
}

// json writes a value as encoding/json does, which escapes the characters that are special in HTML.
func (r *reducer) json(v any) {
	text, _ := json.Marshal(v)
	r.dst = append(r.dst, text...)
}

// schema writes one schema, which may be inside another one. A schema that cannot be shown, or is
// nested too deeply, is written as one that accepts any value. A boolean in place of a schema is
// written as an object, because Ollama answers 400 to a boolean.
func (r *reducer) schema(w *schema.Written, depth int) {
	if w.Opaque || depth > maxSchemaDepth || len(r.dst) > maxSchemaSize {
		r.raw(`{"description":`)
		r.json(strings.TrimSpace(w.Description() + " (any value)"))
		r.raw("}")
		return
	}
	r.raw("{")
	if text := annotate(w.Description(), w.Notes(false)); text != "" {
		r.member("description")
		r.json(text)
	}
	members, isObject := w.Members()
	items, one, isArray := w.Items()
	values := w.Values()
	r.types(w.Types(), isObject, isArray, values)
	if len(values) > 0 {
		r.member("enum")
		r.raw("[" + strings.Join(values, ",") + "]")
	}
	if isObject {
		r.member("properties")
		r.properties(members, depth+1)
		r.required(w)
	}
	if one {
		r.member("items")
		r.schema(items, depth+1)
	}
	if of := w.Alternatives(); len(of) > 0 {
		r.union(of, depth)
	}
	r.raw("}")
}

// types writes the type. If the schema has none, types guesses it from the other keywords, and
// writes nothing if they do not show it. The guess is safe, because only an object has properties,
// and values in quotes are strings.
func (r *reducer) types(names []string, isObject, isArray bool, values []string) {
	switch {
	case len(names) > 0:
	case isObject:
		names = []string{"object"}
	case isArray:
		names = []string{"array"}
	case len(values) > 0 &&
		!slices.ContainsFunc(values, func(v string) bool { return v[0] != '"' }):
		names = []string{"string"}
	default:
		return
	}
	r.member("type")
	if len(names) == 1 {
		r.json(names[0])
	} else {
		r.json(names)
	}
}

// properties writes the members of an object.
func (r *reducer) properties(members []schema.WrittenMember, depth int) {
	r.raw("{")
	for _, m := range members {
		r.member(m.Name)
		r.schema(m.At, depth)
	}
	r.raw("}")
}

// required writes the names of the required members.
func (r *reducer) required(w *schema.Written) {
	if names := w.Required(); len(names) > 0 {
		r.member("required")
		r.json(names)
	}
}

// union writes the schemas of a choice as an anyOf. A oneOf becomes an anyOf, too, because to a
// model both are a choice, and calls are checked against the original.
func (r *reducer) union(of []*schema.Written, depth int) {
	r.member("anyOf")
	open := "["
	for _, a := range of {
		r.raw(open)
		open = ","
		r.schema(a, depth+1)
	}
	r.raw("]")
}

// annotate returns a description with the keywords for which a reduced schema has no place, as in
// "A day. (format: date)". Otherwise the model would not know the keywords that Ollama drops, and
// could not follow them.
func annotate(text string, notes []schema.Note) string {
	if len(notes) == 0 {
		return text
	}
	said := make([]string, len(notes))
	for i, n := range notes {
		said[i] = n.Keyword + ": " + brief(n.Value)
	}
	return strings.TrimSpace(text + " (" + strings.Join(said, ", ") + ")")
}

// brief returns a keyword's value as text, cut to maxNote, because a default may be a whole
// document.
func brief(value json.RawMessage) string {
	text := string(value)
	if bytes.HasPrefix(value, []byte{'"'}) {
		_ = json.Unmarshal(value, &text) // it has been parsed before
	}
	return clip.Dots(text, maxNote)
}
