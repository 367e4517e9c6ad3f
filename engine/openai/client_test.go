package openai

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"toolnorm/chat"
	"toolnorm/engine/upstream"
	"toolnorm/engine/wait"
	"toolnorm/internal/test/upstreamtest"
)

// offer are the tools of the recorded requests, and one without parameters.
var offer = []chat.Tool{
	{Name: "get_weather", Schema: json.RawMessage(`{"type":"object","properties":{"city":{"type":"string"},"days":{"type":"integer"}},"required":["city"]}`)},
	{Name: "get_time", Schema: json.RawMessage(`{"type":"object","properties":{"tz":{"type":"string"}}}`)},
	{Name: "ping"},
}

// fakeOpenAI is a server with that handler and a client of it.
func fakeOpenAI(t testing.TB, h http.HandlerFunc) *Client {
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	tr := upstream.Transport()
	t.Cleanup(tr.CloseIdleConnections)
	return New(s.URL, "sk-secret", tr)
}

// askOpenAI sends a small request and writes down what comes, neighbouring fragments joined.
func askOpenAI(t testing.TB, o *Client, hold int) string {
	ctx, p := wait.NewPulse(t.Context(), nil, wait.Timeouts{})
	defer p.Stop()
	src, err := o.Chat(ctx, p, &Request{Model: "m"}, Reading{Tools: offer, Hold: hold})
	if err != nil {
		return upstreamtest.Note(nil, err)
	}
	return upstreamtest.Drain(src)
}

// sse answers with these events, in the form that every server writes.
func sse(events ...string) http.HandlerFunc {
	return stream1("data: " + strings.Join(events, "\n\ndata: ") + "\n\n")
}

// stream1 answers with that text as a stream.
func stream1(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
		io.WriteString(w, text)
	}
}

// delta is an event that adds to the reply, end one that ends it.
func delta(members string) string {
	return `{"choices":[{"index":0,"delta":{` + members + `},"finish_reason":null}]}`
}
func end(reason string) string {
	return `{"choices":[{"index":0,"delta":{},"finish_reason":"` + reason + `"}]}`
}

// calls is an event with fragments of calls.
func calls(fragments string) string { return delta(`"tool_calls":[` + fragments + `]`) }

