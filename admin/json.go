package admin

import (
	_ "embed"
	"net/http"

	"toolnorm/internal/body"
)

// maxBody is the largest request body of an administrator, in bytes. The longest draft has 64 KiB
// of definition and 50 parameters with 1 KiB of description each. Bulk imports are made by the
// command line.
const maxBody = 1 << 20

// read reads the JSON body of a request into v, a pointer. It returns an error if the body is
// longer than maxBody or does not fit v.
func read(r *http.Request, v any) error { return body.Read(r, maxBody, v) }

// write answers with v as JSON. It returns an error if v cannot be marshaled or written.
func write(w http.ResponseWriter, status int, v any) error { return body.Write(w, status, v) }

// handler answers a request, or returns an error that is sent as the answer.
type handler = func(w http.ResponseWriter, r *http.Request) error

// show returns a handler that answers with what h returns, as JSON.
func show(h func(r *http.Request) (any, error)) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		v, err := h(r)
		if err != nil {
			return err
		}
		return write(w, http.StatusOK, v)
	}
}

// done returns a handler that calls h and answers with an empty body if h returns no error.
func done(h func(r *http.Request) error) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		if err := h(r); err != nil {
			return err
		}
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
}

// document is openapi.yaml, the description of the API.
//
//go:embed openapi.yaml
var document []byte

// document answers with openapi.yaml, the description of the API. It returns an error if the answer
// cannot be written.
func (s *Server) document(w http.ResponseWriter, _ *http.Request) error {
	w.Header().Set("Content-Type", "application/yaml; charset=utf-8")
	_, err := w.Write(document)
	return err
}

// guardAnswer sets headers that keep answers out of caches and out of other pages. The API sends
// only data. With the headers, no browser runs anything in an answer as a script or shows it as a
// page, whatever an administrator or a model wrote into it.
func guardAnswer(h http.Header) {
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'; sandbox")
}
