package lenient

import (
	"encoding/json"
	"strings"

	"toolnorm/adapters/internal/scan"
	"toolnorm/chat"
	"toolnorm/chat/schema"
)

// ObjectOf converts strict JSON that was written in place of an object of arguments to that object.
// Arguments that are sent are always one JSON object, because clients index into it, and some crash
// at anything else. null, "" and [] become an object without members. It returns false if the value
// cannot be converted.
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

// objectInString converts a string to an object if it contains an object or is empty. It returns
// false if it cannot. OpenAI's API has arguments in a string, {"arguments": "{\"city\":
// \"Rome\"}"}, so models that have seen that API write them everywhere. The JSON in the string may
// have the usual errors, but must be complete.
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

// only returns an object with a lone value as the value of a tool's only parameter. For example,
// {"name": "search", "arguments": "vienna trams"} becomes a call of search. It returns false if the
// tool does not have exactly one parameter. It also returns false for a string that contains
// brackets or a tag, because that is more likely an object or a call in an unknown notation. For
// example, <parameter name="city">Oslo</parameter> inside the tags of another family would be a
// wrong value that fits the schema.
func only(value string, t *schema.Type) (string, bool) {
	if m := t.Members(); len(m) == 1 &&
		!(value[0] == '"' && (strings.ContainsAny(value, "<>{}[]｜") ||
			namesItself(scan.Unquote(value), m[0]))) {
		return "{" + schema.Quote(m[0]) + ":" + t.Prop(m[0]).Fit(value) + "}", true
	}
	return "", false
}

// namesItself reports whether a text begins with the name of its parameter and a colon or equals
// sign, as "city: Rome" does for city. Such a text is a part of an object, not the parameter's
// value.
func namesItself(text, name string) bool {
	rest, ok := strings.CutPrefix(strings.TrimSpace(text), name)
	rest = strings.TrimSpace(rest)
	return ok && rest != "" && (rest[0] == ':' || rest[0] == '=')
}

// objectInList converts to an object a list of one object, [{"city": "Rome"}], or of pairs,
// [{"name": "city", "value": "Rome"}]. It returns false for any other list. Two objects may be two
// calls, or two halves of one, and are not converted.
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

// pairs converts a list of pairs, each of a parameter's name and its value, to an object. It
// returns false if some element is not a pair with a value. Some models write key instead of name.
func pairs(list []json.RawMessage, t *schema.Type) (string, bool) {
	out := []byte{'{'}
	for i, raw := range list {
		var p struct {
			Name  string          `json:"name"`
			Key   string          `json:"key"`
			Value json.RawMessage `json:"value"`
		}
		var two []json.RawMessage // ["city", "Rome"]
		if json.Unmarshal(raw, &two) == nil && len(two) == 2 &&
			json.Unmarshal(two[0], &p.Name) == nil && t.Has(p.Name) {
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

// FromText returns the raw text of a tag as JSON that fits the type. Tags do not show the type of
// their text: 42 is a number for one parameter and a zip code for another. So the schema decides.
// Without a type, strict JSON other than a string remains JSON, and anything else becomes a string.
// A text that only looks like an object (`{not json`) remains a text and never becomes {}. Where
// the schema allows both strings and objects, only strict JSON is an object, because prose may be
// in braces. Where it allows no string, a quoted object or list is taken out of its quotation
// marks.
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
	if trimmed != "" && strings.IndexByte("{[(", trimmed[0]) >= 0 &&
		t.Allows(schema.Object|schema.Array) {
		if out, whole := RepairAs(trimmed, t); whole && t.Allows(schema.KindOf(out)) &&
			(!t.Allows(schema.String) || json.Valid([]byte(trimmed))) {
			return out
		}
	}
	if !t.Allows(schema.String) {
		inner := scan.Unquote(trimmed)
		// <parameter=where>"{\"city\": 1}"</parameter>, but "" is not an object
		if inner != trimmed && inner != "" && json.Valid([]byte(trimmed)) &&
			strings.IndexByte("{[", inner[0]) >= 0 {
			return FromText(inner, t)
		}
	}
	if t.Only(schema.Array|schema.Null) && trimmed != "" && !t.Endless() {
		return listFromText(text, t)
	}
	return schema.Quote(text)
}

// listFromText converts a text to a list of one element. For a list of strings,
// <parameter=tags>red</parameter> becomes ["red"]. A text that may be several elements ("red,
// blue"), half a list, or the element of a list of lists, which would need two brackets, becomes a
// string. The schema check then refuses it, whereas a wrong list would run.
func listFromText(text string, t *schema.Type) string {
	trimmed := strings.TrimSpace(text)
	// ["red", "blue": half a list
	if strings.IndexByte("{[(", trimmed[0]) >= 0 || several(trimmed) ||
		t.Item().Only(schema.Array|schema.Null) ||
		trimmed[0] == '"' && !json.Valid([]byte(trimmed)) {
		return schema.Quote(text)
	}
	return "[" + FromText(text, t.Item()) + "]"
}
