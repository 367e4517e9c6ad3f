package ollama

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"toolnorm/internal/test/must"
)

// answers is a transport that keeps the last request for a reply.
type answers struct{ last *http.Request }

func (a *answers) RoundTrip(r *http.Request) (*http.Response, error) {
	text := `{"models":[{"name":"m:latest","context_length":8192}]}`
	if r.Method == "POST" {
		a.last, text = r, `{"done":true}`
	}
	return &http.Response{StatusCode: 200, Header: http.Header{}, Request: r,
		Body: io.NopCloser(strings.NewReader(text))}, nil
}

// TestABodyIsSentAgainAsItWasSent reads the body of a request that was given a context as the
// transport does when a kept connection is closed.
func TestABodyIsSentAgainAsItWasSent(t *testing.T) {
	var sent answers
	client, err := New("http://127.0.0.1:1", &sent)
	must.OK(t, err)
	// http.NewRequest sets GetBody, as the proxy does
	r, err := http.NewRequest("POST", "http://here/api/generate", strings.NewReader(`{"model":"m","prompt":"p"}`))
	must.OK(t, err)
	if _, err := (&Backend{Client: client}).RoundTrip(r); err != nil {
		t.Fatal(err)
	}
	again, err := sent.last.GetBody()
	must.OK(t, err)
	first, _ := io.ReadAll(sent.last.Body)
	second, _ := io.ReadAll(again)
	if want := `{"model":"m","prompt":"p","options":{"num_ctx":8192}}`; string(first) != want || string(second) != want || sent.last.ContentLength != int64(len(want)) {
		t.Errorf("sent %s (%d bytes), and again %s", first, sent.last.ContentLength, second)
	}
}
