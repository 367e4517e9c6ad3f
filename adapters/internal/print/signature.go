package print

import (
	"encoding/json"
	"fmt"
	"strings"

	"toolnorm/chat"
	"toolnorm/chat/schema"
)

// appendSignature appends a tool as the head of a Python function:
//
//	def get_weather(city: str, days: int = None):
//	    """Weather for a city
//	    days: how many
//	    """
//
// Parameters are in the order in which positional arguments are read. An optional parameter has the
// default None, whatever its type.
func appendSignature(dst []byte, t chat.Tool) []byte {
	typ := schema.Compile(t.Schema)
	dst = append(append(append(dst, "def "...), PythonName(t.Name)...), '(')
	for i, name := range typ.Members() {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		dst = append(append(append(dst, name...), ": "...), pythonType(typ.Prop(name), 0)...)
		if i >= len(typ.Required()) {
			dst = append(dst, " = None"...)
		}
	}
	dst = append(dst, "):\n"...)
	notes := notesOf(t.Schema)
	if t.Description == "" && len(notes) == 0 {
		return append(dst, "    ...\n"...)
	}
	dst = fmt.Appendf(dst, "    \"\"\"%s\n", indent(t.Description))
	for _, name := range typ.Members() {
		if notes[name] != "" {
			dst = fmt.Appendf(dst, "    %s: %s\n", name, indent(notes[name]))
		}
	}
	return append(dst, "    \"\"\"\n"...)
}

// indent returns a text with its lines indented for the inside of a function, because a description
// of several lines must not end the docstring's block for a model that knows Python.
func indent(text string) string {
	return strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n    ")
}

// notesOf returns the descriptions of a schema's members by their names. To the description of an
// object, or of a list of objects, its schema is appended, because a signature cannot express it.
func notesOf(raw json.RawMessage) map[string]string {
	notes := map[string]string{}
	members, _ := schema.Parse(raw).Written().Members()
	for _, m := range members {
		items, _, _ := m.At.Items()
		_, isObject := m.At.Members()
		_, ofObjects := items.Members()
		notes[m.Name] = m.At.Description()
		if isObject || ofObjects {
			notes[m.Name] = strings.TrimSpace(notes[m.Name] + " " + JSON.Value(m.At.Source()))
		}
	}
	return notes
}

// literalOf returns an enum's value as it is written in a type annotation of Python, with strings
// in double quotes.
func literalOf(value string) string {
	if schema.KindOf(value)&(schema.Boolean|schema.Null) != 0 {
		return Python.Value(value)
	}
	return JSON.Value(value)
}

// kinds lists the kinds of values, each with the name of its type, Python's name, and an example
// value. Integers come before numbers, which include them. Signatures, tags and examples all use
// this table, so that a model sees the same words everywhere.
var kinds = []struct {
	kind               schema.Kinds
	word, python, some string
}{
	{schema.String, "string", "str", `"some text"`},
	{schema.Integer, "number", "int", "3"},
	{schema.Number, "number", "float", "3.5"},
	{schema.Boolean, "boolean", "bool", "true"},
	{schema.Array, "array", "list", "[]"},
	{schema.Object, "object", "dict", "{}"},
	{schema.Null, "null", "None", "null"},
}

// maxLists bounds nested lists in an annotation. A recursive list,
// {"$defs":{"l":{"type":"array","items":{"$ref":"#/$defs/l"}}}}, would otherwise overflow the
// stack.
const maxLists = 8

// pythonType returns a type as a type annotation of Python, such as list[str]. The parameter depth
// is the number of lists around it. An enum is a Literal, as in typed Python. A type that allows
// all numbers is only "float" and not also "int", because "float" includes integers.
func pythonType(t *schema.Type, depth int) string {
	if e := t.Enum(); len(e) > 0 {
		values := make([]string, len(e))
		for i, v := range e {
			values[i] = literalOf(v)
		}
		return "Literal[" + strings.Join(values, ", ") + "]"
	}
	if !t.Known() {
		return "Any"
	}
	var names []string
	for _, p := range kinds {
		switch {
		case !t.Allows(p.kind), p.kind == schema.Integer && t.Allows(schema.Number):
		case p.kind == schema.Array && t.Item().Known() && depth < maxLists:
			names = append(names, "list["+pythonType(t.Item(), depth+1)+"]")
		default:
			names = append(names, p.python)
		}
	}
	return strings.Join(names, " | ")
}
