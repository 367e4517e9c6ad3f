// Package front wraps everything that a port serves: a request ends if its body does not arrive in
// time, and a panic in a handler becomes an error that the client can read.
//
// It wraps the guard as well. Otherwise a stranger who gets a 401 could hold a connection open with
// a body that never comes, since net/http reads the rest of a body, up to 256 KiB, before it sends
// the answer.
package front

import (
	"net/http"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"
)

// DefaultBodyWait is how long a body may take when the settings do not say.
const DefaultBodyWait = 30 * time.Second

// Front makes handlers safe to serve on a port. The zero value is ready to use. It must not be
// copied.
type Front struct {
	// until a request's body must be there whole; 0: DefaultBodyWait. Uploads: see Upload
	BodyWait time.Duration
	Log      zerolog.Logger // a line for each handler that panics; the zero value logs nothing

	running atomic.Int64
}

// Running returns how many requests are being answered now.
func (f *Front) Running() int { return int(f.running.Load()) }

// Wrap returns a handler that calls next within the bounds of f. Handlers need no deadline of their
// own to read a body, and may leave it unread. They must not set a read deadline: a connection has
// only one, so theirs would replace this one.
func (f *Front) Wrap(next http.Handler) http.Handler {
	wait := f.BodyWait
	if wait == 0 {
		wait = DefaultBodyWait
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.running.Add(1)
		defer f.running.Add(-1)
		out := &writer{ResponseWriter: w}
		defer f.rescue(out, r)
		if r.Body != nil && r.Body != http.NoBody {
			out.body = watch(w, r, wait)
			// The request is copied: net/http checks the body of the original one for whether it
			// waits for "100 Continue".
			r = r.WithContext(r.Context())
			r.Body = out.body
		}
		next.ServeHTTP(out, r)
		out.settle()
	})
}

// writer begins the answer only after the request's body is done with. HTTP/1.1 clients may send
// the whole body before they read, so an earlier answer, on a connection that is then closed, can
// be lost.
type writer struct {
	http.ResponseWriter
	body    *body // nil: there is none, or it is done with
	begun   bool  // the status has been sent
	settled bool
}

// WriteHeader begins the answer.
func (w *writer) WriteHeader(status int) {
	if status >= http.StatusOK { // a smaller status announces the answer
		w.settle()
		w.begun = true
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write goes on with the answer.
func (w *writer) Write(b []byte) (int, error) {
	w.settle()
	w.begun = true
	return w.ResponseWriter.Write(b)
}

// FlushError flushes the answer; http.ResponseController calls it.
func (w *writer) FlushError() error {
	w.settle()
	w.begun = true
	return http.NewResponseController(w.ResponseWriter).Flush()
}

// Unwrap returns the writer that holds deadlines, for http.ResponseController.
func (w *writer) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// settle finishes with the body. net/http would read the rest of it before it answers, so that the
// connection can be used again; here that is bounded. If more of the body is still to come, the
// connection is closed after the answer.
func (w *writer) settle() {
	if w.settled || w.body == nil {
		return
	}
	w.settled = true
	if !w.body.drained() {
		w.Header().Set("Connection", "close")
	}
}
