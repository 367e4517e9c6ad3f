package ollama

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"

	"toolnorm/engine/wait"
)

// replies are the paths of Ollama's API at which a model answers. What else is passed on, as pulling a model, takes what it
// takes.
var replies = []string{"/api/generate", "/api/chat", "/api/embed", "/api/embeddings"}

// Watched is a way to an Ollama on which what is passed on unread ends, too: a wait for a model's reply that is longer than t
// allows, and a server that breaks, are an error, or the last record of what had come of the answer.
func Watched(rt http.RoundTripper, t wait.Timeouts) http.RoundTripper { return &watched{rt, t} }

type watched struct {
	way    http.RoundTripper
	limits wait.Timeouts
}

// RoundTrip sends a request and waits for the head of its answer.
func (w *watched) RoundTrip(r *http.Request) (*http.Response, error) {
	isReply := slices.Contains(replies, r.URL.Path)
	ctx, p := wait.NewPulse(mute{r.Context()}, nil, w.limits)
	var first, later wait.Limit
	if isReply {
		first, later = p.UntilFirst(), p.Withheld()
	}
	p.Begin(first)
	resp, err := w.way.RoundTrip(r.WithContext(ctx))
	p.End()
	if err != nil {
		p.Stop()
		return nil, err
	}
	resp.Body = &watchedBody{Reader: p.Reader(resp.Body, first, later), ctx: ctx, body: resp.Body, pulse: p}
	if err := passable(resp, isReply); err != nil {
		return nil, errors.Join(err, resp.Body.Close())
	}
	return resp, nil
}

// mute is a context without its values: one of them has net/http pass on what a server says before its answer, as often as it says
// it.
type mute struct{ context.Context }

// Value finds nothing.
func (mute) Value(any) any { return nil }

// watchedBody is an answer whose reads are watched.
type watchedBody struct {
	io.Reader
	ctx   context.Context // of the request; its cause says why a read broke off
	body  io.Closer
	pulse *wait.Pulse
}

// Read reads the answer. What breaks it off is a fault.
func (b *watchedBody) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if err != nil && err != io.EOF {
		err = wait.Broken(b.ctx, "", err)
	}
	return n, err
}

// Close ends the answer and the watching.
func (b *watchedBody) Close() error {
	b.pulse.Stop()
	return b.body.Close()
}
