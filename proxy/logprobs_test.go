package proxy

import (
	"strings"
	"testing"

	"toolnorm/chat"
	"toolnorm/internal/test/streamcheck"
)

// token is a text event of one token.
func token(text string, top ...chat.Token) chat.Event {
	e := say(text)
	e.Meta = &chat.Meta{Logprobs: []chat.Token{{Text: text, Logprob: -0.5, Bytes: []byte(text), Top: top}}}
	return e
}

func TestLogprobsComeWithTheirText(t *testing.T) {
	held := chat.Event{Kind: chat.Finish, Text: "stop", Meta: &chat.Meta{Logprobs: []chat.Token{{Text: "\ufffd", Logprob: -1e-9}}}}
	s := script{token("a"), token("\n", chat.Token{Text: "b", Logprob: -2}), idle, think("no"), idle, token("c"), held}
	const (
		a    = `{"token":"a","logprob":-0.5,"bytes":[97],"top_logprobs":[]}`
		lf   = `{"token":"\n","logprob":-0.5,"bytes":[10],"top_logprobs":[{"token":"b","logprob":-2,"bytes":null}]}`
		c    = `{"token":"c","logprob":-0.5,"bytes":[99],"top_logprobs":[]}`
		last = `{"token":"` + "\ufffd" + `","logprob":-1e-09,"bytes":null,"top_logprobs":[]}`
	)
	body := `{"model":"m","messages":[{"role":"user","content":"q"}],"logprobs":true`
	srv, m := serve(t, s)
	resp, text := do(t, "POST", srv.URL+"/v1/chat/completions", body+`,"top_logprobs":1,"stream":true}`)
	if got := mustStream(t, resp.Header, text, streamcheck.Expect{}); got.Text != "a\nc" {
		t.Errorf("text %q", got.Text)
	}
	for _, want := range []string{
		`"content":"a\n"},"logprobs":{"content":[` + a + `,` + lf + `],"refusal":null},"finish_reason":null}`,
		`"reasoning_content":"no","reasoning":"no"},"logprobs":null,`,
		`"content":"c"},"logprobs":{"content":[` + c + `],"refusal":null}`,
		`"delta":{},"logprobs":{"content":[` + last + `],"refusal":null},"finish_reason":"stop"}`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
	if m.last == nil || !m.last.Logprobs || m.last.TopLogprobs != 1 {
		t.Errorf("asked %+v", m.last)
	}
	if _, text = do(t, "POST", srv.URL+"/v1/chat/completions", body+`}`); !strings.Contains(text, `"logprobs":{"content":[`+strings.Join([]string{a, lf, c, last}, ",")+`],"refusal":null},"finish_reason":"stop"`) {
		t.Errorf("whole: %s", text)
	}
	if _, text = do(t, "POST", srv.URL+"/v1/chat/completions", ask(`,"stream":true`)); strings.Contains(text, "logprobs") {
		t.Errorf("not asked for, and yet: %s", text)
	}
}
