package ollama

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"toolnorm/chat"
	"toolnorm/engine/upstream"
	"toolnorm/engine/wait"
	"toolnorm/internal/fault"
	"toolnorm/internal/test/left"
	"toolnorm/internal/test/must"
	"toolnorm/internal/test/upstreamtest"
)

// TestEnds is how streams can end, and what each end comes to.
func TestEnds(t *testing.T) {
	const hi = `{"response":"hi","done":false}` + "\n"
	const middle = "error 502 upstream_error: the model server ended its reply in the middle: its log may say why\n"
	rows := []struct {
		name    string
		handler http.HandlerFunc
		want    string
	}{
		{"a final record", upstreamtest.Body(hi + `{"response":"","done":true,"done_reason":"length"}`), "text 0 \"hi\"\nfinish 0 \"length\"\n"},
		{"blank lines and CRLF", upstreamtest.Body("\n\r\n" + `{"response":"hi"}` + "\r\n\n" + `{"done":true}` + "\r\n"), "text 0 \"hi\"\nfinish 0 \"stop\"\n"},
		{"records behind the end", upstreamtest.Body(hi + `{"done":true}` + "\n" + hi), "text 0 \"hi\"\nfinish 0 \"stop\"\n"},
		{"no final record", upstreamtest.Body(hi), "text 0 \"hi\"\n" + middle},
		{"nothing at all", upstreamtest.Body(""), middle},
		{"cut inside a record", upstreamtest.Body(hi + `{"response":"he`), "text 0 \"hi\"\n" + middle},
		{"connection broken", cutOff(hi + `{"response":"he`), "text 0 \"hi\"\nerror 502 upstream_error: the connection to the model server broke in the middle of the reply\n"},
		{"no JSON", upstreamtest.Body(hi + "<html>\n"), "text 0 \"hi\"\nerror 502 upstream_error: the model server sent a record that is no JSON: "},
		{"an error record", upstreamtest.Body(hi + `{"error":"out of memory"}` + "\n"), "text 0 \"hi\"\nerror 502 upstream_error: the model server says: out of memory\n"},
		{"no error in every record", upstreamtest.Body(`{"error":null,"response":"h"}` + "\n" + `{"response":"i","error":""}` + "\n" + `{"done":true,"error":{}}`), "text 0 \"hi\"\nfinish 0 \"stop\"\n"},
		{"an error inside an error", upstreamtest.Body(hi + `{"error":"{\"error\":{\"code\":400,\"message\":\"request (15005 tokens) exceeds the available context size (4096 tokens), try increasing it\",\"n_ctx\":4096}}"}`),
			"text 0 \"hi\"\nerror 400 context_length_exceeded: the model server says: request (15005 tokens) exceeds the available context size (4096 tokens), try increasing it\n"},
		{"an error object", upstreamtest.Body(`{"error":{"message":"no"}}`), "error 502 upstream_error: the model server says: no\n"},
		{"a call without arguments", upstreamtest.Body(`{"message":{"tool_calls":[{"function":{"name":"f"}}]},"done":true}`), "call 0 \"f\"\nargs 0 \"{}\"\nend 0\nfinish 0 \"stop\"\n"},
		{"a call's digits and order", upstreamtest.Body(`{"message":{"tool_calls":[{"function":{"name":"f","arguments":{"b":12345678901234567890,"a":1.50}}}]},"done":true}`),
			"call 0 \"f\"\nargs 0 \"{\\\"b\\\":12345678901234567890,\\\"a\\\":1.50}\"\nend 0\nfinish 0 \"stop\"\n"},
		{"arguments in a string", upstreamtest.Body(`{"message":{"tool_calls":[{"function":{"name":"f","arguments":"{\"a\":1}"}}]},"done":true}`), "call 0 \"f\"\nargs 0 \"{\\\"a\\\":1}\"\nend 0\nfinish 0 \"stop\"\n"},
		{"arguments that are a list", upstreamtest.Body(`{"message":{"tool_calls":[{"function":{"name":"f","arguments":[1]}}]},"done":true}`), "error 502 upstream_error: the model server sent a call of \"f\" whose arguments are no object\n"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			got := ask(t, fake(t, row.handler), "/api/generate")
			if row.name == "no JSON" { // the parser's own words follow
				got = got[:min(len(got), len(row.want))]
			}
			if got != row.want {
				t.Errorf("events:\n%swant:\n%s", got, row.want)
			}
		})
	}
}

