package trace

import (
	"bytes"
	"crypto/rand"
	_ "embed"
	"encoding/json"
	"html/template"
	"net/http"
	"net/url"
	"strings"

	"toolnorm/chat"
	"toolnorm/internal/fault"
)

// viewHTML is the page of the trace view. It holds no script: what models and clients wrote is
// shown in it.
//
//go:embed view.html
var viewHTML string

// viewPage escapes by the place in which a text stands, which is why it is html/template's.
var viewPage = template.Must(template.New("view").Funcs(template.FuncMap{"visible": visible}).Parse(viewHTML))

// View serves the exchanges of a Log: as a page to those who want one, else as JSON. The page is
// for a program that was built without the admin page, whose Live shows the same with reasons,
// schemas and a replay; where that is there, browsers are sent to it. What it shows is hostile
// text, of people and of models, and may hold anything: auth.Guard belongs in front.
type View struct {
	Log     *Log          // nil: none are kept, and the view says so
	Reasons []chat.Reason // what the codes in Repairs mean
	Page    string        // where browsers are sent, which shows the same and more; an exchange's id follows it. Empty: the page is here
}

// shown is what the page shows: a list, or one exchange.
type shown struct {
	Nonce   string // of its style
	List    List
	One     *Exchange
	reasons map[string]string
}

// Means explains a reason code.
func (v shown) Means(code string) string { return v.reasons[code] }

// Serve answers one request.
// The list leaves texts out; only one exchange, asked for by its id, shows them.
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
			return fault.New(fault.NotFound, "request %q is not kept; only the last %d are", id, it.List.Keeps)
		}
	}
	switch {
	case wantsPage(r):
		return v.page(w, it)
	case it.One != nil:
		return writePlain(w, it.One)
	}
	return writePlain(w, it.List)
}

// writePlain answers with v, and leaves <, > and & as they are, for those who read it.
func writePlain(w http.ResponseWriter, v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	_, err := w.Write(b.Bytes())
	return err
}

// page writes the page. The policy allows no script, no picture and no form: even markup that
// slipped through escaping could do nothing. The style has a nonce, new with each page.
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
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'nonce-"+it.Nonce+"'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	_, err := w.Write(b.Bytes())
	return err
}

// wantsPage reports whether a browser asks, and not for the JSON.
// curl sends Accept: */* and gets JSON at /debug/exchanges.
func wantsPage(r *http.Request) bool {
	return r.FormValue("as") != "json" && (r.URL.Path == "/debug" || strings.Contains(r.Header.Get("Accept"), "text/html"))
}

// guardView keeps the view out of caches and out of other pages.
// A cache or a proxy would keep what this server itself forgets after fifty requests.
func guardView(h http.Header) {
	h.Set("Cache-Control", "no-store")
	h.Add("Vary", "Accept")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
}
