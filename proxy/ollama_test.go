package proxy

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/ollama/ollama/api"
	"github.com/valyala/fastjson"

	"toolnorm/adapters"
	"toolnorm/chat"
	"toolnorm/engine"
	demoserver "toolnorm/engine/demo"
	"toolnorm/engine/upstream"
	"toolnorm/internal/fault"
	"toolnorm/internal/front"
	"toolnorm/internal/test/must"
	"toolnorm/proxy/form/ollama"
)

// fakeOllama is an Ollama that answers every request with what it was asked, piece by piece. Its
// models have a second name in front of it: box/NAME.
type fakeOllama struct {
	asked  *http.Request
	body   string
	silent bool // does not speak this API
}

func (f *fakeOllama) Server(_ context.Context, model string, v *fastjson.Value) (http.RoundTripper, string, error) {
	if f.silent {
		return nil, model, nil
	}
	for _, m := range v.GetArray("messages") { // the engine reads them as well, which unescapes them
		m.GetStringBytes("content")
	}
	return somewhere{upstream.InProcess(f)}, strings.TrimPrefix(model, "box/"), nil
}

// somewhere gives requests a host, as a way to a server does, and answers a header of the
// connection's, which net/http's servers write themselves.
type somewhere struct{ http.RoundTripper }

func (s somewhere) RoundTrip(r *http.Request) (*http.Response, error) {
	r.URL.Scheme, r.URL.Host = "http", "ollama"
	resp, err := s.RoundTripper.RoundTrip(r)
	if err == nil {
		resp.Header.Set("Connection", "close, X-Hop")
	}
	return resp, err
}

func (f *fakeOllama) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b, _ := io.ReadAll(r.Body)
	f.asked, f.body = r, string(b)
	h := w.Header()
	h.Set("X-Ollama", "yes")
	h.Set("X-Hop", "no")
	h.Set("Access-Control-Allow-Origin", "*")
	h.Set("Content-Type", "application/x-ndjson")
	w.WriteHeader(http.StatusTeapot)
	io.WriteString(w, r.Method+" "+r.URL.RequestURI()+"\n")
	w.Write(b)
}

func (f *fakeOllama) Tags(context.Context) (json.RawMessage, error) {
	return json.RawMessage(`{"models":[]}`), nil
}

func (f *fakeOllama) Running(context.Context) (json.RawMessage, error) {
	return json.RawMessage(`{"models":[{}]}`), nil
}

func (f *fakeOllama) Describe(_ context.Context, model string, verbose bool) (json.RawMessage, error) {
	if model == "none" {
		return nil, fault.New(fault.NotFound, "model 'none' not found")
	}
	return json.RawMessage(`{"template":"` + model + `"}`), nil
}

func (f *fakeOllama) Version(context.Context) (string, error) {
	return "", fault.New(fault.Unavailable, "gone")
}

// native serves a script and a fakeOllama.
func serveOllama(t *testing.T, s script) (*httptest.Server, *told, *fakeOllama) {
	n := &fakeOllama{}
	srv, m := serve(t, s, func(c *Config) { c.Ollama = n })
	return srv, m, n
}

const nativeTools = `"tools":[{"type":"function","function":{"name":"get_weather","parameters":{"type":"object"}}}]`

