package proxy

import (
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"toolnorm/engine/wait"
	"toolnorm/internal/fault"
	"toolnorm/internal/test/left"
	"toolnorm/internal/test/must"
)

// send is a handler that answers with some bytes, of a kind.
func send(kind, text string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", kind)
		io.WriteString(w, text)
		http.NewResponseController(w).Flush()
	}
}

// refuse is a handler that answers with a status.
func refuse(status int, text string, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		for i := 0; i+1 < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(status)
		io.WriteString(w, text)
	}
}

// then is a handler followed by something else.
func then(first http.HandlerFunc, next func(w http.ResponseWriter, r *http.Request)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) { first(w, r); next(w, r) }
}

// hang waits until the client is gone.
func hang(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

// abort breaks the connection.
func abort(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }

// pause lets what was sent before leave alone.
func pause(http.ResponseWriter, *http.Request) { time.Sleep(20 * time.Millisecond) }

// dribble sends a text byte by byte.
func dribble(kind, text string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		for i := range len(text) {
			send(kind, text[i:i+1])(w, r)
		}
	}
}

// misdeed is what a model server does, at /api/generate and at /v1/chat/completions.
type misdeed struct {
	name           string
	ollama, openai http.HandlerFunc
}

const (
	ndjson = "application/x-ndjson"
	events = "text/event-stream"
)

// misdeeds are the rows of the table.
func misdeeds() []misdeed {
	rec := func(text string) string { return fmt.Sprintf(`{"response":%s,"done":false}`+"\n", text) }
	chunk := func(text string) string {
		return fmt.Sprintf(`data: {"choices":[{"index":0,"delta":{"content":%s},"finish_reason":null}]}`+"\n\n", text)
	}
	hi, hiChunk := then(send(ndjson, rec(`"Hi "`)), pause), then(send(events, chunk(`"Hi "`)), pause)
	done, doneChunk := `{"response":"","done":true,"done_reason":"stop","eval_count":2}`+"\n", `data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`+"\n\ndata: [DONE]\n\n"
	both := func(name string, h http.HandlerFunc) misdeed { return misdeed{name, h, h} }
	return []misdeed{
		{"answers, one byte at a time", dribble(ndjson, rec(`"hi"`)+done), dribble(events, chunk(`"hi"`)+doneChunk)},
		both("refuses the connection's request: it breaks off before the head", abort),
		both("is silent before the head", hang),
		{"is silent behind the head", then(send(ndjson, ""), hang), then(send(events, ""), hang)},
		{"is silent in the middle", then(hi, hang), then(hiChunk, hang)},
		{"is silent behind half a record", then(send(ndjson, rec(`"Hi "`)+`{"resp`), hang), then(send(events, chunk(`"Hi "`)+`data: {"cho`), hang)},
		{"ends in good order in the middle", hi, hiChunk},
		{"breaks off in the middle, as when it is restarted", then(hi, abort), then(hiChunk, abort)},
		{"breaks off inside a record", then(then(hi, send(ndjson, `{"resp`)), abort), then(then(hiChunk, send(events, `data: {"cho`)), abort)},
		{"tells of an error in the middle", then(hi, send(ndjson, `{"error":"an error was encountered while running the model: CUDA error"}`+"\n")),
			then(hiChunk, send(events, `data: {"error":{"message":"CUDA error","type":"server_error","code":500}}`+"\n\n"))},
		both("writes nothing", func(w http.ResponseWriter, r *http.Request) {
			if strings.HasPrefix(r.URL.Path, "/api") {
				send(ndjson, done)(w, r)
				return
			}
			send(events, doneChunk)(w, r)
		}),
		both("sends an empty answer", send(ndjson, "")),
		both("sends a page", send("text/html", "<html><body>It works!</body></html>\n")),
		both("sends bytes at random", send(ndjson, "\x1f\x8b\x08\x00\xff\xfe{]}\n\n\x00\x01")),
		{"sends half a character", send(ndjson, rec("\"Hi \xe2\x82\"")+done), send(events, chunk("\"hi \xe2\x82\"")+doneChunk)},
		{"sends a stream as text/plain", send("text/plain", rec(`"hi"`)+done), send("text/plain", chunk(`"hi"`)+doneChunk)},
		{"says 400, broken words of its own", refuse(400, `{"error":"{\"error\":{\"code\":400,\"message\":\"Unable to generate parser for this template\",\"type\":\"invalid_request_error\"}}"}`), refuse(400, `{"error":{"message":"Unable to generate parser for this template","type":"invalid_request_error","param":null,"code":null}}`)},
		{"says that the request is too long", refuse(400, `{"error":"{\"error\":{\"code\":400,\"message\":\"request (15005 tokens) exceeds the available context size (4096 tokens), try increasing it\",\"type\":\"exceed_context_size_error\",\"n_prompt_tokens\":15005,\"n_ctx\":4096}}"}`),
			refuse(400, `{"error":{"code":400,"message":"request (15005 tokens) exceeds the available context size (4096 tokens), try increasing it","type":"exceed_context_size_error"}}`)},
		{"wants a key", refuse(401, `{"error":"unauthorized"}`), refuse(401, `{"error":{"message":"Incorrect API key provided","type":"invalid_request_error","param":null,"code":"invalid_api_key"}}`)},
		{"has no such model", refuse(404, `{"error":"model 'm' not found"}`), refuse(404, `{"error":{"message":"The model 'm' does not exist","type":"NotFoundError","param":"model","code":404}}`)},
		both("limits the rate", refuse(429, `{"error":{"message":"slow down","type":"rate_limit_error"}}`, "Retry-After", "20")),
		both("breaks", refuse(500, `{"error":"llama-server process has terminated: signal: killed"}`)),
		both("has too little memory", refuse(500, `{"error":"model requires more system memory (5.6 GiB) than is available (3.1 GiB)"}`)),
		both("cannot read what its model wrote", refuse(500, `{"error":"failed to parse JSON: unexpected end of JSON input"}`)),
		both("stands behind a gateway that cannot reach it", refuse(502, "<html>Bad Gateway</html>")),
		both("is busy, for longer than requests wait", refuse(503, `{"error":"server busy, please try again.  maximum pending requests exceeded"}`)),
		{"gives up a model that repeats itself", send(ndjson, strings.Repeat(rec(`"la "`), 31)), send(events, strings.Repeat(chunk(`"la "`), 40)+doneChunk)},
	}
}

