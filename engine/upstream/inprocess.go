package upstream

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
)

// errHandler is what a reader sees of a handler that ended by a panic.
var errHandler = errors.New("the handler broke off")

// InProcess is a network of one server without sockets: each request runs the handler, and its answer streams as
// it is written. Ending the request's context or closing the answer ends the handler's context. So the demo is a
// model server like any other, with no port of its own to find or to guard.
func InProcess(h http.Handler) http.RoundTripper { return inProcess{h} }

type inProcess struct{ handler http.Handler }

// RoundTrip runs the handler and returns when it has begun its answer. A handler that panics breaks its answer
// off, as a server's would.
func (t inProcess) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancel(r.Context())
	in, out := io.Pipe()
	w := &pipeWriter{header: http.Header{}, out: out, begun: make(chan struct{})}
	inner := r.Clone(ctx)
	if inner.Body == nil {
		inner.Body = http.NoBody
	}
	stop := context.AfterFunc(ctx, func() { in.CloseWithError(context.Cause(ctx)) })
	go func() {
		defer cancel()
		defer func() {
			if recover() != nil { // as a server does: one bad request is not the end of the others
				out.CloseWithError(errHandler)
			}
		}()
		t.handler.ServeHTTP(w, inner)
		w.WriteHeader(http.StatusOK)
		stop()
		out.Close()
	}()
	select {
	case <-w.begun:
	case <-r.Context().Done():
		cancel()
		return nil, r.Context().Err()
	}
	return &http.Response{
		Status: http.StatusText(w.status), StatusCode: w.status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: w.sent, Body: &pipeBody{in, cancel}, ContentLength: -1, Request: r,
	}, nil
}

// pipeWriter is the handler's side of an answer.
type pipeWriter struct {
	header, sent http.Header
	out          *io.PipeWriter
	once         sync.Once
	begun        chan struct{} // closed once status and sent are set
	status       int
}

// Header is what WriteHeader will send.
func (w *pipeWriter) Header() http.Header { return w.header }

// WriteHeader begins the answer, the first time.
func (w *pipeWriter) WriteHeader(status int) {
	w.once.Do(func() {
		w.status, w.sent = status, w.header.Clone()
		close(w.begun)
	})
}

// Write passes bytes on when the reader wants them: a slow client slows the handler down, as a full socket would.
func (w *pipeWriter) Write(b []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.out.Write(b)
}

// Flush has nothing to do: a pipe holds nothing back.
func (w *pipeWriter) Flush() { w.WriteHeader(http.StatusOK) }

// pipeBody is the client's side of an answer.
type pipeBody struct {
	*io.PipeReader
	cancel context.CancelFunc
}

// Close ends the handler too.
func (b *pipeBody) Close() error {
	b.cancel()
	return b.PipeReader.Close()
}
