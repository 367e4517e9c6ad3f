package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
)

// frame is one message on its way to a client.
type frame struct {
	body []byte          // JSON on one line: a message, or a result
	id   json.RawMessage // of the request whose result body is; nil: body is a message
	kind string          // of news: a second frame of the same kind adds nothing while the first still waits; empty: it is no news
	last bool            // nothing follows

	status int // of the HTTP answer that consists of this frame alone; 0: 200
}

// append writes the message.
func (f frame) append(dst []byte) []byte {
	if f.id == nil {
		return append(dst, f.body...)
	}
	return append(append(appendHead(dst, f.id), f.body...), '}')
}

// The bounds of an outbox.
const (
	maxFrames     = 256
	maxFrameBytes = 8 << 20
)

// errSlow ends a stream whose client does not take what it asked for.
var errSlow = errors.New("the client takes messages too slowly")

// outbox holds what waits to be written to one stream, in order. Many may put, one takes.
type outbox struct {
	more chan struct{} // has a value when there is something to take, or it has ended
	room chan struct{} // has a value when there is room again
	over chan struct{} // is closed when it has ended

	mu     sync.Mutex
	frames []frame
	bytes  int
	cause  error // why it ended
}

func newOutbox() *outbox {
	return &outbox{more: make(chan struct{}, 1), room: make(chan struct{}, 1), over: make(chan struct{})}
}

// put adds a frame if there is room. The error says that there is none, or why the outbox has ended. News has room of its own, so
// that a tool which fills the outbox for a moment does not cost its client the stream.
func (b *outbox) put(f frame) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	news := 0
	for _, waiting := range b.frames {
		if waiting.kind != "" {
			news++
		}
		if f.kind != "" && waiting.kind == f.kind {
			return b.cause
		}
	}
	others := len(b.frames) - news
	switch {
	case b.cause != nil:
		return b.cause
	case f.kind != "" && news >= maxFrames:
		return errSlow
	case f.kind == "" && others > 0 && (others >= maxFrames || b.bytes+len(f.body) > maxFrameBytes):
		return errSlow
	}
	b.frames = append(b.frames, f)
	b.bytes += len(f.body)
	signal(b.more)
	return nil
}

// send adds a frame, and waits for room as long as ctx allows. So a tool that reports faster than its client reads is slowed
// down, and nothing is lost.
func (b *outbox) send(ctx context.Context, f frame) error {
	for waited := false; ; waited = true {
		err := b.put(f)
		if !errors.Is(err, errSlow) {
			if waited {
				signal(b.room) // for the next one who waits
			}
			return err
		}
		select {
		case <-b.room:
		case <-b.over:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// take gives what waits, nil when nothing does.
func (b *outbox) take() []frame {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := b.frames
	b.frames, b.bytes = nil, 0
	if len(all) > 0 {
		signal(b.room)
	}
	return all
}

// end lets nobody put anything more; what waits can still be taken. A nil cause is an end as it should be.
func (b *outbox) end(cause error) {
	if cause == nil {
		cause = errClosed
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.cause == nil {
		b.cause = cause
		close(b.over)
		signal(b.more)
	}
}

// ended says why nothing more comes; nil while something may.
func (b *outbox) ended() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.cause
}

// signal wakes whoever waits, now or the next time.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
