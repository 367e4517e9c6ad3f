package main

import (
	"net/http"
	"strings"

	"toolnorm/admin"
	"toolnorm/admin/web"
	"toolnorm/internal/auth"
)

// admins are the settings of who may administer. Without keys of their own the keys of the models open /admin, too.
type admins struct {
	AdminKey     []string `name:"admin-key" placeholder:"KEY" help:"Keys that open /admin: at least 16 characters, or sha256: and a key's SHA-256 digest. Then API keys do not. Safer in the environment or a file. Default: an API key, or a JWT with the role of jwt-admin-role, opens it; without either only this machine may."`
	AdminKeyFile string   `name:"admin-key-file" placeholder:"FILE" help:"File with such keys, one per line; # starts a comment."`
}

// withAdmin is a face beside which the server is administered. The API has a guard of
// its own, with its own keys; the page has none, since a browser can send no key with a
// navigation or for a script, and shows nothing until the API answers. It stands in
// front of the guard of the models: where both have keys, neither opens the other's
// door.
//
// The page and its scripts are the same for everybody and pass in front of every guard:
// the guard refuses scripts and styles as such, since elsewhere they would be answers
// that a foreign page shows.
func (m *Main) withAdmin(guard *auth.Guard, keys auth.Keys, face http.Handler) http.Handler {
	keyed := *guard
	if len(keys) > 0 {
		keyed.Keys = keys
	}
	api := keyed.Wrap(m.admin)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/" && wantsPage(r) && web.Built():
			http.Redirect(w, r, admin.Paths, http.StatusSeeOther)
		case strings.HasPrefix(r.URL.Path, admin.API):
			api.ServeHTTP(w, r)
		case r.URL.Path == admin.Paths, strings.HasPrefix(r.URL.Path, admin.Paths+"/"):
			m.admin.ServeHTTP(w, r)
		default:
			face.ServeHTTP(w, r)
		}
	})
}

// wantsPage reports whether a browser asks for a page. Ollama's own programs ask for / to see whether a server runs, and
// never accept HTML.
func wantsPage(r *http.Request) bool {
	return r.Method == http.MethodGet && strings.Contains(r.Header.Get("Accept"), "text/html")
}

// livePage is where browsers that ask for /debug are sent. A binary without the page
// shows its own there.
func livePage() string {
	if web.Built() {
		return admin.Paths + "#/live"
	}
	return ""
}
