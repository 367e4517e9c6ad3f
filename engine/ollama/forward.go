package ollama

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"

	"github.com/ollama/ollama/api"

	"toolnorm/engine/upstream"
	"toolnorm/engine/wait"
	"toolnorm/internal/fault"
)

// RoundTrip passes a request of Ollama's own API on as it is: path, query, header and body. Its host is the
// server's, whatever the request says. There is no time limit besides the request's context: pulling a model takes
// what it takes. The path goes on as it was escaped, so that nothing in it is decoded twice. It is the transport
// that is asked: a redirection is the server's answer, for passable to judge.
func (o *Client) RoundTrip(r *http.Request) (*http.Response, error) {
	to, err := url.Parse(o.base + r.URL.EscapedPath())
	if err != nil {
		return nil, err
	}
	to.RawQuery = r.URL.RawQuery
	out := r.Clone(r.Context())
	out.URL, out.Host = to, ""
	resp, err := o.http.Transport.RoundTrip(out)
	if err != nil {
		return nil, wait.Broken(r.Context(), o.base, err)
	}
	return resp, nil
}

// Running lists the models that are loaded, each with the context that it is loaded with, where the server says
// so.
func (o *Client) Running(ctx context.Context) (*api.ProcessResponse, error) {
	return quick(ctx, o, o.api.ListRunning)
}

// Describe is the server's own answer to /api/show, all of it: api.ShowResponse would lose members that are newer
// than it. It is read to MaxRender; a verbose one, with the vocabulary, has some 20 MB.
func (o *Client) Describe(ctx context.Context, model string, verbose bool) (json.RawMessage, error) {
	ctx, cancel := context.WithTimeout(ctx, upstream.QuickTime)
	defer cancel()
	ctx, p := wait.NewPulse(ctx, nil, wait.Timeouts{})
	defer p.Stop()
	said := map[string]any{"model": model}
	if verbose {
		said["verbose"] = true
	}
	body, err := o.calls.Document(ctx, p, o.base+"/api/show", said, wait.Limit{}, wait.Limit{}, upstream.MaxRender)
	if err != nil {
		return nil, err
	}
	if !json.Valid(body) {
		return nil, fault.New(fault.Unavailable, "the model server's description of %s cannot be read", model)
	}
	return body, nil
}
