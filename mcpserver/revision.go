package mcpserver

import (
	"encoding/json"
	"net/http"
	"slices"

	"github.com/mark3labs/mcp-go/mcp"
)

// oldest is the revision of a Streamable HTTP request that names none. The header was introduced by
// 2025-06-18, so a client without it uses 2025-03-26, the only revision that has batches.
const oldest = mcp.ProtocolVersion20250326

// meta is what a request of 2026-07-28 says about its caller in params._meta. That revision has no
// sessions. Every request has {"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",
// "…/clientCapabilities":{}}}, so any replica can answer it. The field Progress, the progress
// token, is also used in requests of earlier revisions.
type meta struct {
	// It is raw, so that a revision that is no string can be told from a missing one, since their
	// errors differ.
	Version      json.RawMessage         `json:"io.modelcontextprotocol/protocolVersion"`
	Client       *mcp.Implementation     `json:"io.modelcontextprotocol/clientInfo"`
	Capabilities *mcp.ClientCapabilities `json:"io.modelcontextprotocol/clientCapabilities"`
	// Empty: the server must not send log lines.
	Level mcp.LoggingLevel `json:"io.modelcontextprotocol/logLevel"`
	// A string or a number, returned as it was written; nil: no progress is wanted.
	Progress json.RawMessage `json:"progressToken"`
}

// pick reports whether a POST is of revision 2026-07-28 (modern) or an earlier one, and returns the
// revision's name if the request has it. It looks at the revision in the body, the headers of
// 2026-07-28, the method initialize, and the header with the revision, in this order. Without any
// of these the revision is 2025-03-26. It returns an error if the revision is unknown, or if the
// parts of the request contradict each other.
func pick(h http.Header, m message) (modern bool, version string, rpcErr *rpcError) {
	header := h.Get("Mcp-Protocol-Version")
	switch {
	case m.said.Meta.Version != nil:
		return pickModern(header, m.said.Meta.Version)
	case mcp.IsModernProtocol(header) && isKnown(header), header == "" && h.Get("Mcp-Method") != "":
		return true, "", fail(codeParams, "params._meta must name the revision in %s",
			mcp.MetaKeyProtocolVersion).withStatus(http.StatusBadRequest)
	case m.method == string(mcp.MethodInitialize):
		return false, "", nil
	case header == "":
		return false, oldest, nil
	case isKnown(header):
		return false, header, nil
	}
	return false, "", unsupported(header)
}

// pickModern returns the revision that the body of a request names in the JSON value named. It
// always returns true, since only clients of 2026-07-28 name a revision there. It returns an error
// if the revision is unknown, or if the header does not have the same value (-32020), since proxies
// route by the header and must not be deceived about the body.
func pickModern(header string, named json.RawMessage) (bool, string, *rpcError) {
	var version string
	if json.Unmarshal(named, &version) != nil || version == "" {
		return true, "", fail(codeParams, "%s must be a revision's name",
			mcp.MetaKeyProtocolVersion).withStatus(http.StatusBadRequest)
	}
	if header != version {
		return true, "", fail(codeHeader,
			"the header MCP-Protocol-Version is %q, and params._meta says %q", header, version)
	}
	if !mcp.IsModernProtocol(version) || !isKnown(version) {
		return true, "", unsupported(version)
	}
	return true, version, nil
}

// isKnown reports whether this server knows a revision.
func isKnown(version string) bool { return slices.Contains(mcp.ValidProtocolVersions, version) }

// unsupported returns the error -32022, whose data.supported lists the known revisions. From that
// list a client chooses the revision to try next.
func unsupported(version string) *rpcError {
	e := fail(codeVersion, "revision %q is not spoken here", version).withStatus(
		http.StatusBadRequest)
	e.data = encode(mcp.UnsupportedProtocolVersionData{Supported: mcp.ValidProtocolVersions,
		Requested: version})
	return e
}

// checkModern returns an error if a POST lacks something that revision 2026-07-28 demands. The body
// must have the capabilities (-32602), and the headers must agree with the body (-32020):
// Mcp-Method always, and Mcp-Name for tools/call, prompts/get, resources/read and tasks. Gateways
// route and limit requests by these headers, so a difference would be a way around the gateway.
func (s *Server) checkModern(h http.Header, m message) *rpcError {
	switch {
	case m.odd:
		return fail(codeParams, "the parameters cannot be read").withStatus(http.StatusBadRequest)
	case m.said.Meta.Capabilities == nil:
		return fail(codeParams, "params._meta must hold %s",
			mcp.MetaKeyClientCapabilities).withStatus(http.StatusBadRequest)
	case h.Get("Mcp-Method") != m.method:
		return fail(codeHeader, "the header Mcp-Method is %q, and the method %q",
			h.Get("Mcp-Method"), m.method)
	}
	name := m.said.Name
	switch m.method {
	case "tasks/get", "tasks/update", "tasks/cancel":
		name = m.said.Task
	case string(mcp.MethodResourcesRead):
		name = m.said.URI
	case string(mcp.MethodToolsCall), string(mcp.MethodPromptsGet):
	default:
		return nil
	}
	// A name that HTTP cannot carry comes as =?base64?…?=, and is compared decoded.
	if said, ok := mcp.DecodeHeaderValue(h.Get("Mcp-Name")); !ok || said != name || name == "" {
		return fail(codeHeader, "the header Mcp-Name is %q, and the body says %q",
			h.Get("Mcp-Name"), name)
	}
	return s.checkArguments(h, m)
}

// checkArguments returns an error if a header that repeats an argument of a tool differs from it.
// For example, a property with "x-mcp-header":"Region" is repeated as Mcp-Param-Region. An unknown
// tool has no such headers; its error follows later.
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

// firstOf returns a function that returns the value of a header, and whether the header was sent.
// The two differ for a header that is sent with an empty value.
func firstOf(h http.Header) func(string) (string, bool) {
	return func(name string) (string, bool) {
		values := h.Values(name)
		if len(values) == 0 {
			return "", false
		}
		return values[0], true
	}
}