func TestStatuses(t *testing.T) {
	rows := []struct {
		status int
		header string
		body   string
		kind   fault.Kind
		says   string
		retry  time.Duration
	}{
		{404, "", `{"error":"model 'x' not found"}`, fault.NotFound, "model 'x' not found", 0},
		{400, "", `{"error":"bad"}`, fault.Invalid, "bad", 0},
		{413, "", "", fault.TooLarge, "Request Entity Too Large", 0},
		{503, "", `{"error":"server busy, please try again.  maximum pending requests exceeded"}`, fault.Busy, "requests exceeded", 0},
		{503, "7", `{"error":"server busy"}`, fault.Busy, "server busy", 7 * time.Second},
		{500, "", "plain text", fault.Unavailable, "plain text", 0},
		{302, "", "", fault.Unable, "Found", 0},
		{401, "", `{"error":"unauthorized"}`, fault.Unable, "unauthorized", 0},
		{499, "", `{"error":"request canceled"}`, fault.Unavailable, "request canceled", 0},
		{503, "", `{"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}`, fault.Busy, "Loading model", 0},
		{400, "", `{"error":"\"gemma3\" does not support thinking"}`, fault.Invalid, `"gemma3" does not support thinking`, 0},
		{400, "", `{"error":"registry.ollama.ai/library/plain:latest does not support tools"}`, fault.Invalid, "does not support tools", 0},
		{400, "", `{"error":"registry.ollama.ai/library/plain:latest does not support insert"}`, fault.Invalid, "does not support insert", 0},
		{400, "", `{"error":"the input length exceeds the context length"}`, fault.Invalid, "exceeds the context length", 0},
		{400, "", `{"error":"{\"error\":{\"code\":400,\"message\":\"request (15005 tokens) exceeds the available context size (4096 tokens), try increasing it\",\"type\":\"exceed_context_size_error\",\"n_prompt_tokens\":15005,\"n_ctx\":4096}}"}`,
			fault.Invalid, "says: request (15005 tokens) exceeds the available context size (4096 tokens), try increasing it", 0},
		{500, "", `{"error":"failed to parse JSON: unexpected end of JSON input"}`, fault.Unavailable, "end of JSON input", 0},
		{500, "", `{"error":"EOF"}`, fault.Unavailable, "EOF", 0},
		{500, "", `{"error":"model requires more system memory (5.6 GiB) than is available (3.1 GiB)"}`, fault.Unable, "(3.1 GiB)", 0},
		{500, "", `{"error":"error loading model: this model may be incompatible with your version of Ollama. If you previously pulled this model, try updating it by running ` + "`ollama pull x`" + `"}`, fault.Unable, "`ollama pull x`", 0},
		{500, "", `{"error":"invalid format: \"x\"; expected \"json\" or a valid JSON Schema object"}`, fault.Invalid, "JSON Schema object", 0},
	}
	for _, row := range rows {
		o := fake(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Retry-After", row.header)
			w.WriteHeader(row.status)
			io.WriteString(w, row.body)
		})
		ctx, p := wait.NewPulse(t.Context(), nil, wait.Timeouts{Queue: -1})
		_, err := o.Generate(ctx, p, &GenerateRequest{})
		p.Stop()
		f := fault.From(err)
		if f.Kind != row.kind || !strings.HasSuffix(f.Message, row.says) || f.Retry != row.retry {
			t.Errorf("%d %s: %v kind %d retry %v, want kind %d retry %v", row.status, row.body, f, f.Kind, f.Retry, row.kind, row.retry)
		}
	}
}

func TestRefusedConnectionSaysWhatToDo(t *testing.T) {
	l := must.Listen(t, "127.0.0.1:0")
	base := "http://" + l.Addr().String()
	l.Close()
	o, err := New(base, nil)
	must.OK(t, err)
	_, tags := o.Tags(t.Context())
	ctx, p := wait.NewPulse(t.Context(), nil, wait.Timeouts{})
	defer p.Stop()
	_, chat := o.Chat(ctx, p, &ChatRequest{})
	for _, err := range []error{tags, chat} {
		if f := fault.From(err); f.Kind != fault.Unavailable || !strings.Contains(f.Message, base) || !strings.Contains(f.Message, "ollama serve") {
			t.Errorf("refused: %v, want a sentence with %s that says what to do", err, base)
		}
	}
}

func TestLongRecords(t *testing.T) {
	for _, row := range []struct {
		size int // of the text inside the record
		ok   bool
	}{{4095, true}, {1 << 20, true}, {upstream.MaxRecord - 64, true}, {upstream.MaxRecord + 1, false}} {
		text := strings.Repeat("x", row.size)
		o := fake(t, upstreamtest.Body(fmt.Sprintf(`{"response":"%s","done":false}`+"\n"+`{"done":true}`+"\n", text)))
		got := ask(t, o, "/api/generate")
		want := fmt.Sprintf("text 0 %q\nfinish 0 \"stop\"\n", text)
		if !row.ok {
			want = "error 502 upstream_error: the model server's reply cannot be read: a record is longer than 16 MiB\n"
		}
		if got != want {
			t.Errorf("%d bytes: got %d bytes of events, %.80q", row.size, len(got), got)
		}
	}
}

