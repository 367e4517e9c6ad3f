package drive

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httputil"
	"net/url"
)

// Reverse serves httputil.ReverseProxy in front of target until the process ends, and returns the
// error of serving. Its cost is that of a Go proxy that converts nothing. It reads the whole body
// of a request first, as a proxy must that looks into the body. It flushes each write immediately,
// as a stream needs. Compression is off, since toolnorm asks for none. There are enough idle
// connections for every load, so that none is opened during a measurement.
func Reverse(addr, target string) error {
	u, err := url.Parse(target)
	if err != nil {
		return err
	}
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.DisableCompression = true
	t.MaxIdleConns, t.MaxIdleConnsPerHost = 1024, 1024
	p := &httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(u) },
		Transport:     t,
		FlushInterval: -1,
	}
	return http.ListenAndServe(addr, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(io.LimitReader(r.Body, 8<<20))
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		p.ServeHTTP(w, r)
	}))
}
