package mcpserver

import (
	"encoding/json"

	"github.com/mark3labs/mcp-go/mcp"
)

// repair replaces what cannot be read in the client's declaration about itself by the parts of it
// that can. Otherwise a client with one odd member would not be served at all. For example, PHP
// writes an empty object as [], here as in _meta and in the arguments of a tool or a prompt. If all
// of it can be read, nothing changes. The argument parts has the members of the message.
func (m *message) repair(parts map[string]json.RawMessage) {
	var all, inner map[string]json.RawMessage
	if json.Unmarshal(m.params, &all) != nil {
		return
	}
	empty := false
	for _, name := range []string{"_meta", "arguments"} {
		if isEmptyList(all[name]) {
			all[name], empty = json.RawMessage("{}"), true
		}
	}
	switch {
	case m.method == string(mcp.MethodInitialize) &&
		json.Unmarshal(m.params, new(mcp.InitializeParams)) != nil:
		repairClient(all, "capabilities", "clientInfo")
	case m.odd && json.Unmarshal(all["_meta"], &inner) == nil &&
		json.Unmarshal(all["_meta"], new(meta)) != nil:
		repairClient(inner, mcp.MetaKeyClientCapabilities, mcp.MetaKeyClientInfo)
		all["_meta"] = encode(inner)
	case !empty:
		return
	}
	m.params = encode(all)
	parts["params"] = m.params
	m.raw, m.said = encode(parts), params{}
	m.odd = m.said.read(m.params) != nil
}

// repairClient replaces the members capabilities and info of a message, in which a client declares
// its capabilities and its name, with the parts of them that can be read (see readable).
func repairClient(all map[string]json.RawMessage, capabilities, info string) {
	if all[capabilities] != nil {
		all[capabilities] = readable[mcp.ClientCapabilities](all[capabilities])
	}
	if all[info] != nil {
		all[info] = readable[mcp.Implementation](all[info])
	}
}

// readable returns value unchanged if it can be decoded as a T. Otherwise it returns an object with
// only those members of value that can be decoded. A member that cannot, but is true, a list or an
// object, becomes {} if T accepts that, because with it the client has declared some capability.
func readable[T any](value json.RawMessage) json.RawMessage {
	if json.Unmarshal(value, new(T)) == nil {
		return value
	}
	var all map[string]json.RawMessage
	_ = json.Unmarshal(value, &all) // what is not an object has no members
	out := map[string]json.RawMessage{}
	for key, v := range all {
		forms := []json.RawMessage{v}
		if string(v) == "true" || v[0] == '[' || v[0] == '{' {
			forms = append(forms, json.RawMessage("{}"))
		}
		for _, v := range forms {
			one := encode(map[string]json.RawMessage{key: v})
			if json.Unmarshal(one, new(T)) == nil {
				out[key] = v
				break
			}
		}
	}
	return encode(out)
}
