// Package auth decides which requests a server answers: under which host name, from which web page,
// and with which key.
//
// One Guard wraps everything that one port serves; the handlers inside it check none of this
// themselves. So a new handler cannot forget a check, and cannot log or pass on a key that it never
// sees.
//
// A handler does learn who asks: a Principal in the request's context, which is passed on to every
// tool call. It is nil only on an open path.
//
//	guard.go      the Guard: host, origin, then who asks
//	need.go       what a route asks of its caller: an administrator, a page of this server, …
//	here.go       which requests come from this machine
//	preflight.go  what a browser may send
//	keys.go       API keys: their file, their labels, where requests carry them
//	jwt.go        JWTs: which are believed, and what their claims mean
//	keyring.go    the public keys of an issuer, kept and fetched anew
//	publickey.go  JWKS and PEM
//	resource.go   where MCP clients find who issues tokens
//	principal.go  who asks
//	sets.go       which sets of tools they may use
//	rights.go     what else they may do: ask models, call tools, manage, administrate
package auth

import (
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/rs/zerolog"

	"toolnorm/internal/fault"
)

// Guard refuses requests that are not allowed. The zero value answers every program on this machine
// and in the network without a key, under localhost or an IP address, and the web pages of this
// machine. Void cannot send a key to its MCP servers, so loopback has to work without one.
type Guard struct {
	// host names, besides localhost and every IP address, under which the server is asked; "*": any
	Hosts    []string
	Origins  []string  // web origins, besides those on this machine, whose pages may ask; "*": any
	Keys     Keys      // one of which every request must carry; none: no key is required
	Admins   Keys      // the keys of administrators; none: the holders of Keys are administrators
	Scrapers Keys      // the keys that give access to what is scraped, and to nothing else
	Tokens   *Tokens   // verifies JWTs, which give access as keys do; nil: JWTs are not accepted
	Resource *Resource // what MCP clients without a token are told; nil: nothing

	// Local reports whether a request carries a secret that only the user who runs the server can
	// read; nil: there is no such secret.
	Local func(*http.Request) bool

	Routes *http.ServeMux // finds a request's route; nil: every route needs a User
	// what routes need, by their patterns; a route that is missing is for administrators
	Needs map[string]Need

	Sets Sets // which sets of tools callers may use; nil: only the claims decide
	// what callers may do; nil: administrators may do everything, others may ask models and call
	// tools
	Rights Rights

	// a line for each request that is refused, without its key; the zero value logs nothing
	Log zerolog.Logger
}

// appSchemes are origins of programs on the user's machine that show web pages: app://obsidian.md,
// tauri://localhost, vscode-webview://1ab. No web page can have such an origin, so these pass by
// their scheme alone.
var appSchemes = []string{"app", "tauri", "vscode-webview", "vscode-file"}

// Wrap returns a handler that guards next. It answers a forbidden request with a fault, and an
// allowed preflight with the headers that the page may send; neither reaches next. The key is
// removed: next sees requests without it.
func (g *Guard) Wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// The order matters: a preflight carries a host and an origin, but no key. So it is
		// answered after the checks of host and origin, and before the check of the key.
		need := g.need(r)
		if need == Page {
			next.ServeHTTP(w, withoutKey(r))
			return
		}
		if err := g.admit(w.Header(), r, need); err != nil {
			g.turnAway(w, r, err)
			return
		}
		if isPreflight(r) {
			preflight(w.Header(), r)
			w.WriteHeader(http.StatusNoContent)
			return
		}
		who, err := g.who(w.Header(), r, need)
		if err == nil {
			err = g.mayAsk(w.Header(), r, need, who)
		}
		if err != nil {
			g.turnAway(w, r, err)
			return
		}
		next.ServeHTTP(w, withoutKey(r.WithContext(WithPrincipal(r.Context(), who))))
	})
}

// turnAway answers a forbidden request: 403 for a host, an origin or a form, 401 for a key. The log
// line names where the request came from and why a token was rejected, and never the key.
func (g *Guard) turnAway(w http.ResponseWriter, r *http.Request, err error) {
	g.Log.Warn().AnErr("cause", fault.From(err).Cause).Str("path", r.URL.Path).Str("from",
		r.RemoteAddr).Str("host", r.Host).Str("origin", r.Header.Get("Origin")).
		Int("status", fault.From(err).Status()).Msg("refused")
	fault.WriteFor(w, r, err)
}

// exposedHeaders are the headers of an answer that pages may read. Without the list a browser shows
// a script only Content-Type and a few others. A browser's MCP client needs Mcp-Session-Id, or
// every message after initialize has no session.
const exposedHeaders = "X-Request-Id, Retry-After, X-Should-Retry, Toolnorm-Format, Toolnorm-Strategy, Toolnorm-Client-Form, Toolnorm-Repairs, Toolnorm-Cut, Toolnorm-Loop, Toolnorm-History, Toolnorm-Trimmed, Toolnorm-Truncated, Toolnorm-Tools, Toolnorm-Left-Out, Toolnorm-Calls-Left-Out, Request-Id, Mcp-Session-Id"

