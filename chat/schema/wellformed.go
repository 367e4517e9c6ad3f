package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"toolnorm/internal/jsontree"
)

// Bounds of a schema that is made well-formed: what is larger or deeper was not written for a
// model.
const (
	largestRepaired = 1 << 20 // bytes
	deepestRepaired = 120     // levels, those of properties counted
)

// Wellformed returns a schema of which each keyword has a value of the kind that JSON Schema gives
// it. Clients and model servers refuse a whole list of tools for one that has not, and generators
// of schemas write such ones: PHP an empty object as [], C# and Java null for what is missing, Lua
// an empty list as {}, Python and Gemini their own names of types, the oldest drafts "required" in
// each property. A keyword whose value has one reading gets it. One that has none says nothing and
// is left out, so that whoever runs the tool checks it. Without its properties a tool cannot be
// called, so those are an error when they cannot be read. A schema in which nothing is wrong is the
// same text.
func Wellformed(raw json.RawMessage) (json.RawMessage, error) {
	if len(raw) > largestRepaired {
		return nil, fmt.Errorf("has more than %d bytes", largestRepaired)
	}
	v, deep := jsontree.Parse(raw, deepestRepaired)
	switch {
	case deep:
		return nil, fmt.Errorf("is nested more than %d times", deepestRepaired)
	case v == nil:
		return nil, errors.New("is no JSON")
	}
	w := &wellformer{}
	out := w.schema(v)
	switch {
	case w.err != nil:
		return nil, w.err
	case out == v.Raw:
		return raw, nil
	}
	return json.RawMessage(out), nil
}

// wellformer keeps the first error. What its methods return is a value's text, the author's own
// where nothing is wrong in it.
type wellformer struct{ err error }

func (w *wellformer) fail(format string, args ...any) {
	if w.err == nil {
		w.err = fmt.Errorf(format, args...)
	}
}

// schema writes what stands where a schema should.
func (w *wellformer) schema(v *jsontree.Value) string {
	switch {
	case v.Raw == "false":
		return v.Raw
	// true says what {} says, and more clients know the latter.
	case v.Raw == "true", v.Raw == "null", v.Raw[0] == '[' && len(v.Items) == 0:
		return "{}"
	case v.Raw[0] == '"' && Named(v.Text) != 0:
		if names := Named(v.Text).Names(); len(names) == 1 {
			return `{"type":` + Quote(names[0]) + `}`
		}
		return "{}"
	case v.Raw[0] != '{':
		w.fail("has %.40s where a schema should be", v.Raw)
		return v.Raw
	}
	var parts []string
	same := true
	inside := requiredInside(v.Get("properties"))
	for _, m := range v.Members {
		text, keep := "", v.Get(m.Name) == m.Value // of two with one name the last counts
		switch {
		case !keep:
		case m.Name == "required":
			text, keep = required(m.Value, v.Get("properties"), inside)
			inside = nil
		default:
			text, keep = w.keyword(m.Name, m.Value)
		}
		if same = same && keep && text == m.Value.Raw; keep {
			parts = append(parts, Quote(m.Name)+":"+text)
		}
	}
	if len(inside) > 0 {
		parts, same = append(parts, `"required":`+quoted(inside)), false
	}
	if same {
		return v.Raw
	}
	return "{" + strings.Join(parts, ",") + "}"
}

// keyword writes one keyword's value; keep is false when it says nothing.
func (w *wellformer) keyword(name string, v *jsontree.Value) (text string, keep bool) {
	switch name {
	case "default", "const", "examples", "example":
		return v.Raw, true // the value of these is any
	}
	if v.Raw == "null" {
		return "", false
	}
	switch name {
	case "properties", "$defs", "definitions", "patternProperties", "dependentSchemas":
		return w.named(name, v), true
	case "items", "additionalProperties", "additionalItems", "not", "if", "then", "else", "contains", "propertyNames", "unevaluatedProperties", "unevaluatedItems":
		switch {
		// A list of schemas is one for each place by the older drafts.
		case v.Raw == "true" || v.Raw == "false" || name == "items" && len(v.Items) > 0:
			return v.Raw, true
		case v.Text == "true" || v.Text == "false":
			return v.Text, true
		}
		return w.schema(v), true
	case "allOf", "anyOf", "oneOf", "prefixItems":
		return w.list(v)
	case "type":
		return typed(v)
	case "enum":
		return values(v)
	case "description", "title", "$comment", "format", "pattern", "$schema", "$id", "id", "$anchor", "contentEncoding", "contentMediaType":
		return v.Raw, v.Raw[0] == '"'
	case "$ref":
		if v.Raw[0] != '"' {
			w.fail("has a $ref that is no text")
		}
	case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties", "minContains", "maxContains":
		n := strings.Trim(v.Raw, `"`)
		return n, n != "" && (n[0] == '-' || n[0] >= '0' && n[0] <= '9') && json.Valid([]byte(n))
	}
	return v.Raw, true
}

