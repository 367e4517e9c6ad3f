package mcpserver

import (
	"net/http"

	"github.com/mark3labs/mcp-go/mcp"
)

// checkModern checks what revision 2026-07-28 demands of a POST besides its revision: the capabilities in its body, and
// headers that say what the body says.
func (s *Server) checkModern(h http.Header, m message) *rpcError {
	switch {
	case m.odd:
		return fail(codeParams, "the parameters cannot be read").withStatus(http.StatusBadRequest)
	case m.said.Meta.Capabilities == nil:
		return fail(codeParams, "params._meta must hold %s", mcp.MetaKeyClientCapabilities).withStatus(http.StatusBadRequest)
	case h.Get("Mcp-Method") != m.method:
		return fail(codeHeader, "the header Mcp-Method is %q, and the method %q", h.Get("Mcp-Method"), m.method)
	}
	if !mcp.MethodRequiresNameHeader(mcp.MCPMethod(m.method)) {
		return nil
	}
	name := m.said.Name
	if m.method == string(mcp.MethodResourcesRead) {
		name = m.said.URI
	}
	if said, ok := mcp.DecodeHeaderValue(h.Get("Mcp-Name")); !ok || said != name || name == "" {
		return fail(codeHeader, "the header Mcp-Name is %q, and the body says %q", h.Get("Mcp-Name"), name)
	}
	return s.checkArguments(h, m)
}

// checkArguments checks the headers that repeat a tool's arguments.
func (s *Server) checkArguments(h http.Header, m message) *rpcError {
	if m.method != string(mcp.MethodToolsCall) {
		return nil
	}
	t := s.engine.lists.current().mirrored[m.said.Name]
	if t == nil {
		extra := s.cfg.Extra.GetTool(m.said.Name)
		if extra == nil {
			return nil
		}
		t = &extra.Tool
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
