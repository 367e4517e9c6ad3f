package openai

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"toolnorm/chat"
	"toolnorm/engine/upstream"
	"toolnorm/engine/wait"
	"toolnorm/internal/fault"
	"toolnorm/internal/test/must"
	"toolnorm/internal/test/upstreamtest"
)

func TestOpenAIStatuses(t *testing.T) {
	rows := []struct {
		status int
		header string
		body   string
		kind   fault.Kind
		code   string
		says   string
		retry  time.Duration
	}{
		{400, "", `{"error":{"message":"bad","type":"invalid_request_error","param":"temperature","code":null}}`, fault.Invalid, "", "the model server says: bad", 0},
		{400, "", `{"error":{"code":400,"message":"request (15005 tokens) exceeds the available context size (4096 tokens)","type":"exceed_context_size_error"}}`, fault.Invalid, "context_length_exceeded", "context size (4096 tokens)", 0},
		{400, "", `{"object":"error","message":"This model's maximum context length is 4096 tokens.","type":"BadRequestError","code":400}`, fault.Invalid, "context_length_exceeded", "4096 tokens.", 0},
		{422, "", `{"detail":"no"}`, fault.Invalid, "", "says: no", 0},
		{401, "", `{"error":{"message":"Incorrect API key provided: sk-secret.","type":"invalid_request_error","param":null,"code":"invalid_api_key"}}`, fault.Unable, "invalid_api_key", "provided: …. (that is about the key that toolnorm has for this server)", 0},
		{404, "", `{"error":{"message":"The model 'x' does not exist","type":"NotFoundError","param":"model","code":404}}`, fault.NotFound, "model_not_found", "does not exist", 0},
		{404, "", `{"detail":"Not Found"}`, fault.Unable, "upstream_unable", "has no /v1/chat/completions: is its URL right?", 0},
		{413, "", "", fault.TooLarge, "request_too_large", "Request Entity Too Large", 0},
		{429, "20", `{"error":{"message":"slow down","type":"rate_limit_error"}}`, fault.Limited, "rate_limit_exceeded", "slow down", 20 * time.Second},
		{503, "", `{"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}`, fault.Busy, "model_loading", "Loading model", 0},
		{500, "", "plain text", fault.Unavailable, "upstream_error", "plain text", 0},
		{302, "", "", fault.Unable, "upstream_unable", "Found", 0},
		{429, "9", `{"error":{"message":"You exceeded your current quota","type":"insufficient_quota","param":null,"code":"insufficient_quota"}}`, fault.Unable, "insufficient_quota", "current quota", 0},
	}
	for _, row := range rows {
		o := fakeOpenAI(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Retry-After", row.header)
			w.WriteHeader(row.status)
			io.WriteString(w, row.body)
		})
		ctx, p := wait.NewPulse(t.Context(), nil, wait.Timeouts{Queue: -1})
		_, err := o.Chat(ctx, p, &Request{}, Reading{})
		p.Stop()
		f := fault.From(err)
		if f.Kind != row.kind || f.OpenAICode() != row.code || !strings.HasSuffix(strings.TrimSuffix(f.Message, ", try increasing it"), row.says) || f.Retry != row.retry {
			t.Errorf("%d %s: %v kind %d code %q retry %v, want kind %d code %q", row.status, row.body, f, f.Kind, f.OpenAICode(), f.Retry, row.kind, row.code)
		}
		if strings.Contains(fmt.Sprint(f, f.Cause), "sk-secret") {
			t.Errorf("%d: the fault gives the key away: %v", row.status, f)
		}
	}
}

func TestRetryAfterAsADate(t *testing.T) {
	at := time.Now().Add(time.Hour).UTC().Format(http.TimeFormat)
	if d := upstream.RetryAfter(http.Header{"Retry-After": {at}}, fault.Busy); d < 59*time.Minute || d > time.Hour {
		t.Errorf("%s is %v from now", at, d)
	}
	for _, bad := range []string{"", "x", "-3", "Mon, 02 Jan 2006 15:04:05 GMT"} {
		if d := upstream.RetryAfter(http.Header{"Retry-After": {bad}}, fault.Limited); d != 0 {
			t.Errorf("%q is %v, want nothing", bad, d)
		}
	}
}