const (
	faultsPage = "../docs/internal/faults.md"
	faultsHead = "| the model server | by Ollama's API, streamed | whole | by OpenAI's, streamed | whole |\n|---|---|---|---|---|\n"
)

// TestEveryFaultEndsOnce has a model server do what servers do, behind the whole program. Each
// reply has exactly one end, the connection is free afterwards, the next request is answered, and
// nothing stays behind.
func TestEveryFaultEndsOnce(t *testing.T) {
	goroutines := runtime.NumGoroutine()
	t.Run("table", func(t *testing.T) {
		f := newFaulty(t)
		patient := f.before(t, wait.Timeouts{Queue: 300 * time.Millisecond})
		hasty := f.before(t, wait.Timeouts{FirstByte: 40 * time.Millisecond, Load: 300 * time.Millisecond, Idle: 40 * time.Millisecond})
		table := "| cannot be reached |" + unreachable(t)
		for _, m := range misdeeds() {
			table += "| " + m.name + " |"
			srv, last := patient, ""
			if strings.HasPrefix(m.name, "is silent") {
				srv = hasty
			}
			for _, way := range []struct {
				model string
				h     http.HandlerFunc
			}{{"m", m.ollama}, {"box/m", m.openai}} {
				for _, stream := range []bool{true, false} {
					f.answers(way.h)
					resp, body := do(t, "POST", srv.URL+"/v1/chat/completions", asked(way.model, stream))
					got := outcome(t, resp, body)
					cell := strings.ReplaceAll(got, f.URL, "`URL`")
					if cell == last {
						table += " the same |"
					} else {
						table += " " + cell + " |"
					}
					last = cell
					if !f.free() {
						t.Errorf("%s, %s, stream %v: the connection is not free", m.name, way.model, stream)
					}
				}
			}
			table += "\n"
			f.answers(send(ndjson, `{"response":"hi","done":true,"done_reason":"stop"}`+"\n"))
			if resp, body := do(t, "POST", srv.URL+"/v1/chat/completions", asked("m", true)); outcome(t, resp, body) != "`stop`" {
				t.Errorf("behind %q: %s", m.name, body)
			}
		}
		compareTable(t, table)
	})
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	left.Settle(t, goroutines)
}

