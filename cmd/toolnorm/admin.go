package main

import (
	"fmt"
	"net/http"
	"strings"

	"toolnorm/admin"
	"toolnorm/internal/auth"
)

// admins are the settings of who may administer.
type admins struct {
	AdminKey     []string `name:"admin-key" placeholder:"KEY" help:"Keys that open /admin: at least 16 characters, or sha256: and a key's SHA-256 digest. Then API keys do not. Safer in the environment or a file. Default: an API key, or a JWT with the role of jwt-admin-role, opens it; without either only this machine may."`
	AdminKeyFile string   `name:"admin-key-file" placeholder:"FILE" help:"File with such keys, one per line; # starts a comment."`
}

// keys are those that open /admin; none: those of the models do.
func (a admins) keys() (auth.Keys, error) {
	all, err := auth.ParseKeys(a.AdminKey)
	if err != nil {
		return nil, fmt.Errorf("admin-key: %w", err)
	}
	if a.AdminKeyFile == "" {
		return all, nil
	}
	more, err := auth.ReadKeys(a.AdminKeyFile)
	if err != nil {
		return nil, fmt.Errorf("admin-key-file: %w", err)
	}
	return append(all, more...), nil
}

// withAdmin is a face beside which the server is administered. The API has a guard of its own, with its own keys; the page
// has none, since a browser can send no key with a navigation, and shows nothing until the API answers.
// It stands in front of the guard of the models: where both have keys, neither opens the other's door.
func (m *Main) withAdmin(guard *auth.Guard, keys auth.Keys, face http.Handler) http.Handler {
	m.admin = admin.New(admin.Config{Version: version(), Log: m.log})
	keyed, keyless := *guard, *guard
	keyless.Keys, keyless.Tokens = nil, nil
	if len(keys) > 0 {
		keyed.Keys = keys
	}
	api, page := keyed.Wrap(m.admin), keyless.Wrap(m.admin)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasPrefix(r.URL.Path, admin.API):
			api.ServeHTTP(w, r)
		case r.URL.Path == admin.Paths, strings.HasPrefix(r.URL.Path, admin.Paths+"/"):
			page.ServeHTTP(w, r)
		default:
			face.ServeHTTP(w, r)
		}
	})
}