// TestWhatOpenAIIsSent looks at paths, keys and bodies.
func TestWhatOpenAIIsSent(t *testing.T) {
	var path, key, body string
	o := fakeOpenAI(t, func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		path, key, body = r.Method+" "+r.URL.Path, r.Header.Get("Authorization"), string(b)
		io.WriteString(w, `{"data":[{"id":"m","owned_by":"vllm"}],"prompt":"p","chat_template":"t","chat_template_caps":{"supports_tools":true}}`)
	})
	ctx, p := wait.NewPulse(t.Context(), nil, wait.Timeouts{})
	defer p.Stop()
	r := &Request{Model: "m", Messages: []Message{{Role: "user", Content: "hi"}}, Fields: map[string]json.RawMessage{"seed": json.RawMessage("1"), "model": json.RawMessage(`"x"`)}}
	for _, row := range []struct {
		ask        func() error
		path, body string
	}{
		{func() error { _, err := o.Chat(ctx, p, r, Reading{}); return err }, "POST /v1/chat/completions",
			`{"messages":[{"role":"user","content":"hi"}],"model":"m","seed":1,"stream":true,"stream_options":{"include_usage":true}}`},
		{func() error { _, err := o.Template(ctx, p, r); return err }, "POST /apply-template", `{"messages":[{"role":"user","content":"hi"}],"model":"m","seed":1,"stream":false}`},
		{func() error {
			_, err := o.Continue(ctx, p, map[string]any{"model": "m", "prompt": "<a>", "preserved_tokens": []string{"<t>"}, "stream": true})
			return err
		}, "POST /completion", `{"model":"m","preserved_tokens":["<t>"],"prompt":"<a>","stream":true}`},
		{func() error { _, err := o.Models(ctx); return err }, "GET /v1/models", ""},
		{func() error { _, err := o.Properties(ctx); return err }, "GET /props", ""},
	} {
		if err := row.ask(); err != nil || path != row.path || key != "Bearer sk-secret" || body != row.body {
			t.Errorf("asked %s with %q and %s, error %v, want %s and %s", path, key, body, err, row.path, row.body)
		}
	}
}

func TestOpenAIThatIsDown(t *testing.T) {
	o := New("http://127.0.0.1:1/v1", "sk-secret", nil)
	ctx, p := wait.NewPulse(t.Context(), nil, wait.Timeouts{})
	defer p.Stop()
	_, chat := o.Chat(ctx, p, &Request{}, Reading{})
	_, models := o.Models(ctx)
	for _, err := range []error{chat, models} {
		if f := fault.From(err); f.Kind != fault.Unavailable || !strings.Contains(f.Message, "cannot be reached at http://127.0.0.1:1:") {
			t.Errorf("a server that is down: %v", err)
		}
	}
}

func TestLongEvents(t *testing.T) {
	for _, row := range []struct {
		size int // of the text inside the event
		ok   bool
	}{{4095, true}, {1 << 20, true}, {upstream.MaxRecord - 128, true}, {upstream.MaxRecord + 1, false}} {
		text := strings.Repeat("x", row.size)
		got := askOpenAI(t, fakeOpenAI(t, sse(delta(`"content":"`+text+`"`), end("stop"))), 0)
		want := fmt.Sprintf("text 0 %q\nfinish 0 \"stop\" cause=\n", text)
		if !row.ok {
			want = "error 502 upstream_error: the model server's reply cannot be read: a record is longer than 16 MiB\n"
		}
		if got != want {
			t.Errorf("%d bytes: got %d bytes of events, %.80q", row.size, len(got), got)
		}
	}
}

// TestSilentOpenAI has servers that stop saying anything. One that has said why the reply ended is
// not waited for.
func TestSilentOpenAI(t *testing.T) {
	for _, row := range []struct{ name, sent, want string }{
		{"before the first event", ": hello\n\n", "error 504 first_byte_timeout: the model server sent nothing for 80ms (settings load-timeout and first-byte-timeout): it may be loading the model, busy with other requests, or hang\n"},
		{"in the middle", "data: " + delta(`"content":"hi"`) + "\n\n", "text 0 \"hi\"\nerror 504 idle_timeout: the model server stopped in the middle of its reply and sent nothing for 30ms (setting idle-timeout)\n"},
		{"behind the reason", "data: " + end("stop") + "\n\n", "finish 0 \"stop\" cause=\n"},
	} {
		o := fakeOpenAI(t, func(w http.ResponseWriter, r *http.Request) {
			io.Copy(io.Discard, r.Body)
			w.Header().Set("Content-Type", "text/event-stream")
			if row.name != "before the first event" {
				io.WriteString(w, row.sent)
			}
			http.NewResponseController(w).Flush()
			<-r.Context().Done()
		})
		ctx, p := wait.NewPulse(t.Context(), nil, wait.Timeouts{Load: 40 * time.Millisecond, FirstByte: 40 * time.Millisecond, Idle: 30 * time.Millisecond})
		src, err := o.Chat(ctx, p, &Request{}, Reading{})
		must.OK(t, err)
		if got := upstreamtest.Drain(src); got != row.want {
			t.Errorf("%s:\n%swant:\n%s", row.name, got, row.want)
		}
		p.Stop()
	}
}

