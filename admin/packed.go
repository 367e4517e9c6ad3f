package admin

import (
	"net/http"
	"strings"

	"github.com/klauspost/compress/gzip"

	"toolnorm/internal/auth"
)

// packedStream is a response whose body is compressed. A flush sends everything that was written,
// so that events arrive when they happen.
type packedStream struct {
	http.ResponseWriter
	zip *gzip.Writer
}

// packStream returns a response that compresses what is written to w, and a function that ends it.
// It returns w itself if the client does not accept gzip or is on this machine. To such a client
// bytes cost nothing, and compressing them would take computing time from replies.
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

// acceptsGzip reports whether the client accepts gzip.
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

// Write implements io.Writer: it compresses b. It returns the error of the underlying writer.
func (p *packedStream) Write(b []byte) (int, error) { return p.zip.Write(b) }

// FlushError sends everything that was written. It returns an error if the client cannot be written
// to.
func (p *packedStream) FlushError() error {
	if err := p.zip.Flush(); err != nil {
		return err
	}
	return http.NewResponseController(p.ResponseWriter).Flush()
}

// Unwrap returns the underlying response, on which http.ResponseController sets deadlines.
func (p *packedStream) Unwrap() http.ResponseWriter { return p.ResponseWriter }
