package valid

import (
	"encoding/json"
	"slices"

	"toolnorm/chat/schema"
)

// form is what the value of a keyword must be.
type form func(v any) bool

// forms are the keywords that the specification refuses a whole schema for when their value is of another kind. Programs
// write such things: "required": true beside a parameter's type (draft 3), "properties": [] (PHP's empty object), a title
// that is a number. One odd word must not switch off the check of a whole tool, so the word goes and the rest stays.
var forms = map[string]form{
	"title": isText, "description": isText, "format": isText, "pattern": isText, "contentEncoding": isText, "contentMediaType": isText, "$comment": isText,
	"minimum": isAmount, "maximum": isAmount, "multipleOf": isAmount,
	"minLength": isCount, "maxLength": isCount, "minItems": isCount, "maxItems": isCount, "minProperties": isCount, "maxProperties": isCount,
	"minContains": isCount, "maxContains": isCount,
	"uniqueItems": isFlag, "deprecated": isFlag, "readOnly": isFlag, "writeOnly": isFlag,
	"enum": isFilled, "examples": isList, "required": isNames, "allOf": isSchemas, "anyOf": isSchemas, "oneOf": isSchemas, "prefixItems": isSchemas,
	"properties": isObject, "patternProperties": isObject, "$defs": isObject, "definitions": isObject, "dependentSchemas": isObject,
	"dependentRequired": isObject, "dependencies": isObject,
	"additionalProperties": isSchema, "not": isSchema, "if": isSchema, "then": isSchema, "else": isSchema, "contains": isSchema, "propertyNames": isSchema,
	"unevaluatedItems": isSchema, "unevaluatedProperties": isSchema, "additionalItems": isSchema,
	"items": func(v any) bool { return isSchema(v) || isList(v) },
}

// exclusiveForms are those of bounds that are flags in draft 4.
// modern makes bounds of them afterwards where no draft is named.
var exclusiveForms = []string{"exclusiveMinimum", "exclusiveMaximum"}

// isText and the others take what the specification says of a keyword's value.
func isText(v any) bool   { _, ok := v.(string); return ok }
func isAmount(v any) bool { _, ok := v.(json.Number); return ok }
func isFlag(v any) bool   { _, ok := v.(bool); return ok }
func isList(v any) bool   { _, ok := v.([]any); return ok }
func isObject(v any) bool { _, ok := v.(map[string]any); return ok }

// isSchema takes an object, or true and false, which are schemas since draft 6.
func isSchema(v any) bool { return isObject(v) || isFlag(v) }

// isFilled takes a list with something in it: an empty enum is a generator's word for "no list of values".
func isFilled(v any) bool { list, ok := v.([]any); return ok && len(list) > 0 }

// isCount takes what is a whole number that is not negative, in any spelling.
// 3.0 is three (since draft 6), and "3" is no number.
func isCount(v any) bool {
	n, ok := v.(json.Number)
	if !ok {
		return false
	}
	f, err := n.Float64()
	return err == nil && f >= 0 && f == float64(int64(f))
}

// isNames takes a list of texts. Names that are there twice, which the specification forbids, are taken out later.
func isNames(v any) bool {
	list, ok := v.([]any)
	return ok && !slices.ContainsFunc(list, func(one any) bool { return !isText(one) })
}

// isSchemas takes a list that the specification takes: of schemas, and not empty.
func isSchemas(v any) bool {
	list, ok := v.([]any)
	return ok && len(list) > 0 && !slices.ContainsFunc(list, func(one any) bool { return !isSchema(one) })
}

// sound takes out of a place what the specification does not take, and says its types in the specification's words.
// In {"properties": {"city": "string"}} the member is known by name at least, and takes any value.
func (m moderniser) sound(s map[string]any) {
	for keyword, fits := range forms {
		if v, there := s[keyword]; there && !fits(v) {
			delete(s, keyword)
		}
	}
	for _, keyword := range exclusiveForms {
		if v, there := s[keyword]; there && !isAmount(v) && !isFlag(v) {
			delete(s, keyword)
		}
	}
	if names, ok := s["required"].([]any); ok {
		s["required"] = once(names)
	}
	// properties, patternProperties and $defs: to take such a member out would make its name a stranger in a closed object.
	for _, keyword := range holdNamed[:3] {
		named, _ := s[keyword].(map[string]any)
		for name, one := range named {
			if !isSchema(one) { // as in {"city": "string"}
				named[name] = true
			}
		}
	}
	typed(s)
}

// once takes out what is there twice: "required": ["a", "a"] would make the library refuse the schema.
func once(list []any) []any {
	known := map[any]bool{}
	return slices.DeleteFunc(list, func(v any) bool {
		again := known[v]
		known[v] = true
		return again
	})
}

// typed says the types of a place in the specification's words. A place with a type that nobody knows takes all.
// One unknown name in a list makes the whole list say nothing: to hold a value to the other types could refuse a right one.
// The list has no duplicates, as two names may mean one type (["int", "integer"]) and the specification forbids them.
func typed(s map[string]any) {
	v, there := s["type"]
	if !there {
		return
	}
	list, ok := v.([]any)
	if !ok {
		list = []any{v}
	}
	var kinds schema.Kinds
	for _, one := range list {
		name, _ := one.(string)
		k := schema.Named(name)
		// A name that nobody knows may mean anything.
		if kinds |= k; k == 0 {
			kinds = schema.Any
		}
	}
	switch names := kinds.Names(); len(names) {
	case 0:
		delete(s, "type")
	case 1:
		s["type"] = names[0]
	default:
		all := make([]any, len(names))
		for i, name := range names {
			all[i] = name
		}
		s["type"] = all
	}
}
