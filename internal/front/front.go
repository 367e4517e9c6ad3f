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

// DefaultBodyWait is the default of Front.BodyWait.
const DefaultBodyWait = 30 * time.Second

// Front wraps the handlers of a port with a time limit for bodies and a recovery from panics. The
// zero value is ready for use. A Front must not be copied.
type Front struct {
	// the time within which a request's body must arrive; 0: DefaultBodyWait. For uploads see
	// Upload
	BodyWait time.Duration
	Log      zerolog.Logger // gets a line for each handler that panics; the zero value logs nothing

	running atomic.Int64
}

// Running returns how many requests are currently being answered.
func (f *Front) Running() int { return int(f.running.Load()) }

// Wrap returns a handler that calls the handler next with a deadline for the body and recovers from
// its panics. Handlers need no deadline of their own and may leave a body unread. They must not set
// a read deadline, because a connection has only one, and theirs would replace it.
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
			// The request is copied because net/http checks whether the body of the original one
			// waits for "100 Continue".
			r = r.WithContext(r.Context())
			r.Body = out.body
		}
		next.ServeHTTP(out, r)
		out.settle()
	})
}

// writer delays the answer until the request's body was read or given up. An HTTP/1.1 client may
// send the whole body before it reads, so an earlier answer on a connection that is then closed can
// be lost.
type writer struct {
	http.ResponseWriter
	body    *body // nil: there is none
	begun   bool  // the status has been sent
	settled bool
}

// WriteHeader implements http.ResponseWriter. Except for an informational status, it first reads
// the rest of the request's body, up to a limit.
func (w *writer) WriteHeader(status int) {
	if status >= http.StatusOK { // a smaller status announces the answer
		w.settle()
		w.begun = true
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter. It first reads the rest of the request's body (see settle).
// The error is that of the underlying writer.
func (w *writer) Write(b []byte) (int, error) {
	w.settle()
	w.begun = true
	return w.ResponseWriter.Write(b)
}

// FlushError flushes the answer for http.ResponseController. Before that it reads the rest of the
// request's body, up to a limit.
func (w *writer) FlushError() error {
	w.settle()
	w.begun = true
	return http.NewResponseController(w.ResponseWriter).Flush()
}

// Unwrap returns the underlying writer, from which http.ResponseController sets deadlines.
func (w *writer) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// settle reads the rest of the body, at most mostUnread bytes, before the answer begins. net/http
// would do so, too, so that the connection can be reused, but without a deadline. If the body is
// longer, the connection is closed after the answer.
func (w *writer) settle() {
	if w.settled || w.body == nil {
		return
	}
	w.settled = true
	if !w.body.drained() {
		w.Header().Set("Connection", "close")
	}
}
