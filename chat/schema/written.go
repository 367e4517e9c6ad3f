package schema

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"toolnorm/internal/jsontree"
)

// Written is one subschema as its author wrote it: its own keywords, then those of its references,
// then those of its allOf. It is for writers that describe a schema to a model, while a Place is
// for those that enforce it. A Place repeats what applies to a whole union in each alternative, but
// a model should read it once. Nothing is merged or reordered, because models know the usual shapes
// of schemas.
type Written struct {
	// Opaque means that only a description can be shown, because the value is not an object, or is
	// a reference that leads nowhere or back to itself.
	Opaque bool

	doc    *Doc
	parts  []*jsontree.Value
	around []*jsontree.Value // the values that were followed to this place
}

// Note is a keyword that no other method of a Written returns. The value is compact JSON. It is
// appended to a description: "A day. (format: date)".
type Note struct {
	Keyword string
	Value   json.RawMessage
}

// Written returns the root of the schema in the form in which its author wrote it. The root counts
// as already followed, so that a reference to "#" inside it is not shown a second time.
func (d *Doc) Written() *Written { return d.written(d.root, []*jsontree.Value{d.root}) }

// written returns the subschema v as its author wrote it. The parameter around lists the schemas
// that contain v and were reached by references. A reference in v to one of these is not followed
// again.
func (d *Doc) written(v *jsontree.Value, around []*jsontree.Value) *Written {
	w := &Written{doc: d, around: around}
	if w.Opaque = !w.add(v); w.Opaque && v != jsontree.Absent {
		w.parts = []*jsontree.Value{v}
	}
	return w
}

// add adds the schema v, and the schemas that apply with it by $ref and allOf, to the parts of w.
// It returns false if there is nothing to show, as for references that lead only to each other. A
// schema that refers to one around it, such as a tree, is shown once and not again inside itself.
// The number of parts is limited, because references in an allOf could repeat each other.
func (w *Written) add(v *jsontree.Value) bool {
	if kind(v) != Object || len(w.parts) >= mostBranches {
		return false
	}
	// The place itself comes first, then its references, then its allOf. This is the order in which
	// keywords are searched.
	at := len(w.parts)
	w.parts = append(w.parts, v)
	if ref := v.Get("$ref"); kind(ref) == String {
		to, _ := w.doc.resolve(ref.Text)
		if to != jsontree.Absent && !slices.Contains(w.around, to) {
			w.around = append(slices.Clip(w.around), to)
			w.add(to)
		}
	}
	for _, one := range v.Get("allOf").Items {
		w.add(one)
	}
	if ref, _ := reference(v); ref != "" &&
		!slices.ContainsFunc(w.parts[at:], func(v *jsontree.Value) bool {
			ref, _ := reference(v)
			return ref == ""
		}) {
		w.parts = w.parts[:at] // references that lead only to references
		return false
	}
	return true
}

// get returns the value of a keyword in the first of w's parts in which it is not null, or an
// absent value. Parts are w's own schema, and those of $ref and allOf.
func (w *Written) get(keyword string) *jsontree.Value {
	for _, v := range w.parts {
		if one := v.Get(keyword); kind(one)&^Null != 0 {
			return one
		}
	}
	return jsontree.Absent
}

// Description returns the description of the place, or "". The place's own description comes before
// that of the type to which it refers, because its own says what the place is for.
func (w *Written) Description() string {
	for _, v := range w.parts {
		if text := v.Get("description"); kind(text) == String && text.Text != "" {
			return text.Text
		}
	}
	return ""
}

// Source returns the JSON text of the first schema in w that is not only a reference, or "{}" if
// there is none. A function signature that describes a tool shows this text for an object, because
// a reference would tell a model nothing.
func (w *Written) Source() string {
	for _, v := range w.parts {
		if ref, _ := reference(v); ref == "" {
			return v.Raw
		}
	}
	return "{}"
}

// Types returns the types that the schema names, in its order and in JSON Schema's words. It
// returns nil if all types are allowed. A type name that JSON Schema does not have is left out, and
// Notes returns the keyword, so that the model still reads the name.
func (w *Written) Types() []string {
	names, _ := typeNames(w.get("type"))
	return names
}

