package mcpserver

import (
	"encoding/json"
	"net/http"
	"slices"

	"github.com/mark3labs/mcp-go/mcp"
)

// oldest is the revision of a Streamable HTTP request that names none.
const oldest = mcp.ProtocolVersion20250326

// meta is what a request of 2026-07-28 says of its caller in params._meta, and any request of its own progress.
type meta struct {
	Version      json.RawMessage         `json:"io.modelcontextprotocol/protocolVersion"`
	Client       *mcp.Implementation     `json:"io.modelcontextprotocol/clientInfo"`
	Capabilities *mcp.ClientCapabilities `json:"io.modelcontextprotocol/clientCapabilities"`
	Level        mcp.LoggingLevel        `json:"io.modelcontextprotocol/logLevel"`
	Progress     json.RawMessage         `json:"progressToken"`
}

// pick says whether a POST counts by 2026-07-28 (modern) or by an earlier revision, whose name it gives when a header says it.
// The rules are tried in this order: the body's own revision, then the headers of 2026-07-28, then initialize, then the
// header, then nothing, which means 2025-03-26.
func pick(h http.Header, m message) (modern bool, version string, rpcErr *rpcError) {
	header := h.Get("Mcp-Protocol-Version")
	switch {
	case m.said.Meta.Version != nil:
		return pickModern(header, m.said.Meta.Version)
	case mcp.IsModernProtocol(header) && isKnown(header), header == "" && h.Get("Mcp-Method") != "":
		return true, "", fail(codeParams, "params._meta must name the revision in %s", mcp.MetaKeyProtocolVersion).withStatus(http.StatusBadRequest)
	case m.method == string(mcp.MethodInitialize):
		return false, "", nil
	case header == "":
		return false, oldest, nil
	case isKnown(header):
		return false, header, nil
	}
	return false, "", unsupported(header)
}

// pickModern checks a revision that the body names. Only 2026-07-28 is named there, by clients that mean it.
func pickModern(header string, named json.RawMessage) (bool, string, *rpcError) {
	var version string
	if json.Unmarshal(named, &version) != nil || version == "" {
		return true, "", fail(codeParams, "%s must be a revision's name", mcp.MetaKeyProtocolVersion).withStatus(http.StatusBadRequest)
	}
	if header != version {
		return true, "", fail(codeHeader, "the header MCP-Protocol-Version is %q, and params._meta says %q", header, version)
	}
	if !mcp.IsModernProtocol(version) || !isKnown(version) {
		return true, "", unsupported(version)
	}
	return true, version, nil
}

// isKnown says that we speak a revision.
func isKnown(version string) bool { return slices.Contains(mcp.ValidProtocolVersions, version) }

// unsupported says which revisions we speak.
func unsupported(version string) *rpcError {
	e := fail(codeVersion, "revision %q is not spoken here", version).withStatus(http.StatusBadRequest)
	e.data = encode(mcp.UnsupportedProtocolVersionData{Supported: mcp.ValidProtocolVersions, Requested: version})
	return e
}

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
