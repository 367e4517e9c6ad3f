package schema

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"toolnorm/internal/jsontree"
)

// Written is a place of a schema as its author wrote it: the keywords there, then those of what it
// refers to, then those of its allOf. It is for writers that show a schema to somebody instead of
// holding him to it: a model is told a union once, beside what holds in any case, where a Place has
// that in each alternative. Nothing is merged or reordered: a template prints what the author
// wrote, and models know the usual shapes of schemas.
type Written struct {
	Opaque bool // nothing can be shown but a description: it is no object, or a reference that leads nowhere or around in a ring

	doc    *Doc
	parts  []*jsontree.Value
	around []*jsontree.Value // what was followed to come here
}

// Note is a keyword that no method of a Written tells.
// The value is compact JSON: it goes behind a description, "A day. (format: date)".
type Note struct {
	Keyword string
	Value   json.RawMessage
}

// Written returns the root as its author wrote it.
// The root counts as followed, so that a reference to "#" within it is not shown once more.
func (d *Doc) Written() *Written { return d.written(d.root, []*jsontree.Value{d.root}) }

// written returns the place of a value.
func (d *Doc) written(v *jsontree.Value, around []*jsontree.Value) *Written {
	w := &Written{doc: d, around: around}
	if w.Opaque = !w.add(v); w.Opaque && v != jsontree.Absent {
		w.parts = []*jsontree.Value{v}
	}
	return w
}

// add adds a value with what it refers to. It answers false when there is nothing to show of it.
// What is around is kept for all places below: a tree is shown once, and its nodes' nodes are
// opaque. The number of parts is bounded as lists are in the budget, since references in an allOf
// could repeat each other.
func (w *Written) add(v *jsontree.Value) bool {
	if kind(v) != Object || len(w.parts) >= mostBranches {
		return false
	}
	// The place itself comes first, then what it refers to, then its allOf: the order in which
	// keywords are looked for.
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
	if ref, _ := reference(v); ref != "" && !slices.ContainsFunc(w.parts[at:], func(v *jsontree.Value) bool { ref, _ := reference(v); return ref == "" }) {
		w.parts = w.parts[:at] // references that lead to references alone
		return false
	}
	return true
}

// get returns the first of the parts' values of a keyword that is not null.
func (w *Written) get(keyword string) *jsontree.Value {
	for _, v := range w.parts {
		if one := v.Get(keyword); kind(one)&^Null != 0 {
			return one
		}
	}
	return jsontree.Absent
}

// Description returns what the schema says of the place in words: the place's own words before
// those of the type it refers to, since they tell what it is for here.
func (w *Written) Description() string {
	for _, v := range w.parts {
		if text := v.Get("description"); kind(text) == String && text.Text != "" {
			return text.Text
		}
	}
	return ""
}

// Source returns the text of the first schema that says anything of the place: what a reference
// leads to. A signature shows it for an object, where a reference would say nothing to a model.
func (w *Written) Source() string {
	for _, v := range w.parts {
		if ref, _ := reference(v); ref == "" {
			return v.Raw
		}
	}
	return "{}"
}

// Types returns the types that the schema names, in its order and in JSON Schema's words; none when
// it takes them all. A name that nobody knows is left out here and stays a note, so that the model
// still reads the word.
func (w *Written) Types() []string {
	names, _ := typeNames(w.get("type"))
	return names
}

// typeNames returns the types that a type keyword names, and reports whether it names others as
// well. "int" is told as integer, so that the prompt, the reader and the check speak of one type.
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

// Values returns the allowed values as JSON text, none when there is no list of them. A const is a
// list of one: no template prints the keyword.
func (w *Written) Values() (all []string) {
	for _, v := range w.parts {
		for _, one := range listed(v) {
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
	Raw  string // as it is written
	At   *Written
}

// Members returns the listed members, each once; listed reports whether there is a list, if only an
// empty one. A place and what it refers to may list the same member; the nearest one is shown, as
// the author refined it there.
func (w *Written) Members() (all []WrittenMember, listed bool) {
	known := map[string]bool{}
	for _, v := range w.parts {
		props := v.Get("properties")
		listed = listed || kind(props) == Object
		for _, m := range props.Members {
			if !known[m.Name] {
				known[m.Name] = true
				all = append(all, WrittenMember{m.Name, m.Value.Raw, w.doc.written(m.Value, w.around)})
			}
		}
	}
	return all, listed
}

// Required returns the members that must be there, each once.
// They are in the order in which they are met: those of the place itself first.
func (w *Written) Required() (names []string) {
	for _, v := range w.parts {
		names = append(names, words(v.Get("required"))...)
	}
	return each(names)
}

// Items returns the place of an array's elements; one reports whether it is one for all of them,
// and listed whether the schema speaks of elements. A list of schemas (tuples up to draft 2019-09)
// is not one for all; it stays a note.
func (w *Written) Items() (at *Written, one, listed bool) {
	items := w.get("items")
	return w.doc.written(items, w.around), kind(items) == Object, items != jsontree.Absent
}

// Alternatives returns the alternatives of an anyOf, or of a oneOf, which is the same to who reads
// it. Both of them at one place is rare; the first is shown.
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

// told are the keywords that the methods of a Written tell, or that say nothing to who fills a
// place. To show a title, an id or a comment would cost tokens and tell a model nothing that it
// could act on.
var told = []string{
	"type", "description", "enum", "const", "properties", "required", "items", "allOf", "anyOf", "oneOf", "$ref", "title",
	"$schema", "$id", "$anchor", "$defs", "definitions", "$comment", "additionalProperties",
}

// Notes returns the keywords that nothing else tells, in their order; unions among them if they are
// not shown otherwise. Bounds, formats and patterns come this way: they fit no field that Ollama's
// templates print, so they are added to the description. Keywords that begin with x- are a
// program's own.
func (w *Written) Notes(unions bool) (notes []Note) {
	for _, v := range w.parts {
		for _, m := range v.Members {
			if (m.Name == "anyOf" || m.Name == "oneOf") && unions || untold(m.Name, m.Value) {
				var b bytes.Buffer
				_ = json.Compact(&b, []byte(m.Value.Raw)) // it was read
				notes = append(notes, Note{m.Name, b.Bytes()})
			}
		}
	}
	return notes
}

// untold reports whether a keyword is a note.
func untold(keyword string, v *jsontree.Value) bool {
	switch keyword {
	case "type": // with a name that is none
		_, others := typeNames(v)
		return others
	case "items": // one for each place
		return kind(v) == Array
	case "additionalProperties": // what further members must be
		return kind(v) == Object && len(v.Members) > 0
	}
	return !slices.Contains(told, keyword) && !strings.HasPrefix(keyword, "x-")
}
