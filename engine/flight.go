package engine

import (
	"context"
	"sync"

	"toolnorm/engine/wait"
)

// flight has what many requests need at once found out by the first of them. The zero value is
// ready.
type flight[V any] struct {
	mu      sync.Mutex
	running map[wanted]*trip[V] // by what is found out
}

// wanted is what is found out: of which model, and by what it may differ.
type wanted struct {
	server *server // nil: it is the same at every server of a pool
	model  string
	by     string
}

// trip is something that a request finds out.
type trip[V any] struct {
	done chan struct{} // closed when it is
	v    V
	err  error
	left bool // the request was given up meanwhile, and says nothing
}

// do returns what work finds out, or what another request does that has begun with it already. When
// that one's client leaves, the next of those that wait begins anew. The wait has heartbeats, and
// is no longer than a model may take to load.
func (f *flight[V]) do(ctx context.Context, p *wait.Pulse, key wanted, work func() (V, error)) (V, error) {
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
			return none, unfinished(ctx)
		}
		if !c.left {
			return c.v, c.err
		}
	}
}

// find does the work for all that wait.
func (f *flight[V]) find(ctx context.Context, key wanted, c *trip[V], work func() (V, error)) (V, error) {
	defer func() { // also when work panics
		f.mu.Lock()
		delete(f.running, key)
		f.mu.Unlock()
		close(c.done)
	}()
	c.v, c.err = work()
	c.left = ctx.Err() != nil
	return c.v, c.err
}