// TestOpenAIEnds is how streams can end, and what else a server may write between the events.
func TestOpenAIEnds(t *testing.T) {
	hi, stop := delta(`"content":"hi"`), end("stop")
	const good = "text 0 \"hi\"\nfinish 0 \"stop\" cause=\n"
	const middle = "error 502 upstream_error: the model server ended its reply in the middle: its log may say why\n"
	const noReason = "error 502 upstream_error: the model server ended its reply without a finish_reason, so nobody knows whether it is complete\n"
	rows := []struct {
		name    string
		handler http.HandlerFunc
		want    string
	}{
		{"as OpenAI does", sse(delta(`"role":"assistant","content":""`), hi, stop, "[DONE]"), good},
		{"usage behind the end", sse(hi, stop, `{"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":4}}`, "[DONE]"), "text 0 \"hi\"\nusage 0 {Prompt:3 Completion:4}\nfinish 0 \"stop\" cause=\n"},
		{"no [DONE]", sse(hi, stop), good},
		{"no blank line behind the last event", stream1("data: " + hi + "\n\ndata: " + stop), good},
		{"no blank lines at all", stream1("data: " + hi + "\ndata: " + stop + "\ndata: [DONE]\n"), good},
		{"CRLF, comments, fields", stream1(": hello\r\nevent: message\r\nid: 1\r\nretry: 5\r\n\r\ndata:" + hi + "\r\n\r\n:\r\ndata:" + stop + "\r\n\r\ndata:[DONE]\r\n\r\n"), good},
		{"CR alone", stream1("data: " + hi + "\r\rdata: " + stop + "\r\r"), good},
		{"an event of several lines", stream1("data: {\"choices\":\ndata: [{\"delta\":{\"content\":\"hi\"},\ndata: \"finish_reason\":\"stop\"}]}\n\n"), good},
		{"an event of several lines, cut", stream1("data: " + hi + "\n\ndata: {\"choices\":\ndata: [{\"del"), "text 0 \"hi\"\n" + middle},
		{"JSON without data:", stream1(hi + "\n" + stop + "\n"), good},
		{"length", sse(hi, end("length"), "[DONE]"), "text 0 \"hi\"\nfinish 0 \"length\" cause=\n"},
		{"a filter", sse(hi, end("content_filter"), "[DONE]"), "text 0 \"hi\"\nfinish 0 \"length\" cause=content_filter\n"},
		{"an empty reason in every event", sse(strings.ReplaceAll(hi, "null", `""`), stop), good},
		{"text behind the reason", sse(stop, hi, "[DONE]"), good},
		{"other choices", sse(hi, `{"choices":[{"index":1,"delta":{"content":"no"},"finish_reason":"length"}]}`, stop), good},
		{"error null in every event", sse(strings.Replace(hi, "{", `{"error":null,`, 1), strings.Replace(stop, "{", `{"error":"",`, 1)), good},
		{"no finish_reason", sse(hi, "[DONE]"), "text 0 \"hi\"\n" + noReason},
		{"only [DONE]", sse("[DONE]"), noReason},
		{"neither", sse(hi), "text 0 \"hi\"\n" + middle},
		{"nothing at all", stream1(""), middle},
		{"cut inside an event", stream1("data: " + hi + "\n\ndata: {\"choi"), "text 0 \"hi\"\n" + middle},
		{"given up", sse(hi, end("abort")), "text 0 \"hi\"\nerror 502 upstream_error: the model server gave its reply up (abort): its log may say why\n"},
		{"no JSON", sse(hi, "oops", stop), "text 0 \"hi\"\nerror 502 upstream_error: the model server sent an event that is no JSON: "},
		{"a page instead", upstreamtest.Body("<html>\n\n</html>"), "error 400 upstream_unable: what answers at URL is no model server but sends pages: is the address right?\n"},
		{"an error in the middle", sse(hi, `{"error":{"code":500,"message":"out of memory","type":"server_error"}}`), "text 0 \"hi\"\nerror 502 upstream_error: the model server says: out of memory\n"},
		{"an error of old vLLMs", sse(hi, `{"object":"error","message":"too long","type":"BadRequestError","code":400}`), "text 0 \"hi\"\nerror 400 : the model server says: too long\n"},
		{"an error of old llama-servers", stream1("data: " + hi + "\n\nerror: {\"code\":500,\"message\":\"slot lost\"}\n\n"), "text 0 \"hi\"\nerror 502 upstream_error: the model server says: slot lost\n"},
		{"an error with the key in it", sse(`{"error":"key sk-secret is wrong"}`), "error 502 upstream_error: the model server says: key … is wrong\n"},
		{"a rate limit in the middle", sse(hi, `{"error":{"type":"rate_limit_error","message":"slow"}}`), "text 0 \"hi\"\nerror 429 rate_limit_exceeded: the model server says: slow\n"},
		{"a whole reply", whole(`{"choices":[{"index":0,"message":{"role":"assistant","content":"hi","tool_calls":null},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":2}}`), "text 0 \"hi\"\nusage 0 {Prompt:1 Completion:2}\nfinish 0 \"stop\" cause=\n"},
		{"a whole reply over lines", whole("{\"choices\":[{\n\"message\":{\"content\":\"hi\"},\n\"finish_reason\":\"stop\"}]}\n"), good},
		{"a whole reply, cut", whole(`{"choices":[{"message"`), "error 502 upstream_error: the model server's reply is no JSON: "},
		{"a whole error", whole(`{"error":{"message":"no"}}`), "error 502 upstream_error: the model server says: no\n"},
		{"connection broken", cutOff("data: " + hi + "\n\ndata: {\"ch"), "text 0 \"hi\"\nerror 502 upstream_error: the connection to the model server broke in the middle of the reply\n"},
		{"connection broken behind the reason", cutOff("data: " + hi + "\n\ndata: " + stop + "\n\ndata: {\"ch"), good},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			o := fakeOpenAI(t, row.handler)
			got := strings.ReplaceAll(askOpenAI(t, o, 0), o.root, "URL")
			if strings.HasSuffix(row.want, "no JSON: ") { // the parser's own words follow
				got = got[:min(len(got), len(row.want))]
			}
			if got != row.want {
				t.Errorf("events:\n%swant:\n%s", got, row.want)
			}
		})
	}
}

