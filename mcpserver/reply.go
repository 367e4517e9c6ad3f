package mcpserver

import (
	"context"
	"sync"
)

// reply is the answer to a POST: JSON, unless it has become a stream before it was there. The request runs in the goroutine of
// its handler; only a stream has one of its own, which ends before the handler does.
type reply struct {
	stream func(*outbox) // writes what comes into the box until its last frame

	mu    sync.Mutex
	box   *outbox       // nil: it is no stream
	ended chan struct{} // is closed when stream has returned
	over  bool          // it can become none any more
}

// send says something before the answer, which makes it a stream.
func (p *reply) send(ctx context.Context, f frame) error {
	box := p.begin()
	if box == nil {
		return errDeaf
	}
	return box.send(ctx, f)
}

// begin makes the reply a stream, if it is not over, and gives its box; nil when there is none.
func (p *reply) begin() *outbox {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.box == nil && !p.over {
		p.box, p.ended = newOutbox(), make(chan struct{})
		go func() {
			defer close(p.ended)
			p.stream(p.box)
		}()
	}
	return p.box
}

// finish ends a stream with its last frame, and waits until it is written or nobody can read it any more. It is false when there is
// no stream.
func (p *reply) finish(ctx context.Context, last frame) bool {
	p.mu.Lock()
	p.over = true
	p.mu.Unlock()
	if p.box == nil {
		return false
	}
	_ = p.box.send(ctx, last) // whoever ended the box wants no answer
	<-p.ended
	return true
}
