package engine

import (
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"

	"toolnorm/chat"
	"toolnorm/engine/upstream"
	"toolnorm/internal/fault"
)

func TestCompatibleServersEmbed(t *testing.T) {
	for _, row := range []struct {
		status int
		answer string
		fails  string
	}{
		{200, `{"data":[{"index":1,"embedding":[3,4]},{"index":0,"embedding":[1,2]}],"usage":{"prompt_tokens":5}}`, ""},
		{200, `{"data":[{"index":0,"embedding":[1]},{"index":0,"embedding":[2]}]}`, "numbered wrongly"},
		{200, `{"data":[{"index":0,"embedding":[1]}]}`, "1 vectors for 2 texts"},
		{200, `{"data":[{"index":7`, "cannot be read"},
		{400, `{"error":{"message":"no such dimensions","type":"invalid_request_error"}}`, "no such dimensions"},
	} {
		asked := ""
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			asked = r.URL.Path + " " + string(body)
			w.WriteHeader(row.status)
			io.WriteString(w, row.answer)
		}))
		e := New(Config{Upstreams: []Upstream{{Name: "box", URL: s.URL, Kind: upstream.KindOpenAI}}})
		got, err := e.Embed(t.Context(), &chat.EmbedRequest{Model: "box/m", Input: []string{"a", "b"}, Dimensions: 2})
		s.Close()
		if want := `/v1/embeddings {"model":"m","input":["a","b"],"dimensions":2,"encoding_format":"float"}`; asked != want {
			t.Errorf("asked %s, want %s", asked, want)
		}
		if row.fails != "" {
			if err == nil || !strings.Contains(fault.From(err).Message, row.fails) {
				t.Errorf("%s: %v, want an error that says %q", row.answer, err, row.fails)
			}
			continue
		}
		if want := (&chat.Embeddings{Vectors: [][]float32{{1, 2}, {3, 4}}, Tokens: 5}); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, %v, want %+v", row.answer, got, err, want)
		}
	}
}
