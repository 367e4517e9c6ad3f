package engine

import (
	"context"
	"sync"

	"toolnorm/engine/wait"
)

// flight shares the work of several requests that need the same result at once: only the first of
// them does it. The zero value is ready to use.
type flight[V any] struct {
	mu      sync.Mutex
	running map[wanted]*trip[V] // by the result that they find
}

// wanted is the key of one piece of shared work in a flight. It has everything on which the result
// of the work depends.
type wanted struct {
	server *server // nil: the result is the same for every server of a pool
	model  string
	by     string
}

// trip is one piece of shared work in a flight. One request does the work, and the others wait for
// its result.
type trip[V any] struct {
	done chan struct{} // closed when there is a result
	v    V
	err  error
	left bool // the request was canceled meanwhile, so there is no result
}

// do returns the result and the error of the function work, or those of another request that is
// already doing the same work. If the client of that request leaves, the next of the waiting
// requests does the work again. While do waits, it sends keep-alives, and it waits no longer than a
// model may take to load. If ctx ends first, it returns an error.
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

// find calls the function work, returns its result or its error, and stores them in c, from which
// the requests that wait for the same work take them.
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
