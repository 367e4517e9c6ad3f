package e2e

import (
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"sync/atomic"
	"testing"

	"toolnorm/internal/test/must"
)

// breaker stands between toolnorm and a model server. While it is armed, replies break after their
// beginning, as when the server dies.
type breaker struct {
	armed atomic.Bool
	base  string // where it listens
}

// startBreaker serves one in front of a server, until the lane ends.
func (l *lane) startBreaker(t *testing.T, base string) *breaker {
	t.Helper()
	target := must.Have(url.Parse(base))(t)
	b := &breaker{}
	front := httptest.NewServer(&httputil.ReverseProxy{
		Rewrite:        func(r *httputil.ProxyRequest) { r.SetURL(target) },
		ModifyResponse: b.watch,
		Transport:      &http.Transport{DisableKeepAlives: true}, // a llama-server closes a connection after its hundredth request, and a proxy cannot send one again
		FlushInterval:  -1,
		ErrorLog:       log.New(io.Discard, "", 0), // it would tell of each break
	})
	l.stops = append(l.stops, front.Close)
	b.base = front.URL
	return b
}

// asides are the paths of answers that are no replies of a model.
var asides = []string{"/api/show", "/api/tags", "/props", "/v1/models", "/apply-template"}

func (b *breaker) watch(resp *http.Response) error {
	if path := resp.Request.URL.Path; b.armed.Load() && !slices.Contains(asides, path) {
		resp.Body = &breaking{ReadCloser: resp.Body, left: 1000}
	}
	return nil
}

// breaking ends in an error.
type breaking struct {
	io.ReadCloser
	left int // bytes that may still come
}

func (b *breaking) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errors.New("broken on purpose")
	}
	n, err := b.ReadCloser.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}