func TestWhatIsNotOursIsPassedOnByteForByte(t *testing.T) {
	srv, _, n := serveOllama(t, nil)
	for _, tt := range []struct{ method, path, body, forwarded string }{
		{"POST", "/api/chat", `{ "model" : "m", "messages":[{"role":"user","content":"\u0041"}], "x":1e2 }`, ""},
		{"POST", "/api/chat", `{"model":"m","messages":[],` + nativeTools + `}`, ""}, // loads the model
		{"POST", "/api/chat", `{"model":"m","messages":[{"role":"user"}],` + nativeTools + `,"_debug_render_only":true}`, ""},
		{"POST", "/api/generate?a=b", `{"model":"m","prompt":"p"}`, ""},
		{"POST", "/api/embed", `{"model":"m","input":"p"}`, ""},
		{"POST", "/api/embeddings", `{"model":"m","prompt":"p"}`, ""},
		{"POST", "/api/generate", `{"model":"box/m","prompt":"\u0041"}`, `{"model":"m","prompt":"\u0041"}`},
		// The server would read the last of these, and what is allowed goes by the first.
		{"POST", "/api/generate", `{"model":"m","prompt":"p","Model":"x","MODEL":"y"}`, `{"model":"m","prompt":"p"}`},
		{"POST", "/api/embed", `{"model":"m","input":"p","mod\u0065l":"x"}`, `{"model":"m","input":"p"}`},
		{"POST", "/api/embed", `{ "x": 1e2, "name": "a", "y":[{"model":"b"}] , "model": "box/m" }`, `{ "x": 1e2, "model":"m", "y":[{"model":"b"}] }`},
		{"POST", "/api/chat", `{"messages":[{"role":"user","content":"\u001b[31m \"` + "\U000F0001" + `\""}], "model":"box/m"}`, `{"messages":[{"role":"user","content":"\u001b[31m \"` + "\U000F0001" + `\""}], "model":"m"}`},
		{"POST", "/api/pull", `{"model":"box/m"}`, ""},
		{"POST", "/api/push", `{"model":"m"}`, ""},
		{"POST", "/api/create", `no JSON`, ""},
		{"POST", "/api/copy", `{"source":"a","destination":"b"}`, ""},
		{"DELETE", "/api/delete", `{"model":"m"}`, ""},
		{"POST", "/api/blobs/sha256:abc", "\x00\xff", ""},
	} {
		resp, body := do(t, tt.method, srv.URL+tt.path, tt.body, "Authorization", "Bearer SECRET", "Cookie", "a=b", "X-Client", "yes")
		if tt.forwarded == "" {
			tt.forwarded = tt.body
		}
		if want := tt.method + " " + tt.path + "\n" + tt.forwarded; resp.StatusCode != http.StatusTeapot || body != want {
			t.Errorf("%s: %d %q, want %q", tt.path, resp.StatusCode, body, want)
		}
		h := resp.Header
		if h.Get("X-Ollama") != "yes" || h.Get("X-Hop") != "" || h.Get("Access-Control-Allow-Origin") != "" || h.Get("Content-Type") != "application/x-ndjson" {
			t.Errorf("%s: answered with %v", tt.path, h)
		}
		if h := n.asked.Header; h.Get("X-Client") != "yes" || h.Get("Authorization") != "" || h.Get("Cookie") != "" || h.Get("X-Forwarded-For") != "" {
			t.Errorf("%s: asked with %v", tt.path, h)
		}
	}
}

// elsewhere passes every request on to another server.
type elsewhere struct {
	fakeOllama
	at *url.URL
}

func (e *elsewhere) Server(_ context.Context, model string, v *fastjson.Value) (http.RoundTripper, string, error) {
	return e, model, nil
}

func (e *elsewhere) RoundTrip(r *http.Request) (*http.Response, error) {
	r.URL.Scheme, r.URL.Host = e.at.Scheme, e.at.Host
	return http.DefaultTransport.RoundTrip(r)
}

// TestAnAnswerMayComeBeforeTheEndOfTheRequest has a server that answers when it has the bytes which
// the header promised, and one that answers when it has some of them, as Ollama does where it has
// the file. The connection to a server must not be cut for that: each of its answers has to come.
func TestAnAnswerMayComeBeforeTheEndOfTheRequest(t *testing.T) {
	const size = 1 << 10
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		want := size
		if strings.HasSuffix(r.URL.Path, "half") {
			want /= 2
		}
		io.ReadFull(r.Body, make([]byte, want))
		io.WriteString(w, "begun ")
		http.NewResponseController(w).Flush()
		io.WriteString(w, "ended")
	}))
	defer up.Close()
	at, _ := url.Parse(up.URL)
	bare, _ := serve(t, nil, func(c *Config) { c.Ollama = &elsewhere{at: at} })
	srv := httptest.NewServer(new(front.Front).Wrap(bare.Config.Handler))
	defer srv.Close()
	for i := range 300 {
		for _, path := range []string{"/api/pull", "/api/blobs/whole", "/api/blobs/half"} {
			resp, err := http.Post(srv.URL+path, "application/json", strings.NewReader("{"+strings.Repeat(" ", size-2)+"}"))
			if err != nil {
				t.Fatal(i, path, err)
			}
			got, err := io.ReadAll(resp.Body)
			if resp.Body.Close(); err != nil || string(got) != "begun ended" {
				t.Fatalf("%s, try %d: %d %q, %v", path, i, resp.StatusCode, got, err)
			}
		}
	}
}

