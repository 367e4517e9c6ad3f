package proxy

import (
	"context"
	"encoding/base64"
	"errors"
	"reflect"
	"strings"
	"testing"

	openai "github.com/sashabaranov/go-openai"

	"toolnorm/chat"
	"toolnorm/internal/fault"
)

// vectors embeds every text as its length.
type vectors struct{ last *chat.EmbedRequest }

func (v *vectors) Embed(_ context.Context, r *chat.EmbedRequest) (*chat.Embeddings, error) {
	v.last = r
	if r.Model == "broken" {
		return nil, fault.New(fault.Unavailable, "it broke")
	}
	e := &chat.Embeddings{Tokens: 7}
	for _, s := range r.Input {
		e.Vectors = append(e.Vectors, []float32{float32(len(s)), -1e-9})
	}
	return e, nil
}

func TestEmbeddingsInBothForms(t *testing.T) {
	srv, _ := serve(t, nil, func(c *Config) { c.Embedder = &vectors{} })
	for in, want := range map[string]string{
		`{"model":"m","input":"ab"}`:                                   `[{"object":"embedding","index":0,"embedding":[2,-1e-09]}]`,
		`{"model":"m","input":["a","abc"],"encoding_format":"float"}`:  `[{"object":"embedding","index":0,"embedding":[1,-1e-09]},{"object":"embedding","index":1,"embedding":[3,-1e-09]}]`,
		`{"model":"m","input":["abc"],"encoding_format":"base64"}`:     `[{"object":"embedding","index":0,"embedding":"` + base64.StdEncoding.EncodeToString([]byte{0, 0, 0x40, 0x40, 0x5f, 0x70, 0x89, 0xb0}) + `"}]`,
		`{"model":"m","input":["ab"],"encoding_format":null,"user":1}`: `[{"object":"embedding","index":0,"embedding":[2,-1e-09]}]`,
	} {
		want = `{"object":"list","data":` + want + `,"model":"m","usage":{"prompt_tokens":7,"total_tokens":7}}`
		if resp, body := do(t, "POST", srv.URL+"/v1/embeddings", in); resp.StatusCode != 200 || strings.TrimSpace(body) != want {
			t.Errorf("%s: %d %s, want %s", in, resp.StatusCode, body, want)
		}
	}
}

func TestEmbeddingFieldsArePassedOn(t *testing.T) {
	v := &vectors{}
	srv, _ := serve(t, nil, func(c *Config) { c.Embedder = v; c.DefaultModel = "d" })
	do(t, "POST", srv.URL+"/v1/embeddings", `{"input":["a"],"dimensions":5,"truncate":true,"keep_alive":"1m","options":{"x":1},"num_ctx":2048}`)
	if v.last == nil || v.last.Model != "d" || v.last.Dimensions != 5 || !v.last.Truncate || string(v.last.KeepAlive) != `"1m"` ||
		string(v.last.Options["x"]) != "1" || string(v.last.Options["num_ctx"]) != "2048" {
		t.Errorf("asked %+v", v.last)
	}
}

func TestEmbeddingsThatCannotBeHad(t *testing.T) {
	srv, _ := serve(t, nil, func(c *Config) { c.Embedder = &vectors{} })
	for _, tt := range []struct {
		in     string
		status int
		say    string
	}{
		{`{"model":"m"}`, 400, `"param":"input"`},
		{`{"model":"m","input":[]}`, 400, `"param":"input"`},
		{`{"model":"m","input":""}`, 400, `"param":"input"`},
		{`{"model":"m","input":["a",""]}`, 400, `"param":"input[1]"`},
		{`{"model":"m","input":[1,2]}`, 400, "token numbers"},
		{`{"model":"m","input":[[1],[2]]}`, 400, "token numbers"},
		{`{"model":"m","input":"a","encoding_format":"int8"}`, 400, `"param":"encoding_format"`},
		{`{"model":"m","input":"a","dimensions":0}`, 400, `"param":"dimensions"`},
		{`{"input":"a"}`, 400, `"param":"model"`},
		{`{"model":"broken","input":"a"}`, 502, "it broke"},
	} {
		resp, body := do(t, "POST", srv.URL+"/v1/embeddings", tt.in)
		if resp.StatusCode != tt.status || !strings.Contains(body, tt.say) {
			t.Errorf("%s: %d %s, want %d and %s", tt.in, resp.StatusCode, body, tt.status, tt.say)
		}
		wantErrorBody(t, body, "")
	}
}

func TestAStockClientEmbeds(t *testing.T) {
	_, c := demo(t)
	ask := openai.EmbeddingRequest{Model: "demo/hermes", Input: []string{"the cat sat", "a cat sat down", "stock prices"}}
	floats, err := c.CreateEmbeddings(context.Background(), ask)
	if err != nil || len(floats.Data) != 3 || floats.Usage.PromptTokens == 0 {
		t.Fatalf("%+v %v", floats, err)
	}
	near, _ := floats.Data[0].DotProduct(&floats.Data[1])
	far, _ := floats.Data[0].DotProduct(&floats.Data[2])
	if near <= far {
		t.Errorf("texts that share words are %v near, others %v", near, far)
	}
	ask.EncodingFormat = openai.EmbeddingEncodingFormatBase64 // the client decodes it
	if coded, err := c.CreateEmbeddings(context.Background(), ask); err != nil || !reflect.DeepEqual(coded.Data, floats.Data) {
		t.Errorf("base64 gives %v, %v, want %v", coded.Data, err, floats.Data)
	}
	ask.Dimensions = 8
	if short, err := c.CreateEmbeddings(context.Background(), ask); err != nil || len(short.Data[0].Embedding) != 8 {
		t.Errorf("8 dimensions: %v %v", short, err)
	}
	ask.Model = "demo/none"
	var api *openai.APIError
	if _, err := c.CreateEmbeddings(context.Background(), ask); !errors.As(err, &api) || api.HTTPStatusCode != 404 {
		t.Errorf("an unknown model: %v", err)
	}
}
