package auth

import (
	"net/http"
	"slices"
	"strings"
)

// isPreflight reports whether a request is a preflight, with which a browser asks whether a page
// may send the real request. An OPTIONS request without Access-Control-Request-Method is an
// ordinary one.
func isPreflight(r *http.Request) bool {
	return r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != ""
}

// preflight sets the headers that say what an admitted page may send. It allows the headers that
// the browser asks for, one by one, since "*" never covers Authorization. A fixed list would miss
// some, because OpenAI's JavaScript client sends several of its own (X-Stainless-Lang and others).
// Browsers remember the answer for 600 s.
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
	h.Set("Access-Control-Allow-Methods", "GET, POST, DELETE, OPTIONS")
	h.Set("Access-Control-Allow-Headers", strings.Join(allowed, ", "))
	h.Set("Access-Control-Max-Age", "600")
	// Chrome asks this before a public page may reach a private address; the origin has been
	// checked already.
	if r.Header.Get("Access-Control-Request-Private-Network") == "true" {
		h.Set("Access-Control-Allow-Private-Network", "true")
	}
}

// isToken reports whether s can be the name of a header. It accepts only letters, digits and "-_.":
// HTTP allows more characters, but no client uses them. The check is needed because names from the
// request are copied into a header of the answer.
func isToken(s string) bool {
	return s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789-_.") == ""
}
