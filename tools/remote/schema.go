package remote

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// deepestSchema bounds how far schemas are nested; what is deeper was not written for a model.
const deepestSchema = 40

// largestSchema bounds a schema, in bytes: each of its levels is read.
const largestSchema = 1 << 20

// mended is a schema of which each keyword has a value of the kind that JSON Schema gives it, since clients and model
// servers refuse a whole list for one that has not. A keyword whose value has one reading gets it; one that has none says
// nothing and is dropped, which leaves the check to the server; a tool without names for its arguments cannot be called,
// so properties that cannot be read are an error. A schema in which nothing is wrong is the same text.
func mended(text json.RawMessage) (json.RawMessage, error) {
	if len(text) > largestSchema {
		return nil, fmt.Errorf("has more than %d bytes", largestSchema)
	}
	m := &mender{}
	out := m.schema(text, 0)
	if m.err != nil {
		return nil, m.err
	}
	if !m.changed {
		return text, nil
	}
	return out, nil
}

// mender keeps what came of a schema: whether anything was changed, and the first error.
type mender struct {
	changed bool
	err     error
}

func (m *mender) fail(format string, args ...any) {
	if m.err == nil {
		m.err = fmt.Errorf(format, args...)
	}
}

// instead notes that a value stands in place of another.
func (m *mender) instead(value string) json.RawMessage {
	m.changed = true
	return json.RawMessage(value)
}

// schema mends what stands where a schema should.
func (m *mender) schema(text json.RawMessage, depth int) json.RawMessage {
	if depth > deepestSchema {
		m.fail("is nested more than %d times", deepestSchema)
		return text
	}
	switch s := string(text); {
	case s == "false":
		return text
	// true says what {} says, and more clients know the latter.
	case s == "" || s == "true" || s == "null" || s == "[]":
		return m.instead("{}")
	case text[0] == '"':
		var kind string
		_ = json.Unmarshal(text, &kind)
		if kind = typeName(kind); kind != "" {
			return m.instead(`{"type":"` + kind + `"}`)
		}
	}
	o, err := readObject(text)
	if err != nil {
		m.fail("has %.40s where a schema should be", text)
		return text
	}
	out, before := make(object, 0, len(o)), m.changed
	m.changed = false
	for _, one := range o {
		// The value of these is any, also null.
		if k := one.key; k != "default" && k != "const" && k != "examples" && k != "example" {
			one.value = m.keyword(k, one.value, depth)
		}
		if one.value == nil {
			m.changed = true
			continue
		}
		out = append(out, one)
	}
	if out = m.required(out, requiredInside(o.get("properties"))); !m.changed {
		m.changed = before
		return text
	}
	return must(out)
}

// keyword mends one keyword's value; nil drops it.
func (m *mender) keyword(key string, value json.RawMessage, depth int) json.RawMessage {
	if string(value) == "null" {
		return nil
	}
	switch key {
	case "properties", "$defs", "definitions", "patternProperties", "dependentSchemas":
		return m.named(key, value, depth)
	case "items", "additionalProperties", "additionalItems", "not", "if", "then", "else", "contains", "propertyNames", "unevaluatedProperties", "unevaluatedItems":
		if key == "items" && value[0] == '[' && len(value) > 2 {
			return value // a schema for each place, by the older drafts
		}
		if s := string(value); s == "true" || s == `"true"` || s == `"false"` {
			return json.RawMessage(strings.Trim(s, `"`))
		}
		return m.schema(value, depth+1)
	case "allOf", "anyOf", "oneOf", "prefixItems":
		return m.list(value, depth)
	case "type":
		return m.kind(value)
	case "enum":
		return m.values(value)
	case "description", "title", "$comment", "format", "pattern", "$schema", "$id", "id", "$anchor", "$ref", "contentEncoding", "contentMediaType":
		if value[0] != '"' && key == "$ref" {
			m.fail("has a $ref that is no text")
		}
		if value[0] != '"' {
			return nil
		}
	case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties", "minContains", "maxContains":
		return m.number(value)
	}
	return value
}

// number is a number, also one that is written as a text.
func (m *mender) number(value json.RawMessage) json.RawMessage {
	var n json.Number
	if s := strings.Trim(string(value), `"`); s != "" && json.Unmarshal([]byte(s), &n) == nil && n != "" {
		if s != string(value) {
			return m.instead(s)
		}
		return value
	}
	return nil
}

