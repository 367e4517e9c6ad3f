package admin

import (
	"net/http"
	"strings"

	"github.com/klauspost/compress/gzip"

	"toolnorm/internal/auth"
)

// packedStream is a response whose body is compressed. Each flush sends all that was written, so
// that events arrive when they happen.
type packedStream struct {
	http.ResponseWriter
	zip *gzip.Writer
}

// packStream returns a response that compresses w, and the function that ends it. It returns w
// itself if the client cannot read gzip, or is on this machine: there bytes cost nothing, and
// compressing them would take time from replies.
func packStream(w http.ResponseWriter, r *http.Request) (http.ResponseWriter, func()) {
	if auth.FromLoopback(r) || !acceptsGzip(r) {
		return w, func() {}
	}
	w.Header().Set("Content-Encoding", "gzip")
	w.Header().Add("Vary", "Accept-Encoding")
	zip, _ := gzip.NewWriterLevel(w, gzip.BestSpeed) // the level is valid
	p := &packedStream{w, zip}
	return p, func() { _ = zip.Close() } // a page that is gone does not read the end
}

// acceptsGzip reports whether a client reads gzip.
func acceptsGzip(r *http.Request) bool {
	for coding := range strings.SplitSeq(strings.Join(r.Header.Values("Accept-Encoding"), ","),
		",") {
		name, weight, _ := strings.Cut(strings.ReplaceAll(coding, " ", ""), ";q=")
		if strings.EqualFold(name, "gzip") {
			return weight == "" || strings.Trim(weight, "0.") != ""
		}
	}
	return false
}

// Write compresses b.
func (p *packedStream) Write(b []byte) (int, error) { return p.zip.Write(b) }

// FlushError sends what was written.
func (p *packedStream) FlushError() error {
	if err := p.zip.Flush(); err != nil {
		return err
	}
	return http.NewResponseController(p.ResponseWriter).Flush()
}

// Unwrap gives http.ResponseController the writer that holds deadlines.
func (p *packedStream) Unwrap() http.ResponseWriter { return p.ResponseWriter }
