package lenient

import (
	"encoding/json"
	"strings"

	"toolnorm/chat/schema"
)

// ObjectOf turns a JSON value that stands for an object of arguments into that object.
func ObjectOf(value string, t *schema.Type) (string, bool) {
	switch schema.KindOf(value) {
	case schema.Object:
		return value, true
	case schema.Null:
		return "{}", true
	case schema.String:
		return objectInString(value, t)
	case schema.Array:
		return objectInList(value, t)
	}
	return only(value, t)
}

// objectInString reads a string that holds an object, or nothing.
func objectInString(value string, t *schema.Type) (string, bool) {
	inner := Unquote([]byte(value))
	if inner == "" || inner == "null" {
		return "{}", true
	}
	if inner[0] == '{' {
		if out, whole := RepairAs(inner, t); whole {
			return out, true
		}
	}
	return only(value, t)
}

// only makes a lone value the value of the only parameter there is. A text with brackets in it is more likely an object, or
// a call, that was written in a way nobody knows.
func only(value string, t *schema.Type) (string, bool) {
	if m := t.Members(); len(m) == 1 && !(value[0] == '"' && (strings.ContainsAny(value, "<>{}[]｜") || namesItself(Unquote([]byte(value)), m[0]))) {
		return "{" + schema.Quote(m[0]) + ":" + t.Prop(m[0]).Fit(value) + "}", true
	}
	return "", false
}

// namesItself says whether a text begins with the name of its parameter: "city: Rome".
func namesItself(text, name string) bool {
	rest, ok := strings.CutPrefix(strings.TrimSpace(text), name)
	rest = strings.TrimSpace(rest)
	return ok && rest != "" && (rest[0] == ':' || rest[0] == '=')
}

// objectInList reads a list of one object, or of pairs {"name": …, "value": …}.
func objectInList(value string, t *schema.Type) (string, bool) {
	var list []json.RawMessage
	if json.Unmarshal([]byte(value), &list) != nil {
		return "", false
	}
	if len(list) == 0 {
		return "{}", true
	}
	if out, ok := pairs(list, t); ok {
		return out, true
	}
	if len(list) == 1 && schema.KindOf(string(list[0])) == schema.Object {
		return string(list[0]), true
	}
	return "", false
}

// pairs reads a list whose elements name a parameter and give its value.
func pairs(list []json.RawMessage, t *schema.Type) (string, bool) {
	out := []byte{'{'}
	for i, raw := range list {
		var p struct {
			Name  string          `json:"name"`
			Key   string          `json:"key"`
			Value json.RawMessage `json:"value"`
		}
		if json.Unmarshal(raw, &p) != nil || p.Value == nil || p.Name+p.Key == "" {
			return "", false
		}
		if i > 0 {
			out = append(out, ',')
		}
		out = append(schema.AppendQuote(out, p.Name+p.Key), ':')
		out = append(out, t.Prop(p.Name+p.Key).Fit(string(p.Value))...)
	}
	return string(append(out, '}')), true
}

// Unquote is the text of a JSON string; other JSON is its own text.
func Unquote(value []byte) string {
	if len(value) < 2 || value[0] != '"' {
		return string(value)
	}
	plain := value[1 : len(value)-1]
	for _, c := range plain {
		if c == '\\' {
			var s string
			if json.Unmarshal(value, &s) != nil {
				return string(plain)
			}
			return s
		}
	}
	return string(plain)
}

// FromText turns the raw text of a tag into JSON of the type. Without a type it is JSON if it is strict JSON other than a
// string, else a string.
func FromText(text string, t *schema.Type) string {
	trimmed := strings.TrimSpace(text)
	if !t.Known() {
		if trimmed != "" && trimmed[0] != '"' && json.Valid([]byte(trimmed)) {
			return trimmed
		}
		return schema.Quote(text)
	}
	if v, ok := t.FromText(text); ok {
		return v
	}
	if trimmed != "" && (trimmed[0] == '{' && t.Allows(schema.Object) || (trimmed[0] == '[' || trimmed[0] == '(') && t.Allows(schema.Array)) {
		if out, whole := RepairAs(trimmed, t); whole && (!t.Allows(schema.String) || json.Valid([]byte(trimmed))) {
			return out
		}
	}
	if !t.Allows(schema.String) {
		if inner := Unquote([]byte(trimmed)); inner != trimmed && json.Valid([]byte(trimmed)) && strings.IndexByte("{[", inner[0]) >= 0 {
			return FromText(inner, t)
		}
	}
	if t.Only(schema.Array|schema.Null) && trimmed != "" {
		return listFromText(text, t)
	}
	return schema.Quote(text)
}

// listFromText turns a text into a list: a set in braces, or what stands for its only element. What looks like several of
// them, or like half a list, stays a text, which fits nowhere.
func listFromText(text string, t *schema.Type) string {
	trimmed := strings.TrimSpace(text)
	if trimmed[0] == '{' {
		if out, whole := RepairAs(trimmed, t); whole && out[0] == '[' {
			return out
		}
	}
	if strings.IndexByte("{[(", trimmed[0]) >= 0 || strings.Count(trimmed, "[") < strings.Count(trimmed, "]") || trimmed[0] == '"' && !json.Valid([]byte(trimmed)) {
		return schema.Quote(text)
	}
	return "[" + FromText(text, t.Item()) + "]"
}
