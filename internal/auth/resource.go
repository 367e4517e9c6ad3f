package auth

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
)

// MetadataPath is where clients of OAuth find who issues the tokens of this server, with the path
// of what they asked for behind it (RFC 9728, section 3.1).
const MetadataPath = "/.well-known/oauth-protected-resource"

// Resource is this server as a protected resource of OAuth: what MCP clients are told so that they
// can sign their user in.
type Resource struct {
	Issuer string // the address of who issues tokens, which has metadata of its own
	Base   string // scheme, host and path in front of /mcp, where clients find the server; empty: as they asked
}

// covers reports whether a path belongs to MCP, whose clients read metadata.
func (p *Resource) covers(path string) bool {
	return p != nil && (path == "/mcp" || path == "/sse" || strings.HasPrefix(path, "/mcp/sets/"))
}

// base returns the address before all paths. Headers like X-Forwarded-Host are not read, since any
// client can send them.
func (p *Resource) base(r *http.Request) string {
	if p.Base != "" {
		return strings.TrimSuffix(p.Base, "/")
	}
	at := url.URL{Scheme: "http", Host: r.Host}
	if r.TLS != nil {
		at.Scheme = "https"
	}
	return at.String()
}

// metadata returns a parameter of WWW-Authenticate with the address of the description of the path
// that was asked for, or "" if there is no description.
func (p *Resource) metadata(r *http.Request) string {
	if !p.covers(r.URL.Path) {
		return ""
	}
	return `, resource_metadata="` + p.base(r) + MetadataPath + r.URL.EscapedPath() + `"`
}

// ServeHTTP describes the resource whose path stands behind MetadataPath; without one it is the
// whole server.
func (p *Resource) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path := strings.TrimPrefix(r.URL.Path, MetadataPath)
	if p == nil || r.Method != http.MethodGet && r.Method != http.MethodHead || strings.Trim(path, "/") != "" && !p.covers(path) {
		http.NotFound(w, r)
		return
	}
	at := url.URL{Path: strings.TrimSuffix(path, "/")}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store") // it holds the host that was asked for
	_ = json.NewEncoder(w).Encode(map[string]any{
		"resource": p.base(r) + at.EscapedPath(), "resource_name": "toolnorm",
		"authorization_servers": []string{p.Issuer}, "bearer_methods_supported": []string{"header"},
	})
}
