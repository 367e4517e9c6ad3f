package wait

import (
	"context"
	"io"
	"sync"
	"time"

	"toolnorm/chat"
	"toolnorm/internal/fault"
	"toolnorm/internal/sleep"
)

// Pulse watches the waits of one reply. Before each wait it lets the client's side flush; while the
// wait lasts, one coarse timer sends heartbeats to the client and ends the reply when the wait has
// lasted too long.
//
// The timer acts only between begin and end, under the lock that both take, so a heartbeat is never
// written together with another part of the reply. Between ticks the timer is left alone: a token
// costs two uncontended locks, not a timer.
type Pulse struct {
	// The fields that every token touches are together, in one cache line: with many streams the
	// cache is cold each time.
	idle    func()
	mu      sync.Mutex    // guards the fields below, except start and spoke
	began   time.Duration // start of the present wait, as time since start
	quiet   time.Duration // when the client last received something
	present *Limit
	start   time.Time // origin of all times: time.Since reads one clock, time.Now two
	waiting bool
	// the client received something since quiet was set; used only by the reading goroutine
	spoke   bool
	stopped bool

	timer  *time.Timer
	beat   func(said string) error
	place  func() string // what the next heartbeat says; nil: nothing
	model  string        // the model that the reply waits for
	client string        // the client that asks
	every  time.Duration // between heartbeats; negative: none
	// the longest time between two ticks, which is how late the end of a wait can be noticed
	pace   time.Duration
	limits Timeouts
	cancel context.CancelCauseFunc
}

// NewPulse starts watching a reply. The context it returns ends with ctx, with Stop, or with the
// fault.Timeout of a wait that was too long as its cause. client may be nil: then no heartbeats are
// sent. The caller must call Stop.
func NewPulse(ctx context.Context, client *chat.Pulse, t Timeouts) (context.Context, *Pulse) {
	t = t.orDefaults()
	p := &Pulse{idle: func() {}, beat: func(string) error { return nil }, every: t.Beat, limits: t,
		start: time.Now()}
	if client != nil && client.Idle != nil {
		p.idle = client.Idle
	}
	if client != nil && client.Beat != nil {
		p.beat = client.Beat
	}
	if client != nil {
		p.client = client.Client
	}
	p.pace = time.Minute
	for _, d := range []time.Duration{t.Load, t.FirstByte, t.Idle, t.Beat} {
		if d > 0 {
			p.pace = min(p.pace, d)
		}
	}
	ctx, p.cancel = context.WithCancelCause(ctx)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.timer = time.AfterFunc(p.pace, p.tick)
	return ctx, p
}

// For sets the model that the reply waits for: each model has a line of its own at a busy server.
func (p *Pulse) For(model string) { p.model = model }

// says makes heartbeats tell what place returns, until done is called.
func (p *Pulse) says(place func() string) (done func()) {
	set := func(f func() string) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.place = f
	}
	set(place)
	return func() { set(nil) }
}

// until waits for a channel to be closed, with heartbeats, and for no longer than left if limit is
// not negative. It reports whether the reply is still wanted then.
func (p *Pulse) until(ctx context.Context, turn <-chan struct{}, limit, left time.Duration) bool {
	p.Begin(Limit{})
	defer p.End()
	over := ctx.Done()
	if limit >= 0 {
		bounded, cancel := context.WithTimeout(ctx, left)
		defer cancel()
		over = bounded.Done()
	}
	select {
	case <-turn:
	case <-over:
	}
	return ctx.Err() == nil
}

// Spoke records that an event went to the client's side. It belongs to the goroutine that waits, so
// it needs no lock: it is called once a token.
func (p *Pulse) Spoke() { p.spoke = true }

// Stop ends the watching and everything that runs under the context. It may be called more than
// once.
func (p *Pulse) Stop() {
	p.mu.Lock()
	p.stopped = true
	p.timer.Stop()
	p.mu.Unlock()
	p.cancel(context.Canceled)
}

// Begin marks the start of a wait. It flushes first: nothing more is written until the wait is
// over, so a burst of records is one write, and a single token is sent at once.
func (p *Pulse) Begin(w Limit) { p.begin(&w) }

// begin is Begin for a limit that does not change until the wait ends: so it is not copied for each
// token.
func (p *Pulse) begin(w *Limit) {
	p.idle()
	now := time.Since(p.start)
	p.mu.Lock()
	p.waiting, p.began, p.present = true, now, w
	// Spoke sets a flag only, as it belongs to the token path; the clock is read once a wait.
	if p.spoke {
		p.quiet, p.spoke = now, false
	}
	p.mu.Unlock()
}

// End marks the end of a wait. When it returns, no heartbeat is under way: what is written next
// cannot be interleaved with one.
func (p *Pulse) End() {
	p.mu.Lock()
	p.waiting = false
	p.mu.Unlock()
}

// Sleep waits for d, with heartbeats. It reports whether the reply is still wanted then: a client
// that has left ends ctx.
func (p *Pulse) Sleep(ctx context.Context, d time.Duration) bool {
	p.Begin(Limit{})
	defer p.End()
	return sleep.For(ctx, d)
}

// tick does what is due and sets the timer for what is due next. It holds the lock over the
// heartbeat's write, so that End waits for it: two goroutines never write to the client at once.
func (p *Pulse) tick() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stopped {
		return
	}
	if next, ok := p.due(time.Since(p.start)); ok {
		p.timer.Reset(next)
	}
}

// due ends a wait that is over, sends a heartbeat that is due, and returns when to check again,
// unless the reply is over. Between two waits it only checks again soon: an eighth of the pace is
// how late the end of a wait may come.
func (p *Pulse) due(now time.Duration) (time.Duration, bool) {
	if !p.waiting {
		return max(p.pace/8, time.Millisecond), true
	}
	next := p.pace
	if p.present.limit > 0 {
		left := p.present.limit - (now - p.began)
		if left <= 0 {
			f := fault.New(fault.Timeout, p.present.fault, p.present.limit)
			f.Code = p.present.code
			p.cancel(f)
			return 0, false
		}
		next = min(next, left)
	}
	if p.every < 0 {
		return next, true
	}
	if now-p.quiet >= p.every {
		said := ""
		if p.place != nil {
			said = p.place()
		}
		if err := p.beat(said); err != nil {
			p.cancel(&fault.Error{Kind: fault.Canceled, Message: "the client went away",
				Cause: err})
			return 0, false
		}
		p.quiet = now
	}
	return min(next, p.every-(now-p.quiet)), true
}

// Reader is a reader whose every Read is a wait. It belongs to the goroutine that reads.
type Reader struct {
	r     io.Reader
	pulse *Pulse
	first Limit // for the first Read
	later Limit // for the others
	begun bool
}

// Reader returns a reader that watches every Read of r: the first may last as long as first says,
// each later one as later does. A first Read that brings nothing does not count.
func (p *Pulse) Reader(r io.Reader, first, later Limit) *Reader {
	return &Reader{r: r, pulse: p, first: first, later: later}
}

// Shorten shortens the waits that are still to come, of a reply of which nothing more is needed.
func (p *Reader) Shorten(d time.Duration) { p.later.limit = d }

// Read waits for the next bytes.
func (p *Reader) Read(b []byte) (int, error) {
	w := &p.first
	if p.begun {
		w = &p.later
	}
	p.pulse.begin(w)
	n, err := p.r.Read(b)
	p.pulse.End()
	p.begun = p.begun || n > 0
	return n, err
}