// typeNames returns the names of the types that a type keyword lists, and whether the keyword also
// lists unknown ones. It returns no names if any type is allowed. "int" is returned as integer, so
// that the prompt, the code that reads calls and the check of calls use the same type.
func typeNames(t *jsontree.Value) (names []string, others bool) {
	all := words(t)
	if kind(t) == String {
		all = []string{t.Text}
	}
	for _, word := range all {
		kinds := Named(word)
		if others = others || kinds == 0; kinds == Any {
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

// Values returns the allowed values as JSON text, or nil if they are not listed. A const is
// returned as a list of one, because no template prints the keyword.
func (w *Written) Values() (all []string) {
	for _, v := range w.parts {
		for _, one := range enumValues(v) {
			all = append(all, one.Raw)
		}
		if all != nil {
			break
		}
	}
	return all
}

// WrittenMember is one member of an object.
type WrittenMember struct {
	Name string
	Raw  string // the member's schema as it is written
	At   *Written
}

// Members returns the listed members, each once. The result listed reports whether there is a list,
// which may be empty. If a place and the place to which it refers list the same member, the
// former's is returned, because the author refined it there.
func (w *Written) Members() (all []WrittenMember, listed bool) {
	known := map[string]bool{}
	for _, v := range w.parts {
		props := v.Get("properties")
		listed = listed || kind(props) == Object
		for _, m := range props.Members {
			if !known[m.Name] {
				known[m.Name] = true
				all = append(all, WrittenMember{m.Name, m.Value.Raw,
					w.doc.written(m.Value, w.around)})
			}
		}
	}
	return all, listed
}

// Required returns the required members, each once. Those of the schema itself come first, then
// those of its references and its allOf.
func (w *Written) Required() (names []string) {
	for _, v := range w.parts {
		names = append(names, words(v.Get("required"))...)
	}
	return each(names)
}

// Items returns the schema in the keyword items, which is about the elements of an array. The
// result listed reports whether the keyword is there, and the result one whether its value is one
// schema for all elements. In drafts up to 2019-09 the value may instead be a list with a schema
// for each position, which Notes returns.
func (w *Written) Items() (at *Written, one, listed bool) {
	items := w.get("items")
	return w.doc.written(items, w.around), kind(items) == Object, items != jsontree.Absent
}

// Alternatives returns the alternatives of an anyOf, or of a oneOf, which means the same to a
// model. It returns nil if there are none. A place rarely has both, and then anyOf is shown.
func (w *Written) Alternatives() (all []*Written) {
	list := w.get("anyOf").Items
	if len(list) == 0 {
		list = w.get("oneOf").Items
	}
	for _, one := range list {
		all = append(all, w.doc.written(one, w.around))
	}
	return all
}

// knownKeywords are the keywords that the methods of a Written return, or that do not help to fill
// a place. A title, an id or a comment would cost tokens and give a model nothing to act on.
var knownKeywords = []string{
	"type", "description", "enum", "const", "properties", "required", "items", "allOf", "anyOf",
	"oneOf", "$ref", "title", "$schema", "$id", "$anchor", "$defs", "definitions", "$comment",
	"additionalProperties",
}

// Notes returns the keywords that no other method returns, in their order. If unions is true, it
// also returns anyOf and oneOf, for callers that do not show them otherwise. Bounds, formats and
// patterns are notes: they fit no field that Ollama's templates print, so they are added to the
// description. Keywords that begin with x- are a program's own and left out.
func (w *Written) Notes(unions bool) (notes []Note) {
	for _, v := range w.parts {
		for _, m := range v.Members {
			if (m.Name == "anyOf" || m.Name == "oneOf") && unions || untold(m.Name, m.Value) {
				var b bytes.Buffer
				_ = json.Compact(&b, []byte(m.Value.Raw)) // the text was parsed, so it is valid
				notes = append(notes, Note{m.Name, b.Bytes()})
			}
		}
	}
	return notes
}

// untold reports whether a keyword is one that Notes returns, because no field that templates print
// can express it.
func untold(keyword string, v *jsontree.Value) bool {
	switch keyword {
	case "type": // a note if it has an unknown name
		_, others := typeNames(v)
		return others
	case "items": // a note if it is a list with a schema for each position
		return kind(v) == Array
	case "additionalProperties": // a note if it says what other members must be
		return kind(v) == Object && len(v.Members) > 0
	}
	return !slices.Contains(knownKeywords, keyword) && !strings.HasPrefix(keyword, "x-")
}
