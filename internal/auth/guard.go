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

// Guard refuses requests that are not allowed. The zero value requires no key, because Void cannot
// send one to its MCP servers. A zero Guard answers every program, here or in the network, that
// sends localhost or an IP address as the Host, and the web pages of this machine.
type Guard struct {
	// names, besides localhost and every IP address, that the Host header may have; "*": any
	Hosts []string
	// web origins, besides those on this machine, whose pages may send requests; "*": any
	Origins  []string
	Keys     Keys    // every request must carry one of them; empty: no key is required
	Admins   Keys    // the keys of administrators; empty: holders of Keys are administrators
	Scrapers Keys    // keys that give access to metrics, and to nothing else
	Tokens   *Tokens // verifies JWTs, which give access as keys do; nil: JWTs are not accepted
	// tells MCP clients without a token where to get one; nil: they are told nothing
	Resource *Resource

	// Local reports whether a request carries a secret that only the user who runs the server can
	// read. If it is nil, there is no such secret.
	Local func(*http.Request) bool

	Routes *http.ServeMux // finds a request's route; nil: every route needs a User
	// what each route needs, by its pattern; a route that is missing is for administrators
	Needs map[string]Need

	Sets Sets // which sets of tools callers may use; nil: only the claims decide
	// what callers may do; nil: administrators may do everything, and others may ask models and
	// call tools
	Rights Rights

	// gets a line for each refused request, without its key; the zero value logs nothing
	Log zerolog.Logger
}

// appSchemes are the schemes of origins that belong to programs on the user's machine that show web
// pages: app://obsidian.md, tauri://localhost, vscode-webview://1ab. No web page can have such an
// origin, so the scheme alone is enough.
var appSchemes = []string{"app", "tauri", "vscode-webview", "vscode-file"}

// Wrap returns a handler that calls the handler next for allowed requests. It answers other
// requests with a fault, and an allowed preflight with the headers that the page may send; neither
// reaches next. The key is removed, so next never sees it.
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

// turnAway answers a forbidden request with err and logs it: 403 for a host, an origin or a form,
// 401 for a key. The log line says where the request came from and why a token was rejected, but
// never contains the key.
func (g *Guard) turnAway(w http.ResponseWriter, r *http.Request, err error) {
	g.Log.Warn().AnErr("cause", fault.From(err).Cause).Str("path", r.URL.Path).Str("from",
		r.RemoteAddr).Str("host", r.Host).Str("origin", r.Header.Get("Origin")).
		Int("status", fault.From(err).Status()).Msg("refused")
	fault.WriteFor(w, r, err)
}

// exposedHeaders are the headers of an answer that pages may read. Without this list a browser
// shows a script only Content-Type and a few others. For example, an MCP client in a browser needs
// Mcp-Session-Id, because without it every message after initialize has no session.
const exposedHeaders = "X-Request-Id, Retry-After, X-Should-Retry, Toolnorm-Format, Toolnorm-Strategy, Toolnorm-Client-Form, Toolnorm-Repairs, Toolnorm-Cut, Toolnorm-Loop, Toolnorm-History, Toolnorm-Trimmed, Toolnorm-Truncated, Toolnorm-Tools, Toolnorm-Left-Out, Toolnorm-Same-Name, Toolnorm-Calls-Left-Out, Request-Id, Mcp-Session-Id"

// admit returns an error for a request that a web page elsewhere could make a browser send: one
// with a foreign host name (DNS rebinding) or from a foreign origin. For an allowed page it adds
// the CORS headers. Both checks are needed, because after a rebinding the attacker chooses Host and
// Origin, so comparing the two proves nothing. For an Origin that is not allowed the error is 403,
// as all revisions of MCP require. A request without an Origin comes from a program and is allowed.
// If the parameter need is Program or stricter, only the server's own pages are allowed.
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

// fetched returns an error for a request without an Origin if a foreign page made the browser send
// it. It also returns one if a page would show the answer as an image, a script or a frame: <img
// src="http://localhost:11435/sse"> would open a stream. Addresses that a user types and links that
// a user follows are allowed. Browsers mark requests of pages by headers that no page can set.
// Other programs do not send these headers, and are allowed.
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

// isForm reports whether a body has the type of an HTML form, which browsers send across origins
// without a preflight. curl -d sends the same type, so callers must only look at it if there is an
// Origin or Sec-Fetch-Site. text/plain does not count as a form, because with an allowed Origin it
// comes from an allowed page.
func isForm(r *http.Request) bool {
	kind, _, _ := strings.Cut(strings.ToLower(r.Header.Get("Content-Type")), ";")
	kind = strings.TrimSpace(kind)
	return kind == "application/x-www-form-urlencoded" || kind == "multipart/form-data"
}

// hostAllowed reports whether a Host header is allowed. The check stops DNS rebinding, which needs
// a name whose address the attacker can change. So every IP address is allowed, and names that end
// in .localhost, because browsers send those to this machine only.
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

// HostName returns a Host header without its port, brackets, final dot and capitals, or "" if the
// header is invalid. A valid one is a name or an address, in brackets if and only if the address
// has colons, followed by nothing or by a colon and a number. So localhost:80.evil.example and
// [127.0.0.1] are invalid, although a more lenient parser would find an allowed host in them.
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

// originAllowed reports whether an Origin header is allowed. It is if the page comes from this
// server, from this machine, or from an origin in the settings. "null" is not allowed, because
// every sandboxed frame and local file has it, whoever wrote it.
func (g *Guard) originAllowed(origin, host string) bool {
	if slices.ContainsFunc(g.Origins, func(allowed string) bool {
		return allowed == "*" || strings.EqualFold(strings.TrimSuffix(allowed, "/"), origin)
	}) {
		return true
	}
	u, err := url.Parse(origin)
	// an origin has only a scheme and a host; http://localhost@evil.example begins with a user
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

// IsLoopback reports whether a host name, as returned by HostName, means this machine.
func IsLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.Unmap().IsLoopback()
}
