package admin

import (
	_ "embed"
	"net/http"

	"toolnorm/internal/body"
)

// maxBody bounds what an administrator sends, in bytes. The longest draft has 64 KiB of
// definition and 50 parameters with 1 KiB of description each; what is imported in bulk
// comes by the command line.
const maxBody = 1 << 20

// read reads a request's body into v, a pointer.
func read(r *http.Request, v any) error { return body.Read(r, maxBody, v) }

// write answers with v as JSON.
func write(w http.ResponseWriter, status int, v any) error { return body.Write(w, status, v) }

// document is the description of the API.
//
//go:embed openapi.yaml
var document []byte

// document shows the description of the API.
func (s *Server) document(w http.ResponseWriter, _ *http.Request) error {
	w.Header().Set("Content-Type", "application/yaml; charset=utf-8")
	_, err := w.Write(document)
	return err
}

// guardAnswer keeps answers out of caches and out of other pages. The API sends only data, so
// nothing in an answer may run or be shown as a page, whatever an administrator or a model wrote
// into it.
func guardAnswer(h http.Header) {
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'; sandbox")
}
