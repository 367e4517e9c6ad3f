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

// TestSeveralRepliesComeOneAfterTheOther asks for three choices: each is a reply of its own, with
// calls too, and the prompt counts once.
func TestSeveralRepliesComeOneAfterTheOther(t *testing.T) {
	count := chat.Event{Kind: chat.Usage, Meta: &chat.Meta{Usage: &chat.Counts{Prompt: 5, Completion: 2}}}
	srv, m := serve(t, script{say("hi"), call(0, "get_weather"), args(0, `{"a":1}`), endOf(0), count, finish("stop")})
	body := `{"model":"m","messages":[{"role":"user","content":"q"}],` + nativeTools + `,"n":3,"seed":7`
	_, text := do(t, "POST", srv.URL+"/v1/chat/completions", body+`}`)
	for _, want := range []string{`{"index":0,"message":{`, `{"index":2,"message":{`, `"prompt_tokens":5,"completion_tokens":6,"total_tokens":11`} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in %s", want, text)
		}
	}
	if strings.Count(text, `"finish_reason":"tool_calls"`) != 3 || m.last.Seed == nil || *m.last.Seed != 9 {
		t.Errorf("%s, asked %+v", text, m.last)
	}
	_, text = do(t, "POST", srv.URL+"/v1/chat/completions", body+`,"stream":true,"stream_options":{"include_usage":true}}`)
	for _, want := range []string{`"choices":[{"index":0,"delta":{"role":"assistant"`, `"choices":[{"index":2,"delta":{"role":"assistant"`} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in %s", want, text)
		}
	}
	if strings.Count(text, `"finish_reason":"tool_calls"`) != 3 || strings.Count(text, `"usage":`) != 1 || !strings.Contains(text, `"completion_tokens":6`) {
		t.Errorf("%s", text)
	}
}