// named writes an object of schemas.
func (w *wellformer) named(name string, v *jsontree.Value) string {
	switch {
	case v.Raw[0] == '[' && len(v.Items) == 0:
		return "{}"
	case v.Raw[0] != '{':
		w.fail("has %s that are no object of schemas", name)
		return v.Raw
	}
	var parts []string
	same := true
	for _, m := range v.Members {
		if v.Get(m.Name) != m.Value {
			same = false
			continue
		}
		text := w.schema(m.Value)
		same = same && text == m.Value.Raw
		parts = append(parts, Quote(m.Name)+":"+text)
	}
	if same {
		return v.Raw
	}
	return "{" + strings.Join(parts, ",") + "}"
}

// list writes a list of schemas. One alone is a list of one, and an empty list says nothing.
func (w *wellformer) list(v *jsontree.Value) (text string, keep bool) {
	if len(v.Members) > 0 {
		return "[" + w.schema(v) + "]", true
	}
	var parts []string
	same := true
	for _, item := range v.Items {
		text := w.schema(item)
		same = same && text == item.Raw
		parts = append(parts, text)
	}
	if same {
		return v.Raw, len(parts) > 0
	}
	return "[" + strings.Join(parts, ",") + "]", true
}

// typed writes the value of type. With a name that nobody knows nothing is known of the place.
func typed(v *jsontree.Value) (text string, keep bool) {
	kinds := kindsOf(v)
	names := kinds.Names()
	if kinds == 0 || len(names) == 0 {
		return "", false
	}
	if v.Raw[0] == '"' {
		return Quote(names[0]), true
	}
	// What its author wrote stays when it is JSON Schema's own, each word once.
	said := map[string]bool{}
	for _, word := range words(v) {
		said[word] = slices.Contains(ownNames, word)
	}
	if len(said) == len(v.Items) && !slices.Contains(slices.Collect(maps.Values(said)), false) {
		return v.Raw, true
	}
	return quoted(names), true
}

// ownNames are JSON Schema's own names of types.
var ownNames = slices.Collect(maps.Values(kindNames))

// values writes an enum: one value alone is a list of one, and one without values says nothing.
func values(v *jsontree.Value) (text string, keep bool) {
	switch v.Raw[0] {
	case '[':
		return v.Raw, len(v.Items) > 0
	case '{':
		var all []string
		for _, m := range v.Members {
			all = append(all, m.Value.Raw)
		}
		return "[" + strings.Join(all, ",") + "]", len(all) > 0
	}
	return "[" + v.Raw + "]", true
}

// required writes which properties must be there: a list of their names, with those of which the
// property itself says so. One name may stand alone; what is no name of a property is left out
// where the value is no list of texts.
func required(v, properties *jsontree.Value, inside []string) (text string, keep bool) {
	names := words(v)
	whole := v.Raw[0] == '[' && len(names) == len(v.Items)
	switch {
	case whole && len(inside) == 0:
		return v.Raw, true
	case v.Raw[0] == '"':
		names = []string{v.Text}
	}
	if !whole {
		names = slices.DeleteFunc(slices.Clone(names), func(name string) bool { return properties.Get(name) == jsontree.Absent })
	}
	for _, name := range inside {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return quoted(names), len(names) > 0
}

// requiredInside returns the properties that say of themselves that they are required.
func requiredInside(properties *jsontree.Value) (all []string) {
	for _, m := range properties.Members {
		if m.Value.Get("required").Raw == "true" {
			all = append(all, m.Name)
		}
	}
	return all
}

// quoted returns a list of strings in JSON.
func quoted(all []string) string {
	var parts []string
	for _, s := range all {
		parts = append(parts, Quote(s))
	}
	return "[" + strings.Join(parts, ",") + "]"
}