func TestTheOriginOfAPageIsNotPassedOn(t *testing.T) {
	srv, _, n := serveOllama(t, nil)
	resp, body := do(t, "POST", srv.URL+"/api/generate", `{"model":"m"}`, "Origin", "http://localhost:3000")
	if resp.StatusCode != http.StatusTeapot || resp.Header.Get("Access-Control-Allow-Origin") != "http://localhost:3000" {
		t.Errorf("%d %s %v", resp.StatusCode, body, resp.Header)
	}
	if n.asked == nil || n.asked.Header.Get("Origin") != "" {
		t.Error("the origin was passed on")
	}
}

func TestWhatIsSaidOfModels(t *testing.T) {
	srv, _, _ := serveOllama(t, nil)
	for _, tt := range []struct {
		path, body string
		status     int
		want       string
	}{
		{"GET /", "", 200, "Ollama is running (behind toolnorm)"},
		{"GET /api/tags", "", 200, `{"models":[]}`},
		{"GET /api/ps", "", 200, `{"models":[{}]}`},
		{"GET /api/version", "", 200, `{"version":"` + "0.34.3" + `"}`},
		{"POST /api/show", `{"model":"m"}`, 200, `{"template":"m"}`},
		{"POST /api/show", `{"name":"m","verbose":true}`, 200, `{"template":"m"}`},
		{"POST /api/show", `{"model":"none"}`, 404, `{"error":"model 'none' not found"}`},
		{"POST /api/show", `{}`, 400, `{"error":"model: is required"}`},
		{"GET /api/pull", ``, 405, `{"error":"/api/pull takes POST, not GET"}`},
		{"GET /api/show", ``, 405, `{"error":"/api/show takes POST, not GET"}`},
		{"POST /api/chat", `{"model":3}`, 400, `{"error":"model: must be a string, not a number"}`},
		{"POST /api/me", `{}`, 404, `{"error":"no such path: /api/me; supported paths of Ollama's API: ` + ollama.Paths + `"}`},
	} {
		method, path, _ := strings.Cut(tt.path, " ")
		if resp, body := do(t, method, srv.URL+path, tt.body); resp.StatusCode != tt.status || strings.TrimSpace(body) != tt.want {
			t.Errorf("%s: %d %s, want %d %s", tt.path, resp.StatusCode, body, tt.status, tt.want)
		}
	}
	resp, body := do(t, "POST", srv.URL+"/v1/audio/speech", `{}`)
	if wantErrorBody(t, body, "/v1/completions"); resp.StatusCode != 404 {
		t.Errorf("/v1/audio/speech: %d", resp.StatusCode)
	}
}

// changing are the parts of a record that differ from run to run.
var changing = regexp.MustCompile(`"created_at":"[^"]*",|"total_duration":\d+,?`)

// ollamaAsk is a chat about one tool in Ollama's form.
func ollamaAsk(more string) string {
	return `{"model":"m","messages":[{"role":"user","content":"q"}],` + nativeTools + more + `}`
}

