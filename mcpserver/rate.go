package mcpserver

import (
	"sync"
	"time"
)

// limiter lets each key do something a certain number of times a second, after a burst of twice as
// many. MCP demands that servers limit how often tools are called (Tools, Security Considerations).
// It is a token bucket, which stores two numbers per key.
type limiter struct {
	perSecond float64 // negative: no limit
	mu        sync.Mutex
	buckets   map[string]bucket
}

// bucket holds how many uses a rate limiter's key had left at a certain time.
type bucket struct {
	left float64 // how many times, up to the burst
	at   time.Time
}

// maxBuckets is the number of keys at which keys that were not used recently are forgotten. Keys
// are sessions and addresses, which a caller can invent without end.
const maxBuckets = 10_000

// newLimiter returns a limiter for this many uses per second and key.
func newLimiter(perSecond float64) *limiter {
	return &limiter{perSecond: perSecond, buckets: map[string]bucket{}}
}

// allow counts one use of a key if it is within the limit, and reports whether it is. If it is not,
// wait is the time until a use will be allowed. Refused uses are not counted, so a client that
// keeps asking still gets its rate.
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

// forget drops the keys that were unused for two seconds, if maxBuckets keys are stored. Such a key
// could use its whole allowance again anyway, so nothing is lost.
func (l *limiter) forget(now time.Time) {
	if len(l.buckets) < maxBuckets {
		return
	}
	for key, b := range l.buckets {
		if now.Sub(b.at) > 2*time.Second {
			delete(l.buckets, key)
		}
	}
	// All were used recently: a caller who invents keys gains a burst, but no memory.
	if len(l.buckets) >= maxBuckets {
		clear(l.buckets)
	}
}
