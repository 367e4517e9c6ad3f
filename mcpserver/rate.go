package mcpserver

import (
	"sync"
	"time"
)

// limiter lets each key do something a certain number of times a second, after a burst of twice as
// many. MCP demands that servers limit how often tools are called (Tools, Security Considerations).
// It is a token bucket, with two numbers per key.
type limiter struct {
	perSecond float64 // negative: any number
	mu        sync.Mutex
	buckets   map[string]bucket
}

// bucket is how often a key may still do something, as of a moment.
type bucket struct {
	left float64 // times, up to the burst
	at   time.Time
}

// maxBuckets is how many keys are remembered before those that have rested are forgotten. Keys are
// sessions and addresses, which a caller can make up without end.
const maxBuckets = 10_000

func newLimiter(perSecond float64) *limiter {
	return &limiter{perSecond: perSecond, buckets: map[string]bucket{}}
}

// allow counts one use of a key. If it exceeds the limit, wait is the time after which it would
// not. Refused uses do not count, so a client that keeps asking is served at its rate.
func (l *limiter) allow(key string, now time.Time) (wait time.Duration, ok bool) {
	if l.perSecond < 0 {
		return 0, true
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	b, known := l.buckets[key]
	if !known {
		l.forget(now)
		// A client that starts sends initialize, its notification and several lists at once.
		b = bucket{2 * l.perSecond, now}
	}
	b.left = min(2*l.perSecond, b.left+now.Sub(b.at).Seconds()*l.perSecond)
	b.at = now
	if ok = b.left >= 1; ok {
		b.left--
	} else {
		wait = time.Duration((1 - b.left) / l.perSecond * float64(time.Second))
	}
	l.buckets[key] = b
	return wait, ok
}

// forget makes room by dropping keys that were unused for two seconds. Such a key has its whole
// burst again, so nothing is lost.
func (l *limiter) forget(now time.Time) {
	if len(l.buckets) < maxBuckets {
		return
	}
	for key, b := range l.buckets {
		if now.Sub(b.at) > 2*time.Second {
			delete(l.buckets, key)
		}
	}
	// all of them busy: a caller who makes up keys gains a burst, and no memory
	if len(l.buckets) >= maxBuckets {
		clear(l.buckets)
	}
}
