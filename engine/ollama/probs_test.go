package ollama

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"toolnorm/engine/upstream"
	"toolnorm/engine/wait"
	"toolnorm/internal/test/must"
)

func TestProbabilitiesBelongToTheirText(t *testing.T) {
	o, err := New("http://fake", upstream.InProcess(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, strings.Join([]string{
			`{"message":{"thinking":"hm","content":""},"logprobs":[{"token":"hm","logprob":-1}]}`,
			`{"message":{"content":""},"logprobs":[{"token":"\ufffd","logprob":-2,"bytes":[237,149]}]}`,
			`{"message":{"content":"한"},"logprobs":[{"token":"\ufffd","logprob":-3,"bytes":[156],"top_logprobs":[{"token":"x","logprob":-4}]}]}`,
			`{"message":{"content":""},"logprobs":[{"token":"z","logprob":-5}],"done":true,"done_reason":"stop"}`,
		}, "\n"))
	})))
	must.OK(t, err)
	ctx, p := wait.NewPulse(t.Context(), nil, wait.Timeouts{})
	defer p.Stop()
	src, err := o.Chat(ctx, p, &ChatRequest{Logprobs: true})
	must.OK(t, err)
	var got []string
	for {
		ev, err := src.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		must.OK(t, err)
		line := ev.Kind.String() + " " + ev.Text
		if ev.Meta != nil {
			for _, p := range ev.Meta.Logprobs {
				line += " " + p.Text + string(p.Bytes)
				for _, other := range p.Top {
					line += " or " + other.Text
				}
			}
		}
		got = append(got, line)
	}
	if want := "reasoning hm|text 한 \ufffd\xed\x95 \ufffd\x9c or x|finish stop z"; strings.Join(got, "|") != want {
		t.Errorf("got  %q\nwant %q", strings.Join(got, "|"), want)
	}
}
