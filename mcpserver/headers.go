package mcpserver

import (
	"encoding/json"
	"net/http"

	"github.com/mark3labs/mcp-go/mcp"
)

// checkModern checks what revision 2026-07-28 demands of a POST besides its revision: the capabilities in its body, and
// headers that say what the body says.
func (s *Server) checkModern(h http.Header, m message, said meta) *rpcError {
	if m.isAnswer() {
		return fail(codeRequest, "clients send requests only")
	}
	if said.Capabilities == nil {
		return fail(codeParams, "params._meta must hold %s", mcp.MetaKeyClientCapabilities).withStatus(http.StatusBadRequest)
	}
	version := h.Get("Mcp-Protocol-Version")
	if err := mcp.ValidateStandardHeaders(h.Get, version, mcp.MCPMethod(m.method), m.params); err != nil {
		return fail(codeHeader, "%v", err)
	}
	if m.method != string(mcp.MethodToolsCall) {
		return nil
	}
	var call struct {
		Name string `json:"name"`
	}
	_ = json.Unmarshal(m.params, &call) // the header agreed with it
	t := s.engine.lists.current().mirrored[call.Name]
	if extra := s.cfg.Extra.GetTool(call.Name); t == nil && extra != nil {
		t = &extra.Tool
	}
	if t == nil {
		return nil
	}
	if err := mcp.ValidateParamHeadersLookup(firstOf(h), t, m.params); err != nil {
		return fail(codeHeader, "%v", err)
	}
	return nil
}

// firstOf finds a header, and says whether it was sent at all.
func firstOf(h http.Header) func(string) (string, bool) {
	return func(name string) (string, bool) {
		values := h.Values(name)
		if len(values) == 0 {
			return "", false
		}
		return values[0], true
	}
}