// whole answers with JSON although a stream was asked for.
func whole(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, text)
	}
}

// TestDeltas is what servers put into one delta.
func TestDeltas(t *testing.T) {
	for _, row := range []struct{ name, delta, want string }{
		{"reasoning", `"reasoning_content":"hm","content":null`, "reasoning 0 \"hm\"\n"},
		{"reasoning by its other name", `"reasoning":"hm"`, "reasoning 0 \"hm\"\n"},
		{"reasoning by both", `"reasoning":"hm","reasoning_content":"hm","content":"x"`, "reasoning 0 \"hm\"\ntext 0 \"x\"\n"},
		{"text in parts", `"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]`, "text 0 \"ab\"\n"},
		{"a refusal", `"content":null,"refusal":"no"`, "text 0 \"no\"\n"},
		{"escapes", `"content":"\u003cb\u003e \"é\" \ud83d\ude00"`, "text 0 \"<b> \\\"é\\\" 😀\"\n"},
		{"text beside a call", `"content":"so","tool_calls":[{"index":0,"id":"a","function":{"name":"ping","arguments":"{}"}}]`, "text 0 \"so\"\ncall 0 id=a \"ping\"\nargs 0 \"{}\"\nend 0\n"},
		{"the old form of a call", `"function_call":{"name":"ping","arguments":"{}"}`, "call 0 \"ping\"\nargs 0 \"{}\"\nend 0\n"},
		{"nothing", `"content":null,"tool_calls":[],"function_call":null`, ""},
	} {
		if got, want := askOpenAI(t, fakeOpenAI(t, sse(delta(row.delta), end("stop"))), 0), row.want+"finish 0 \"stop\" cause=\n"; got != want {
			t.Errorf("%s: events:\n%swant:\n%s", row.name, got, want)
		}
	}
}

// TestOpenAIReplay reads recorded answers.
func TestOpenAIReplay(t *testing.T) {
	upstreamtest.Goldens(t, "testdata/captures", replay)
}

// replay asks a server that gives the recorded answer, in pieces that end at the given places.
func replay(t testing.TB, c upstreamtest.Capture, cuts ...int) string {
	o := fakeOpenAI(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		c.Pieces(w, cuts...)
	})
	if c.Path != "/completion" {
		return askOpenAI(t, o, 0)
	}
	ctx, p := wait.NewPulse(t.Context(), nil, wait.Timeouts{})
	defer p.Stop()
	src, err := o.Continue(ctx, p, nil)
	if err != nil {
		return upstreamtest.Note(nil, err)
	}
	return upstreamtest.Drain(src)
}

// TestEveryCutEndsOnce breaks a recorded stream off at every byte, in good order. Each time there
// is one end, and an error unless the reason had come; what had come before is there.
func TestEveryCutEndsOnce(t *testing.T) {
	c := upstreamtest.Read(t, "testdata/captures/native-two-calls.json")
	reason := strings.Index(c.Body, `"finish_reason":"tool_calls"`)
	reason += strings.Index(c.Body[reason:], "\n") // a line that is whole JSON counts without its end
	for cut := range c.Body {
		d := deltasOf(strings.NewReader(c.Body[:cut]))
		got := upstreamtest.Drain(d)
		ends := strings.Count(got, "\nfinish ") + strings.Count("\n"+got, "\nerror ")
		if complete := strings.Contains(got, "\nfinish "); ends != 1 || complete != (cut >= reason) {
			t.Fatalf("cut at %d of %d, reason whole at %d:\n%s", cut, len(c.Body), reason, got)
		}
	}
}

// deltasOf reads a text as /v1/chat/completions' stream.
func deltasOf(in io.Reader) *deltas {
	o := New("http://127.0.0.1", "", http.DefaultTransport)
	ctx, p := wait.NewPulse(context.Background(), nil, wait.Timeouts{})
	defer p.Stop()
	d := o.deltas(new(upstream.Scratches).Stream(context.WithoutCancel(ctx), io.NopCloser(in), p.Reader(in, wait.Limit{}, wait.Limit{})))
	d.record, d.calls.tools = d.chunk, offer
	return d
}

// cutOff answers with that text and breaks the connection.
func cutOff(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, text)
		http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
}
