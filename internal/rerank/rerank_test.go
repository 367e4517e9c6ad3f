package rerank

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// answering is a client of a server that gives one reply, and what it was asked.
func answering(t *testing.T, form Form, status int, reply string) (*Client, *map[string]any) {
	asked := new(map[string]any)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if err := json.Unmarshal(body, asked); err != nil {
			t.Error(err)
		}
		(*asked)["authorization"] = r.Header.Get("Authorization")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, reply)
	}))
	t.Cleanup(s.Close)
	return &Client{URL: s.URL + "/v1/rerank?key=secret", Model: "bge-reranker", Key: "k", Form: form, Timeout: time.Minute}, asked
}

func TestBothForms(t *testing.T) {
	c, asked := answering(t, Cohere, 200, `{"model":"x","results":[{"index":1,"relevance_score":0.9},{"index":0,"relevance_score":0.25}]}`)
	got, err := c.Score(t.Context(), "q", []string{"a", "b"})
	if err != nil || fmt.Sprint(got) != "[{1 0.9 0.9} {0 0.25 0.25}]" {
		t.Errorf("got %v, %v", got, err)
	}
	if want := "map[authorization:Bearer k documents:[a b] model:bge-reranker query:q top_n:2]"; fmt.Sprint(*asked) != want {
		t.Errorf("asked %v, want %s", *asked, want)
	}
	c, asked = answering(t, TEI, 200, `[{"index":0,"score":0.1},{"index":1,"score":0.7}]`)
	if got, err = c.Score(t.Context(), "q", []string{"a", "b"}); err != nil || fmt.Sprint(got) != "[{0 0.1 0.1} {1 0.7 0.7}]" {
		t.Errorf("got %v, %v", got, err)
	}
	if want := "map[authorization:Bearer k query:q raw_scores:false texts:[a b] truncate:true]"; fmt.Sprint(*asked) != want {
		t.Errorf("asked %v, want %s", *asked, want)
	}
}

func TestLogitsAreBroughtIntoRange(t *testing.T) {
	c, _ := answering(t, Cohere, 200, `{"results":[{"index":0,"relevance_score":0.5},{"index":1,"relevance_score":-4}]}`)
	got, err := c.Score(t.Context(), "q", []string{"a", "b", "c"})
	if err != nil || len(got) != 2 {
		t.Fatalf("got %v, %v; a text without a score has none", got, err)
	}
	for _, s := range got {
		if want := 1 / (1 + math.Exp(-s.Raw)); s.Value != want {
			t.Errorf("%v, want %v: one rule for all", s, want)
		}
	}
}

func TestWhatIsNoScore(t *testing.T) {
	for _, c := range []struct {
		status      int
		reply, want string
	}{
		{200, ``, "no JSON"},
		{200, `{"results":[]}`, "no scores"},
		{200, `[]`, "no scores"},
		{200, `{"error":"x"}`, "no scores"},
		{200, `[{"index":2,"score":1}]`, "for text 2"},
		{200, `[{"index":-1,"score":1}]`, "for text -1"},
		{200, `[{"index":0,"score":1},{"index":0,"score":1}]`, "or two"},
		{200, `[{"index":0}]`, "without"},
		{200, `[{"score":1}]`, "without"},
		{200, `[{"index":0,"score":"high"}]`, "no JSON"},
		{500, `broken`, "500 Internal Server Error: broken"},
		{404, strings.Repeat("x", 1000), "404"},
	} {
		client, _ := answering(t, Cohere, c.status, c.reply)
		_, err := client.Score(t.Context(), "q", []string{"a", "b"})
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "secret") || len(err.Error()) > 400 {
			t.Errorf("%.40s: %v, want %q in it", c.reply, err, c.want)
		}
	}
}

func TestAServerThatDoesNotAnswerIsLeft(t *testing.T) {
	stop := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-stop }))
	c := &Client{URL: s.URL, Timeout: time.Millisecond}
	if _, err := c.Score(t.Context(), "q", []string{"a"}); err == nil || err.Error() != "rerank: no answer within 1ms" {
		t.Errorf("got %v", err)
	}
	close(stop) // a server that is closed waits for its handlers
	s.Close()
	if _, err := c.Score(t.Context(), "q", []string{"a"}); err == nil || strings.Contains(err.Error(), s.URL) {
		t.Errorf("nobody there: %v", err)
	}
	if got, err := c.Score(t.Context(), "q", nil); got != nil || err != nil {
		t.Errorf("no texts: %v, %v", got, err)
	}
}
