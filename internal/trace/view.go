package trace

import (
	"bytes"
	"crypto/rand"
	_ "embed"
	"html/template"
	"net/http"
	"net/url"
	"strings"

	"toolnorm/chat"
	"toolnorm/internal/body"
	"toolnorm/internal/fault"
)

// viewHTML is the page of the trace view. It contains no script, because it shows text that models
// and clients wrote.
//
//go:embed view.html
var viewHTML string

// viewPage is the parsed page. html/template escapes each text according to its context.
var viewPage = template.Must(template.New("view").Funcs(template.FuncMap{"visible": visible}).Parse(
	viewHTML))

// View shows the exchanges of a Log, as a page to browsers and as JSON to programs. If the admin
// page is built into the program, browsers are redirected to its tab Live, which shows the same
// with reasons, schemas and a replay. The texts are private and may be hostile, so requests must
// pass auth.Guard first.
type View struct {
	Log     *Log          // nil: there is none, and requests fail
	Reasons []chat.Reason // what the codes in Repairs mean
	// the page to which browsers are redirected, with the exchange's id appended; empty: View's own
	// page is shown
	Page string
}

// shown is what the page /debug/exchanges shows: a list of exchanges, or one exchange.
type shown struct {
	Nonce   string // of its style
	List    List
	One     *Exchange
	reasons map[string]string
}

// Means returns what the code of a repair means, or "" for an unknown code.
func (v shown) Means(code string) string { return v.reasons[code] }

// Serve answers a request for the list of exchanges, or for one exchange if the request has an id.
// The list has no texts, a single exchange has. The error is a fault of kind NotFound if there is
// no log or no such exchange.
func (v *View) Serve(w http.ResponseWriter, r *http.Request) error {
	if v.Log == nil {
		return fault.New(fault.NotFound, "no requests are kept; --trace sets how many to keep")
	}
	guardView(w.Header())
	id := r.FormValue("id")
	if v.Page != "" && wantsPage(r) {
		to := v.Page
		if id != "" {
			to += "/" + url.PathEscape(id)
		}
		http.Redirect(w, r, to, http.StatusFound)
		return nil
	}
	it := shown{Nonce: rand.Text(), List: v.Log.List()}
	if id != "" {
		if it.One = v.Log.Find(id); it.One == nil {
			return fault.New(fault.NotFound, "request %q is not kept; only the last %d are", id,
				it.List.Keeps)
		}
	}
	switch {
	case wantsPage(r):
		return v.page(w, it)
	case it.One != nil:
		return body.Write(w, http.StatusOK, it.One)
	}
	return body.Write(w, http.StatusOK, it.List)
}

// page writes the HTML page. Its Content-Security-Policy allows no script, no picture and no form,
// so that even markup that was not escaped would have no effect. The style has a new nonce for each
// page. It returns an error if the page cannot be written.
func (v *View) page(w http.ResponseWriter, it shown) error {
	it.reasons = make(map[string]string, len(v.Reasons))
	for _, reason := range v.Reasons {
		it.reasons[reason.Code] = reason.Means
	}
	var b bytes.Buffer
	if err := viewPage.Execute(&b, it); err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'nonce-"+it.Nonce+
		"'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	_, err := w.Write(b.Bytes())
	return err
}

// wantsPage reports whether a request comes from a browser that wants the page. curl sends Accept:
// */* and gets JSON at /debug/exchanges.
func wantsPage(r *http.Request) bool {
	return r.FormValue("as") != "json" && (r.URL.Path == "/debug" || strings.Contains(r.Header.Get(
		"Accept"), "text/html"))
}

// guardView sets headers that exclude the view from caches and from other pages. A cache would
// store what this server soon forgets.
func guardView(h http.Header) {
	h.Set("Cache-Control", "no-store")
	h.Add("Vary", "Accept")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
}
