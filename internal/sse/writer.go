// Package sse writes server-sent events: whole batches of them, one write and one flush each.
package sse

import (
	"cmp"
	"net/http"
	"time"
)

// Writer sends a stream of events to one client. Nothing is sent, not even the header, before the
// first Flush, so until then the handler can still send another response. A Writer must not be used
// by several goroutines at once.
type Writer struct {
	// Buf is what the next Flush sends. Callers append whole events to it.
	Buf []byte
	// Type is the Content-Type; if it is empty, it is that of an event stream. Set it for other
	// streams of records, which are written in the same way.
	Type string

	w        http.ResponseWriter
	ctl      *http.ResponseController
	stall    time.Duration
	deadline time.Time
	wrote    bool
	err      error
}

// NewWriter returns a Writer over w. If the client accepts no data for longer than stall, Flush
// fails; if stall is 0, it waits for ever. Without this limit a client that stopped reading would
// keep its goroutine, and all memory of the stream, until TCP gives up after many minutes.
func NewWriter(w http.ResponseWriter, stall time.Duration) *Writer {
	return &Writer{Buf: make([]byte, 0, 2048), w: w, ctl: http.NewResponseController(w),
		stall: stall}
}

// Wrote reports whether anything has been sent. The header is sent first.
func (w *Writer) Wrote() bool { return w.wrote }

// Comment appends a comment line to Buf, which every client skips. The text must not contain a line
// break, and must not begin with "ping", because the client Continue ends its stream there.
// Keep-alives use the text "keep-alive".
func (w *Writer) Comment(text string) {
	w.Buf = append(w.Buf, ": "...)
	w.Buf = append(w.Buf, text...)
	w.Buf = append(w.Buf, "\n\n"...)
}

// Flush sends Buf in one write and empties it. After an error nothing more is sent, and every later
// call returns the same error.
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

// open sends the header of the stream, which asks proxies not to collect or compress it.
func (w *Writer) open() {
	h := w.w.Header()
	h.Set("Content-Type", cmp.Or(w.Type, "text/event-stream"))
	h.Set("Cache-Control", "no-cache")
	h.Set("X-Accel-Buffering", "no")
	w.w.WriteHeader(http.StatusOK)
	w.wrote = true
}

// extend moves the write deadline if less than half of the stall time is left. It does not do so at
// every write, since each move costs a timer.
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
