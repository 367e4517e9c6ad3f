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
	// the time before a busy server is asked again; twice as long each time
	firstPause   = 250 * time.Millisecond
	longestPause = time.Second
	loadingPause = 2 * time.Second // the longest pause while the server loads its model
)

// Queue is where requests wait for a server that says it is busy. Each model has its own line, and
// only the first request of a line asks the server, since the server does not announce when it can
// take a request. When a request has got a place, the next one asks at once. The zero value is an
// empty queue. It is safe for concurrent use.
type Queue struct {
	// requests that wait
	Waiting atomic.Int32
	lines   lines
}

// Pass sends a request, and sends it again for as long as the server is busy. A request that comes
// while others wait joins their line. While it waits, keep-alives with its place in the line are
// sent to the client. A server that names a time (Retry-After) is not asked earlier. Pass returns
// an error if too many requests wait already, if the wait gets too long, or if sending fails for
// another reason. If the limits forbid waiting, because another server may take the request, it
// returns the error of the busy server without a wait.
func (q *Queue) Pass(ctx context.Context, p *Pulse, send func() (*http.Response, error)) (
	*http.Response, error) {
	patient := p.limits.Queue >= 0 && p.limits.Places >= 0
	err := q.lines.busy(p.model)
	if err == nil || !patient && p.limits.Places < 0 {
		var resp *http.Response
		if resp, err = send(); busyFault(err) == nil {
			return resp, err
		}
	}
	if !patient {
		return nil, err
	}
	busy := busyFault(err)
	defer q.Waiting.Add(-1)
	if q.Waiting.Add(1) > int32(p.limits.Places) {
		return nil, &fault.Error{Kind: fault.Busy, Retry: busy.Retry, Cause: err,
			Message: busy.Message + "; as many requests wait for it as may (setting queue)"}
	}
	w := q.lines.join(p.model, p.client, busy)
	defer q.lines.leave(w)
	defer p.says(w.place)()
	return q.wait(ctx, p, w, send)
}

// wait sends a request when it is the first of its line, again and again until the server is not
// busy. It returns the server's answer, or an error if the wait gets too long or ctx ends.
func (q *Queue) wait(ctx context.Context, p *Pulse, w *waiter,
	send func() (*http.Response, error)) (*http.Response, error) {
	began := time.Now()
	for pause := firstPause; ; {
		busy := w.line.said()
		limit, setting, longest := p.limits.Queue, "queue-wait", longestPause
		if busy.Code == ModelLoading {
			limit, setting, longest = p.limits.Load, "load-timeout", loadingPause
		}
		wait := max(busy.Retry, pause/2+rand.N(pause/2))
		left := limit - time.Since(began)
		first := w.first()
		if limit >= 0 && (left <= 0 || first && wait > left) {
			return nil, &fault.Error{Kind: fault.Busy, Retry: busy.Retry, Code: busy.Code,
				Cause:   busy,
				Message: busy.Message + "; it was waited for in vain (setting " + setting + ")"}
		}
		if !first {
			if !p.until(ctx, w.turn, limit, left) {
				return nil, AsFault(ctx, "", ctx.Err())
			}
			if !w.first() { // the time is up
				continue
			}
		} else {
			if !p.Sleep(ctx, wait) {
				return nil, AsFault(ctx, "", ctx.Err())
			}
			pause = min(2*pause, longest)
		}
		resp, err := send()
		if busy = busyFault(err); busy == nil {
			w.line.passed(w)
			return resp, err
		}
		w.line.refused(busy)
	}
}

// busyFault returns err as a fault if it says that the server is busy, and nil otherwise.
func busyFault(err error) *fault.Error {
	var f *fault.Error
	if errors.As(err, &f) && f.Kind == fault.Busy {
		return f
	}
	return nil
}
