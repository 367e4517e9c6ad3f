package agent

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"toolnorm/internal/fault"
)

// QueueConfig says how much a queue lets through. The zero value lets through everything.
type QueueConfig struct {
	PerMinute int                       // requests that begin in any 60 seconds; 0: any number
	AtOnce    int                       // requests that run at the same time; 0: any number
	Waiting   int                       // requests that wait; 0: 64. Further ones are told so, but for those of a run that has begun
	Lane      func(model string) string // requests of one lane wait for each other: those to the same server; nil: those to the same model
}

// Queue lets requests to models through in the order in which they come, those of runs that have
// begun before those of new ones. It may be used by many at once. Every step of every run passes
// it; a run that has begun has tools behind it that cannot be taken back, so it is never refused,
// and ends before others begin. As each run has a bound of steps, new ones have their turn.
type Queue struct {
	cfg   QueueConfig
	mu    sync.Mutex
	lanes map[string]*lane // those in which something happened in the last minute
}

// lane is what waits for one server. Two servers have nothing to do with each other.
type lane struct {
	begun   []time.Time // the last PerMinute beginnings, oldest first
	running int
	waiting []*ticket // those of runs that have begun, then the others; among each first come, first served
	timer   *time.Timer
}

// ticket is one request that waits. Both channels are written under the queue's lock and read by
// Enter.
type ticket struct {
	begun bool          // of a run that has begun
	turn  chan struct{} // closed when it is its turn
	moved chan int      // its place, when that has changed
}

// window is the span in which no more than PerMinute requests begin, wherever it is laid. It
// slides: with fixed minutes two bursts, one on each side of the border, would be twice as many
// within seconds.
const window = time.Minute

// NewQueue makes a queue in which nothing waits. It needs no Close: its timers end by themselves.
func NewQueue(cfg QueueConfig) *Queue {
	cfg.Waiting = cmp.Or(cfg.Waiting, 64)
	if cfg.Lane == nil {
		cfg.Lane = func(model string) string { return model }
	}
	return &Queue{cfg: cfg, lanes: map[string]*lane{}}
}

// Enter waits until a request to the model may begin; leave is to be called when it has ended.
// moved hears, from this goroutine, of the place in the queue when the request has to wait and each
// time it changes. begun is for a request of a run that has begun. An error means that the queue is
// full (fault.Busy or fault.Limited, with the time to wait), or that ctx ended first. leave may be
// called twice.
func (q *Queue) Enter(ctx context.Context, model string, begun bool, moved func(place int, waited time.Duration)) (leave func(), waited time.Duration, err error) {
	start := time.Now()
	name := q.cfg.Lane(model)
	q.mu.Lock()
	l := q.lanes[name]
	if l == nil {
		l = &lane{}
		q.lanes[name] = l
	}
	leave = sync.OnceFunc(func() { q.left(name, l) })
	// Only an empty line lets one through at once: else a request that comes just when a place is
	// free would pass those before it.
	if len(l.waiting) == 0 && q.free(l, start) == 0 {
		q.begin(l, start)
		q.mu.Unlock()
		return leave, 0, nil
	}
	if !begun && len(l.waiting) >= q.cfg.Waiting {
		defer q.mu.Unlock()
		return nil, 0, q.full(l, start)
	}
	t := &ticket{begun, make(chan struct{}), make(chan int, 1)}
	at := len(l.waiting)
	if begun {
		at = slices.IndexFunc(append(l.waiting, &ticket{}), func(other *ticket) bool { return !other.begun })
	}
	l.waiting = slices.Insert(l.waiting, at, t)
	// Those behind it have moved back by one.
	for i, other := range l.waiting[at:] {
		other.stand(at + i + 1)
	}
	q.advance(name, l)
	q.mu.Unlock()
	for {
		select {
		case place := <-t.moved:
			moved(place, time.Since(start))
		case <-t.turn:
			return leave, time.Since(start), nil
		case <-ctx.Done():
			q.abandon(name, l, t)
			return nil, time.Since(start), context.Cause(ctx)
		}
	}
}

