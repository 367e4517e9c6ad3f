package front

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"sync/atomic"
	"time"
)

// mostUnread is how many bytes are read of a body that no handler has read, the same number as in
// net/http. If more is left, the connection is closed, which is cheaper than reading on.
const mostUnread = 256 << 10

// uploadStep is how many bytes of an upload must arrive within the time limit of a body. With 30 s
// that is 2 KiB a second, slower than any connection over which models are uploaded.
const uploadStep = 64 << 10

// body is a request's body with a deadline for reading it, which is set on the connection. The
// deadline is removed when the body is complete: from then on net/http watches the connection to
// notice when the client leaves, and an expired deadline would look like that.
// http.Server.ReadTimeout cannot be used, since it would end long streams.
type body struct {
	io.ReadCloser
	connection *http.ResponseController
	wait       time.Duration
	asks       bool // the client sends the body only after "100 Continue"

	// These are atomics because a handler that forwards a body has it read by a goroutine of the
	// HTTP client, which may outlive the handler.
	begun, whole, upload atomic.Bool
	came                 atomic.Int64 // bytes of an upload since the deadline was moved
}

// watch returns the body of r with a deadline after the time wait.
func watch(w http.ResponseWriter, r *http.Request, wait time.Duration) *body {
	b := &body{ReadCloser: r.Body, connection: http.NewResponseController(w), wait: wait,
		asks: r.Header.Get("Expect") != ""}
	b.until(time.Now().Add(wait))
	return b
}

// until sets the deadline for reading the body; the zero time removes it. Errors are ignored. Only
// connections in tests do not support deadlines, and there the whole body has already arrived.
func (b *body) until(t time.Time) { _ = b.connection.SetReadDeadline(t) }

// Read implements io.Reader. It fails if the deadline passes before the body is complete. It may be
// called by other goroutines than the handler's, for example by one that forwards the body.
func (b *body) Read(p []byte) (int, error) {
	// once an answer has begun, the body is closed, which is no error for a caller that only looks
	// for its end
	if b.whole.Load() {
		return 0, io.EOF
	}
	b.begun.Store(true)
	n, err := b.ReadCloser.Read(p)
	switch {
	case err == io.EOF:
		if !b.whole.Swap(true) {
			b.until(time.Time{})
		}
	case errors.Is(err, os.ErrDeadlineExceeded):
		err = fmt.Errorf("not all of it came within %v: %w", b.wait, os.ErrDeadlineExceeded)
	case err == nil && b.upload.Load() && b.came.Add(int64(n)) >= uploadStep:
		b.came.Store(0)
		b.until(time.Now().Add(b.wait))
	}
	return n, err
}

// drained reads the rest of the body, at most mostUnread bytes, and reports whether the body has
// been read to its end. If not, later reads fail. If the client waits for "100 Continue" and
// nothing was read, the client has sent nothing, so drained reads nothing.
func (b *body) drained() bool {
	if b.whole.Load() {
		return true
	}
	if !b.asks || b.begun.Load() {
		// the error does not matter, only whether the end was seen
		_, _ = io.CopyN(io.Discard, b, mostUnread)
	}
	if !b.whole.Load() {
		// the deadline is in the past, because net/http would otherwise read once more without a
		// deadline, and delay the answer for ever
		b.until(time.Unix(1, 0))
	}
	return b.whole.Load()
}

// Upload marks a request whose body is forwarded while it arrives and may have any length. Such a
// body fails only if it arrives too slowly. This is for models of gigabytes (/api/blobs), for which
// a deadline for the whole body would end a good upload.
func Upload(r *http.Request) {
	if b, ok := r.Body.(*body); ok {
		b.upload.Store(true)
	}
}
