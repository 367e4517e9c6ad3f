package admin

import (
	"net/http"
	"net/url"
	"strings"

	"toolnorm/internal/auth"
	"toolnorm/internal/fault"
)

// writeHeader has to be on every request that changes something. A form or a link of a
// foreign page cannot set it, and a script of one needs a preflight, behind which the
// look at the Origin still refuses it.
const writeHeader = "Toolnorm-Admin"

// guardAnswer keeps answers out of caches and out of other pages. The API sends data
// alone, so nothing in an answer may run or be shown as a page, whatever an
// administrator or a model wrote into it.
func guardAnswer(h http.Header) {
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'; sandbox")
}

// mayAsk turns away all but administrators. The Guard in front of the server has looked
// at the host and the credential; what is added here is stricter than for the models:
// no page of another origin, though it be of this machine, and without a credential
// nobody from elsewhere.
func mayAsk(r *http.Request) error {
	who := auth.PrincipalOf(r.Context())
	switch {
	case who == nil:
		return fault.New(fault.Unauthorized, "an administrator's key is needed; send Authorization: Bearer KEY")
	case !who.Admin:
		return fault.New(fault.Forbidden, "%s is no administrator; the token's role has to be admin", who.Subject)
	case auth.Caller(r.Context()) == "":
		if err := auth.Here(r, Paths); err != nil {
			return fault.New(fault.Forbidden, "%w; set admin-key to use it from elsewhere", err)
		}
	}
	if err := sameOrigin(r); err != nil {
		return err
	}
	return mayWrite(r)
}

// sameOrigin refuses what a page of another origin sends. The guard lets in the pages
// of this machine, for chats; one of them is any program's development server.
func sameOrigin(r *http.Request) error {
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" && site != "none" {
		return fault.New(fault.Forbidden, "pages of other origins may not ask %s", Paths)
	}
	origins := r.Header.Values("Origin")
	if len(origins) == 0 {
		return nil
	}
	u, err := url.Parse(origins[0])
	if len(origins) > 1 || err != nil || (u.Scheme != "http" && u.Scheme != "https") || !strings.EqualFold(u.Host, r.Host) {
		return fault.New(fault.Forbidden, "pages of other origins may not ask %s", Paths)
	}
	return nil
}

// mayWrite refuses a change that a page could have made a browser send without its
// user's will. Basic credentials and the place on this machine are sent by browsers on
// their own, so they prove nothing.
func mayWrite(r *http.Request) error {
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		return nil
	}
	if r.Header.Get(writeHeader) == "" {
		return fault.New(fault.Forbidden, "changes need the header %s: 1", writeHeader)
	}
	kind, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
	if r.Method != http.MethodDelete && !strings.EqualFold(strings.TrimSpace(kind), "application/json") {
		return fault.New(fault.Invalid, "the body has to be sent as application/json")
	}
	return nil
}