func TestChatsWithToolsAreAnsweredInOllamasForm(t *testing.T) {
	for _, tt := range []struct {
		name   string
		script script
		more   string
		status int
		want   string
	}{
		{"text and calls", script{think("h"), think("m"), say("I "), idle, say("look."), call(0, "get_weather"), args(0, "{\n  \"a\": 1.50,"), idle, args(0, `"b":"<"}`), endOf(0), call(1, "get_time"), endOf(1), counted(3, 4), finish("stop")}, ``, 200,
			`{"model":"m","message":{"role":"assistant","content":"","thinking":"hm"},"done":false}
{"model":"m","message":{"role":"assistant","content":"I "},"done":false}
{"model":"m","message":{"role":"assistant","content":"look."},"done":false}
{"model":"m","message":{"role":"assistant","content":"","tool_calls":[{"id":"call_0","function":{"index":0,"name":"get_weather","arguments":{"a":1.50,"b":"<"}}}]},"done":false}
{"model":"m","message":{"role":"assistant","content":"","tool_calls":[{"id":"call_1","function":{"index":1,"name":"get_time","arguments":{}}}]},"done":false}
{"model":"m","message":{"role":"assistant","content":""},"done":true,"done_reason":"stop","prompt_eval_count":3,"eval_count":4}
`},
		{"whole", script{say("I "), say("look."), call(0, "get_weather"), args(0, `{}`), endOf(0), call(1, "get_time"), endOf(1), finish("stop")}, `,"stream":false`, 200,
			`{"model":"m","message":{"role":"assistant","content":"I look.","tool_calls":[{"id":"call_0","function":{"index":0,"name":"get_weather","arguments":{}}},{"id":"call_1","function":{"index":1,"name":"get_time","arguments":{}}}]},"done":true,"done_reason":"stop"}
`},
		{"cut inside a call", script{say("a"), call(0, "get_weather"), args(0, `{"a":`), finish("stop")}, ``, 200,
			`{"model":"m","message":{"role":"assistant","content":"a"},"done":false}
{"model":"m","message":{"role":"assistant","content":""},"done":true,"done_reason":"length"}
`},
		{"a split character, and one that never ends", script{say("\xed\x95"), idle, say("\x9c\xed"), think("t"), finish("stop")}, ``, 200,
			`{"model":"m","message":{"role":"assistant","content":"한` + "\\ufffd" + `"},"done":false}
{"model":"m","message":{"role":"assistant","content":"","thinking":"t"},"done":false}
{"model":"m","message":{"role":"assistant","content":""},"done":true,"done_reason":"stop"}
`},
		{"silence", script{beat, say("a"), finish("stop")}, ``, 200,
			`{"model":"m","message":{"role":"assistant","content":""},"done":false}
{"model":"m","message":{"role":"assistant","content":"a"},"done":false}
{"model":"m","message":{"role":"assistant","content":""},"done":true,"done_reason":"stop"}
`},
		{"an error", script{fault.New(fault.NotFound, "no model")}, ``, 404, `{"error":"no model"}` + "\n"},
		{"an error later", script{say("a"), idle, fault.New(fault.Unavailable, "broke")}, ``, 200,
			`{"model":"m","message":{"role":"assistant","content":"a"},"done":false}
{"error":"broke"}
`},
		{"nothing", script{finish("stop")}, ``, 502, `{"error":"the model ended its reply without writing anything"}` + "\n"},
		{"nothing before the stop sequence", script{finish("stop")}, `,"options":{"stop":["x"]}`, 200,
			`{"model":"m","message":{"role":"assistant","content":""},"done":true,"done_reason":"stop"}
`},
	} {
		srv, _, _ := serveOllama(t, tt.script)
		resp, body := do(t, "POST", srv.URL+"/api/chat", ollamaAsk(tt.more))
		got := strings.ReplaceAll(changing.ReplaceAllString(body, ""), ",}", "}")
		if resp.StatusCode != tt.status || got != tt.want {
			t.Errorf("%s: %d\n%swant %d\n%s", tt.name, resp.StatusCode, got, tt.status, tt.want)
		}
		for line := range strings.Lines(body) {
			if !json.Valid([]byte(line)) {
				t.Errorf("%s: no JSON: %s", tt.name, line)
			}
		}
	}
}