// unreachable are the cells of a server that is not there.
func unreachable(t *testing.T) (cells string) {
	f := newFaulty(t)
	f.Close()
	srv := f.before(t, wait.Timeouts{})
	for _, model := range []string{"m", "box/m"} {
		for _, stream := range []bool{true, false} {
			resp, body := do(t, "POST", srv.URL+"/v1/chat/completions", asked(model, stream))
			if stream {
				cells += " " + strings.ReplaceAll(outcome(t, resp, body), f.URL, "`URL`") + " | the same |"
			} else {
				outcome(t, resp, body)
			}
		}
	}
	return cells + "\n"
}

// compareTable holds the table against the one in the docs.
func compareTable(t *testing.T, table string) {
	page := must.Read(t, faultsPage)
	intro, _, _ := strings.Cut(string(page), faultsHead)
	want := intro + faultsHead + table
	must.Match(t, faultsPage, want)
}

// TestAReplyCutAnywhereEndsOnce cuts a recorded reply of each API at every byte, in good order and
// by breaking the connection. A reply of which the end is missing is never taken for a good one.
func TestAReplyCutAnywhereEndsOnce(t *testing.T) {
	for file, model := range map[string]string{"ollama.ndjson": "m", "openai.sse": "box/m"} {
		record := must.Read(t, "testdata/faults/"+file)
		text := string(record)
		good := strings.LastIndex(text, "}\n") + 1 // from here on nothing is missing: the last line counts without its end
		if i := strings.Index(text, `"finish_reason":"stop"`); i >= 0 {
			good = i + strings.Index(text[i:], "\n") // what may come behind the reason are counts
		}
		f := newFaulty(t)
		srv := f.before(t, wait.Timeouts{})
		for cut := 0; cut <= len(text); cut++ {
			for _, end := range []http.HandlerFunc{func(http.ResponseWriter, *http.Request) {}, abort} {
				f.answers(then(send(map[string]string{"m": ndjson, "box/m": events}[model], text[:cut]), end))
				stream := cut%2 == 0
				resp, body := do(t, "POST", srv.URL+"/v1/chat/completions", asked(model, stream))
				got := outcome(t, resp, body)
				if whole := strings.HasPrefix(got, "`"); whole && cut < good || !whole && cut > good {
					t.Fatalf("%s cut at %d of %d, whole from %d, stream %v: %s\n%s", file, cut, len(text), good, stream, got, body)
				}
			}
		}
		if !f.free() {
			t.Errorf("%s: a connection is not free", file)
		}
	}
}

// Who asks the model names fields as chat completions do; each API's client is told its own. A tool
// too deep for a schema was tools[0].function.parameters to clients that had sent no such field.
func TestErrorsNameTheFieldsOfTheirAPI(t *testing.T) {
	const r, m, c = "/v1/responses", "/v1/messages", "/v1/chat/completions"
	talk := `{"model":"m","messages":[{"role":"user","content":"x"}]}`
	bodies := map[string]string{r: `{"model":"m","input":"x"}`, m: talk, c: talk}
	for _, tt := range []struct{ path, param, want string }{
		{c, "tools[0].function.parameters", "tools[0].function.parameters"},
		{r, "tools[0].function.parameters", "tools"},
		{m, "tools[0].function.parameters", "tools"},
		{r, "response_format", "text.format"},
		{m, "response_format", "output_config.format"},
		{r, "messages[2].content", "input"},
		{m, "messages[2].content", "messages"},
		{r, "tool_choice", "tool_choice"},
	} {
		srv, _ := serve(t, script{&fault.Error{Kind: fault.Invalid, Param: tt.param, Message: tt.param + ": too large"}})
		_, body := do(t, "POST", srv.URL+tt.path, bodies[tt.path])
		if !strings.Contains(body, `"`+tt.want+`: too large"`) || tt.path != m && !strings.Contains(body, `"param":"`+tt.want+`"`) {
			t.Errorf("%s: %s: %s", tt.path, tt.param, body)
		}
	}
}
