// Package auth decides who may ask a server: under which host name, from which web page, and with which key.
//
// One Guard stands in front of everything that one port serves; what is mounted behind it checks nothing of this itself.
package auth

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/rs/zerolog"

	"toolnorm/internal/fault"
)

// Guard turns away what may not ask. The zero value lets every program of this machine and of the network ask without a key
// under localhost or an IP address, and of web pages those of this machine.
type Guard struct {
	Hosts   []string       // host names, besides localhost and every IP address, under which the server is asked; "*": any
	Origins []string       // web origins, besides those on this machine, whose pages may ask; "*": any
	Keys    Keys           // one of which every request must bear; none: no key is asked for
	Open    []string       // paths that need no key, as "/healthz"
	Log     zerolog.Logger // a line for each request that is turned away, without its key; the zero value logs nothing
}

// appSchemes are origins of programs on the user's machine that show web pages.
var appSchemes = []string{"app", "tauri", "vscode-webview", "vscode-file"}

// Wrap is next behind the guard. Requests that may not ask are answered with a fault, preflights of those that may with
// what they may send; neither reaches next. The key stays here: next sees requests without it.
func (g *Guard) Wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		err := g.admit(w.Header(), r)
		switch {
		case err != nil:
			g.turnAway(w, r, err)
		case isPreflight(r):
			preflight(w.Header(), r)
			w.WriteHeader(http.StatusNoContent)
		case !g.knows(r):
			g.turnAway(w, r, g.challenge(w.Header(), r))
		default:
			next.ServeHTTP(w, withoutKey(g.named(r)))
		}
	})
}

// turnAway answers a request that may not ask.
func (g *Guard) turnAway(w http.ResponseWriter, r *http.Request, err error) {
	g.Log.Warn().Str("path", r.URL.Path).Str("from", r.RemoteAddr).Str("host", r.Host).Str("origin", r.Header.Get("Origin")).
		Int("status", fault.From(err).Status()).Msg("turned away")
	fault.WriteFor(w, r, err)
}

// exposed are the headers of an answer that pages may read.
const exposed = "X-Request-Id, Retry-After, X-Should-Retry, Toolnorm-Format, Toolnorm-Strategy, Toolnorm-Dialect, Toolnorm-Repairs, Toolnorm-Cut, Toolnorm-Loop, Toolnorm-History, Toolnorm-Trimmed, Toolnorm-Truncated, Toolnorm-Tools, Mcp-Session-Id"

// admit turns away what a web page elsewhere could make a browser send: a request under a foreign host name (DNS
// rebinding) or from a foreign origin. To a page that may ask it says so.
func (g *Guard) admit(h http.Header, r *http.Request) error {
	if !g.hostAllowed(r.Host) {
		return fault.New(fault.Forbidden, "this server is not asked as %q; name that host in the setting hosts", r.Host)
	}
	origin := r.Header.Get("Origin")
	if origin == "" {
		return nil
	}
	h.Add("Vary", "Origin")
	if !g.originAllowed(origin, r.Host) {
		return fault.New(fault.Forbidden, "pages of %q may not ask this server; name that origin in the setting origins", origin)
	}
	h.Set("Access-Control-Allow-Origin", origin)
	h.Set("Access-Control-Expose-Headers", exposed)
	return nil
}

// hostAllowed checks a Host header. An IP address cannot be rebound, so any will do.
func (g *Guard) hostAllowed(hostport string) bool {
	host := HostName(hostport)
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	if _, err := netip.ParseAddr(host); err == nil {
		return true
	}
	return slices.ContainsFunc(g.Hosts, func(allowed string) bool {
		return allowed == "*" || strings.EqualFold(allowed, host)
	})
}

// HostName is a Host header without its port, brackets, final dot and capitals.
func HostName(hostport string) string {
	host := hostport
	if h, _, err := net.SplitHostPort(hostport); err == nil {
		host = h
	}
	return strings.ToLower(strings.TrimSuffix(strings.Trim(host, "[]"), "."))
}

// originAllowed checks an Origin header: this server's own pages, this machine's, and those that the settings name.
func (g *Guard) originAllowed(origin, host string) bool {
	if slices.ContainsFunc(g.Origins, func(allowed string) bool {
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
	return strings.EqualFold(u.Host, host) || IsLoopback(u.Hostname())
}

// IsLoopback says that a host name, as HostName gives it, means this machine.
func IsLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.Unmap().IsLoopback()
}
