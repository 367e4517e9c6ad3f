// Package sse writes server-sent events: whole batches of them, one write and one flush each.
package sse

import (
	"cmp"
	"net/http"
	"time"
)

// Writer sends a stream of events to one client. Nothing reaches the wire, not even the header,
// before the first Flush, so until then the response can still become something else. It is used by
// one goroutine at a time.
type Writer struct {
	// Buf is what the next Flush sends. Append whole events to it.
	Buf []byte
	// Type is the Content-Type; empty means that of an event stream. Other streams of records are
	// written the same way.
	Type string

	w        http.ResponseWriter
	ctl      *http.ResponseController
	stall    time.Duration
	deadline time.Time
	wrote    bool
	err      error
}

// NewWriter makes a Writer over w. A client that takes nothing for longer than stall is given up; 0
// waits for ever. Without it a reader that stopped would keep its goroutine, and what the stream
// holds, until TCP gives up after many minutes.
func NewWriter(w http.ResponseWriter, stall time.Duration) *Writer {
	return &Writer{Buf: make([]byte, 0, 2048), w: w, ctl: http.NewResponseController(w),
		stall: stall}
}

// Wrote reports whether anything has reached the wire.
func (w *Writer) Wrote() bool { return w.wrote }

// Comment appends a comment line, which every client skips. It must hold no line break, and must
// not begin with "ping": Continue ends its stream there. Keep-alives say "keep-alive".
func (w *Writer) Comment(text string) {
	w.Buf = append(w.Buf, ": "...)
	w.Buf = append(w.Buf, text...)
	w.Buf = append(w.Buf, "\n\n"...)
}

// Flush sends Buf in one write. The first error is kept and returned from then on.
func (w *Writer) Flush() error {
	if w.err != nil || len(w.Buf) == 0 {
		return w.err
	}
	if !w.wrote {
		w.open()
	}
	w.extend()
	_, w.err = w.w.Write(w.Buf)
	w.Buf = w.Buf[:0]
	if w.err == nil {
		w.err = w.ctl.Flush()
	}
	return w.err
}

// open sets the header of a stream that no proxy on the way may collect or compress.
func (w *Writer) open() {
	h := w.w.Header()
	h.Set("Content-Type", cmp.Or(w.Type, "text/event-stream"))
	h.Set("Cache-Control", "no-cache")
	h.Set("X-Accel-Buffering", "no")
	w.w.WriteHeader(http.StatusOK)
	w.wrote = true
}

// extend moves the write deadline when less than half of it is left: coarsely, since each move
// costs a timer.
func (w *Writer) extend() {
	if w.stall <= 0 {
		return
	}
	if time.Until(w.deadline) < w.stall/2 {
		w.deadline = time.Now().Add(w.stall)
		// A ResponseWriter without deadlines (a recorder in a test) has no stuck client either.
		_ = w.ctl.SetWriteDeadline(w.deadline)
	}
}
