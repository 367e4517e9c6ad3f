package ollama

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"toolnorm/chat"
	"toolnorm/engine/upstream"
	"toolnorm/engine/wait"
	"toolnorm/internal/test/must"
	"toolnorm/internal/test/upstreamtest"
)

// fake is a server with that handler and a client of it.
func fake(t testing.TB, h http.HandlerFunc) *Client {
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	tr := upstream.Transport()
	t.Cleanup(tr.CloseIdleConnections)
	o, err := New(s.URL, tr)
	must.OK(t, err)
	return o
}

// marksOfTest are the marks of the models that were recorded.
var marksOfTest = Marks{ThinkEnd: "</think>", Openings: []string{"<tool_call>"}}

// ask sends a small request to that path, or "tap", and writes down what comes, neighbouring
// fragments joined.
func ask(t testing.TB, o *Client, path string) string {
	ctx, p := wait.NewPulse(t.Context(), nil, wait.Timeouts{Queue: -1})
	defer p.Stop()
	var src chat.Source
	var err error
	switch path {
	case "/api/generate":
		src, err = o.Generate(ctx, p, &GenerateRequest{Model: "m"})
	case "tap":
		src, err = o.Tap(ctx, p, &ChatRequest{Model: "m"}, marksOfTest)
	default:
		src, err = o.Chat(ctx, p, &ChatRequest{Model: "m"})
	}
	if err != nil {
		return upstreamtest.Note(nil, err)
	}
	return upstreamtest.Drain(src)
}

// TestReplay reads recorded answers.
func TestReplay(t *testing.T) {
	upstreamtest.Goldens(t, "testdata/captures", func(t testing.TB, c upstreamtest.Capture, cuts ...int) string {
		path := c.Path
		if strings.HasPrefix(c.Name, "tap-") {
			path = "tap"
		}
		return ask(t, fake(t, func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(c.Status)
			c.Pieces(w, cuts...)
		}), path)
	})
}
