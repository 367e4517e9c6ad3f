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
func pick(h http.Header, m message) (modern bool, version string, fault *rpcError) {
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