func TestKindOf(t *testing.T) {
	for _, row := range []struct {
		name    string
		answers map[string]string
		want    string
	}{
		{"Ollama", map[string]string{"/api/version": `{"version":"0.34.3"}`, "/v1/models": `{"data":[]}`}, upstream.KindOllama},
		{"llama-server", map[string]string{"/v1/models": `{"data":[]}`}, upstream.KindOpenAI},
		{"one that has a page for everything", map[string]string{"/api/version": `<html>`, "/v1/models": `{"data":[]}`}, upstream.KindOpenAI},
		{"one that answers errors with 200", map[string]string{"/api/version": `{"error":"no such endpoint"}`, "/v1/models": `{"data":[]}`}, upstream.KindOpenAI},
		{"something else", nil, ""},
	} {
		o := fakeOpenAI(t, func(w http.ResponseWriter, r *http.Request) {
			answer, ok := row.answers[r.URL.Path]
			if !ok {
				w.WriteHeader(404)
			}
			io.WriteString(w, answer)
		})
		got, err := KindOf(t.Context(), o.root, "")
		if got != row.want || (err == nil) != (row.want != "") {
			t.Errorf("%s is %q, error %v, want %q", row.name, got, err, row.want)
		}
	}
}

func TestParseURL(t *testing.T) {
	for _, row := range []struct{ in, kind, base, wrong string }{
		{"http://127.0.0.1:8080", "", "http://127.0.0.1:8080", ""},
		{"box:8000/", "", "http://box:8000", ""},
		{"https://api.openai.com/v1", upstream.KindOpenAI, "https://api.openai.com/v1", ""},
		{"openai+http://box:8000/llm/v2/", upstream.KindOpenAI, "http://box:8000/llm/v2", ""},
		{"ollama+https://box", upstream.KindOllama, "https://box", ""},
		{"[::1]:8000", "", "http://[::1]:8000", ""},
		{"", "", "", "names no host"},
		{"ftp://box", "", "", "scheme"},
		{"vllm+http://box", "", "", "in front of the +"},
		{"http://me:secret@box", "", "", "password"},
		{"http://box?key=secret", "", "", "query"},
		{"http://box:port", "", "", "no URL"},
		{"http://a b", "", "", "no URL"},
	} {
		kind, base, err := upstream.ParseURL(row.in)
		if kind != row.kind || base != row.base || (err == nil) != (row.wrong == "") {
			t.Errorf("ParseURL(%q) = %q, %q, %v, want %q, %q", row.in, kind, base, err, row.kind, row.base)
		}
		if err != nil && (!strings.Contains(err.Error(), row.wrong) || strings.Contains(err.Error(), "secret")) {
			t.Errorf("ParseURL(%q): %v, want %q and no secret", row.in, err, row.wrong)
		}
	}
}

// FuzzSSE reads any bytes as a stream, whole and byte by byte: the same events, one end, arguments
// that are objects.
func FuzzSSE(f *testing.F) {
	f.Add([]byte("data: " + delta(`"content":"hi","reasoning":"hm"`) + "\r\n\r\n: x\ndata: " + end("stop") + "\n\ndata: [DONE]\n\n"))
	f.Add([]byte("data: " + calls(`{"index":0,"id":"a","function":{"name":"ping","arguments":"{'a':1"}},{"function":{"arguments":{}}}`) + "\ndata: " + end("tool_calls")))
	f.Add([]byte("data: {\ndata: }\rerror: {\"code\":500}\n"))
	f.Fuzz(func(t *testing.T, stream []byte) {
		got := upstreamtest.Drain(deltasOf(strings.NewReader(string(stream))))
		if again := upstreamtest.Drain(deltasOf(iotest.OneByteReader(strings.NewReader(string(stream))))); again != got {
			t.Errorf("%q:\n%sbyte by byte:\n%s", stream, got, again)
		}
		if ends := strings.Count("\n"+got, "\nfinish ") + strings.Count("\n"+got, "\nerror "); ends != 1 {
			t.Errorf("%q: %d ends\n%s", stream, ends, got)
		}
		var args strings.Builder
		for d := deltasOf(strings.NewReader(string(stream))); ; {
			e, err := d.Next()
			if err != nil {
				break
			}
			switch e.Kind {
			case chat.CallStart:
				args.Reset()
			case chat.CallArgs:
				args.WriteString(e.Text)
			case chat.CallEnd:
				var object map[string]json.RawMessage
				if err := json.Unmarshal([]byte(args.String()), &object); err != nil || object == nil {
					t.Errorf("%q: arguments %q: %v", stream, args.String(), err)
				}
			}
		}
	})
}
