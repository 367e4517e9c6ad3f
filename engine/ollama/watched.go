package ollama

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"

	"toolnorm/engine/wait"
	"toolnorm/internal/fault"
)

// replies are the paths of Ollama's API at which a model answers, so that the waits for a model hold. What else is
// passed on, as pulling a model, takes what it takes.
var replies = []string{"/api/generate", "/api/chat", "/api/embed", "/api/embeddings"}

// Watched is a way to an Ollama on which what is passed on unread ends, too: a wait for a model's reply that is
// longer than t allows, and a server that breaks, are an error, or the last record of what had come of the answer.
// Without it a client would see its connection break, which Python's http calls IncompleteRead, and not learn why.
// Records name the model as the client calls it: one that compares the name with what it asked for would stumble over the
// server's.
func Watched(rt http.RoundTripper, t wait.Timeouts, called, client string) http.RoundTripper {
	return &watched{rt, t, namesOf(called, client)}
}

type watched struct {
	way    http.RoundTripper
	limits wait.Timeouts // of replies; nothing bounds the rest
	names  names
}

// RoundTrip sends a request and waits for the head of its answer. Behind the head the waits go on with the reads
// of the body; they end with its Close, which a caller owes every answer.
func (w *watched) RoundTrip(r *http.Request) (*http.Response, error) {
	isReply := slices.Contains(replies, r.URL.Path)
	ctx, p := wait.NewPulse(mute{r.Context()}, nil, w.limits)
	var first, later wait.Limit
	if isReply {
		// Nobody here knows whether the request has tools, so a call may be held back.
		first, later = p.UntilFirst(), p.Withheld()
	}
	p.Begin(first)
	resp, err := w.way.RoundTrip(r.WithContext(ctx))
	p.End()
	if err != nil {
		p.Stop()
		return nil, cause(r.Context(), err)
	}
	resp.Body = &watchedBody{Reader: p.Reader(resp.Body, first, later), asked: r.Context(), ctx: ctx, body: resp.Body, pulse: p}
	if err := passable(resp, isReply, w.names); err != nil {
		return nil, errors.Join(err, resp.Body.Close())
	}
	return resp, nil
}

// cause is err, or, if whoever asked ended the request with a fault of its own, that fault: a server that is stopped says so. Behind mute
// such a cause is not seen, since contexts find it by a value, and the client was told that it had gone away.
func cause(asked context.Context, err error) error {
	var f *fault.Error
	if errors.As(context.Cause(asked), &f) {
		return f
	}
	return err
}

// mute is a context without its values: one of them has net/http pass on what a server says before its answer, as
// often as it says it. httputil.ReverseProxy sets such a trace, and a server that sends 1xx heads without end
// would be passed on without end.
type mute struct{ context.Context }

// Value finds nothing.
func (mute) Value(any) any { return nil }

// watchedBody is an answer whose reads are watched.
type watchedBody struct {
	io.Reader
	asked context.Context // of the client
	ctx   context.Context // of the request; its cause says why a read broke off
	body  io.Closer
	pulse *wait.Pulse
}

// Read reads the answer. What breaks it off is a fault.
func (b *watchedBody) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if err != nil && err != io.EOF {
		err = cause(b.asked, wait.Broken(b.ctx, "", err))
	}
	return n, err
}

// Close ends the answer and the watching.
func (b *watchedBody) Close() error {
	b.pulse.Stop()
	return b.body.Close()
}
