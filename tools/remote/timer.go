package remote

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// timer ends a call whose server is silent for too long. Progress restarts it, and it is stopped
// while a user answers a question.
type timer struct {
	limit time.Duration
	mu    sync.Mutex
	t     *time.Timer
	asked int // questions that are open
}

type timerKey struct{}

// withTimer returns a context with such a timer, and with no other limit except longestCall.
func withTimer(ctx context.Context, limit time.Duration, name string) (
	context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	t := &timer{limit: limit}
	t.t = time.AfterFunc(limit, func() {
		cancel(late(fmt.Sprintf("%s took longer than its %v", name, limit)))
	})
	return context.WithValue(ctx, timerKey{}, t), func() { t.t.Stop(); cancel(nil) }
}

// late is why such a call ended.
type late string

// Error returns the sentence for the caller.
func (l late) Error() string { return string(l) }

// timerOf returns the timer of a call, or nil if it has none.
func timerOf(ctx context.Context) *timer {
	t, _ := ctx.Value(timerKey{}).(*timer)
	return t
}

// again restarts the time.
func (t *timer) again() { t.ask(0) }

// ask counts questions that are open; the clock is stopped while there are any.
func (t *timer) ask(n int) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.asked += n; t.asked > 0 {
		t.t.Stop()
		return
	}
	t.t.Reset(t.limit) // a timer that has fired ends the call again, which does nothing
}