// full returns the error of a queue that takes no more, with the time until one more may begin. It
// is Limited when the rate is what holds it up, and Busy when the requests that run are.
func (q *Queue) full(l *lane, now time.Time) error {
	kind := fault.Busy
	if q.cfg.PerMinute > 0 && len(l.begun) == q.cfg.PerMinute && q.free(l, now) > 0 && q.free(l, now) < window {
		kind = fault.Limited
	}
	f := fault.New(kind, "%d requests wait for this model server already", len(l.waiting))
	f.Code, f.Retry = "queue_full", min(max(q.free(l, now), time.Second), window)
	return f
}

// free returns how long it takes until another request may begin: 0 is now, and a whole window
// means when one has ended. The window is that of the PerMinute-th beginning back: when that is a
// minute old, one more fits into any 60 seconds.
func (q *Queue) free(l *lane, now time.Time) time.Duration {
	if q.cfg.AtOnce > 0 && l.running >= q.cfg.AtOnce {
		return window
	}
	if q.cfg.PerMinute > 0 && len(l.begun) >= q.cfg.PerMinute {
		return max(0, window-now.Sub(l.begun[0]))
	}
	return 0
}

// begin counts a request that begins. Only as many beginnings are kept as PerMinute needs: the
// oldest decides.
func (q *Queue) begin(l *lane, now time.Time) {
	l.running++
	if q.cfg.PerMinute == 0 {
		return
	}
	if len(l.begun) == q.cfg.PerMinute {
		l.begun = l.begun[1:]
	}
	l.begun = append(l.begun, now)
}

// advance lets through what may begin, tells the others their places, and comes back when time
// alone will let the next one begin. q.mu is held. It is called for every change, and sets the one
// timer of the lane anew.
func (q *Queue) advance(name string, l *lane) {
	now := time.Now()
	let := 0
	for let < len(l.waiting) && q.free(l, now) == 0 {
		q.begin(l, now)
		close(l.waiting[let].turn)
		let++
	}
	l.waiting = slices.Delete(l.waiting, 0, let)
	if let > 0 {
		for i, t := range l.waiting {
			t.stand(i + 1)
		}
	}
	if l.timer != nil {
		// Its time was for a state that has just changed.
		l.timer.Stop()
		l.timer = nil
	}
	switch wait := q.free(l, now); {
	// A whole window means either that a request must end first, which needs no timer, or just
	// that: 60 s.
	case len(l.waiting) > 0 && wait > 0 && wait < window || len(l.waiting) > 0 && wait == window && (q.cfg.AtOnce == 0 || l.running < q.cfg.AtOnce):
		l.timer = time.AfterFunc(wait, func() {
			q.mu.Lock()
			defer q.mu.Unlock()
			q.advance(name, l)
		})
	// The lane is kept for a window, since what has begun in it still counts.
	case len(l.waiting) == 0 && l.running == 0:
		l.timer = time.AfterFunc(window, func() { q.forget(name, l) })
	}
}

// stand sends a place; only the last one counts. It never blocks: a place that has not been read
// yet is replaced.
func (t *ticket) stand(place int) {
	select {
	case <-t.moved:
	default:
	}
	t.moved <- place
}

// left ends a request, good or bad. It frees a place of AtOnce; the minute's count stays.
func (q *Queue) left(name string, l *lane) {
	q.mu.Lock()
	defer q.mu.Unlock()
	l.running--
	q.advance(name, l)
}

// abandon removes a request that waits no more, also one that was let through at the same moment:
// then its place is freed, which would else be lost for good.
func (q *Queue) abandon(name string, l *lane, t *ticket) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if at := slices.Index(l.waiting, t); at >= 0 {
		l.waiting = slices.Delete(l.waiting, at, at+1)
		// Those behind it have moved up by one.
		for i, other := range l.waiting[at:] {
			other.stand(at + i + 1)
		}
	} else {
		l.running--
	}
	q.advance(name, l)
}

// forget drops a lane in which nothing has happened for a whole window: names of models are what
// clients say, so a client could make up lanes without end.
func (q *Queue) forget(name string, l *lane) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if l.running == 0 && len(l.waiting) == 0 && q.lanes[name] == l {
		delete(q.lanes, name)
	}
}