func TestOllamasRequestsAreRead(t *testing.T) {
	srv, m, _ := serveOllama(t, script{say("a"), finish("stop")})
	_, body := do(t, "POST", srv.URL+"/api/chat", `{"model":"m","stream":false,"think":"low","keep_alive":5,"options":{"temperature":0,"stop":["x"],"num_predict":9},`+nativeTools+`,"messages":[
		{"role":"user","content":"look","images":["AQI="]},
		{"role":"assistant","content":"","thinking":"hm","tool_calls":[{"id":"c1","function":{"index":0,"name":"get_weather","arguments":{"b":1.50,"a":2}}}]},
		{"role":"tool","tool_name":"get_weather","tool_call_id":"c1","content":"sunny"}]}`)
	r := m.last
	if r == nil {
		t.Fatal(body)
	}
	if r.Hold != adapters.HoldCall || r.Think == nil || r.Effort != "low" || string(r.Keep) != "5" || len(r.Tools) != 1 || r.Stop[0] != "x" ||
		string(r.Options["num_predict"]) != "9" || string(r.Options["temperature"]) != "0" || r.Options["stop"] != nil {
		t.Errorf("asked %+v", r)
	}
	if ms := r.Messages; len(ms) != 3 || !bytes.Equal(ms[0].Images[0], []byte{1, 2}) || ms[1].Reasoning != "hm" ||
		string(ms[1].Calls[0].Args) != `{"b":1.50,"a":2}` || ms[2].Name != "get_weather" || ms[2].CallID != "c1" || ms[2].Role != chat.ToolRole {
		t.Errorf("asked %+v", ms)
	}
	for in, want := range map[string]string{
		`{"model":"m","messages":[{"role":"robot"}],` + nativeTools + `}`:                             `not \"robot\"`,
		`{"model":"m","messages":[{"role":"user","content":[5]}],` + nativeTools + `}`:                "messages[0].content[0]: must be an object, not a number",
		`{"model":"m","messages":[{"role":"user","images":["!"]}],` + nativeTools + `}`:               "messages[0].images[0]: does not hold base64",
		`{"model":"m","messages":[{"role":"user"}],"options":3,` + nativeTools + `}`:                  "options: must be an object",
		`{"model":"m","messages":[{"role":"user"}],"tools":[{"type":"function","function":{"x":1}}]}`: "name: must not be empty",
	} {
		if resp, body := do(t, "POST", srv.URL+"/api/chat", in); resp.StatusCode != 400 || !strings.Contains(body, want) {
			t.Errorf("%s: %d %s, want %s", in, resp.StatusCode, body, want)
		}
	}
}

func TestAServerOfAnotherKindAnswersEveryChat(t *testing.T) {
	srv, m, n := serveOllama(t, script{say("a"), finish("stop")})
	n.silent = true
	if resp, body := do(t, "POST", srv.URL+"/api/chat", `{"model":"m","messages":[{"role":"user","content":"q"}],"format":{"type":"object"}}`); resp.StatusCode != 200 || string(m.last.Format) != `{"type":"object"}` {
		t.Errorf("%d %s, asked %+v", resp.StatusCode, body, m.last)
	}
	if resp, body := do(t, "POST", srv.URL+"/api/generate", `{"model":"m","prompt":"q","stream":false}`); resp.StatusCode != 200 || !strings.Contains(body, `"response":"a","done":true`) {
		t.Errorf("%d %s", resp.StatusCode, body)
	}
	for _, path := range []string{"/api/embed", "/api/pull"} {
		if resp, body := do(t, "POST", srv.URL+path, `{"model":"m"}`); resp.StatusCode < 400 || !strings.Contains(body, "does not speak Ollama's API") {
			t.Errorf("%s: %d %s", path, resp.StatusCode, body)
		}
	}
}

// TestOllamasOwnClient runs Ollama's Go client over the whole chain, with the demo as the only
// server there is.
func TestOllamasOwnClient(t *testing.T) {
	eng := engine.New(engine.Config{Ollama: "http://127.0.0.1:1", Demo: demoserver.Server{Delay: -1}})
	srv := httptest.NewServer(New(Config{Model: eng, Catalog: eng, Embedder: eng, Ollama: eng, Version: "0.0.1"}))
	defer srv.Close()
	u, _ := url.Parse(srv.URL)
	c := api.NewClient(u, http.DefaultClient)
	ctx := t.Context()
	if err := c.Heartbeat(ctx); err != nil {
		t.Error(err)
	}
	if v, err := c.Version(ctx); err != nil || v != "0.34.3" {
		t.Errorf("version %q %v", v, err)
	}
	if ps, err := c.ListRunning(ctx); err != nil || len(ps.Models) != 0 {
		t.Errorf("ps %+v %v", ps, err)
	}
	tags, err := c.List(ctx)
	if err != nil || len(tags.Models) != len(adapters.All()) || !strings.HasPrefix(tags.Models[0].Name, "demo/") || len(tags.Models[0].Digest) != 64 {
		t.Fatalf("tags %+v %v", tags, err)
	}
	if show, err := c.Show(ctx, &api.ShowRequest{Model: "demo/hermes"}); err != nil || len(show.Capabilities) != 2 {
		t.Errorf("show %+v %v", show, err)
	}
	if e, err := c.Embed(ctx, &api.EmbedRequest{Model: "demo/hermes", Input: "a"}); err != nil || len(e.Embeddings) != 1 {
		t.Errorf("embed %+v %v", e, err)
	}
	said := ""
	if err := c.Generate(ctx, &api.GenerateRequest{Model: "demo/hermes", Prompt: "Hi"}, func(r api.GenerateResponse) error { said += r.Response; return nil }); err != nil || !strings.Contains(said, "You said: Hi") {
		t.Errorf("generate %q %v", said, err)
	}
	if err := c.Delete(ctx, &api.DeleteRequest{Model: "x"}); err == nil || !strings.Contains(err.Error(), "cannot be reached") {
		t.Errorf("delete: %v", err)
	}
	for _, m := range tags.Models {
		testOllamaCall(t, c, m.Name)
	}
}

