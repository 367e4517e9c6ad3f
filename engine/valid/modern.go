package valid

import (
	"encoding/json"
	"math"
	"math/big"
	"slices"
	"strings"
)

// modern spells a schema so that the specification it names takes it, the newest when it names none or one that nobody
// knows: forms of older drafts are brought up to date, members that are null are left out, as programs write them for
// what is not there, and OpenAPI's "nullable" becomes a type. The document is changed in place.
// null for a keyword is what libraries write that serialise every field of a struct. Where the draft is named and known, its
// own words hold: {"exclusiveMinimum": true} is then an error in draft 7 and right in draft 4.
func modern(doc any) any {
	m := moderniser{}
	if root, ok := doc.(map[string]any); ok {
		draft, _ := root["$schema"].(string)
		// A vocabulary of one's own cannot be loaded, and its URL would be an error.
		if m.old = !knownDraft(draft); m.old {
			delete(root, "$schema")
		}
	}
	m.visit(doc)
	return doc
}

// knownDraft says whether a $schema names a draft that is checked by its own rules.
// http and https, and a # at the end, are all in use, so only the path is compared.
func knownDraft(url string) bool {
	_, path, _ := strings.Cut(url, "://")
	path, ok := strings.CutPrefix(strings.TrimSuffix(path, "#"), "json-schema.org/")
	return ok && slices.Contains([]string{"schema", "draft-04/schema", "draft-06/schema", "draft-07/schema", "draft/2019-09/schema", "draft/2020-12/schema"}, path)
}

// moderniser walks a schema.
// Otherwise "items" as a list is right as it is, and brought up to date it would be wrong in that draft.
type moderniser struct {
	old bool // no draft is named, so old forms have to be told by their looks
}

// The keywords that hold schemas: one or a list, and by name. Only below these may a word be changed: in an enum, a const or a
// default "nullable" and "id" are data.
var (
	holdSchemas = []string{"not", "if", "then", "else", "items", "additionalItems", "additionalProperties", "contains", "propertyNames",
		"unevaluatedItems", "unevaluatedProperties", "allOf", "anyOf", "oneOf", "prefixItems"}
	holdNamed = []string{"properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies"}
	counts    = []string{"minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties", "minContains", "maxContains"}
)

// visit goes through a schema, or a list of schemas.
// What is neither, such as true, has nothing to be brought up to date.
func (m moderniser) visit(v any) {
	switch v := v.(type) {
	case []any:
		for _, one := range v {
			m.visit(one)
		}
	case map[string]any:
		m.schema(v)
	}
}

// schema brings one place up to date, and then what lies in it.
// The order matters: first what is no keyword goes, so that the steps behind it meet the types that they expect.
func (m moderniser) schema(s map[string]any) {
	for k, v := range s {
		if v == nil && k != "const" && k != "default" {
			delete(s, k)
		}
	}
	// Before the rest, which relies on the types of the values.
	m.sound(s)
	clamp(s)
	if s["nullable"] == true {
		nullable(s)
	}
	if m.old {
		exclusive(s, "minimum", "exclusiveMinimum")
		exclusive(s, "maximum", "exclusiveMaximum")
		tuple(s)
		anchor(s, "id")
		anchor(s, "$id")
	}
	for _, k := range holdSchemas {
		m.visit(s[k])
	}
	for _, k := range holdNamed {
		named, _ := s[k].(map[string]any)
		for _, one := range named {
			m.visit(one)
		}
	}
}

// clamp keeps counts in the range of an int32; nothing that long is ever checked.
func clamp(s map[string]any) {
	for _, k := range counts {
		n, ok := s[k].(json.Number)
		if r, isNumber := new(big.Rat).SetString(string(n)); ok && isNumber && r.Cmp(big.NewRat(math.MaxInt32, 1)) > 0 {
			s[k] = json.Number("2147483647")
		}
	}
}

// nullable lets null in, as OpenAPI 3.0 means it.
// It is added wherever the place lists what may stand, in its types, unions and values, since one of them that leaves null out
// would still refuse it.
func nullable(s map[string]any) {
	switch t := s["type"].(type) {
	case string:
		s["type"] = []any{t, "null"}
	case []any:
		if !slices.Contains(t, "null") {
			s["type"] = append(t, "null")
		}
	}
	for _, k := range []string{"anyOf", "oneOf"} {
		if list, ok := s[k].([]any); ok {
			s[k] = append(list, map[string]any{"type": "null"})
		}
	}
	// OpenAPI 3.0.3 wants null in the list as well; authors leave it out.
	if list, ok := s["enum"].([]any); ok && !slices.Contains(list, nil) {
		s["enum"] = append(list, nil)
	}
}

// exclusive reads draft 4's {"minimum": 3, "exclusiveMinimum": true}.
// Since draft 6 the exclusive bound is a number of its own.
func exclusive(s map[string]any, bound, flag string) {
	on, ok := s[flag].(bool)
	if !ok {
		return
	}
	delete(s, flag)
	// The bound moves: to keep it beside the exclusive one would change nothing.
	if limit, there := s[bound]; on && there {
		s[flag] = limit
		delete(s, bound)
	}
}

// tuple reads the list form of items, up to 2019-09.
// Since 2020-12 the list is prefixItems, and items speaks of the others, as additionalItems did. An empty list goes, as
// prefixItems may not be empty.
func tuple(s map[string]any) {
	list, ok := s["items"].([]any)
	if !ok || s["prefixItems"] != nil {
		return
	}
	s["prefixItems"] = list
	delete(s, "items")
	if more, ok := s["additionalItems"]; ok {
		s["items"] = more
		delete(s, "additionalItems")
	}
	if len(list) == 0 {
		delete(s, "prefixItems")
	}
}

// anchor reads an id that is a fragment, which names a place up to draft 7.
// In draft 4 "id": "#name", up to draft 7 "$id": "#name"; since 2019-09 an $id has no fragment and the name is an $anchor.
func anchor(s map[string]any, key string) {
	if id, ok := s[key].(string); ok && len(id) > 1 && id[0] == '#' && s["$anchor"] == nil {
		s["$anchor"] = id[1:]
		delete(s, key)
	}
}
