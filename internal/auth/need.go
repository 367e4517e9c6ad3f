package auth

import (
	"net/http"
	"net/url"
	"strings"

	"toolnorm/internal/fault"
)

// Need is what a route requires of its caller. The zero value requires the most, so a route that is
// missing from Guard.Needs is for administrators.
type Need uint8

// The needs, strictest first. Each comment names the required right, and the web pages that may
// send the request.
const (
	Console Need = iota // Administer; every change needs WriteHeader, whichever client sends it
	Admin               // Administer; no web page but this server's own
	Servers             // MCPServers; no web page but this server's own
	Manage              // Library; no web page but this server's own
	Scrape              // Administer, or a key of Guard.Scrapers; no web page but this server's own
	Program             // Tools; no web page but this server's own
	Call                // Tools, and the web pages that Guard.Origins allows
	Ask                 // Models, and the web pages that Guard.Origins allows
	User                // any caller who is admitted, and the web pages that Guard.Origins allows
	Open                // no credential; Host and Origin are checked
	Page                // nothing is checked: everybody gets the same bytes
)

// needNames holds the word and the right of each need.
var needNames = [...]struct {
	word  string
	right Right
}{
	Console: {"console", Administer}, Admin: {"administrator", Administer},
	Servers: {"mcp-servers", MCPServers}, Manage: {"manage-models", Library},
	Scrape: {"scrape", Administer}, Program: {"program", Tools}, Call: {"tools", Tools},
	Ask: {"models", Models}, User: {"user", 0}, Open: {"open", 0}, Page: {"page", 0},
}

// String returns the name of the need in the documentation, such as "administrator".
func (n Need) String() string { return needNames[min(n, Page)].word }

// WriteHeader must be on every request with which a page changes the server. A form or a link of a
// foreign page cannot set it, and a script of a foreign page needs a preflight, which is refused.
const WriteHeader = "Toolnorm-Admin"

// need returns what the route of a request requires. For a guard without routes it is User.
func (g *Guard) need(r *http.Request) Need {
	if g.Routes == nil {
		return User
	}
	_, pattern := g.Routes.Handler(r)
	return g.Needs[pattern]
}

// ownPages returns an error if a web page of another origin sent the request, by the headers Origin
// and Sec-Fetch-Site. Pages of other programs on this machine may chat, but not use the routes that
// ownPages guards, because any program under development can serve a page. A request without either
// header comes from a program and passes. Other requests, and all if need is Console, must pass
// mayWrite as well.
func ownPages(r *http.Request, need Need) error {
	foreign := fault.New(fault.Forbidden, "web pages of other origins may not ask %s", r.URL.Path)
	site := r.Header.Get("Sec-Fetch-Site")
	if site != "" && site != "same-origin" && site != "none" {
		return foreign
	}
	origins := r.Header.Values("Origin")
	if need != Console && len(origins) == 0 && site == "" {
		return nil
	}
	if len(origins) > 0 {
		u, err := url.Parse(origins[0])
		if len(origins) > 1 || err != nil || u.Scheme != "http" && u.Scheme != "https" ||
			!strings.EqualFold(u.Host, r.Host) {
			return foreign
		}
	}
	return mayWrite(r)
}

// mayWrite returns an error for a request that changes something, if a web page of somebody else
// could have made the browser send it. Credentials do not prove that the user wants the change,
// because browsers send Basic credentials by themselves.
func mayWrite(r *http.Request) error {
	if r.Method == http.MethodGet || r.Method == http.MethodHead || isPreflight(r) {
		return nil
	}
	if r.Header.Get(WriteHeader) == "" {
		return fault.New(fault.Forbidden, "changes need the header %s: 1", WriteHeader)
	}
	kind, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
	if r.Method != http.MethodDelete &&
		!strings.EqualFold(strings.TrimSpace(kind), "application/json") {
		return fault.New(fault.Invalid, "the body must be sent as application/json")
	}
	return nil
}

// mayAsk returns an error if the caller lacks the right that the route needs. A caller on this
// machine without credentials is an administrator, unless there are keys for administrators.
func (g *Guard) mayAsk(h http.Header, r *http.Request, need Need, who *Principal) error {
	right := needNames[need].right
	switch here := Here(r, r.URL.Path); {
	case right == 0, who.May(right), need == Scrape && who != nil && who.scrapes:
		return nil
	case who != nil && right == Administer && who.caller != "":
		return fault.New(fault.Forbidden,
			"%s is for administrators, and %s is not one; ask with an administrator's key, or a JWT with the role of jwt-admin-role", r.URL.Path, who.Subject)
	case who != nil && (who.caller != "" || here == nil && g.Rights != nil):
		return fault.New(fault.Forbidden,
			"%s needs the right %s, which %s does not have; the setting rights gives it",
			r.URL.Path, right, who.Subject)
	case len(g.Admins) > 0, need == Scrape && len(g.Scrapers) > 0:
		return g.challenge(h, r, nil)
	default:
		return fault.New(fault.Forbidden, "%w; set admin-key to ask from elsewhere", here)
	}
}
