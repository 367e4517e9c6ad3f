package mcpserver

import (
	"bytes"
	"encoding/json"
	"errors"

	"toolnorm/tools"
)

// Up to 2025-11-25 a structured result is an object, and so is what its schema describes. If a
// tool returns another value, that value becomes the member result of an object, as in other
// servers. An object stays as it is.

// objectOf returns a tool's result for clients of the revisions up to 2025-11-25, which require
// that structured content is an object. Any other value v becomes {"result": v}.
func objectOf(r tools.Result) tools.Result {
	if r.IsError || len(r.Structured) == 0 || r.Structured[0] == '{' {
		return r
	}
	r.Structured = encode(map[string]json.RawMessage{"result": r.Structured})
	var all map[string]json.RawMessage
	if len(r.Raw) > 0 && json.Unmarshal(r.Raw, &all) == nil {
		all["structuredContent"] = r.Structured
		r.Raw = encode(all)
	}
	return r
}

// objectOutput returns the schema of a tool's results for clients that require an object. The
// parameter schema is the tool's own. If it allows other values than objects, these become the
// member "result" of an object (see objectOf).
func objectOutput(schema json.RawMessage) json.RawMessage {
	if len(schema) == 0 || isObject(schema) {
		return schema
	}
	within := func(inner json.RawMessage) json.RawMessage {
		return encode(map[string]any{"type": "object", "properties": map[string]json.RawMessage{
			"result": inner}, "required": []string{"result"}})
	}
	var union struct {
		Type  json.RawMessage   `json:"type"`
		AnyOf []json.RawMessage `json:"anyOf"`
	}
	var all map[string]json.RawMessage
	switch wrong := errors.Join(json.Unmarshal(schema, &union), json.Unmarshal(schema, &all)); {
	case wrong == nil && len(union.Type) > 0 && !bytes.Contains(union.Type, []byte(`"object"`)):
		return within(schema)
	case wrong != nil, len(union.AnyOf) == 0, len(all) > 1 && (len(all) > 2 || all["$defs"] == nil):
		// An object may fit the schema as well, and objectOf does not wrap it.
		return encode(map[string]any{"type": "object", "anyOf": []json.RawMessage{within(schema),
			schema}})
	}
	for i, one := range union.AnyOf {
		if !isObject(one) {
			union.AnyOf[i] = within(one)
		}
	}
	all["type"], all["anyOf"] = encode("object"), encode(union.AnyOf)
	return encode(all)
}

// isObject reports whether a schema states that its values are objects.
func isObject(schema json.RawMessage) bool {
	var says struct {
		Type json.RawMessage `json:"type"`
	}
	return json.Unmarshal(schema, &says) == nil && string(says.Type) == `"object"`
}
