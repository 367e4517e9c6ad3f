package engine

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"toolnorm/internal/test/must"
)

func TestWhatIsPassedOnKeepsTheModelLoaded(t *testing.T) {
	var got string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/api/ps" {
			io.WriteString(w, `{"models":[{"name":"m:latest","context_length":8192}]}`)
			return
		}
		body, _ := io.ReadAll(r.Body)
		got = string(body)
		io.WriteString(w, `{"done":true}`)
	}))
	t.Cleanup(s.Close)
	e := New(Config{Ollama: s.URL})
	for _, row := range []struct{ path, body, want string }{
		{"/api/generate", `{"model":"m", "prompt":"p"}`, `{"model":"m","prompt":"p","options":{"num_ctx":8192}}`},
		{"/api/generate", `{"model":"m","options":{"seed":1}}`, `{"model":"m","options":{"seed":1,"num_ctx":8192}}`},
		{"/api/chat", `{"model":"m:latest","options":null,"messages":[]}`, `{"model":"m:latest","options":{"num_ctx":8192},"messages":[]}`},
		{"/api/generate", `{"model":"m", "options":{"num_ctx":4096}}`, `{"model":"m", "options":{"num_ctx":4096}}`},
		{"/api/generate", `{"model":"other", "prompt":"p"}`, `{"model":"other", "prompt":"p"}`},
		{"/api/embed", `{"model":"m", "input":"p"}`, `{"model":"m", "input":"p"}`},
	} {
		rt, _, err := e.Server(t.Context(), "m", nil)
		must.OK(t, err)
		resp, err := rt.RoundTrip(httptest.NewRequest("POST", "http://elsewhere"+row.path, strings.NewReader(row.body)))
		must.OK(t, err)
		io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
		if got != row.want {
			t.Errorf("%s %s: the server got %s, want %s", row.path, row.body, got, row.want)
		}
	}
}
