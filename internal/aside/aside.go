// Package aside does work in separate processes of the same program, which can be bounded and
// killed.
//
// A step of a database, a parser or a reader of files may take unlimited time and memory, and
// nothing within a process can stop it. Each Worker declares one kind of such work.
//
//	aside.go    the processes of a worker: limited in number, kept for a while, and replaced
//	process.go  one process: a request to it, its answer, and its limits
//	serve.go    the other side, inside the process
//	file_*.go   how large its files may get
package aside

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// Work answers one request to a worker. If it returns an error, the caller gets only the text of
// the error, as a Failed.
type Work func(request []byte) ([]byte, error)

// Limits bounds the processes of a worker. The limits of memory are for what a process takes in
// addition to what it had when it became ready. That amount depends on the program, and a limit
// that included it could kill every process at its first answer.
type Limits struct {
	Processes int // the most processes at the same time
	// bytes that one process may take while it works; if it takes more, it is killed
	Memory int64
	// bytes that all working processes may take; if they take more, each that takes more than its
	// share is killed; 0: no limit
	Together int64
	// the longest time for one request, without its wait for a process; 0: as long as its context
	Time time.Duration
	// bytes that a process may have after a request; one with more is ended, so that the memory is
	// freed
	Keep int64
}

// idle is how long a process without requests is kept.
const idle = time.Minute

// startWait is how long a process may take until it is ready. The SQL parser is compiled in that
// time, which takes two seconds, or twenty if all processors are busy.
const startWait = 2 * time.Minute

// Worker does one kind of work in separate processes. It may be used by several goroutines at once.
type Worker struct {
	name   string
	limits Limits
	ready  chan *process // the idle processes
	failed chan error    // why a process did not start, sent to a waiting caller

	together atomic.Int64 // bytes that the working processes take

	mu      sync.Mutex
	running int
}

// New declares a worker. In a process that was started for this work, New does not return: it calls
// warm, unless that is nil, and then serves requests with the function work. Call New to initialize
// a package variable, so that every program with the package, tests included, can serve the work.
func New(name string, limits Limits, warm func(), work Work) *Worker {
	if asked() == name {
		serve(warm, work)
	}
	return &Worker{name: name, limits: limits, ready: make(chan *process, limits.Processes),
		failed: make(chan error)}
}

// Ended is the error for a process that was killed, or ended by itself, before it answered.
type Ended struct {
	Memory bool // it took more memory than it was allowed
	Why    string
}

// Error implements error: it returns the reason.
func (e *Ended) Error() string { return e.Why }

// Failed is the text of an error that Work returned.
type Failed string

// Error implements error: it returns the text.
func (f Failed) Error() string { return string(f) }

// Do sends a request to a process and returns its answer. The error is a Failed if the work
// returned one, and an *Ended if the process was killed or crashed. If ctx ends, the process is
// killed and the error is the context's cause. Do also fails if no process can be started.
func (w *Worker) Do(ctx context.Context, request []byte) ([]byte, error) {
	p, err := w.take(ctx)
	if err != nil {
		return nil, err
	}
	if w.limits.Time > 0 {
		var cancel context.CancelFunc
		slow := &Ended{Why: fmt.Sprintf("it takes longer than %v", w.limits.Time)}
		ctx, cancel = context.WithTimeoutCause(ctx, w.limits.Time, slow)
		defer cancel()
	}
	answer, err := p.ask(ctx, request, w)
	if p.over || p.memory() > p.base+w.limits.Keep {
		w.end(p)
		return answer, err
	}
	p.since = time.Now()
	w.ready <- p
	time.AfterFunc(idle+time.Second, w.reap)
	return answer, err
}

// bounds returns a function to be called repeatedly while a process works. That function returns
// which limit was exceeded, or "" if none was. The second function must be called when the work
// ends.
func (w *Worker) bounds(p *process) (exceeded func() string, release func()) {
	held := int64(0)
	return func() string {
		more := p.memory() - p.base - held
		held += more
		all, l := w.together.Add(more), w.limits
		switch {
		case l.Memory > 0 && held > l.Memory:
			return fmt.Sprintf("it takes more than %d MB of memory", l.Memory>>20)
		case !detecting && l.Together > 0 && all > l.Together &&
			held > l.Together/int64(l.Processes):
			return fmt.Sprintf("those at work take more than %d MB of memory", l.Together>>20)
		}
		return ""
	}, func() { w.together.Add(-held) }
}

// take waits for an idle process, and starts one if the limit allows. It fails if the start fails
// or ctx ends. If the caller gives up, the new process is not stopped but used for the next
// request, since otherwise impatient callers would prevent every start.
func (w *Worker) take(ctx context.Context) (*process, error) {
	for {
		select {
		case p := <-w.ready:
			if p.lives() {
				return p, nil
			}
			w.end(p)
			continue
		default:
		}
		w.mu.Lock()
		if w.running < w.limits.Processes {
			w.running++
			go w.start() // ends with startWait
		}
		w.mu.Unlock()
		select {
		case p := <-w.ready:
			if p.lives() {
				return p, nil
			}
			w.end(p)
		case err := <-w.failed:
			return nil, err
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// start starts a process and waits until it is ready. Then the process joins the idle ones; if it
// fails, the error is sent to a waiting caller.
func (w *Worker) start() {
	p, err := start(w.name)
	if err == nil {
		ctx, cancel := context.WithTimeoutCause(context.Background(), startWait, fmt.Errorf(
			"it was not ready within %v", startWait))
		defer cancel()
		_, err = p.answer(ctx, nil)
	}
	if err == nil {
		p.since, p.base = time.Now(), p.memory()
		w.ready <- p
		time.AfterFunc(idle+time.Second, w.reap)
		return
	}
	w.end(p)
	select {
	case w.failed <- fmt.Errorf("start the process for %s: %w", w.name, err):
	case <-time.After(time.Second): // no caller is waiting
	}
}

// end kills the process p of a worker. After that the worker can start another one in its place.
func (w *Worker) end(p *process) {
	p.kill()
	w.mu.Lock()
	w.running--
	w.mu.Unlock()
}

// reap ends the processes that have not had a request for a minute.
func (w *Worker) reap() {
	for range len(w.ready) {
		select {
		case p := <-w.ready:
			if time.Since(p.since) < idle {
				w.ready <- p
			} else {
				w.end(p)
			}
		default:
			return
		}
	}
}
