package openai

import (
	"encoding/json"
	"errors"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"toolnorm/chat"
	"toolnorm/internal/fault"
	"toolnorm/internal/test/must"
	"toolnorm/proxy/form"
)

func TestCompletionsAreReadInEveryForm(t *testing.T) {
	half := 0.5
	for _, tt := range []struct {
		in   string
		want form.Ask
	}{
		{`{"model":"m","prompt":"a"}`, form.Ask{Request: chat.Request{Continue: &chat.Continuation{Prompt: "a"}}}},
		{`{"model":"m","prompt":["a"],"suffix":"b","echo":false,"best_of":1,"logprobs":null,"n":1,"user":"u"}`,
			form.Ask{Request: chat.Request{Continue: &chat.Continuation{Prompt: "a", Suffix: "b"}, Extra: map[string]json.RawMessage{"user": json.RawMessage(`"u"`)}}}},
		{`{"model":"m","prompt":"a","stream":true,"stream_options":{"include_usage":true},"max_tokens":9,"stop":"x","temperature":0.5}`,
			form.Ask{Stream: true, Usage: true, Request: chat.Request{Continue: &chat.Continuation{Prompt: "a"}, MaxTokens: 9, Stop: []string{"x"}, Sampling: chat.Sampling{Temperature: &half}}}},
	} {
		tt.want.Model = "m"
		a, err := readCompletion([]byte(tt.in))
		if err != nil || !reflect.DeepEqual(a, &tt.want) {
			t.Errorf("%s: %+v, %v, want %+v", tt.in, a, err, tt.want)
		}
	}
}

func TestCompletionsThatCannotBeHadNameTheField(t *testing.T) {
	for _, tt := range []struct{ in, param, say string }{
		{`{}`, "prompt", "not empty"},
		{`{"prompt":""}`, "prompt", "not empty"},
		{`{"prompt":[]}`, "prompt", "must be one text"},
		{`{"prompt":["a","b"]}`, "prompt", "each of the 2"},
		{`{"prompt":[1,2]}`, "prompt", "token numbers"},
		{`{"prompt":3}`, "prompt", "must be a string"},
		{`{"prompt":"a","suffix":3}`, "suffix", "must be a string"},
		{`{"prompt":"a","n":2}`, "n", "only n=1"},
		{`{"prompt":"a","best_of":3}`, "best_of", "only one"},
		{`{"prompt":"a","echo":true}`, "echo", "not repeated"},
		{`{"prompt":"a","logprobs":0}`, "logprobs", "chat/completions"},
		{`{"prompt":"a","tools":[]}`, "tools", "chat/completions"},
	} {
		_, err := readCompletion([]byte(tt.in))
		var f *fault.Error
		if !errors.As(err, &f) || f.Kind != fault.Invalid || f.Param != tt.param || !strings.Contains(f.Message, tt.say) {
			t.Errorf("%s: %v, want a fault at %q that says %q", tt.in, err, tt.param, tt.say)
		}
	}
}

type discard struct{ header http.Header }

func (d discard) Header() http.Header            { return d.header }
func (discard) Write(b []byte) (int, error)      { return len(b), nil }
func (discard) WriteHeader(int)                  {}
func (discard) Flush()                           {}
func (discard) SetWriteDeadline(time.Time) error { return nil }

func BenchmarkStreamEvent(b *testing.B) {
	a := &form.Ask{Stream: true}
	r, err := Form{}.Open(nil, a, form.Out{W: discard{http.Header{}}, ID: "chatcmpl-x", Created: time.Now(), Stall: time.Minute})
	must.OK(b, err)
	e := chat.Event{Kind: chat.Text, Text: "word"}
	b.ReportAllocs()
	for b.Loop() {
		if r.Event(e) != nil || r.Flush() != nil {
			b.Fatal("broken")
		}
	}
}
