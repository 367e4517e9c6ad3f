package proxy

import (
	"context"
	"errors"
	"io"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"

	openai "github.com/sashabaranov/go-openai"

	"toolnorm/engine"
	demoserver "toolnorm/engine/demo"
	"toolnorm/internal/fault"
	"toolnorm/internal/test/must"
)

// demo serves the whole chain, with no model server but the demo, and gives a stock client of it.
func demo(t *testing.T) (*httptest.Server, *openai.Client) {
	t.Helper()
	eng := engine.New(engine.Config{Ollama: "http://127.0.0.1:1", Demo: demoserver.Server{Delay: -1}})
	srv := httptest.NewServer(New(Config{Model: eng, Catalog: eng, Embedder: eng, Ollama: eng, Version: "test"}))
	t.Cleanup(srv.Close)
	cfg := openai.DefaultConfig("any")
	cfg.BaseURL = srv.URL + "/v1"
	return srv, openai.NewClientWithConfig(cfg)
}

func TestACompletionStreamsWholeCharacters(t *testing.T) {
	srv, _ := serve(t, script{say("a"), say("\xed\x95"), idle, say("\x9c"), think("no"), counted(3, 4), finish("length")})
	_, body := do(t, "POST", srv.URL+"/v1/completions", `{"model":"m","prompt":"p","stream":true,"stream_options":{"include_usage":true}}`)
	var got []string
	for line := range strings.Lines(body) {
		if data, ok := strings.CutPrefix(strings.TrimSpace(line), "data: {"); ok {
			_, data, _ = strings.Cut(data, `"choices":[`)
			got = append(got, data)
		}
	}
	want := []string{
		`{"text":"a","index":0,"logprobs":null,"finish_reason":null}]}`,
		`{"text":"한","index":0,"logprobs":null,"finish_reason":null}]}`,
		`{"text":"","index":0,"logprobs":null,"finish_reason":"length"}]}`,
		`],"usage":{"prompt_tokens":3,"completion_tokens":4,"total_tokens":7}}`,
	}
	if !reflect.DeepEqual(got, want) || !strings.HasSuffix(body, "data: [DONE]\n\n") {
		t.Errorf("the stream was:\n%s", body)
	}
}

func TestACompletionsEndIsToldInItsForm(t *testing.T) {
	broken := fault.New(fault.Unavailable, "it broke")
	for _, tt := range []struct {
		name   string
		script script
		more   string
		status int
		want   string
	}{
		{"whole", script{say("a"), say("b"), finish("stop")}, ``, 200, `"choices":[{"text":"ab","index":0,"logprobs":null,"finish_reason":"stop"}],"usage":`},
		{"nothing to add", script{finish("stop")}, ``, 200, `{"text":"",`},
		{"nothing to add, streamed", script{finish("stop")}, `,"stream":true`, 200, "data: [DONE]"},
		{"an error", script{broken}, ``, 502, "it broke"},
		{"an error before the first byte", script{say("a"), broken}, `,"stream":true`, 502, "it broke"},
		{"an error later", script{say("a"), idle, broken}, `,"stream":true`, 200, `data: {"error":{"message":"it broke"`},
		{"no end", script{say("a")}, ``, 502, "without saying why"},
	} {
		srv, _ := serve(t, tt.script)
		resp, body := do(t, "POST", srv.URL+"/v1/completions", `{"model":"m","prompt":"p"`+tt.more+`}`)
		if resp.StatusCode != tt.status || !strings.Contains(body, tt.want) {
			t.Errorf("%s: %d %s, want %d and %s", tt.name, resp.StatusCode, body, tt.status, tt.want)
		}
	}
}

func TestAStockClientCompletes(t *testing.T) {
	_, c := demo(t)
	ask := openai.CompletionRequest{Model: "demo/hermes", Prompt: "def add(a, b):", Suffix: "\nprint(add(1, 2))"}
	whole, err := c.CreateCompletion(context.Background(), ask)
	must.OK(t, err)
	if whole.Object != "text_completion" || whole.Choices[0].FinishReason != "stop" || whole.Choices[0].Text == "" || whole.Usage.TotalTokens == 0 {
		t.Errorf("whole: %+v", whole)
	}
	stream, err := c.CreateCompletionStream(context.Background(), ask)
	must.OK(t, err)
	defer stream.Close()
	text, reason := "", ""
	for {
		chunk, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		must.OK(t, err)
		text += chunk.Choices[0].Text
		reason += chunk.Choices[0].FinishReason
	}
	if text != whole.Choices[0].Text || reason != "stop" {
		t.Errorf("streamed %q (%s), want %q (stop)", text, reason, whole.Choices[0].Text)
	}
	ask.MaxTokens = 2
	if cut, err := c.CreateCompletion(context.Background(), ask); err != nil || cut.Choices[0].FinishReason != "length" || len(cut.Choices[0].Text) >= len(text) {
		t.Errorf("cut: %+v %v", cut, err)
	}
	ask.Model = "demo/none"
	var api *openai.APIError
	if _, err := c.CreateCompletion(context.Background(), ask); !errors.As(err, &api) || api.HTTPStatusCode != 404 || api.Code != "model_not_found" {
		t.Errorf("an unknown model: %v", err)
	}
}
