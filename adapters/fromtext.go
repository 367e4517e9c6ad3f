package adapters

import (
	"encoding/json"
	"strings"

	"toolnorm/chat/schema"
)

// fromText turns the raw text of a tag into JSON of the type. Without a type it is JSON if it is strict JSON other than a
// string, else a string.
func fromText(text string, t *schema.Type) string {
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
		if out, whole := repairAs(trimmed, t); whole && (!t.Allows(schema.String) || json.Valid([]byte(trimmed))) {
			return out
		}
	}
	if !t.Allows(schema.String) {
		if inner := unquote([]byte(trimmed)); inner != trimmed && json.Valid([]byte(trimmed)) && strings.IndexByte("{[", inner[0]) >= 0 {
			return fromText(inner, t)
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
		if out, whole := repairAs(trimmed, t); whole && out[0] == '[' {
			return out
		}
	}
	if strings.IndexByte("{[(", trimmed[0]) >= 0 || strings.Count(trimmed, "[") < strings.Count(trimmed, "]") || trimmed[0] == '"' && !json.Valid([]byte(trimmed)) {
		return schema.Quote(text)
	}
	return "[" + fromText(text, t.Item()) + "]"
}
