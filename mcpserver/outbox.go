package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"slices"
	"sync"
	"time"

	"toolnorm/internal/sse"
)

// frame is one message on its way to a client. It is never changed once it is in an outbox, and may
// be in many at the same time.
type frame struct {
	body []byte // JSON on one line: a message, or a result
	// the id of the request, if body is only its result; nil: body is a whole message
	id json.RawMessage
	// identifies what a notification of a change is about: it is not added while another one of the
	// same kind waits. It is empty for all other frames.
	kind string
	last bool // whether nothing follows

	status int // the HTTP status of an answer that is only this frame; 0: 200
}

// append appends a frame to dst as one JSON message. A frame of an answer has the id apart from the
// result, so that many clients can get the same result. append puts the two together.
func (f frame) append(dst []byte) []byte {
	if f.id == nil {
		return append(dst, f.body...)
	}
	return append(append(appendHead(dst, f.id), f.body...), '}')
}

// The limits of an outbox, in messages and in bytes. A message of any size is accepted if no other
// waits, because a result of more than 8 MiB could never be sent otherwise.
const (
	maxFrames     = 256
	maxFrameBytes = 8 << 20
)

// errSlow is returned if an outbox is full, and ends a stream whose client does not read it. The
// client connects again and asks for the lists anew, which costs less than storing notifications
// without limit.
var errSlow = errors.New("the client takes messages too slowly")

// outbox is a queue of frames for one stream. Many goroutines may put frames into it, and one takes
// them. It is a list with a lock and not a channel, because a notification is not added while
// another one of its kind waits, and because the limit counts bytes as well as messages.
type outbox struct {
	more chan struct{} // has a value if there are frames to take, or if the outbox has ended
	room chan struct{} // has a value if there is room again
	over chan struct{} // closed when the outbox has ended

	mu     sync.Mutex
	frames []frame
	bytes  int
	cause  error // why the outbox has ended; nil: it has not
}

// newOutbox returns an empty outbox. The channels more and room have a buffer of one, so that a
// signal is not lost while no goroutine waits for it (see signal).
func newOutbox() *outbox {
	return &outbox{more: make(chan struct{}, 1), room: make(chan struct{}, 1),
		over: make(chan struct{})}
}

// put adds a frame. It returns errSlow if there is no room, or the reason why the outbox has ended.
// Notifications of changes have a limit of their own, so that a tool which fills the outbox for a
// moment does not cost its client the stream. A notification is not added if one of the same kind
// is waiting already. For example, if the tools change ten times before the client reads, it gets
// one notification.
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

// send adds a frame, and waits for room until ctx ends. So a tool that reports faster than its
// client reads is slowed down, and nothing is lost. It returns an error if the outbox or ctx has
// ended.
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

// take removes and returns all waiting frames, or nil if there are none, so that they can be
// written together and flushed once.
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

// waiting returns the waiting frames without removing them.
func (b *outbox) waiting() []frame {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.frames)
}

// end ends the outbox. No more frames can be put, but waiting ones can still be taken. A nil cause
// means a regular end. Only the first cause is stored, since later ones follow from it.
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

// signal wakes the goroutine that waits on c, or the next one that will. The channel has a buffer
// of one, so a signal before the wait is not lost, and two signals count as one.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// event is a function that appends a frame to dst as an event of a stream.
type event func(dst []byte, f frame) []byte

// plainEvent appends a frame as an event without an id. The event is named "message", as in
// 2024-11-05; the lines end with LF alone.
func plainEvent(dst []byte, f frame) []byte {
	dst = append(dst, "event: message\ndata: "...)
	return append(f.append(dst), "\n\n"...)
}

// pour writes the frames of an outbox to a stream, and comments while there are none. It returns
// nil after the last frame. If the outbox, the client or the server ends before, it returns the
// reason. Keep-alives are comments and not the protocol's ping, which a client would have to answer
// and which 2026-07-28 no longer has.
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
			b.end(errClosed) // waiting frames are still written
		case <-beat.C:
			w.Comment("keep-alive")
		}
		beat.Reset(s.cfg.Beat)
	}
}

// open returns the writer of a new stream. The caller must call done when the stream has ended. If
// too many streams are open, it answers with a 503 and returns false. The limit is for all streams
// together, since each costs some 27 KB.
func (s *Server) open(w http.ResponseWriter) (out *sse.Writer, done func(), ok bool) {
	if n := s.streams.Add(1); s.closing.Load() || n > int64(s.cfg.MaxStreams) {
		s.streams.Add(-1)
		s.busy(w, "too many streams are open")
		return nil, nil, false
	}
	return sse.NewWriter(w, s.cfg.Stall), func() { s.streams.Add(-1) }, true
}

// dropped logs that a stream ended because the client did not read it. Other reasons are not
// logged, since clients that leave are normal.
func (s *Server) dropped(what string, err error) {
	if errors.Is(err, errSlow) || errors.Is(err, os.ErrDeadlineExceeded) {
		s.cfg.Log.Warn().Str("stream", what).Err(err).Msg(
			"dropped an MCP stream: the client does not read it")
	}
}
