package embedding

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"toolnorm/internal/test/must"
)

// server answers each text with a vector of its length and its last byte, in the form that its path
// stands for; OpenAI's come backwards.
func server(t *testing.T, asked *[][]string) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body struct {
			Model    string
			Input    []string
			Truncate *bool
		}
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil || body.Model != "m" {
			t.Errorf("the request of model %q: %v", body.Model, err)
		}
		*asked = append(*asked, body.Input)
		var parts []string
		for i, text := range body.Input {
			vector := fmt.Sprintf("[%d,%d]", len(text), text[len(text)-1])
			if r.URL.Path == "/v1/embeddings" {
				vector = fmt.Sprintf(`{"index":%d,"embedding":%s}`, i, vector)
			}
			parts = append(parts, vector)
		}
		if r.URL.Path == "/v1/embeddings" {
			slices.Reverse(parts)
			fmt.Fprintf(w, `{"data":[%s]}`, strings.Join(parts, ","))
			return
		}
		if body.Truncate == nil || *body.Truncate {
			t.Error("Ollama would cut the texts silently")
		}
		fmt.Fprintf(w, `{"embeddings":[%s]}`, strings.Join(parts, ","))
	}))
	t.Cleanup(s.Close)
	return s
}

func TestVectorsComeInTheOrderOfTheTexts(t *testing.T) {
	for _, path := range []string{"/v1/embeddings", "/api/embed"} {
		var asked [][]string
		c := &Client{URL: server(t, &asked).URL + path, Model: "m"}
		var texts []string
		for i := range batch + 3 {
			texts = append(texts, strings.Repeat("x", i+1)+string(rune('a'+i%26)))
		}
		vectors, err := c.Embed(t.Context(), texts)
		must.OK(t, err)
		for i, v := range vectors {
			if want := []float32{float32(i + 2), float32('a' + i%26)}; !slices.Equal(v, want) {
				t.Errorf("%s: the vector of text %d is %v, want %v", path, i, v, want)
			}
		}
		if len(asked) != 2 || len(asked[0]) != batch {
			t.Errorf("%s: asked in %d requests", path, len(asked))
		}
		if _, err := c.Embed(t.Context(), append([]string{"new"}, texts[:5]...)); err != nil || len(asked) != 3 || !slices.Equal(asked[2], []string{"new"}) {
			t.Errorf("%s: the last request is for %q, %v; want the text that is new", path, asked[len(asked)-1], err)
		}
	}
}

func TestAnswersThatWouldPoisonAnIndexAreErrors(t *testing.T) {
	for answer, want := range map[string]string{
		`nonsense`:                        "no JSON",
		`{"embeddings":[[1]]}`:            "1 vectors for 2 texts",
		`{"embeddings":[[1],null]}`:       "no vector for text 2",
		`{"embeddings":[[1,2],[1]]}`:      "text 2 has 1 dimensions",
		`{"embeddings":[[1],[1e39]]}`:     "1e39",
		`{"embeddings":[[1,2],[0,-0.0]]}`: "text 2 is all zeros",
		`{"data":[{"index":0,"embedding":[1]},{"index":0,"embedding":[2]}]}`: "or two",
		`{"data":[{"index":7,"embedding":[1]},{"index":1,"embedding":[2]}]}`: "text 7, of 2",
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, answer) }))
		c := &Client{URL: s.URL + "/api/embed", Model: "m"}
		if v, err := c.Embed(t.Context(), []string{"a", "b"}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s gives %v, %v; want an error with %q", answer, v, err, want)
		}
		s.Close()
	}
}

func TestErrorsShowNoKey(t *testing.T) {
	const secret = "secret-in-the-url"
	c := &Client{URL: "http://user:" + secret + "@127.0.0.1:1/api/embed", Model: "m", Key: secret}
	if _, err := c.Embed(t.Context(), []string{"a"}); err == nil || strings.Contains(err.Error(), secret) {
		t.Errorf("%v", err)
	}
}
