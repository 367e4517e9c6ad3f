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

// Bounds of a schema that is made well-formed. A larger or deeper schema was not written for a
// model.
const (
	largestRepaired = 1 << 20 // bytes
	deepestRepaired = 120     // levels, including those of properties
)

// Wellformed returns a schema in which the value of each keyword is of the kind that JSON Schema
// demands. Clients and model servers refuse a whole list of tools for one schema that is not, and
// generators write such schemas. PHP writes an empty object as [], C# and Java write null for a
// missing value, and Lua writes an empty list as {}. Python and Gemini use their own names of
// types, and the oldest drafts have "required" in each property. A value with only one possible
// meaning is rewritten with that meaning. A keyword whose value has no meaning is left out, so that
// the program that runs the tool checks it. A schema in which nothing is wrong is returned
// unchanged. Wellformed returns an error if the text is not JSON, is too large or too deep, or has
// something that cannot be read in place of a schema or its properties, because a tool cannot be
// called without these.
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
	w := &wellformer{flags: strings.Contains(v.Get("$schema").Text, "draft-04")}
	out := w.schema(v)
	switch {
	case w.err != nil:
		return nil, w.err
	case out == v.Raw:
		return raw, nil
	}
	return json.RawMessage(out), nil
}

// wellformer rewrites one schema, and records the first error. Its methods return a value's text,
// which is unchanged if nothing is wrong in it.
type wellformer struct {
	err   error
	flags bool // the schema says that exclusive limits are flags, as in draft 4
}

// fail records an error, unless there already is one.
func (w *wellformer) fail(format string, args ...any) {
	if w.err == nil {
		w.err = fmt.Errorf(format, args...)
	}
}

// schema returns the corrected text for a value that should be a schema. It records an error if the
// value cannot be read as one.
func (w *wellformer) schema(v *jsontree.Value) string {
	switch {
	case v.Raw == "false":
		return v.Raw
	// true means the same as {}, and more clients know the latter.
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
		text, keep := "", v.Get(m.Name) == m.Value // the last of two keywords with one name counts
		switch {
		case !keep:
		case m.Name == "required":
			text, keep = requiredNames(m.Value, v.Get("properties"), inside)
			inside = nil
		default:
			text, keep = w.keyword(m.Name, w.limit(v, m))
		}
		if same = same && keep && text == m.Value.Raw; keep {
			parts = append(parts, Quote(m.Name)+":"+text)
		}
	}
	if len(inside) > 0 {
		parts, same = append(parts, `"required":`+quoteList(inside)), false
	}
	if same {
		return v.Raw
	}
	return "{" + strings.Join(parts, ",") + "}"
}

// limit returns the value that the member m of the schema v has by the current drafts of JSON
// Schema. In draft 4 a limit is made exclusive by a flag ("maximum": 5, "exclusiveMaximum": true),
// and since draft 6 the exclusive limit is itself a number. A flag is translated to that form,
// since most schemas do not say which draft they use. Any other member is returned unchanged.
func (w *wellformer) limit(v *jsontree.Value, m jsontree.Member) *jsontree.Value {
	is := func(name string) bool { return v.Get(name).Raw == "true" && !w.flags }
	switch m.Name {
	case "exclusiveMinimum", "exclusiveMaximum":
		if is(m.Name) {
			return v.Get(strings.ToLower(strings.TrimPrefix(m.Name, "exclusive")))
		}
	case "minimum", "maximum":
		if is("exclusive" + strings.ToUpper(m.Name[:1]) + m.Name[1:]) {
			return jsontree.Absent
		}
	}
	return m.Value
}

