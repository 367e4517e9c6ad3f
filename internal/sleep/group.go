package sleep

import (
	"context"
	"sync"
)

// Group runs what goes on beside everything else, and waits for it at the end: what is still at
// work when its database is closed breaks in ways that nobody has tried. The zero value is ready.
// It must not be copied.
type Group struct {
	mu      sync.Mutex
	closing bool
	life    context.Context // ends with Close; nil: nothing was begun
	end     context.CancelFunc
	running sync.WaitGroup
}

// Go begins work, whose context ends with ctx or with Close. After Close it runs the work to its
// end at once, with a context that has ended, so that it can give back what it was given.
func (g *Group) Go(ctx context.Context, work func(ctx context.Context)) {
	ctx, cancel := context.WithCancel(ctx)
	g.mu.Lock()
	if g.closing {
		g.mu.Unlock()
		cancel()
		work(ctx)
		return
	}
	if g.life == nil {
		g.life, g.end = context.WithCancel(context.Background())
	}
	stop := context.AfterFunc(g.life, cancel)
	g.running.Add(1)
	g.mu.Unlock()
	go func() { // ends with its context; Close waits for it
		defer g.running.Done()
		defer cancel()
		defer stop()
		work(ctx)
	}()
}

// Close ends all work and waits for it. It may be called twice.
func (g *Group) Close() {
	g.mu.Lock()
	g.closing = true
	if g.end != nil {
		g.end()
	}
	g.mu.Unlock()
	g.running.Wait()
}
