package engine

import (
	"context"
	"sync"

	"toolnorm/engine/wait"
)

// flight has the first of several requests find out what all of them need at once. The zero value
// is ready to use.
type flight[V any] struct {
	mu      sync.Mutex
	running map[wanted]*trip[V] // by what the trip finds out
}

// wanted identifies what a trip finds out: the model, and what the result depends on.
type wanted struct {
	server *server // nil: the result is the same for every server of a pool
	model  string
	by     string
}

// trip is something that a request finds out.
type trip[V any] struct {
	done chan struct{} // closed when it is found out
	v    V
	err  error
	left bool // the request was canceled meanwhile, so there is no result
}

// do returns the result of work, or that of another request that is already doing the same work.
// When that request's client leaves, the next of the waiting requests begins anew. The wait has
// heartbeats, and is no longer than a model may take to load.
func (f *flight[V]) do(ctx context.Context, p *wait.Pulse, key wanted, work func() (V, error)) (
	V, error) {
	for {
		f.mu.Lock()
		c := f.running[key]
		if c == nil {
			c = &trip[V]{done: make(chan struct{}), left: true}
			if f.running == nil {
				f.running = map[wanted]*trip[V]{}
			}
			f.running[key] = c
			f.mu.Unlock()
			return f.find(ctx, key, c, work)
		}
		f.mu.Unlock()
		p.Begin(p.Loading())
		select {
		case <-c.done:
		case <-ctx.Done():
		}
		p.End()
		if ctx.Err() != nil {
			var none V
			return none, whyUnfinished(ctx)
		}
		if !c.left {
			return c.v, c.err
		}
	}
}

// find calls work, and gives its result to all requests that wait for c as well.
func (f *flight[V]) find(ctx context.Context, key wanted, c *trip[V], work func() (V, error)) (
	V, error) {
	defer func() { // runs also when work panics
		f.mu.Lock()
		delete(f.running, key)
		f.mu.Unlock()
		close(c.done)
	}()
	c.v, c.err = work()
	c.left = ctx.Err() != nil
	return c.v, c.err
}
