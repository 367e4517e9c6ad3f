package auth

import (
	"net/http"
	"net/url"
	"strings"

	"toolnorm/internal/fault"
)

// Need is what a route asks of its caller. The zero value asks for the most, so a route that
// nobody thought of is for administrators.
type Need uint8

// The needs, the strictest first.
const (
	Console Need = iota // an administrator; each change bears WriteHeader, whoever sends it
	Admin               // an administrator; no web page but this server's own
	Scrape              // an administrator, or one of Guard.Scrapers; no web page but this server's own
	Program             // anybody who may use the models; no web page but this server's own
	User                // anybody who may use the models, and the web pages that Guard.Origins allows
	Open                // no credential; Host and Origin are checked
	Page                // nothing is checked: the same bytes for everybody
)

// String returns the word that the documents use.
func (n Need) String() string {
	return [...]string{"console", "administrator", "scrape", "program", "user", "open", "page"}[min(int(n), int(Page))]
}

// WriteHeader must be on every request by which a page changes the server. A form or a link
// of a foreign page cannot set it, and a script of one needs a preflight, which is refused.
const WriteHeader = "Toolnorm-Admin"

// need returns what the route of a request asks for. A guard without routes asks for a user.
func (g *Guard) need(r *http.Request) Need {
	if g.Routes == nil {
		return User
	}
	_, pattern := g.Routes.Handler(r)
	return g.Needs[pattern]
}

// ownPages refuses what a page of another origin sends. The guard lets in the pages of this
// machine for chats, and one of them is any program's development server. Programs send none
// of these headers and pass.
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
		if len(origins) > 1 || err != nil || u.Scheme != "http" && u.Scheme != "https" || !strings.EqualFold(u.Host, r.Host) {
			return foreign
		}
	}
	return mayWrite(r)
}

// mayWrite refuses a change that a page could have made a browser send without its user's
// will. Browsers send Basic credentials by themselves, so these prove nothing.
func mayWrite(r *http.Request) error {
	if r.Method == http.MethodGet || r.Method == http.MethodHead || isPreflight(r) {
		return nil
	}
	if r.Header.Get(WriteHeader) == "" {
		return fault.New(fault.Forbidden, "changes need the header %s: 1", WriteHeader)
	}
	kind, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
	if r.Method != http.MethodDelete && !strings.EqualFold(strings.TrimSpace(kind), "application/json") {
		return fault.New(fault.Invalid, "the body must be sent as application/json")
	}
	return nil
}

// mayAsk refuses who is not an administrator where the route needs one. Without credentials
// whoever is on this machine is one, unless there are keys for administrators.
func (g *Guard) mayAsk(h http.Header, r *http.Request, need Need, who *Principal) error {
	switch {
	case need > Scrape || who != nil && (who.Manages || need == Scrape && who.scrapes):
		return nil
	case who != nil && who.caller != "":
		return fault.New(fault.Forbidden, "%s is for administrators, and %s is not one; ask with an administrator's key, or a JWT with the role of jwt-admin-role", r.URL.Path, who.Subject)
	case len(g.Admins) > 0, need == Scrape && len(g.Scrapers) > 0:
		return g.challenge(h, r, nil)
	}
	return fault.New(fault.Forbidden, "%w; set admin-key to ask from elsewhere", Here(r, r.URL.Path))
}
