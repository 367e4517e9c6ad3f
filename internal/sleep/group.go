package sleep

import (
	"context"
	"sync"
)

// Group runs background work and waits at the end until all of it is done. Otherwise work could
// still be running when its database is closed. The zero value is ready for use. A Group must not
// be copied.
type Group struct {
	mu      sync.Mutex
	closing bool
	life    context.Context // cancelled by Close; nil: no work was begun yet
	end     context.CancelFunc
	running sync.WaitGroup
}

// Go runs work in a goroutine, with a context that ends with ctx or with Close. After Close it runs
// work in the caller's goroutine instead, before it returns. The context has ended in that case, so
// that work only releases what it was given.
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

// Close ends the contexts of all work and waits until the work has returned. It may be called
// twice.
func (g *Group) Close() {
	g.mu.Lock()
	g.closing = true
	if g.end != nil {
		g.end()
	}
	g.mu.Unlock()
	g.running.Wait()
}
