package remote

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// timer ends a call when its server has been silent for too long. Progress of the call restarts the
// timer, and the timer is stopped while a user answers a question.
type timer struct {
	limit time.Duration
	mu    sync.Mutex
	t     *time.Timer
	asked int // number of open questions
}

type timerKey struct{}

// withTimer returns a context with a timer that cancels the context after limit. The cause is then
// an error of type late, with the parameter name as the server's name. The caller must call the
// CancelFunc.
func withTimer(ctx context.Context, limit time.Duration, name string) (
	context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	t := &timer{limit: limit}
	t.t = time.AfterFunc(limit, func() {
		cancel(late(fmt.Sprintf("%s took longer than its %v", name, limit)))
	})
	return context.WithValue(ctx, timerKey{}, t), func() { t.t.Stop(); cancel(nil) }
}

// late is the cause with which a timer cancels its call.
type late string

// Error implements error. It returns the sentence that the caller of the tool reads.
func (l late) Error() string { return string(l) }

// timerOf returns the timer of ctx, or nil if ctx has none.
func timerOf(ctx context.Context) *timer {
	t, _ := ctx.Value(timerKey{}).(*timer)
	return t
}

// again restarts the timer.
func (t *timer) again() { t.ask(0) }

// ask adds n, which may be negative, to the number of questions that wait for a user's answer. The
// timer is stopped while there are any, and restarted when there are none. A nil timer does
// nothing.
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
