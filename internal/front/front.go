// Package front is what stands between a port and everything that it serves: a request's body
// arrives in time, or the request ends; and a handler that panics is an error that the client can
// read.
//
// It stands in front of the guard as well: a stranger who gets a 401 could else hold a connection
// open with one byte of a body that never comes, for net/http reads what is left of a body, up to
// 256 KiB, before it sends the answer.
package front

import (
	"net/http"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"
)

// DefaultBodyWait is how long a body may take when the settings do not say.
const DefaultBodyWait = 30 * time.Second

// Front makes handlers fit to stand at a port. The zero value will do. It must not be copied.
type Front struct {
	BodyWait time.Duration  // until a request's body must be there whole; 0: DefaultBodyWait. Uploads: see Upload
	Log      zerolog.Logger // a line for each handler that panics; the zero value logs nothing

	running atomic.Int64
}

// Running returns how many requests are being answered now.
func (f *Front) Running() int { return int(f.running.Load()) }

// Wrap returns a handler that calls next with the front's bounds. Handlers read bodies without a
// deadline of their own, and may leave them unread. A handler that set a deadline would undo this
// one: there is only one on a connection.
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
			// A copy: net/http looks at the body of the request that it made itself, to see whether
			// it waits for "100 Continue".
			r = r.WithContext(r.Context())
			r.Body = out.body
		}
		next.ServeHTTP(out, r)
		out.settle()
	})
}

// writer is an answer that begins when its request's body is done with. HTTP/1.1 clients may send
// the whole body before they read, so an answer in front of that, on a connection that is then
// closed, can be lost.
type writer struct {
	http.ResponseWriter
	body    *body // nil: there is none, or it is done with
	begun   bool  // the status has been sent
	settled bool
}

// WriteHeader begins the answer.
func (w *writer) WriteHeader(status int) {
	if status >= http.StatusOK { // what is below announces an answer
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

// settle finishes with the body. net/http reads what a handler has left of it before it answers, so
// that the connection can be used again; here that has an end. A connection on which more is to
// come is closed after the answer.
func (w *writer) settle() {
	if w.settled || w.body == nil {
		return
	}
	w.settled = true
	if !w.body.drained() {
		w.Header().Set("Connection", "close")
	}
}