// testOllamaCall has a model call a tool.
func testOllamaCall(t *testing.T, c *api.Client, model string) {
	t.Helper()
	var tools api.Tools
	must.OK(t, json.Unmarshal([]byte(`[{"type":"function","function":{"name":"get_weather","description":"Get the weather","parameters":{"type":"object","required":["city"],"properties":{"city":{"type":"string"}}}}}]`), &tools))
	var calls []api.ToolCall
	text, last := "", api.ChatResponse{}
	err := c.Chat(t.Context(), &api.ChatRequest{Model: model, Tools: tools, Messages: []api.Message{{Role: "user", Content: "The weather of Paris?"}}}, func(r api.ChatResponse) error {
		calls = append(calls, r.Message.ToolCalls...)
		text += r.Message.Content
		last = r
		return nil
	})
	if err != nil || len(calls) != 1 || calls[0].Function.Name != "get_weather" || calls[0].ID == "" || !last.Done || last.DoneReason != "stop" || last.EvalCount == 0 {
		t.Errorf("%s: calls %+v, text %q, last %+v, error %v", model, calls, text, last, err)
		return
	}
	if city, _ := calls[0].Function.Arguments.Get("city"); city != "Paris" {
		t.Errorf("%s: arguments %v", model, calls[0].Function.Arguments)
	}
}

// parisTool is a tool that a demo model calls.
const parisTool = `{"type":"function","function":{"name":"get_weather","parameters":{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}}}`

// TestAnEmptyFormatIsNone is a request as langchaingo's client writes all of them.
func TestAnEmptyFormatIsNone(t *testing.T) {
	srv, _ := demo(t)
	for _, format := range []string{`""`, "null"} {
		for tools, want := range map[string]string{"": `"content":"Hello! I am a demo`, `,"tools":[` + parisTool + `]`: `"arguments":{"city":"Paris"}`} {
			_, text := do(t, "POST", srv.URL+"/api/chat", `{"model":"demo/hermes","stream":false,"format":`+format+`,"messages":[{"role":"user","content":"The weather in Paris"}]`+tools+`}`)
			if !strings.Contains(text, want) || !strings.HasPrefix(text, `{"model":"demo/hermes"`) {
				t.Errorf("format %s, tools %s: %s", format, tools, text)
			}
		}
	}
}

// What could hold a call is never passed on unread: a format holds the answer, and probabilities
// are those of text.
func TestToolsAreReadWhateverElseIsAsked(t *testing.T) {
	srv, m, n := serveOllama(t, script{call(0, "get_weather"), args(0, "{}"), endOf(0), finish("stop")})
	resp, body := do(t, "POST", srv.URL+"/api/chat", `{"model":"m","stream":false,"messages":[{"role":"user","content":"q"}],`+nativeTools+`,"format":{"type":"object"}}`)
	if resp.StatusCode != 200 || !strings.Contains(body, `"tool_calls":[{"id":"call_0"`) || m.last == nil || string(m.last.Format) != `{"type":"object"}` || len(m.last.Tools) != 1 {
		t.Errorf("%d %s, asked %+v", resp.StatusCode, body, m.last)
	}
	if resp, body := do(t, "POST", srv.URL+"/api/chat", `{"model":"m","messages":[{"role":"user","content":"q"}],`+nativeTools+`,"logprobs":true}`); resp.StatusCode != 200 || m.last == nil || !m.last.Logprobs || !strings.Contains(body, `"name":"get_weather"`) {
		t.Errorf("logprobs: %d %s", resp.StatusCode, body)
	}
	if n.asked != nil {
		t.Errorf("passed on: %s", n.body)
	}
}

