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

// DefaultBodies is how many bytes of bodies are answered at once when the settings do not say.
const DefaultBodies = 32 << 20

const (
	bodyQueue = 10 * time.Second // how long a request waits for a place
	bodyRetry = 5 * time.Second  // after which one that got none may try again
	smallBody = 64 << 10         // bytes of a body that does not wait behind larger ones
	largeBody = 1 << 20          // bytes of a body whose memory is worth giving back
	someFreed = 8 << 20          // bytes of such bodies after which memory is given back
	bodyRest  = time.Second      // for which no large body came or went before that
)

// Bodies bounds the bytes of all bodies of requests that are being answered: what is read,
// parsed and sent on takes about seven times its length, and 32 requests of 19 MB took 4 GB.
// It belongs behind the guard, so that strangers take no place. It must not be copied.
type Bodies struct {
	Most    int64          // bytes; 0: DefaultBodies
	Uploads string         // the beginning of paths whose bodies are passed on as they come, and not counted; empty: none
	Log     zerolog.Logger // a line for each request that is refused; the zero value logs nothing

	mu      sync.Mutex
	used    int64    // bytes
	passed  int64    // bytes of small bodies that had not to wait
	waiting []*place // in the order in which they came
	freed   int64    // bytes of large bodies that have gone since memory was given back
	rest    *time.Timer
	closed  bool
	running sync.WaitGroup // of what gives memory back
}

// place is what a request waits for.
type place struct {
	size  int64
	ready chan struct{} // closed when it has the place
}

// Wrap returns a handler that calls next within the bound. A body of unknown length counts as the
// largest that is taken, until its end is read.
func (b *Bodies) Wrap(next http.Handler, largest int64) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Body == nil || r.Body == http.NoBody || b.Uploads != "" && strings.HasPrefix(r.URL.Path, b.Uploads) {
			next.ServeHTTP(w, r)
			return
		}
		size := r.ContentLength
		if size < 0 {
			size = largest
		}
		size = min(size, b.most()) // one that is larger than all together waits for all
		from, ok := b.take(r.Context(), size)
		if !ok {
			err := &fault.Error{Kind: fault.Busy, Code: "bodies_in_flight", Retry: bodyRetry,
				Message: "the requests that are being answered are too large together; try again, or raise --max-bodies"}
			_, _ = io.Copy(io.Discard, io.LimitReader(r.Body, largest)) // many clients read no answer before they have sent all
			b.Log.Warn().Str("path", r.URL.Path).Int64("bytes", size).Msg("refused: too many bytes of requests at once")
			fault.WriteFor(w, r, err)
			return
		}
		held := &held{b: b, from: from, size: size}
		defer held.shrink(0)
		if own, ok := r.Body.(*body); ok {
			own.until(time.Now().Add(own.wait)) // the wait was ours, not the client's
		}
		if r.ContentLength < 0 {
			r = r.WithContext(r.Context())
			r.Body = &counted{ReadCloser: r.Body, held: held}
		}
		next.ServeHTTP(w, r)
	})
}

// most returns the bound.
func (b *Bodies) most() int64 {
	if b.Most > 0 {
		return b.Most
	}
	return DefaultBodies
}

// take waits for a place, and returns what it is counted in and whether there was one in time.
// Small bodies have a quarter more to themselves: a chat must not wait for a megabyte of
// pictures.
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
			b.admit() // those behind it may be smaller
			return nil, false
		}
	}
	return &b.used, true // it got the place at the last moment
}

// admit gives places to the requests that wait, in their order. b.mu must be held.
func (b *Bodies) admit() {
	for len(b.waiting) > 0 && b.used+b.waiting[0].size <= b.most() {
		p := b.waiting[0]
		b.waiting = b.waiting[1:]
		b.used += p.size
		close(p.ready)
	}
}

// release gives back what a body held.
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

// giveBack returns to the system what large bodies took. By itself the program would keep it for
// minutes: collections come with what is allocated, and a server at rest allocates nothing.
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

// Close ends what runs beside the requests.
func (b *Bodies) Close() {
	b.mu.Lock()
	b.closed = true
	if b.rest != nil {
		b.rest.Stop()
	}
	b.mu.Unlock()
	b.running.Wait()
}

// held is the place of one body.
type held struct {
	b    *Bodies
	from *int64 // what it is counted in
	mu   sync.Mutex
	size int64
}

// shrink gives back what is more than size.
func (h *held) shrink(size int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.size > size {
		h.b.release(h.from, h.size-size)
		h.size = size
	}
}

// counted is a body of no known length, whose place shrinks to what has come.
type counted struct {
	io.ReadCloser
	held *held
	came int64
}

// Read reads what has come.
func (c *counted) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	c.came += int64(n)
	if err != nil {
		c.held.shrink(c.came)
	}
	return n, err
}
