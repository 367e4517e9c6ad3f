package auth

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
)

// MetadataPath is the path at which OAuth clients find out who issues this server's tokens. They
// append the path of the resource that they requested (RFC 9728, section 3.1).
const MetadataPath = "/.well-known/oauth-protected-resource"

// Resource describes this server as a protected resource of OAuth, so that MCP clients can sign
// their user in.
type Resource struct {
	Issuer string // the address of the issuer of tokens, which has its own metadata
	// scheme, host and the path before /mcp at which clients reach the server; empty: as in their
	// request
	Base string
}

// covers reports whether a path is one of the MCP server's paths, such as /mcp. The metadata is
// only for these, because only MCP clients use it.
func (p *Resource) covers(path string) bool {
	at := strings.TrimSuffix(path, "/")
	return p != nil && (at == "/mcp" || at == "/sse" || strings.HasPrefix(at, "/mcp/sets/"))
}

// base returns this server's address without a path, such as https://tools.example.com. Headers
// such as X-Forwarded-Host are ignored, since any client can send them.
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

// metadata returns the parameter resource_metadata for the header WWW-Authenticate: the address at
// which OAuth clients find out who issues tokens for the requested path. It returns "" if the path
// needs none.
func (p *Resource) metadata(r *http.Request) string {
	if !p.covers(r.URL.Path) {
		return ""
	}
	return `, resource_metadata="` + p.base(r) + MetadataPath + r.URL.EscapedPath() + `"`
}

// ServeHTTP implements http.Handler: it describes the resource whose path follows MetadataPath, or
// the whole server if no path follows. The answer is 404 for other paths, and if p is nil.
func (p *Resource) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path := strings.TrimPrefix(r.URL.Path, MetadataPath)
	if p == nil || r.Method != http.MethodGet && r.Method != http.MethodHead ||
		strings.Trim(path, "/") != "" && !p.covers(path) {
		http.NotFound(w, r)
		return
	}
	at := url.URL{Path: strings.TrimSuffix(path, "/")}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store") // the answer contains the requested host
	_ = json.NewEncoder(w).Encode(map[string]any{
		"resource": p.base(r) + at.EscapedPath(), "resource_name": "toolnorm",
		"authorization_servers": []string{p.Issuer}, "bearer_methods_supported": []string{"header"},
	})
}
