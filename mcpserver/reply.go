package mcpserver

import (
	"context"
	"sync"
)

// reply is the answer to a POST: JSON, unless it has become a stream before it was there. The request runs in the goroutine of
// its handler; only a stream has one of its own, which ends before the handler does.
type reply struct {
	box    *outbox
	stream func()        // writes what comes into the box until its last frame
	ended  chan struct{} // is closed when stream has returned

	mu    sync.Mutex
	begun bool // it is a stream
	over  bool // it is neither any more
}

// send says something before the answer, which makes it a stream.
func (p *reply) send(ctx context.Context, f frame) error {
	p.begin()
	return p.box.send(ctx, f)
}

// begin makes the reply a stream, if it is not over.
func (p *reply) begin() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.begun || p.over {
		return
	}
	p.begun = true
	go func() {
		defer close(p.ended)
		p.stream()
	}()
}

// finish ends a stream with its last frame, and waits until it is written or nobody can read it any more. It is false when there is
// no stream.
func (p *reply) finish(ctx context.Context, last frame) bool {
	p.mu.Lock()
	p.over = true
	begun := p.begun
	p.mu.Unlock()
	if !begun {
		return false
	}
	_ = p.box.send(ctx, last) // whoever ended the box wants no answer
	<-p.ended
	return true
}
