package proxy

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"toolnorm/internal/fault"
)

// appSchemes are origins of programs on the user's machine that show web pages.
var appSchemes = []string{"app", "tauri", "vscode-webview", "vscode-file"}

// admit turns away what a web page elsewhere could make a browser send: a request under a foreign host name (DNS
// rebinding) or from a foreign origin. To a page that may ask it says so.
func (s *Server) admit(h http.Header, r *http.Request) error {
	if !s.hostAllowed(r.Host) {
		return fault.New(fault.Forbidden, "this server is not asked as %q; name that host in the setting hosts", r.Host)
	}
	origin := r.Header.Get("Origin")
	if origin == "" {
		return nil
	}
	h.Add("Vary", "Origin")
	if !s.originAllowed(origin, r.Host) {
		return fault.New(fault.Forbidden, "pages of %q may not ask this server; name that origin in the setting origins", origin)
	}
	h.Set("Access-Control-Allow-Origin", origin)
	h.Set("Access-Control-Expose-Headers", "X-Request-Id, Retry-After, Toolnorm-Format, Toolnorm-Strategy, Toolnorm-Repairs, Toolnorm-Cut")
	return nil
}

// hostAllowed checks a Host header. An IP address cannot be rebound, so any will do.
func (s *Server) hostAllowed(hostport string) bool {
	host := hostName(hostport)
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	if _, err := netip.ParseAddr(host); err == nil {
		return true
	}
	return slices.ContainsFunc(s.cfg.Hosts, func(allowed string) bool {
		return allowed == "*" || strings.EqualFold(allowed, host)
	})
}

// hostName is a Host header without its port, brackets, final dot and capitals.
func hostName(hostport string) string {
	host := hostport
	if h, _, err := net.SplitHostPort(hostport); err == nil {
		host = h
	}
	return strings.ToLower(strings.TrimSuffix(strings.Trim(host, "[]"), "."))
}

// originAllowed checks an Origin header: this server's own pages, this machine's, and those that the settings name.
func (s *Server) originAllowed(origin, host string) bool {
	if slices.ContainsFunc(s.cfg.Origins, func(allowed string) bool {
		return allowed == "*" || strings.EqualFold(strings.TrimSuffix(allowed, "/"), origin)
	}) {
		return true
	}
	u, err := url.Parse(origin)
	if err != nil || u.Host == "" {
		return false
	}
	if slices.Contains(appSchemes, u.Scheme) {
		return true
	}
	if u.Scheme != "http" && u.Scheme != "https" {
		return false
	}
	return strings.EqualFold(u.Host, host) || isLoopback(u.Hostname())
}

// isLoopback says that a host name means this machine.
func isLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}

// isPreflight says that a browser asks whether it may ask.
func isPreflight(r *http.Request) bool {
	return r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != ""
}

// preflight tells an admitted browser what it may send. The headers are listed one by one, since "*" never covers
// Authorization.
func preflight(h http.Header, r *http.Request) {
	allowed := []string{"authorization", "content-type"}
	for name := range strings.SplitSeq(r.Header.Get("Access-Control-Request-Headers"), ",") {
		name = strings.ToLower(strings.TrimSpace(name))
		if isToken(name) && !slices.Contains(allowed, name) {
			allowed = append(allowed, name)
		}
	}
	h.Add("Vary", "Access-Control-Request-Method")
	h.Add("Vary", "Access-Control-Request-Headers")
	h.Set("Access-Control-Allow-Methods", "GET, POST, OPTIONS")
	h.Set("Access-Control-Allow-Headers", strings.Join(allowed, ", "))
	h.Set("Access-Control-Max-Age", "600")
	if r.Header.Get("Access-Control-Request-Private-Network") == "true" {
		h.Set("Access-Control-Allow-Private-Network", "true")
	}
}

// isToken says that s can be the name of a header.
func isToken(s string) bool {
	return s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789-_.") == ""
}