// keyword returns the corrected text for the value of one keyword. The result keep is false if the
// keyword has to be left out.
func (w *wellformer) keyword(name string, v *jsontree.Value) (text string, keep bool) {
	switch name {
	case "default", "const", "examples", "example":
		return v.Raw, true // these may have any value
	}
	if v.Raw == "null" {
		return "", false
	}
	switch name {
	case "properties", "$defs", "definitions", "patternProperties", "dependentSchemas":
		return w.named(name, v), true
	case "items", "additionalProperties", "additionalItems", "not", "if", "then", "else",
		"contains", "propertyNames", "unevaluatedProperties", "unevaluatedItems":
		switch {
		// In the older drafts a list of schemas has one schema for each position.
		case v.Raw == "true" || v.Raw == "false" || name == "items" && len(v.Items) > 0:
			return v.Raw, true
		case v.Text == "true" || v.Text == "false":
			return v.Text, true
		}
		return w.schema(v), true
	case "allOf", "anyOf", "oneOf", "prefixItems":
		return w.list(v)
	case "type":
		return typeValue(v)
	case "enum":
		return values(v)
	case "description", "title", "$comment", "format", "pattern", "$schema", "$id", "id", "$anchor",
		"contentEncoding", "contentMediaType":
		return v.Raw, v.Raw[0] == '"'
	case "$ref":
		if v.Raw[0] != '"' {
			w.fail("has a $ref that is no text")
		}
	case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength",
		"maxLength", "minItems", "maxItems", "minProperties", "maxProperties", "minContains",
		"maxContains":
		if w.flags && (v.Raw == "true" || v.Raw == "false") {
			return v.Raw, strings.HasPrefix(name, "exclusive")
		}
		n := strings.Trim(v.Raw, `"`)
		return n, n != "" && (n[0] == '-' || n[0] >= '0' && n[0] <= '9') && json.Valid([]byte(n))
	}
	return v.Raw, true
}

// named returns the corrected text of an object whose members are schemas, such as properties. It
// records an error if v is not such an object.
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

// list returns the corrected text for a value that should be a list of schemas. A single schema
// becomes a list of one. The result keep is false for an empty list.
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

// typeValue returns the corrected text for the value of the keyword type. The result keep is false
// if the keyword is to be left out, because the value has an unknown name, or allows all types.
func typeValue(v *jsontree.Value) (text string, keep bool) {
	kinds := kindsOf(v)
	names := kinds.Names()
	if kinds == 0 || len(names) == 0 {
		return "", false
	}
	if v.Raw[0] == '"' {
		return Quote(names[0]), true
	}
	// The author's own text remains if it uses JSON Schema's own words, each of them once.
	said := map[string]bool{}
	for _, word := range words(v) {
		said[word] = slices.Contains(ownNames, word)
	}
	if len(said) == len(v.Items) && !slices.Contains(slices.Collect(maps.Values(said)), false) {
		return v.Raw, true
	}
	return quoteList(names), true
}

// ownNames are JSON Schema's own names of types.
var ownNames = slices.Collect(maps.Values(kindNames))

// values returns the corrected text for the value of the keyword enum. A single value becomes a
// list of one. The result keep is false if there are no values.
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

// requiredNames returns the corrected text for v, the value of the keyword required. It should be a
// list of names, and a single name becomes a list. If v has anything but texts, names of properties
// that do not exist are left out. The names in the parameter inside are added: those of properties
// with "required": true, as in old drafts. The result keep is false if the list is empty.
func requiredNames(v, properties *jsontree.Value, inside []string) (text string, keep bool) {
	names := words(v)
	whole := v.Raw[0] == '[' && len(names) == len(v.Items)
	switch {
	case whole && len(inside) == 0:
		return v.Raw, true
	case v.Raw[0] == '"':
		names = []string{v.Text}
	}
	if !whole {
		names = slices.DeleteFunc(slices.Clone(names), func(name string) bool {
			return properties.Get(name) == jsontree.Absent
		})
	}
	for _, name := range inside {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return quoteList(names), len(names) > 0
}

// requiredInside returns the names of the properties that contain "required": true.
func requiredInside(properties *jsontree.Value) (all []string) {
	for _, m := range properties.Members {
		if m.Value.Get("required").Raw == "true" {
			all = append(all, m.Name)
		}
	}
	return all
}

// quoteList returns a list of strings in JSON.
func quoteList(all []string) string {
	var parts []string
	for _, s := range all {
		parts = append(parts, Quote(s))
	}
	return "[" + strings.Join(parts, ",") + "]"
}
