package adapters

import (
	"encoding/json"
	"strings"

	"toolnorm/chat/schema"
)

// objectOf turns a JSON value that stands for an object of arguments into that object.
func objectOf(value string, t *schema.Type) (string, bool) {
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
	inner := unquote([]byte(value))
	if inner == "" || inner == "null" {
		return "{}", true
	}
	if inner[0] == '{' {
		if out, whole := repairAs(inner, t); whole {
			return out, true
		}
	}
	return only(value, t)
}

// only makes a lone value the value of the only parameter there is. A text with brackets in it is more likely an object, or
// a call, that was written in a way nobody knows.
func only(value string, t *schema.Type) (string, bool) {
	if m := t.Members(); len(m) == 1 && !(value[0] == '"' && (strings.ContainsAny(value, "<>{}[]｜") || namesItself(unquote([]byte(value)), m[0]))) {
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

// unquote is the text of a JSON string; other JSON is its own text.
func unquote(value []byte) string {
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
