package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"sync"
	"time"

	"toolnorm/internal/sse"
)

// frame is one message on its way to a client. It is never changed once it is in a box, and may be
// in many at once.
type frame struct {
	body []byte          // JSON on one line: a message, or a result
	id   json.RawMessage // of the request whose result body is; nil: body is a message
	// of news: a second frame of the same kind adds nothing while the first still waits; empty: it
	// is no news
	kind string
	last bool // nothing follows

	status int // of the HTTP answer that consists of this frame alone; 0: 200
}

// append writes the message. The id and the result of an answer are put together only here, on
// their way out.
func (f frame) append(dst []byte) []byte {
	if f.id == nil {
		return append(dst, f.body...)
	}
	return append(append(appendHead(dst, f.id), f.body...), '}')
}

// The bounds of an outbox, in messages and in bytes of them. One message of any size is taken when
// nothing else waits: a result of more than 8 MiB could never be sent otherwise.
const (
	maxFrames     = 256
	maxFrameBytes = 8 << 20
)

// errSlow ends a stream whose client does not read what it asked for. The client connects again and
// asks for the lists anew, which costs less than keeping news for it without end.
var errSlow = errors.New("the client takes messages too slowly")

// outbox holds what waits to be written to one stream, in order. Many goroutines may put frames,
// one takes them. It is a list under a lock and not a channel, since news of one kind replaces
// itself, and bytes count as well as messages.
type outbox struct {
	more chan struct{} // has a value when there is something to take, or it has ended
	room chan struct{} // has a value when there is room again
	over chan struct{} // is closed when it has ended

	mu     sync.Mutex
	frames []frame
	bytes  int
	cause  error // why it ended
}

// newOutbox makes an empty outbox. Its two signals hold one value each (see signal).
func newOutbox() *outbox {
	return &outbox{more: make(chan struct{}, 1), room: make(chan struct{}, 1),
		over: make(chan struct{})}
}

// put adds a frame if there is room. The error says that there is no room, or why the outbox has
// ended. News has its own room, so that a tool which fills the outbox for a moment does not cost
// its client the stream. News that waits already is not added again: ten changes of the tools that
// a client has not read yet are one.
func (b *outbox) put(f frame) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	news := 0
	for _, waiting := range b.frames {
		if waiting.kind != "" {
			news++
		}
		// The client has not read the first one, and will ask for the new state when it does.
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

// send adds a frame, and waits for room as long as ctx allows. So a tool that reports faster than
// its client reads is slowed down, and nothing is lost.
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

// take returns the waiting frames, or nil if there are none. All of it is written in one go, and
// flushed once.
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

// end ends the outbox: no more frames can be put, but those that wait can still be taken. A nil
// cause means a regular end. The first cause counts: what comes later follows from it.
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

// ended returns why the outbox has ended, or nil if it has not.
func (b *outbox) ended() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.cause
}

// signal wakes the waiting goroutine, or the next one that waits. The channel holds one value, so a
// signal that comes before the wait is not lost, and two signals count as one.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// event is how a frame is written to a stream.
type event func(dst []byte, f frame) []byte

// plainEvent writes a frame without an id. The event is named message, as 2024-11-05 has it; the
// lines end with LF alone.
func plainEvent(dst []byte, f frame) []byte {
	dst = append(dst, "event: message\ndata: "...)
	return append(f.append(dst), "\n\n"...)
}

// pour writes what comes into an outbox to a stream, and comments while nothing does. It returns
// nil after the last frame; if the outbox, the client or the server ends before, it returns the
// reason. Keep-alives are comments and not the protocol's ping, which a client would have to
// answer, and which 2026-07-28 no longer has.
func (s *Server) pour(ctx context.Context, w *sse.Writer, b *outbox, write event) error {
	beat := time.NewTimer(s.cfg.Beat)
	defer beat.Stop()
	for {
		frames := b.take()
		for _, f := range frames {
			if f.body != nil {
				w.Buf = write(w.Buf, f)
			}
			if f.last {
				return w.Flush()
			}
		}
		if err := w.Flush(); err != nil {
			return err
		}
		w.Buf = nil // a stream is mostly idle, and there may be many
		if cause := b.ended(); len(frames) == 0 && cause != nil {
			return cause
		}
		select {
		case <-b.more:
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-s.engine.ctx.Done():
			b.end(errClosed) // what waits is written still
		case <-beat.C:
			w.Comment("keep-alive")
		}
		beat.Reset(s.cfg.Beat)
	}
}

// open begins a stream unless too many are open. The caller calls done when the stream has ended.
// The bound is on all streams together, since each costs some 27 KB.
func (s *Server) open(w http.ResponseWriter) (out *sse.Writer, done func(), ok bool) {
	if n := s.streams.Add(1); s.closing.Load() || n > int64(s.cfg.MaxStreams) {
		s.streams.Add(-1)
		s.busy(w, "too many streams are open")
		return nil, nil, false
	}
	return sse.NewWriter(w, s.cfg.Stall), func() { s.streams.Add(-1) }, true
}

// dropped logs why a stream ended, when that was neither intended by the client nor by us. Clients
// that leave are everyday.
func (s *Server) dropped(what string, err error) {
	if errors.Is(err, errSlow) || errors.Is(err, os.ErrDeadlineExceeded) {
		s.cfg.Log.Warn().Str("stream", what).Err(err).Msg(
			"dropped an MCP stream: the client does not read it")
	}
}
