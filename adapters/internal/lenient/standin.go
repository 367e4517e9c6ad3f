package lenient

import (
	"encoding/json"
	"strings"

	"toolnorm/adapters/internal/scan"
	"toolnorm/chat"
	"toolnorm/chat/schema"
)

// ObjectOf turns a JSON value that stands for an object of arguments into that object. Arguments
// that leave are always one JSON object; clients index into it, and some crash at anything else.
// value is strict JSON. null, "" and [] stand for no arguments. ok is false where nothing can stand
// for it.
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

// objectInString reads a string that holds an object, or nothing. Arguments in a string are
// OpenAI's own form, {"arguments": "{\"city\": \"Rome\"}"}, so models that have seen that API write
// it everywhere. What is in it has the same slips as any other JSON, but counts only when it is
// whole.
func objectInString(value string, t *schema.Type) (string, bool) {
	inner := scan.Unquote(value)
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

// only makes a lone value the value of the only parameter there is. A text with brackets in it is
// more likely an object, or a call, that was written in a way nobody knows. {"name": "search",
// "arguments": "vienna trams"} is a call of search with its only parameter. With brackets or a mark
// in the text, <parameter name="city">Oslo</parameter> under another family's marks, it was a wrong
// value that fits every schema.
func only(value string, t *schema.Type) (string, bool) {
	if m := t.Members(); len(m) == 1 && !(value[0] == '"' && (strings.ContainsAny(value, "<>{}[]｜") || namesItself(scan.Unquote(value), m[0]))) {
		return "{" + schema.Quote(m[0]) + ":" + t.Prop(m[0]).Fit(value) + "}", true
	}
	return "", false
}

// namesItself reports whether a text begins with the name of its parameter: "city: Rome". Such a
// text is half an object, not the parameter's value.
func namesItself(text, name string) bool {
	rest, ok := strings.CutPrefix(strings.TrimSpace(text), name)
	rest = strings.TrimSpace(rest)
	return ok && rest != "" && (rest[0] == ':' || rest[0] == '=')
}

// objectInList reads a list of one object, or of pairs {"name": …, "value": …}. [{"city": "Rome"}]
// and [{"name": "city", "value": "Rome"}] mean the same. Two objects would be two calls, or two
// halves of one: nothing can stand for them.
func objectInList(value string, t *schema.Type) (string, bool) {
	var list []json.RawMessage
	if json.Unmarshal([]byte(value), &list) != nil {
		return "", false
	}
	if len(list) == 0 {
		return "{}", true
	}
	// [{"name": "city", "value": "Rome"}]
	if out, ok := pairs(list, t); ok {
		return out, true
	}
	// [{"city": "Rome"}], [[{"city": "Rome"}]]
	if len(list) == 1 && schema.KindOf(string(list[0])) == schema.Object {
		return string(list[0]), true
	}
	if len(list) == 1 && strings.HasPrefix(string(list[0]), "[{") {
		return objectInList(string(list[0]), t)
	}
	return "", false
}

// pairs reads a list whose elements name a parameter and give its value.
// All elements must be pairs; key stands for name in some of them. A pair without a value is none.
func pairs(list []json.RawMessage, t *schema.Type) (string, bool) {
	out := []byte{'{'}
	for i, raw := range list {
		var p struct {
			Name  string          `json:"name"`
			Key   string          `json:"key"`
			Value json.RawMessage `json:"value"`
		}
		var two []json.RawMessage // ["city", "Rome"]
		if json.Unmarshal(raw, &two) == nil && len(two) == 2 && json.Unmarshal(two[0], &p.Name) == nil && t.Has(p.Name) {
			p.Value = two[1]
		} else if json.Unmarshal(raw, &p) != nil || p.Value == nil || p.Name+p.Key == "" {
			return "", false
		}
		if i > 0 {
			out = append(out, ',')
		}
		out = append(chat.AppendQuoted(out, p.Name+p.Key), ':')
		out = append(out, t.Prop(p.Name+p.Key).Fit(string(p.Value))...)
	}
	return string(append(out, '}')), true
}

// FromText turns the raw text of a tag into JSON of the type. Without a type it is JSON if it is
// strict JSON other than a string, else a string. Tags do not say what their text is: 42 is a
// number for one parameter and a zip code for the next. So the schema decides; a text that only
// looks like an object (`{not json`) stays one, never {}. Where texts are allowed beside objects,
// it must be strict JSON to be an object: prose in braces is prose. A quoted object or list, where
// no text is allowed, is taken out of its quotes.
func FromText(text string, t *schema.Type) string {
	trimmed := strings.TrimSpace(text)
	if !t.Known() {
		// no type: 42 is a number, "42" in quotes and forty-two are texts
		if trimmed != "" && trimmed[0] != '"' && json.Valid([]byte(trimmed)) {
			return trimmed
		}
		return schema.Quote(text)
	}
	// a text, number, literal or listed value
	if v, ok := t.FromText(text); ok {
		return v
	}
	// {"city": "Rome"}, or {"red", "blue"} for a list
	if trimmed != "" && strings.IndexByte("{[(", trimmed[0]) >= 0 && t.Allows(schema.Object|schema.Array) {
		if out, whole := RepairAs(trimmed, t); whole && t.Allows(schema.KindOf(out)) && (!t.Allows(schema.String) || json.Valid([]byte(trimmed))) {
			return out
		}
	}
	if !t.Allows(schema.String) {
		inner := scan.Unquote(trimmed)
		// <parameter=where>"{\"city\": 1}"</parameter>, where "" is no object
		if inner != trimmed && inner != "" && json.Valid([]byte(trimmed)) && strings.IndexByte("{[", inner[0]) >= 0 {
			return FromText(inner, t)
		}
	}
	if t.Only(schema.Array|schema.Null) && trimmed != "" && !t.Endless() {
		return listFromText(text, t)
	}
	return schema.Quote(text)
}

// listFromText turns a text into a list of one element. What looks like several of them, or like
// half a list, stays a text, which fits nowhere. <parameter=tags>red</parameter> for a list of
// texts is ["red"]; "red, blue" may be one element or two. A text fits no list, so the engine hears
// of it; a wrong list would run.
func listFromText(text string, t *schema.Type) string {
	trimmed := strings.TrimSpace(text)
	// ["red", "blue": half a list
	if strings.IndexByte("{[(", trimmed[0]) >= 0 || several(trimmed) || trimmed[0] == '"' && !json.Valid([]byte(trimmed)) {
		return schema.Quote(text)
	}
	return "[" + FromText(text, t.Item()) + "]"
}
