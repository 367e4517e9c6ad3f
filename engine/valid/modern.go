package valid

import (
	"encoding/json"
	"math"
	"math/big"
	"slices"
	"strings"

	"toolnorm/chat/schema"
)

// modern changes a schema in place so that the library can compile it. Invalid keywords are
// removed, and forms of older drafts are updated. If the schema names a known draft, it must follow
// that draft. Otherwise it must follow the newest one. For example, {"exclusiveMinimum": true} is
// an error in draft 7 and right in draft 4. Members that are null are left out, because libraries
// that serialise every field of a struct write null for a keyword that is absent. OpenAPI's
// "nullable" becomes a type.
func modern(doc any) {
	root, _ := doc.(map[string]any)
	draft, _ := root["$schema"].(string)
	// A custom vocabulary cannot be loaded, and its URL would be an error.
	known := knownDraft(draft)
	if !known {
		delete(root, "$schema")
	}
	visit(doc, !known)
}

// knownDraft reports whether a $schema names a draft that is checked by its own rules. Only the
// path is compared, because http and https, and a # at the end, are all in use.
func knownDraft(url string) bool {
	_, path, _ := strings.Cut(url, "://")
	path, ok := strings.CutPrefix(strings.TrimSuffix(path, "#"), "json-schema.org/")
	return ok && slices.Contains([]string{"schema", "draft-04/schema", "draft-06/schema",
		"draft-07/schema", "draft/2019-09/schema", "draft/2020-12/schema"}, path)
}

// counts lists the keywords that count something.
var counts = []string{"minLength", "maxLength", "minItems", "maxItems", "minProperties",
	"maxProperties", "minContains", "maxContains"}

// forms lists the keywords whose value must be of a certain kind, since otherwise the library
// refuses the whole schema. Programs write values of other kinds: "required": true next to a
// parameter's type (draft 3), "properties": [] (PHP's empty object), or a title that is a number.
// One odd keyword must not disable the check of a whole tool, so only that keyword is removed.
var forms = []struct {
	fits     func(v any) bool
	keywords []string
}{
	{is[string], []string{"title", "description", "format", "pattern", "contentEncoding",
		"contentMediaType", "$comment"}},
	{is[json.Number], []string{"minimum", "maximum", "multipleOf"}},
	// In draft 4 they are flags; exclusive makes bounds of them afterwards where no draft is named.
	{func(v any) bool { return is[json.Number](v) || is[bool](v) },
		[]string{"exclusiveMinimum", "exclusiveMaximum"}},
	{isCount, counts},
	{is[bool], []string{"uniqueItems", "deprecated", "readOnly", "writeOnly"}},
	// An empty enum is how generators write "no list of values".
	{func(v any) bool { list, ok := v.([]any); return ok && len(list) > 0 }, []string{"enum"}},
	{is[[]any], []string{"examples"}},
	// Names that occur twice, which the specification forbids, are taken out later.
	{func(v any) bool { return isList(v, is[string]) }, []string{"required"}},
	{func(v any) bool { return isList(v, isSchema) && len(v.([]any)) > 0 }, schema.HoldList},
	{is[map[string]any], append(slices.Clone(schema.HoldNamed), "dependentRequired")},
	{isSchema, schema.HoldOne},
	{func(v any) bool { return isSchema(v) || is[[]any](v) }, []string{"items"}},
}

// is reports whether a value of the document has the type T.
func is[T any](v any) bool { _, ok := v.(T); return ok }

// isSchema reports whether a value is an object, or true or false, which are schemas since draft 6.
func isSchema(v any) bool { return is[map[string]any](v) || is[bool](v) }

// isList reports whether a value is a list and fits returns true for all elements.
func isList(v any, fits func(any) bool) bool {
	list, ok := v.([]any)
	return ok && !slices.ContainsFunc(list, func(one any) bool { return !fits(one) })
}

// isCount reports whether a value is a whole number that is not negative, in any spelling. 3.0 is
// accepted (since draft 6), but "3" is not a number.
func isCount(v any) bool {
	n, ok := v.(json.Number)
	if !ok {
		return false
	}
	f, err := n.Float64()
	return err == nil && f >= 0 && f == float64(int64(f))
}

// visit updates the schemas in v, which may be a schema or a list of schemas. If old is true, the
// schema names no draft, so forms of older drafts must be recognized by their shape. If old is
// false, the schema names a draft in which "items" as a list is right, so such a list is kept.
// Other values, such as true, need no update.
func visit(v any, old bool) {
	switch v := v.(type) {
	case []any:
		for _, one := range v {
			visit(one, old)
		}
	case map[string]any:
		respell(v, old)
	}
}

// respell updates one schema, and then the schemas in it. The order matters. Invalid keywords are
// removed first, so that the later steps find the types that they expect.
func respell(s map[string]any, old bool) {
	for k, v := range s {
		if v == nil && k != "const" && k != "default" {
			delete(s, k)
		}
	}
	sound(s)
	clamp(s)
	if s["nullable"] == true {
		nullable(s)
	}
	if old {
		exclusive(s, "minimum", "exclusiveMinimum")
		exclusive(s, "maximum", "exclusiveMaximum")
		tuple(s)
		anchor(s, "id")
		anchor(s, "$id")
	}
	for _, k := range slices.Concat(schema.HoldOne, schema.HoldList, []string{"items"}) {
		visit(s[k], old)
	}
	for _, k := range schema.HoldNamed {
		named, _ := s[k].(map[string]any)
		for _, one := range named {
			visit(one, old)
		}
	}
}

