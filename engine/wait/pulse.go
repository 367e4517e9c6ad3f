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

// Pulse watches the waits of one reply. Before each wait it flushes what was written to the client.
// During the wait one coarse timer sends keep-alives to the client, and ends the reply when the
// wait has lasted too long.
//
// The timer acts only between Begin and End, under the lock that both use, so a keep-alive is never
// written together with another part of the reply. Between ticks the timer is not touched. So a
// token costs two uncontended locks, and no timer.
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
	// the client received something since quiet was set; only the reading goroutine uses it
	spoke   bool
	stopped bool

	timer  *time.Timer
	beat   func(said string) error
	place  func() string // returns what the next keep-alive says; nil: nothing
	model  string        // the model that the reply waits for
	client string        // the client that sent the request
	every  time.Duration // between keep-alives; negative: none
	// the longest time between two ticks, which is how late the end of a wait can be noticed
	pace   time.Duration
	limits Timeouts
	cancel context.CancelCauseFunc
}

// NewPulse starts watching a reply. The returned context ends with ctx, with Stop, or when a wait
// is too long, in which case its cause is a fault.Timeout. If client is nil, no keep-alives are
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

// For sets the model for which the reply waits, since each model has its own line at a busy server.
func (p *Pulse) For(model string) { p.model = model }

// says makes each keep-alive contain the text that the function place returns. It returns a
// function that ends this.
func (p *Pulse) says(place func() string) (done func()) {
	set := func(f func() string) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.place = f
	}
	set(place)
	return func() { set(nil) }
}

// until waits until the channel turn is closed or ctx ends, and sends keep-alives meanwhile. It
// waits no longer than the duration left; if the parameter limit is negative, it waits without a
// limit. It returns false if ctx has ended, because nobody wants the reply any more.
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

// Spoke records that an event was sent to the client. Only the goroutine that waits may call it, so
// it needs no lock, because it is called once a token.
func (p *Pulse) Spoke() { p.spoke = true }

// Stop ends the watching and cancels the context. It may be called more than once.
func (p *Pulse) Stop() {
	p.mu.Lock()
	p.stopped = true
	p.timer.Stop()
	p.mu.Unlock()
	p.cancel(context.Canceled)
}

// Begin marks the start of a wait. It first flushes what was written to the client, because nothing
// more is written until the wait is over. Records that arrive together are thus sent together, and
// a single token is sent without delay.
func (p *Pulse) Begin(w Limit) { p.begin(&w) }

// begin marks the start of a wait, as Begin does, but takes a pointer, so that the limit is not
// copied for each token. The limit must not change until the wait ends.
func (p *Pulse) begin(w *Limit) {
	p.idle()
	now := time.Since(p.start)
	p.mu.Lock()
	p.waiting, p.began, p.present = true, now, w
	// Spoke is called once a token, so it only sets a flag, and the clock is read once a wait.
	if p.spoke {
		p.quiet, p.spoke = now, false
	}
	p.mu.Unlock()
}

// End marks the end of a wait. When it returns, no keep-alive is being written, so what is written
// next cannot be mixed with one.
func (p *Pulse) End() {
	p.mu.Lock()
	p.waiting = false
	p.mu.Unlock()
}

// Sleep waits for d, and sends keep-alives meanwhile. It returns false if ctx has ended, because
// the client has left.
func (p *Pulse) Sleep(ctx context.Context, d time.Duration) bool {
	p.Begin(Limit{})
	defer p.End()
	return sleep.For(ctx, d)
}

// tick ends a wait that is too long or sends a keep-alive if one is due, and sets the timer for the
// next check. It holds the lock while a keep-alive is written, so that End waits for it, and two
// goroutines never write to the client at once.
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

// due ends a wait that is too long, or sends a keep-alive if the time for one has come. It returns
// the time until the next check, and false if the reply is over. If nothing waits now, the next
// check is after p.pace/8, so a wait that begins between two checks may end late by that time.
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

// Reader is an io.Reader that tells a Pulse when each Read begins and ends. So during a Read the
// Pulse can send keep-alives to the client, and end the reply if the Read takes too long. Only one
// goroutine may use a Reader.
type Reader struct {
	r     io.Reader
	pulse *Pulse
	first Limit // for the first Read
	later Limit // for the others
	begun bool
}

// Reader returns a reader that watches every Read of r. Each Read may last as long as the parameter
// first says, until one of them has returned bytes. From then on, each Read may last as long as the
// parameter later says.
func (p *Pulse) Reader(r io.Reader, first, later Limit) *Reader {
	return &Reader{r: r, pulse: p, first: first, later: later}
}

// Shorten limits the later waits to d. It is for a reply that has said everything that is needed.
func (p *Reader) Shorten(d time.Duration) { p.later.limit = d }

// Read implements io.Reader. If the wait is too long, the context of the Pulse ends, so that the
// read returns an error.
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