// named mends an object of schemas.
func (m *mender) named(key string, value json.RawMessage, depth int) json.RawMessage {
	if string(value) == "[]" {
		return m.instead("{}")
	}
	o, err := readObject(value)
	if err != nil {
		m.fail("has %s that are no object of schemas", key)
		return value
	}
	before := m.changed
	m.changed = false
	for i := range o {
		o[i].value = m.schema(o[i].value, depth+1)
	}
	if m.changed {
		return must(o)
	}
	m.changed = before
	return value
}

// list mends a list of schemas. One alone is a list of one.
func (m *mender) list(value json.RawMessage, depth int) json.RawMessage {
	if value[0] == '{' && len(value) > 2 {
		return m.instead("[" + string(m.schema(value, depth+1)) + "]")
	}
	var all []json.RawMessage
	if json.Unmarshal(value, &all) != nil || len(all) == 0 {
		return nil
	}
	before := m.changed
	m.changed = false
	for i := range all {
		all[i] = m.schema(all[i], depth+1)
	}
	if m.changed {
		text, _ := json.Marshal(all) // texts of JSON always encode
		return text
	}
	m.changed = before
	return value
}

// kind mends the value of type: a type, or several. A word that is none means nothing.
func (m *mender) kind(value json.RawMessage) json.RawMessage {
	var one string
	if json.Unmarshal(value, &one) == nil {
		switch kind := typeName(one); kind {
		case "":
			return nil
		case one:
			return value
		default:
			return m.instead(`"` + kind + `"`)
		}
	}
	var all, kinds []string
	if json.Unmarshal(value, &all) != nil {
		return nil
	}
	for _, one := range all {
		kind := typeName(one)
		if kind == "" {
			return nil // it means more than the others say
		}
		if !slices.Contains(kinds, kind) {
			kinds = append(kinds, kind)
		}
	}
	switch {
	case len(kinds) == 0:
		return nil
	case slices.Equal(all, kinds):
		return value
	}
	text, _ := json.Marshal(kinds) // texts always encode
	return m.instead(string(text))
}

// typeName is a type of JSON Schema by one of its names; empty: there is none. Gemini's are in capitals, Python's its own.
func typeName(name string) string {
	switch name = strings.ToLower(name); name {
	case "object", "array", "string", "number", "integer", "boolean", "null":
		return name
	case "dict":
		return "object"
	case "list":
		return "array"
	case "str":
		return "string"
	case "int":
		return "integer"
	case "float", "double":
		return "number"
	case "bool":
		return "boolean"
	}
	return ""
}

// values mends an enum: one value alone is a list of one, and one without values says nothing.
func (m *mender) values(value json.RawMessage) json.RawMessage {
	var all []json.RawMessage
	if o, err := readObject(value); err == nil {
		for _, one := range o {
			all = append(all, one.value)
		}
		m.changed = true
	} else if json.Unmarshal(value, &all) != nil {
		return m.instead("[" + string(value) + "]")
	}
	switch {
	case len(all) == 0:
		return nil
	case value[0] == '[':
		return value
	}
	text, _ := json.Marshal(all) // texts of JSON always encode
	return text
}

// required mends which properties must be there: a list of their names. One name may stand alone, and inside are those of
// which the property itself says so.
func (m *mender) required(o object, inside []string) object {
	value := o.get("required")
	properties, _ := readObject(o.get("properties")) // mended already; missing: there are none
	all, ok := names(value, properties)
	if ok && len(inside) == 0 {
		return o
	}
	m.changed = true
	for _, name := range inside {
		if !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	if o = o.without("required"); len(all) > 0 {
		o, _ = o.with("required", all) // texts always encode
	}
	return o
}

// names reads the value of required; ok reports that it can stay as it is.
func names(value json.RawMessage, properties object) (all []string, ok bool) {
	var list []json.RawMessage
	switch {
	case value == nil:
		return nil, true
	case json.Unmarshal(value, &all) == nil:
		return all, true
	case json.Unmarshal(value, &list) != nil:
		list = []json.RawMessage{value}
	}
	all = nil
	for _, one := range list {
		if name := wording(one); properties.get(name) != nil {
			all = append(all, name)
		}
	}
	return all, false
}

// requiredInside are the properties that say of themselves that they are required, as in the oldest drafts.
func requiredInside(properties json.RawMessage) (all []string) {
	o, _ := readObject(properties) // missing: there are none
	for _, p := range o {
		if in, err := readObject(p.value); err == nil && string(in.get("required")) == "true" {
			all = append(all, p.key)
		}
	}
	return all
}
