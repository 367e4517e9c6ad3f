package engine

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"toolnorm/chat"
	"toolnorm/engine/demo"
	"toolnorm/internal/fault"
)

func TestEmbeddingsComeFromTheServer(t *testing.T) {
	e, asked := once(t, 200, `{"model":"m","error":null,"embeddings":[[0.5680573,0],[1,-2.5e-8]],"prompt_eval_count":4}`)
	got, err := e.Embed(t.Context(), &chat.EmbedRequest{Model: "m", Input: []string{"a", "b"}, Dimensions: 2,
		KeepAlive: json.RawMessage(`"1m"`), Options: map[string]json.RawMessage{"num_ctx": json.RawMessage(`2048`)}})
	want := &chat.Embeddings{Vectors: [][]float32{{0.5680573, 0}, {1, -2.5e-8}}, Tokens: 4}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
	if say := `/api/embed {"model":"m","input":["a","b"],"dimensions":2,"truncate":false,"options":{"num_ctx":2048},"keep_alive":"1m"}`; *asked != say {
		t.Errorf("asked %s\nwant  %s", *asked, say)
	}
}

func TestEmbeddingsThatFailSayWhy(t *testing.T) {
	for _, tt := range []struct {
		status int
		answer string
		kind   fault.Kind
		saying string
	}{
		{501, `{"error":"{\"error\":{\"code\":501,\"message\":\"This server does not support embeddings. Start it with --embeddings\"}}"}`, fault.Invalid, "cannot embed"},
		{400, `{"error":"the input length exceeds the context length"}`, fault.Invalid, "exceeds"},
		{200, `{"embeddings":[[1]]}`, fault.Unavailable, "1 vectors for 2 texts"},
		{200, `{"embeddings":[[1],[]]}`, fault.Unavailable, "empty or differ in length"},
		{200, `{"embeddings":[[],[]]}`, fault.Unavailable, "empty or differ in length"},
		{200, `{"embeddings":[[1],[1,2]]}`, fault.Unavailable, "empty or differ in length"},
		{200, `{"embeddings":[[1],null]}`, fault.Unavailable, "null stands"},
		{200, `{"model":null,"embeddings":[[1,2],[3, null]]}`, fault.Unavailable, "null stands"},
		{200, `{"embeddings":[[1`, fault.Unavailable, "cannot be read"},
	} {
		e, _ := once(t, tt.status, tt.answer)
		_, err := e.Embed(t.Context(), &chat.EmbedRequest{Model: "m", Input: []string{"a", "b"}})
		if f := fault.From(err); f.Kind != tt.kind || !strings.Contains(f.Message, tt.saying) {
			t.Errorf("%s: %+v, want kind %d that says %q", tt.answer, f, tt.kind, tt.saying)
		}
	}
}

func TestTheDemoEmbedsAlike(t *testing.T) {
	e := New(Config{Demo: demo.Server{Delay: -1}})
	r := &chat.EmbedRequest{Model: "demo/hermes", Input: []string{"a cat", "a cat"}, Dimensions: 16}
	got, err := e.Embed(t.Context(), r)
	if err != nil || len(got.Vectors[0]) != 16 || !reflect.DeepEqual(got.Vectors[0], got.Vectors[1]) {
		t.Errorf("%+v %v, want two equal vectors of 16 numbers", got, err)
	}
	r.Dimensions = -1
	if _, err := e.Embed(t.Context(), r); fault.From(err).Kind != fault.Invalid {
		t.Errorf("-1 dimensions: %v", err)
	}
}