// sound removes from a schema what the specification does not allow, and writes its types with the
// specification's names. For example, {"properties": {"city": "string"}} becomes {"properties":
// {"city": true}}, so that the name city stays known and any value is accepted for it.
func sound(s map[string]any) {
	for _, f := range forms {
		for _, keyword := range f.keywords {
			if v, there := s[keyword]; there && !f.fits(v) {
				delete(s, keyword)
			}
		}
	}
	if names, ok := s["required"].([]any); ok {
		s["required"] = once(names)
	}
	// Removing such a member would make its name unknown in a closed object.
	for _, keyword := range []string{"properties", "patternProperties", "$defs"} {
		named, _ := s[keyword].(map[string]any)
		for name, one := range named {
			if !isSchema(one) { // as in {"city": "string"}
				named[name] = true
			}
		}
	}
	writeTypes(s)
}

// once returns a list without duplicates. For "required": ["a", "a"] the library would refuse the
// schema.
func once(list []any) []any {
	known := map[any]bool{}
	return slices.DeleteFunc(list, func(v any) bool {
		again := known[v]
		known[v] = true
		return again
	})
}

// writeTypes replaces the types in a schema by the specification's names for them. A schema with an
// unknown type accepts any value. So does one with a list in which one name is unknown, because
// checking a value against the other types could refuse a right one. The list that is written has
// no duplicates. Two names may mean one type (["int", "integer"]), and the specification forbids
// duplicates.
func writeTypes(s map[string]any) {
	list, ok := s["type"].([]any)
	if !ok {
		list = []any{s["type"]}
	}
	var kinds schema.Kinds
	for _, one := range list {
		name, _ := one.(string)
		k := schema.Named(name)
		// An unknown name may mean anything, and so may a missing type.
		if kinds |= k; k == 0 {
			kinds = schema.Any
		}
	}
	delete(s, "type")
	var types []any
	for _, name := range kinds.Names() {
		types = append(types, name)
		s["type"] = types
	}
}

// clamp limits the values of keywords such as maxLength and minItems to the largest int32, since
// nothing that long is ever checked.
func clamp(s map[string]any) {
	for _, k := range counts {
		n, ok := s[k].(json.Number)
		if r, isNumber := new(big.Rat).SetString(string(n)); ok && isNumber &&
			r.Cmp(big.NewRat(math.MaxInt32, 1)) > 0 {
			s[k] = json.Number("2147483647")
		}
	}
}

// nullable makes a schema accept null, as OpenAPI 3.0 means it. Null is added to the schema's
// types, unions and values, since any of these without null would still refuse it.
func nullable(s map[string]any) {
	// OpenAPI 3.0.3 wants null in the list of values as well; authors leave it out.
	for k, null := range map[string]any{"type": "null", "enum": nil} {
		if list, ok := s[k].([]any); ok && !slices.Contains(list, null) {
			s[k] = append(list, null)
		}
	}
	for _, k := range []string{"anyOf", "oneOf"} {
		if list, ok := s[k].([]any); ok {
			s[k] = append(list, map[string]any{"type": "null"})
		}
	}
}

// exclusive converts a bound of draft 4, such as {"minimum": 3, "exclusiveMinimum": true}. Since
// draft 6 the exclusive bound is a separate number. The parameters bound and flag are the names of
// the two keywords.
func exclusive(s map[string]any, bound, flag string) {
	on, ok := s[flag].(bool)
	if !ok {
		return
	}
	delete(s, flag)
	// The bound moves: keeping it beside the exclusive one would change nothing.
	if limit, there := s[bound]; on && there {
		s[flag] = limit
		delete(s, bound)
	}
}

// tuple converts the form of items that is a list with a schema for each position, which was used
// up to 2019-09. Since 2020-12 such a list is called prefixItems, and items applies to the other
// elements, as additionalItems did. An empty list is removed, because prefixItems must not be
// empty. In a schema with both forms the list in items replaces prefixItems, as in chat/schema.
// Without the conversion the library would refuse the schema, and no call of the tool could be
// checked.
func tuple(s map[string]any) {
	list, ok := s["items"].([]any)
	if !ok {
		return
	}
	delete(s, "items")
	if len(list) > 0 {
		s["prefixItems"] = list
	}
	if more, ok := s["additionalItems"]; ok {
		s["items"] = more
		delete(s, "additionalItems")
	}
}

// anchor converts an id that is only a fragment, which gives a schema a name for references. Draft
// 4 writes "id": "#name", and later drafts up to draft 7 write "$id": "#name". Since 2019-09 an $id
// has no fragment, and the name is an $anchor.
func anchor(s map[string]any, key string) {
	if id, ok := s[key].(string); ok && len(id) > 1 && id[0] == '#' && s["$anchor"] == nil {
		s["$anchor"] = id[1:]
		delete(s, key)
	}
}