// TestSilence has servers that say nothing, before the head, before the first record and after it.
func TestSilence(t *testing.T) {
	hang := func(text string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			io.Copy(io.Discard, r.Body) // a server sees its client go only when it has read the request
			if text != "-" {
				io.WriteString(w, text)
				http.NewResponseController(w).Flush()
			}
			<-r.Context().Done()
		}
	}
	for _, row := range []struct{ name, sent, want string }{
		{"before the head", "-", "the model server sent nothing for 40ms (setting first-byte-timeout): it may be busy with other requests, or hang"},
		{"before the first record", "", "the model server sent nothing for 40ms (setting first-byte-timeout): it may be busy with other requests, or hang"},
		{"in the middle", `{"response":"hi"}` + "\n", "the model server stopped in the middle of its reply and sent nothing for 30ms (setting idle-timeout)"},
	} {
		o := fake(t, hang(row.sent))
		ctx, p := wait.NewPulse(t.Context(), nil, wait.Timeouts{FirstByte: 40 * time.Millisecond, Idle: 30 * time.Millisecond})
		src, err := o.Generate(ctx, p, &GenerateRequest{})
		for err == nil {
			_, err = src.Next()
		}
		if src != nil {
			src.Close()
		}
		p.Stop()
		if f := fault.From(err); f.Kind != fault.Timeout || f.Message != row.want {
			t.Errorf("%s: %v, want a timeout that says %q", row.name, err, row.want)
		}
	}
}

// endless writes records until the client goes, and tells when it saw that.
func endless(seen chan<- time.Time) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		for r.Context().Err() == nil {
			io.WriteString(w, `{"response":"hi","done":false}`+"\n")
			http.NewResponseController(w).Flush()
			select {
			case <-r.Context().Done():
			case <-time.After(time.Millisecond):
			}
		}
		seen <- time.Now()
	}
}

// TestLeavingStopsTheServer leaves replies in two ways; the server must see it at once, and nothing
// may stay behind.
func TestLeavingStopsTheServer(t *testing.T) {
	seen := make(chan time.Time, 1)
	o := fake(t, endless(seen))
	demo, err := New("http://demo", upstream.InProcess(endless(seen)))
	must.OK(t, err)
	before := runtime.NumGoroutine()
	for _, server := range []*Client{o, demo} {
		for _, leave := range []string{"close", "cancel"} {
			parent, cancel := context.WithCancel(t.Context())
			ctx, p := wait.NewPulse(parent, nil, wait.Timeouts{})
			src, err := server.Generate(ctx, p, &GenerateRequest{})
			must.OK(t, err)
			for range 3 {
				if _, err := src.Next(); err != nil {
					t.Fatal(err)
				}
			}
			left := time.Now()
			if leave == "close" {
				src.Close()
			} else {
				cancel()
				for err == nil {
					_, err = src.Next()
				}
				if fault.From(err).Kind != fault.Canceled {
					t.Errorf("after cancel: %v", err)
				}
			}
			late := (<-seen).Sub(left)
			t.Logf("%s: the server saw it after %v", leave, late)
			if late > 2*time.Second { // 50 ms is the aim; a busy machine is no failure
				t.Errorf("%s: the server went on for %v", leave, late)
			}
			src.Close()
			src.Close()
			p.Stop()
			cancel()
		}
	}
	o.calls.HTTP.CloseIdleConnections()
	left.Settle(t, before)
}

func TestFinishedStreamsShareAConnection(t *testing.T) {
	peers := map[string]bool{}
	o := fake(t, func(w http.ResponseWriter, r *http.Request) {
		peers[r.RemoteAddr] = true
		upstreamtest.Body(`{"response":"hi"}`+"\n"+`{"done":true}`+"\n")(w, r)
	})
	for range 10 {
		ask(t, o, "/api/generate")
	}
	if len(peers) != 1 {
		t.Errorf("10 streams took %d connections, want 1", len(peers))
	}
}

func TestNextAfterClose(t *testing.T) {
	o := fake(t, upstreamtest.Body(`{"response":"hi"}`+"\n"+`{"done":true}`+"\n"))
	ctx, p := wait.NewPulse(t.Context(), nil, wait.Timeouts{})
	defer p.Stop()
	src, err := o.Generate(ctx, p, &GenerateRequest{})
	must.OK(t, err)
	src.Close()
	if ev, err := src.Next(); err == nil || ev.Kind != chat.None {
		t.Errorf("Next after Close = %v, %v, want an error", ev, err)
	}
}

func TestInProcessSurvivesAPanic(t *testing.T) {
	o, err := New("http://demo", upstream.InProcess(cutOff(`{"response":"a"}`+"\n")))
	must.OK(t, err)
	if got := ask(t, o, "/api/generate"); !strings.HasPrefix(got, "text 0 \"a\"\nerror 502") {
		t.Errorf("got %s", got)
	}
}

// cutOff answers with that text and breaks the connection.
func cutOff(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, text)
		http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
}
