package ollama

import (
	"net/http"
	"net/url"

	"toolnorm/engine/wait"
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
	resp, err := o.calls.HTTP.Transport.RoundTrip(out)
	if err != nil {
		return nil, wait.Broken(r.Context(), o.calls.Gone, err)
	}
	return resp, nil
}
