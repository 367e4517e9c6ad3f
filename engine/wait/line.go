package wait

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"time"

	"toolnorm/internal/fault"
)

// lines has the requests that wait for a server, by model. The zero value is empty.
type lines struct {
	mu      sync.Mutex // guards all fields of all lines
	byModel map[string]*line
}

// line has the requests that wait for one model. It is fair to clients: if two clients have many
// requests each, the requests of both alternate. For this each request has a tag, and the smallest
// tag is served first. A request's tag is one more than the tag of its client's last request, or
// than that of the last request that the server accepted, whichever is larger. The line is removed
// when no request waits.
type line struct {
	all     *lines
	model   string
	waiting []*waiter // by tag, then by arrival
	tags    map[string]int64
	now     int64 // the tag of the last request that got a place
	// the server's last refusal
	fault *fault.Error
	since time.Time     // when the last request got a place; zero: none has
	every time.Duration // average time between two requests that get a place; 0: not known
}

// waiter is a request that waits.
type waiter struct {
	line *line
	tag  int64
	turn chan struct{} // closed when the request is the first of the line
}

// busy returns the server's last refusal if requests wait for the model, and nil otherwise.
func (l *lines) busy(model string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if one := l.byModel[model]; one != nil {
		return one.fault
	}
	return nil
}

// join adds a client's request to the line of its model, and returns the request's waiter. The
// parameter busy is the refusal that the request got from the server.
func (l *lines) join(model, client string, busy *fault.Error) *waiter {
	l.mu.Lock()
	defer l.mu.Unlock()
	one := l.byModel[model]
	if one == nil {
		one = &line{all: l, model: model, tags: map[string]int64{}, fault: busy}
		if l.byModel == nil {
			l.byModel = map[string]*line{}
		}
		l.byModel[model] = one
	}
	w := &waiter{line: one, tag: max(one.tags[client], one.now) + 1, turn: make(chan struct{})}
	one.tags[client] = w.tag
	// The first request is asking the server and stays first, whichever requests come.
	at := min(1, len(one.waiting))
	for at < len(one.waiting) && one.waiting[at].tag <= w.tag {
		at++
	}
	one.waiting = slices.Insert(one.waiting, at, w)
	one.call()
	return w
}

// leave removes a request from its line.
func (l *lines) leave(w *waiter) {
	l.mu.Lock()
	defer l.mu.Unlock()
	one := w.line
	if at := slices.Index(one.waiting, w); at >= 0 {
		one.waiting = slices.Delete(one.waiting, at, at+1)
	}
	if len(one.waiting) == 0 {
		delete(l.byModel, one.model)
		return
	}
	one.call()
}

// call tells the first request of the line that it is the first now, by closing the request's
// channel. The caller holds l.all.mu.
func (l *line) call() {
	first := l.waiting[0]
	select {
	case <-first.turn:
	default:
		close(first.turn)
	}
}

// first reports whether the request is the first of its line, so that it may ask the server.
func (w *waiter) first() bool {
	select {
	case <-w.turn:
		return true
	default:
		return false
	}
}

// said returns the last refusal that any request of the line got from the busy server.
func (l *line) said() *fault.Error {
	l.all.mu.Lock()
	defer l.all.mu.Unlock()
	return l.fault
}

// refused records the fault with which the server refused a request of the line.
func (l *line) refused(busy *fault.Error) {
	l.all.mu.Lock()
	defer l.all.mu.Unlock()
	l.fault = busy
}

// passed records that the server has accepted a request of the line.
func (l *line) passed(w *waiter) {
	l.all.mu.Lock()
	defer l.all.mu.Unlock()
	now := time.Now()
	if !l.since.IsZero() {
		took := now.Sub(l.since)
		l.every = (3*cmp.Or(l.every, took) + took) / 4
	}
	l.since, l.now = now, w.tag
}

// place returns a sentence for the client with the request's place in its line, and how long it may
// have to wait, if that is known. It returns "" if the request has left the line.
func (w *waiter) place() string {
	l := w.line
	l.all.mu.Lock()
	defer l.all.mu.Unlock()
	at := slices.Index(l.waiting, w) + 1
	if at == 0 {
		return ""
	}
	text := fmt.Sprintf("the model server is busy: place %d of %d", at, len(l.waiting))
	if l.every > 0 {
		text += fmt.Sprintf(", about %d s",
			int((time.Duration(at)*l.every).Round(time.Second)/time.Second))
	}
	return text
}
