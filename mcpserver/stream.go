package mcpserver

import (
	"context"
	"errors"
	"net/http"
	"os"
	"time"

	"toolnorm/internal/sse"
)

// event is how a frame is written to a stream.
type event func(dst []byte, f frame) []byte

// plainEvent writes a frame without an id.
func plainEvent(dst []byte, f frame) []byte {
	dst = append(dst, "event: message\ndata: "...)
	return append(f.append(dst), "\n\n"...)
}

// pour writes what comes into an outbox to a stream, and comments while nothing does. It ends after the last frame, with
// nil; else when the outbox, the client or the server ends, and says why.
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

// open begins a stream, if there are not too many. Call done when it has ended.
func (s *Server) open(w http.ResponseWriter) (out *sse.Writer, done func(), ok bool) {
	if s.closing.Load() || s.streams.Add(1) > int64(s.cfg.MaxStreams) {
		s.streams.Add(-1)
		s.busy(w, "too many streams are open")
		return nil, nil, false
	}
	return sse.NewWriter(w, s.cfg.Stall), func() { s.streams.Add(-1) }, true
}

// dropped logs why a stream ended, when that was neither the client's wish nor ours.
func (s *Server) dropped(what string, err error) {
	if errors.Is(err, errSlow) || errors.Is(err, os.ErrDeadlineExceeded) {
		s.cfg.Log.Warn().Str("stream", what).Err(err).Msg("an MCP stream was dropped: its client takes nothing of it")
	}
}
