package wait

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"sync/atomic"
	"time"

	"toolnorm/internal/fault"
)

const (
	firstPause   = 250 * time.Millisecond // before a busy server is asked again; twice as long each time
	longestPause = 2 * time.Second
)

// Queue is where requests wait for a server that says it is busy: nobody tells them when it is their turn, so each
// asks again and again. The zero value is empty. It is safe for concurrent use. 64 requests that ask every second
// or two cost a server nothing, and need no order among them; a new one may come before one that waits.
type Queue struct{ Waiting atomic.Int32 }

// Pass sends a request again for as long as the server is busy. It gives up when too many wait already, or for too
// long; heartbeats go on meanwhile. Pauses are random by half, so that requests that were refused together do not
// come again together; a server that names a time (Retry-After) is not asked earlier.
func (q *Queue) Pass(ctx context.Context, p *Pulse, send func() (*http.Response, error)) (*http.Response, error) {
	resp, err := send()
	busy := busyFault(err)
	if busy == nil || p.limits.Queue < 0 || p.limits.Places < 0 {
		return resp, err
	}
	defer q.Waiting.Add(-1)
	if q.Waiting.Add(1) > int32(p.limits.Places) {
		return nil, &fault.Error{Kind: fault.Busy, Retry: busy.Retry, Cause: err,
			Message: busy.Message + "; as many requests wait for it as may (setting queue)"}
	}
	began := time.Now()
	for pause := firstPause; busy != nil; pause = min(2*pause, longestPause) {
		limit, setting := p.limits.Queue, "queue-wait"
		if busy.Code == ModelLoading {
			limit, setting = p.limits.Load, "load-timeout"
		}
		wait := max(busy.Retry, pause/2+rand.N(pause/2))
		if limit >= 0 && time.Since(began)+wait > limit {
			return nil, &fault.Error{Kind: fault.Busy, Retry: busy.Retry, Code: busy.Code, Cause: err,
				Message: busy.Message + "; it was waited for in vain (setting " + setting + ")"}
		}
		if !p.Sleep(ctx, wait) {
			return nil, Broken(ctx, "", ctx.Err())
		}
		resp, err = send()
		busy = busyFault(err)
	}
	return resp, err
}

// busyFault is err if it says that the server is busy, else nil.
func busyFault(err error) *fault.Error {
	var f *fault.Error
	if errors.As(err, &f) && f.Kind == fault.Busy {
		return f
	}
	return nil
}
