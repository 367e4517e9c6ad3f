package engine

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"toolnorm/chat"
	"toolnorm/internal/fault"
)

// boxed is an engine whose upstream box answers as the map says, by path, and the last body that
// was sent there.
func boxed(t *testing.T, answers map[string]string) (e *Engine, asked *string) {
	t.Helper()
	asked = new(string)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if r.Method == http.MethodPost {
			*asked = r.URL.Path + " " + string(body)
		}
		answer, ok := answers[r.URL.Path]
		switch {
		case !ok:
			w.WriteHeader(http.StatusNotFound)
		case strings.HasPrefix(answer, "data:"):
			w.Header().Set("Content-Type", "text/event-stream")
		case strings.HasPrefix(answer, `{"error"`):
			w.WriteHeader(http.StatusNotImplemented)
		}
		io.WriteString(w, answer)
	}))
	t.Cleanup(s.Close)
	return New(Config{Ollama: "http://127.0.0.1:1", Upstreams: []Upstream{{Name: "box", URL: s.URL, Kind: "openai"}}}), asked
}

// TestALlamaServerFillsGapsInItsOwnWay: its /v1/completions takes a suffix and forgets it.
func TestALlamaServerFillsGapsInItsOwnWay(t *testing.T) {
	answers := map[string]string{
		"/props": `{"chat_template":"x"}`, "/apply-template": `{"prompt":"x"}`,
		"/infill": `data: {"content":"<tool_call>","stop":false}` + "\n\n" + `data: {"content":"","stop":true,"stop_type":"limit","tokens_predicted":2,"tokens_evaluated":3}` + "\n\n",
	}
	r := &chat.Request{Model: "box/m", Continue: &chat.Continuation{Prompt: "a", Suffix: "b"}, MaxTokens: 2}
	e, asked := boxed(t, answers)
	text, _, end, err := collect(t, e, r)
	if text != "<tool_call>" || err != nil || end == nil || end.Text != chat.Length {
		t.Errorf("text %q, end %v, error %v", text, end, err)
	}
	if want := `/infill {"input_prefix":"a","input_suffix":"b","model":"m","n_predict":2,"stream":true}`; *asked != want {
		t.Errorf("asked %s\nwant  %s", *asked, want)
	}
	answers["/infill"] = `{"error":{"code":501,"message":"Infill is not supported by this model: prefix token is missing. ","type":"not_supported_error"}}`
	e, _ = boxed(t, answers)
	if _, _, _, err := collect(t, e, r); fault.From(err).Kind != fault.Invalid || fault.From(err).Param != "suffix" {
		t.Errorf("a model without marks for gaps: %+v", fault.From(err))
	}
}

func TestAModelThatCannotEmbedIsTheClientsFault(t *testing.T) {
	e, _ := boxed(t, map[string]string{"/v1/embeddings": `{"error":{"code":501,"message":"This server does not support embeddings. Start it with --embeddings"}}`})
	_, err := e.Embed(t.Context(), &chat.EmbedRequest{Model: "box/m", Input: []string{"a"}})
	if f := fault.From(err); f.Kind != fault.Invalid || f.Param != "model" || !strings.Contains(f.Message, "cannot embed") {
		t.Errorf("%+v", f)
	}
}
