package upstream

import (
	"io"
	"net/http"
	"slices"
)

// replies are the paths of Ollama's API at which a model answers. What else is passed on, as pulling a model, takes what it
// takes.
var replies = []string{"/api/generate", "/api/chat", "/api/embed", "/api/embeddings"}

// Watched is a way to an Ollama on which replies that are passed on unread end, too: a wait that is longer than t allows breaks
// off the request, or what had come of its answer.
func Watched(rt http.RoundTripper, t Timeouts) http.RoundTripper { return &watched{rt, t} }

type watched struct {
	way    http.RoundTripper
	limits Timeouts
}

// RoundTrip sends a request and waits for the head of its answer.
func (w *watched) RoundTrip(r *http.Request) (*http.Response, error) {
	if !slices.Contains(replies, r.URL.Path) {
		return w.way.RoundTrip(r)
	}
	ctx, p := NewPulse(r.Context(), nil, w.limits)
	p.begin(p.untilFirst())
	resp, err := w.way.RoundTrip(r.WithContext(ctx))
	p.end()
	if err != nil {
		p.Stop()
		return nil, err
	}
	resp.Body = &watchedBody{Reader: &pulsed{r: resp.Body, pulse: p, first: p.untilFirst(), later: p.withheld()}, body: resp.Body, pulse: p}
	return resp, nil
}

// watchedBody is an answer whose reads are watched.
type watchedBody struct {
	io.Reader
	body  io.Closer
	pulse *Pulse
}

// Close ends the answer and the watching.
func (b *watchedBody) Close() error {
	b.pulse.Stop()
	return b.body.Close()
}
