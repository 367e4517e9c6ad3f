package agent

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"toolnorm/internal/fault"
)

// QueueConfig says how many requests a queue lets through. The zero value lets all requests
// through.
type QueueConfig struct {
	PerMinute int // requests that begin in any 60 seconds; 0: any number
	AtOnce    int // requests that run at the same time; 0: any number
	// requests that wait; 0: 64. Further requests are refused, except those of a run that has begun
	Waiting int
	// Lane returns the name of the lane of a model. Requests of one lane wait for each other, so a
	// lane is usually a server. nil: each model has its own lane
	Lane func(model string) string
}

// Queue lets requests to models through in the order in which they come, except that requests of
// runs that have begun come before those of new runs. Every step of every run waits in it. A run
// that has begun is never refused, and ends before others begin, because it may have run tools,
// which cannot be undone. New runs still get their turn, because the steps of each run are bounded.
// A Queue is safe for concurrent use.
type Queue struct {
	cfg   QueueConfig
	mu    sync.Mutex
	lanes map[string]*lane // the lanes in which something happened in the last minute
}

// lane is the queue for one server. Servers do not affect each other.
type lane struct {
	begun   []time.Time // the last PerMinute beginnings, oldest first
	running int
	// requests of runs that have begun, then the others; each of the two groups is first come,
	// first served
	waiting []*ticket
	timer   *time.Timer
}

// ticket is one request that waits in the queue. The queue writes to both channels, under its lock,
// and Enter reads from them.
type ticket struct {
	begun bool          // the request belongs to a run that has begun
	turn  chan struct{} // closed when the request may begin
	moved chan int      // the request's new place in the queue
}

// window is the length of time in which at most PerMinute requests begin, from whichever moment it
// is counted. It is a sliding window, because with fixed minutes two bursts around the end of a
// minute could let twice as many begin within seconds.
const window = time.Minute

// NewQueue returns an empty queue. The queue needs no Close, because its timers end by themselves.
func NewQueue(cfg QueueConfig) *Queue {
	cfg.Waiting = cmp.Or(cfg.Waiting, 64)
	if cfg.Lane == nil {
		cfg.Lane = func(model string) string { return model }
	}
	return &Queue{cfg: cfg, lanes: map[string]*lane{}}
}

// Enter waits until a request to the model may begin. The caller must call leave when the request
// has ended, and may call it twice. If the request has to wait, Enter calls moved from the calling
// goroutine with the request's place in the queue, at first and each time the place changes. The
// parameter begun is true for a request of a run that has begun. Enter returns an error and a nil
// leave if the queue is full (fault.Busy or fault.Limited, with the time to wait), or if ctx ends
// first.
func (q *Queue) Enter(ctx context.Context, model string, begun bool,
	moved func(place int, waited time.Duration)) (leave func(), waited time.Duration, err error) {
	start := time.Now()
	name := q.cfg.Lane(model)
	q.mu.Lock()
	l := q.lanes[name]
	if l == nil {
		l = &lane{}
		q.lanes[name] = l
	}
	leave = sync.OnceFunc(func() { q.left(name, l) })
	// A request begins at once only if no other waits: a request that comes just when a place is
	// free would otherwise pass those before it.
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
		at = slices.IndexFunc(append(l.waiting, &ticket{}), func(other *ticket) bool {
			return !other.begun
		})
	}
	l.waiting = slices.Insert(l.waiting, at, t)
	// The requests after it have moved back by one.
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

// full returns the error of a full queue, with the time until another request may begin. The error
// is Limited if the rate is exhausted, and Busy if too many requests are running.
func (q *Queue) full(l *lane, now time.Time) error {
	kind := fault.Busy
	if q.cfg.PerMinute > 0 && len(l.begun) == q.cfg.PerMinute && q.free(l, now) > 0 &&
		q.free(l, now) < window {
		kind = fault.Limited
	}
	f := fault.New(kind, "%d requests wait for this model server already", len(l.waiting))
	f.Code, f.Retry = "queue_full", min(max(q.free(l, now), time.Second), window)
	return f
}

// free returns how long it takes until another request may begin; 0 means now. If as many requests
// run as AtOnce permits, it is not known when one ends, and free returns window, a minute.
// Otherwise PerMinute decides: a request may begin when the oldest of the last PerMinute requests
// began a minute ago.
func (q *Queue) free(l *lane, now time.Time) time.Duration {
	if q.cfg.AtOnce > 0 && l.running >= q.cfg.AtOnce {
		return window
	}
	if q.cfg.PerMinute > 0 && len(l.begun) >= q.cfg.PerMinute {
		return max(0, window-now.Sub(l.begun[0]))
	}
	return 0
}

// begin records that a request begins now. It keeps the times of only the last PerMinute requests,
// since the oldest of these decides when another may begin.
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

// advance lets the requests in the queue l begin that may, and sends the others their new places.
// It also sets a timer, which calls advance again when time alone lets the next request begin. It
// is called for every change, with q.mu held.
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
		// The timer was set for a state that has just changed.
		l.timer.Stop()
		l.timer = nil
	}
	switch wait := q.free(l, now); {
	// A whole window means either that a request must end first, which needs no timer, or indeed 60
	// s.
	case len(l.waiting) > 0 && wait > 0 && wait < window || len(l.waiting) > 0 && wait == window &&
		(q.cfg.AtOnce == 0 || l.running < q.cfg.AtOnce):
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

// stand sends a request its place in the queue. It never blocks, because a place that has not been
// read yet is replaced.
func (t *ticket) stand(place int) {
	select {
	case <-t.moved:
	default:
	}
	t.moved <- place
}

// left records that one of the requests that run for l has ended, whether it succeeded or not.
// Under the limit AtOnce another request may then begin. Under the limit PerMinute, the ended
// request still counts until its minute is over.
func (q *Queue) left(name string, l *lane) {
	q.mu.Lock()
	defer q.mu.Unlock()
	l.running--
	q.advance(name, l)
}

// abandon removes a request that no longer waits. If the request was let through at the same
// moment, abandon frees its place, which would otherwise be lost for good.
func (q *Queue) abandon(name string, l *lane, t *ticket) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if at := slices.Index(l.waiting, t); at >= 0 {
		l.waiting = slices.Delete(l.waiting, at, at+1)
		// The requests after it have moved up by one.
		for i, other := range l.waiting[at:] {
			other.stand(at + i + 1)
		}
	} else {
		l.running--
	}
	q.advance(name, l)
}

// forget deletes the queue of a server, l, if no request runs or waits in it. It is called when
// nothing has happened there for a minute. Clients choose the names of models, so a client could
// otherwise create any number of queues.
func (q *Queue) forget(name string, l *lane) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if l.running == 0 && len(l.waiting) == 0 && q.lanes[name] == l {
		delete(q.lanes, name)
	}
}
