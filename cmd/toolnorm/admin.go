package main

import (
	"net/http"
	"strings"

	"toolnorm/admin"
	"toolnorm/admin/web"
)

// admins has the settings that say who may administer the server. Without keys for administrators,
// the API keys open /admin as well.
type admins struct {
	AdminKey     []string `name:"admin-key" placeholder:"KEY" help:"Keys of administrators, who change the server and see inside it: at least 16 characters, or sha256: and a key's SHA-256 digest. Then other API keys may not. Safer in the environment or a file. Default: holders of API keys are administrators, and whoever is on this machine if there are none."`
	AdminKeyFile string   `name:"admin-key-file" placeholder:"FILE" help:"File with such keys, one per line; # starts a comment."`
	MetricsKey   []string `name:"metrics-key" placeholder:"KEY" help:"Keys that may read /metrics and nothing else, as --admin-key. Default: administrators may, and whoever is on this machine if there are none."`
}

// toPage returns a handler that redirects browsers from / to the admin page and passes all other
// requests to next. Every user may load the page, so the handler runs before the one that asks for
// a key.
func toPage(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/" && wantsPage(r) && web.HasPage() {
			http.Redirect(w, r, admin.Paths, http.StatusSeeOther)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// wantsPage reports whether a browser asks for a page. Ollama's own programs ask for / to see
// whether a server runs, and never accept HTML.
func wantsPage(r *http.Request) bool {
	return r.Method == http.MethodGet && strings.Contains(r.Header.Get("Accept"), "text/html")
}

// livePage returns the address on the admin page to which browsers that ask for /debug are sent. It
// returns "" if the binary has no admin page; /debug then shows a page of its own.
func livePage() string {
	if web.HasPage() {
		return admin.Paths + "#/live"
	}
	return ""
}