// TestAFormatIsAnsweredHere asks for a format without tools: what has to fit a schema is checked
// here, with the probabilities of its text, and is not passed on.
func TestAFormatIsAnsweredHere(t *testing.T) {
	piece := say(`{"a":1}`)
	piece.Meta = &chat.Meta{Logprobs: []chat.Token{{Text: `{"a":1}`, Logprob: -0.5}}}
	srv, m, n := serveOllama(t, script{piece, finish("stop")})
	for _, format := range []string{`"json"`, `{"type":"object"}`} {
		_, body := do(t, "POST", srv.URL+"/api/chat", `{"model":"m","messages":[{"role":"user","content":"q"}],"stream":false,"format":`+format+`,"logprobs":true,"top_logprobs":2}`)
		if m.last == nil || string(m.last.Format) != format || m.last.TopLogprobs != 2 ||
			!strings.Contains(body, `"content":"{\"a\":1}"},"logprobs":[{"token":"{\"a\":1}","logprob":-0.5,"bytes":null,"top_logprobs":[]}],"done":true`) {
			t.Errorf("%s: %s, asked %+v", format, body, m.last)
		}
		_, body = do(t, "POST", srv.URL+"/api/generate", `{"model":"m","system":"be brief","prompt":"q","stream":false,"format":`+format+`,"logprobs":true}`)
		if string(m.last.Format) != format || len(m.last.Messages) != 2 || m.last.Messages[0].Content != "be brief" || m.last.Messages[1].Content != "q" ||
			!strings.Contains(body, `"response":"{\"a\":1}","logprobs":[{"token":"{\"a\":1}","logprob":-0.5,"bytes":null,"top_logprobs":[]}],"done":true`) {
			t.Errorf("%s: %s, asked %+v", format, body, m.last)
		}
	}
	if n.asked != nil {
		t.Errorf("passed on: %s", n.body)
	}
}

// TestAPromptThatTheClientMakesIsWrittenOn asks for a format and says how the model is shown the
// prompt, which a chat cannot.
func TestAPromptThatTheClientMakesIsWrittenOn(t *testing.T) {
	srv, m, n := serveOllama(t, script{say(`{"a":1}`), finish("stop")})
	for more, want := range map[string]chat.Continuation{
		`"raw":true,"system":"s"`:             {Prompt: "q"},
		`"suffix":"end"`:                      {Prompt: "q", Suffix: "end", Told: map[string]json.RawMessage{}},
		`"template":"{{ .Prompt }}"`:          {Prompt: "q", Told: map[string]json.RawMessage{"template": json.RawMessage(`"{{ .Prompt }}"`)}},
		`"context":[1,2],"system":"s"`:        {Prompt: "q", Told: map[string]json.RawMessage{"context": json.RawMessage(`[1,2]`), "system": json.RawMessage(`"s"`)}},
		`"context":[],"template":"","raw":""`: {},
	} {
		m.last = nil
		resp, body := do(t, "POST", srv.URL+"/api/generate", `{"model":"m","prompt":"q","format":"json",`+more+`}`)
		switch {
		case want.Prompt == "" && resp.StatusCode == 400: // raw is no boolean
		case m.last == nil || m.last.Continue == nil || !reflect.DeepEqual(*m.last.Continue, want) || string(m.last.Format) != `"json"`:
			t.Errorf("%s: asked %+v, got %s", more, m.last, body)
		}
	}
	if resp, body := do(t, "POST", srv.URL+"/api/generate", `{"model":"m","prompt":"q","format":7}`); resp.StatusCode != 400 || !strings.Contains(body, "format") {
		t.Errorf("%d %s", resp.StatusCode, body)
	}
	for _, passed := range []string{`"prompt":"q"`, `"prompt":"q","format":""`, `"format":"json"`} {
		n.asked = nil
		if do(t, "POST", srv.URL+"/api/generate", `{"model":"m",`+passed+`}`); n.asked == nil {
			t.Errorf("%s was not passed on", passed)
		}
	}
}
