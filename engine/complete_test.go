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

// once is an engine over a server that gives every request the same answer, and the last body that
// it was sent.
func once(t *testing.T, status int, answer string) (e *Engine, asked *string) {
	t.Helper()
	asked = new(string)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		*asked = r.URL.Path + " " + string(body)
		w.WriteHeader(status)
		io.WriteString(w, answer)
	}))
	t.Cleanup(s.Close)
	return New(Config{Ollama: s.URL}), asked
}

func TestATextIsWrittenOnRaw(t *testing.T) {
	e, asked := once(t, 200, `{"response":"<tool_call>","done":false}`+"\n"+`{"response":"","done":true,"done_reason":"length","prompt_eval_count":3,"eval_count":1}`)
	for suffix, want := range map[string]string{
		"":  `/api/generate {"prompt":"a","model":"m","raw":true,"stream":true,"think":false,"truncate":false,"options":{"num_ctx":8192,"num_predict":5,"stop":["x"]}}`,
		"b": `/api/generate {"prompt":"a","model":"m","suffix":"b","raw":false,"stream":true,"truncate":false,"options":{"num_ctx":8192,"num_predict":5,"stop":["x"]}}`,
	} {
		r := &chat.Request{Model: "m", Continue: &chat.Continuation{Prompt: "a", Suffix: suffix}, MaxTokens: 5, Stop: []string{"x"}}
		text, _, end, err := collect(t, e, r)
		if text != "<tool_call>" || err != nil || end == nil || end.Text != chat.Length {
			t.Errorf("suffix %q: text %q, end %v, error %v", suffix, text, end, err)
		}
		if *asked != want {
			t.Errorf("asked %s\nwant  %s", *asked, want)
		}
	}
}

func TestWhatCannotBeWrittenOnSaysWhy(t *testing.T) {
	for _, tt := range []struct {
		status        int
		answer        string
		kind          fault.Kind
		param, saying string
	}{
		{400, `{"error":"registry.ollama.ai/library/m:latest does not support insert"}`, fault.Invalid, "suffix", "cannot fill a gap"},
		{404, `{"error":"model 'm' not found"}`, fault.NotFound, "model", "not found"},
		{200, `{"response":"a","done":false}`, fault.Unavailable, "", "in the middle"},
	} {
		e, _ := once(t, tt.status, tt.answer)
		_, _, _, err := collect(t, e, &chat.Request{Model: "m", Continue: &chat.Continuation{Prompt: "a", Suffix: "b"}})
		if f := fault.From(err); f.Kind != tt.kind || f.Param != tt.param || !strings.Contains(f.Message, tt.saying) {
			t.Errorf("%s: %+v, want kind %d at %q that says %q", tt.answer, f, tt.kind, tt.param, tt.saying)
		}
	}
}
