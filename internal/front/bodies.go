package front

import (
	"context"
	"io"
	"net/http"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"toolnorm/internal/fault"
)

// DefaultBodies is the default of Bodies.Most, in bytes.
const DefaultBodies = 32 << 20

const (
	bodyQueue = 10 * time.Second // how long a request waits for space
	bodyRetry = 5 * time.Second  // the time after which a refused request may try again
	smallBody = 64 << 10         // bytes; a body up to this size does not wait for larger ones
	// bytes; the memory of a body from this size is worth returning to the system
	largeBody = 1 << 20
	// bytes of such bodies that must have ended before memory is returned
	someFreed = 8 << 20
	bodyRest  = time.Second // the time without a large body before memory is returned
)

// Bodies bounds the total size of the bodies of all requests that are being answered. Reading,
// parsing and forwarding a body takes about seven times its length in memory, and 32 requests of 19
// MB took 4 GB. API keys must be checked before the handler of Wrap is called, so that strangers
// take no space. A Bodies must not be copied.
type Bodies struct {
	Most int64 // the bound in bytes; 0: DefaultBodies
	// the prefix of paths whose bodies are forwarded as they arrive and not counted; empty: none
	Uploads string
	Log     zerolog.Logger // gets a line for each refused request; the zero value logs nothing

	mu      sync.Mutex
	used    int64    // bytes
	passed  int64    // bytes of small bodies that are counted apart and did not wait
	waiting []*place // in the order of their arrival
	freed   int64    // bytes of large bodies that ended since memory was last returned
	rest    *time.Timer
	closed  bool
	running sync.WaitGroup // counts calls of giveBack
}

// place is a request that waits for space in memory for its body.
type place struct {
	size  int64
	ready chan struct{} // closed when the request has got its space
}

// Wrap returns a handler that calls the handler next as soon as there is space in memory for the
// request's body. If there is none in time, the client gets a fault of kind Busy. The parameter
// largest is the size of the largest accepted body. For a body of unknown length, that much space
// is reserved until its end was read.
func (b *Bodies) Wrap(next http.Handler, largest int64) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Body == nil || r.Body == http.NoBody ||
			b.Uploads != "" && strings.HasPrefix(r.URL.Path, b.Uploads) {
			next.ServeHTTP(w, r)
			return
		}
		size := r.ContentLength
		if size < 0 {
			size = largest
		}
		// a body that is larger than the bound waits until there is no other
		size = min(size, b.most())
		from, ok := b.take(r.Context(), size)
		if !ok {
			err := &fault.Error{Kind: fault.Busy, Code: "bodies_in_flight", Retry: bodyRetry,
				Message: "the requests that are being answered are too large together; try again, or raise --max-bodies"}
			// many clients read the answer only after they have sent everything
			_, _ = io.Copy(io.Discard, io.LimitReader(r.Body, largest))
			b.Log.Warn().Str("path", r.URL.Path).Int64("bytes", size).Msg(
				"refused: too many bytes of requests at once")
			fault.WriteFor(w, r, err)
			return
		}
		held := &held{b: b, from: from, size: size}
		defer held.shrink(0)
		if own, ok := r.Body.(*body); ok {
			own.until(time.Now().Add(own.wait)) // the client did not cause the wait
		}
		if r.ContentLength < 0 {
			r = r.WithContext(r.Context())
			r.Body = &counted{ReadCloser: r.Body, held: held}
		}
		next.ServeHTTP(w, r)
	})
}

// most returns the bound for all bodies together, in bytes.
func (b *Bodies) most() int64 {
	if b.Most > 0 {
		return b.Most
	}
	return DefaultBodies
}

// take waits until a body of size bytes fits the bound for all bodies. It returns the counter to
// which it has added the size; the caller passes it to release in the end. The result ok is false
// if the body did not fit in time or ctx ended. Small bodies have a counter and an extra quarter of
// the bound to themselves, because a chat must not wait for a megabyte of pictures.
func (b *Bodies) take(ctx context.Context, size int64) (from *int64, ok bool) {
	b.mu.Lock()
	if size <= smallBody && b.passed+size <= b.most()/4 {
		b.passed += size
		b.mu.Unlock()
		return &b.passed, true
	}
	if b.used+size <= b.most() && len(b.waiting) == 0 {
		b.used += size
		b.mu.Unlock()
		return &b.used, true
	}
	p := &place{size, make(chan struct{})}
	b.waiting = append(b.waiting, p)
	b.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, bodyQueue)
	defer cancel()
	select {
	case <-p.ready:
		return &b.used, true
	case <-ctx.Done():
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for i, other := range b.waiting {
		if other == p {
			b.waiting = append(b.waiting[:i], b.waiting[i+1:]...)
			b.admit() // the requests after it may be smaller
			return nil, false
		}
	}
	return &b.used, true // it got its space at the last moment
}

// admit lets waiting requests continue, in their order, while they fit the bound. The caller must
// hold b.mu.
func (b *Bodies) admit() {
	for len(b.waiting) > 0 && b.used+b.waiting[0].size <= b.most() {
		p := b.waiting[0]
		b.waiting = b.waiting[1:]
		b.used += p.size
		close(p.ready)
	}
}

// release subtracts size bytes from the counter that from points to, and admits waiting requests.
// After large bodies, it arranges that the memory is given back to the system a little later.
func (b *Bodies) release(from *int64, size int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	*from -= size
	b.admit()
	if size < largeBody || b.closed {
		return
	}
	if b.freed += size; b.freed < someFreed {
		return
	}
	if b.rest == nil {
		b.rest = time.AfterFunc(bodyRest, b.giveBack) // Close waits for it
	} else {
		b.rest.Reset(bodyRest)
	}
}

// giveBack returns the memory of large bodies to the system. Otherwise the program would retain it
// for minutes, because allocations trigger garbage collections and an idle server allocates
// nothing.
func (b *Bodies) giveBack() {
	b.mu.Lock()
	if b.closed || b.freed < someFreed {
		b.mu.Unlock()
		return
	}
	b.freed = 0
	b.running.Add(1)
	b.mu.Unlock()
	defer b.running.Done()
	debug.FreeOSMemory()
}

// Close stops the timer that returns memory, and waits for a call of giveBack that is running.
func (b *Bodies) Close() {
	b.mu.Lock()
	b.closed = true
	if b.rest != nil {
		b.rest.Stop()
	}
	b.mu.Unlock()
	b.running.Wait()
}

// held is the space that one body takes.
type held struct {
	b    *Bodies
	from *int64 // the sum in which the space is counted
	mu   sync.Mutex
	size int64
}

// shrink reduces the space to size bytes and releases the rest. It does nothing if the space is not
// larger.
func (h *held) shrink(size int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.size > size {
		h.b.release(h.from, h.size-size)
		h.size = size
	}
}

// counted is a request's body of unknown length, for which the largest possible space was reserved.
// At the end of the body, the space that it did not need is released.
type counted struct {
	io.ReadCloser
	held *held
	// the bytes read so far
	came int64
}

// Read implements io.Reader. At the end of the body or after an error, it gives back the space that
// was reserved for the body and not used.
func (c *counted) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	c.came += int64(n)
	if err != nil {
		c.held.shrink(c.came)
	}
	return n, err
}