// admit refuses what a web page elsewhere could make a browser send: a request under a foreign host
// name (DNS rebinding) or from a foreign origin. It adds the CORS headers for a page that is
// allowed. Both checks are needed: after a rebinding the attacker chooses Host and Origin alike, so
// comparing one with the other proves nothing. MCP demands the 403 for an Origin that is not
// allowed, in all its revisions; a request without an Origin comes from a program and passes. Only
// the server's own pages may change the server, or see what is in it.
func (g *Guard) admit(h http.Header, r *http.Request, need Need) error {
	// HAProxy's health checks use HTTP/1.0 and name no host. No browser sends such a request.
	if probe := r.Host == "" && need == Open; !probe && !g.hostAllowed(r.Host) {
		name := HostName(r.Host)
		if name == "" {
			return fault.New(fault.Forbidden, "the header Host names no host: %q", r.Host)
		}
		return fault.New(fault.Forbidden, "host %q is not allowed; add it with --hosts %s", r.Host,
			name)
	}
	if need <= Program {
		if err := ownPages(r, need); err != nil {
			return err
		}
	}
	origin := r.Header.Get("Origin")
	if origin == "" {
		return g.fetched(r)
	}
	// A cache must not give one page's answer, with its Access-Control-Allow-Origin, to another.
	// "*" is never sent.
	h.Add("Vary", "Origin")
	if len(r.Header.Values("Origin")) > 1 || !g.originAllowed(origin, r.Host) {
		return fault.New(fault.Forbidden,
			"web pages of %q are not allowed; add the origin with --origins %s", origin, origin)
	}
	if isForm(r) {
		return fault.New(fault.Forbidden,
			"HTML forms are not allowed; send the body as application/json")
	}
	h.Set("Access-Control-Allow-Origin", origin)
	h.Set("Access-Control-Expose-Headers", exposedHeaders)
	return nil
}

// fetched refuses requests that a browser sends without an Origin for a foreign page, or to show in
// a page: images, scripts, frames. <img src="http://localhost:11435/sse"> would open a stream. An
// address that the user types, or a link that the user follows, passes. Browsers tell these apart
// in headers that no page can set; other programs send none of them and pass.
func (g *Guard) fetched(r *http.Request) error {
	site, mode, to := r.Header.Get("Sec-Fetch-Site"), r.Header.Get("Sec-Fetch-Mode"), r.Header.Get(
		"Sec-Fetch-Dest")
	switch {
	case slices.Contains(g.Origins, "*"):
	case isForm(r) && site != "":
		return fault.New(fault.Forbidden, "HTML forms are not allowed")
	case to != "" && to != "empty" && to != "document":
		return fault.New(fault.Forbidden, "web pages may not load this server's answers as a %s",
			to)
	case site == "cross-site" &&
		!(mode == "navigate" && (r.Method == http.MethodGet || r.Method == http.MethodHead)):
		return fault.New(fault.Forbidden,
			"web pages from other machines are not allowed; add their origin with --origins")
	}
	return nil
}

// isForm reports whether a body is that of a form in a page, which browsers send across origins
// without a preflight. curl -d says form-urlencoded too, so a form counts only beside an Origin or
// Sec-Fetch-Site. text/plain is not treated as a form: with an allowed Origin it comes from an
// allowed page.
func isForm(r *http.Request) bool {
	kind, _, _ := strings.Cut(strings.ToLower(r.Header.Get("Content-Type")), ";")
	kind = strings.TrimSpace(kind)
	return kind == "application/x-www-form-urlencoded" || kind == "multipart/form-data"
}

// hostAllowed reports whether a Host header is allowed. Every IP address is: a rebinding needs a
// name whose address the attacker can change. Names below .localhost never leave the machine in a
// browser.
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

// HostName returns a Host header without its port, brackets, final dot and capitals. It returns ""
// for an invalid header. A valid one is a name or an address, in brackets if the address has
// colons, and then nothing or a colon and a number. So localhost:80.evil.example and [127.0.0.1]
// are invalid, though a looser reading would find an allowed host in them.
func HostName(hostport string) string {
	host, port := hostport, ""
	if inside, ok := strings.CutPrefix(hostport, "["); ok {
		if host, port, ok = strings.Cut(inside, "]"); !ok || !strings.Contains(host, ":") {
			return ""
		}
	} else if at := strings.IndexByte(hostport, ':'); at >= 0 {
		host, port = hostport[:at], hostport[at:]
	}
	if number, ok := strings.CutPrefix(port, ":"); strings.Trim(number, "0123456789") != "" ||
		port != "" && !ok {
		return ""
	}
	return strings.ToLower(strings.TrimSuffix(host, "."))
}

// originAllowed reports whether an Origin header is allowed: that of this server's own pages, of
// this machine's pages, and of those that the settings name. "null" is not allowed: every sandboxed
// frame and local file has it, whatever its author.
func (g *Guard) originAllowed(origin, host string) bool {
	if slices.ContainsFunc(g.Origins, func(allowed string) bool {
		return allowed == "*" || strings.EqualFold(strings.TrimSuffix(allowed, "/"), origin)
	}) {
		return true
	}
	u, err := url.Parse(origin)
	// an origin has a scheme and a host only; http://localhost@evil.example begins with a user
	if err != nil || u.Host == "" || !strings.EqualFold(u.Scheme+"://"+u.Host, origin) {
		return false
	}
	if slices.Contains(appSchemes, u.Scheme) {
		return true
	}
	if u.Scheme != "http" && u.Scheme != "https" {
		return false
	}
	return HostName(u.Host) != "" &&
		(strings.EqualFold(u.Host, host) || IsLoopback(HostName(u.Host)))
}

// IsLoopback reports whether a host name, as HostName gives it, means this machine.
func IsLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.Unmap().IsLoopback()
}
