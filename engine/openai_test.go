package engine

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"toolnorm/chat"
	"toolnorm/engine/openai"
	"toolnorm/engine/upstream"
	"toolnorm/internal/fault"
	"toolnorm/internal/test/must"
)

// fakeOpenAI is an OpenAI-compatible server with one model, m. With a template it is a
// llama-server.
type fakeOpenAI struct {
	renders  func(messages json.RawMessage) string // what a conversation comes to; nil: by the template
	template string                                // what /props says; empty: there is no /props
	refuses  string                                // a path that is answered 400
	noTools  bool                                  // chats with tools are answered 400, as by a vLLM without a parser
	text     string                                // what the model writes, in events of one character
	native   []string
	key      string // that every request must have
	mu       sync.Mutex
	asked    []string
	last     map[string]json.RawMessage // the body of the last POST
}

func (f *fakeOpenAI) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked = append(f.asked, strings.TrimPrefix(r.URL.Path, "/"))
	if len(body) > 0 {
		f.last = nil
		json.Unmarshal(body, &f.last)
	}
	switch {
	case f.key != "" && r.Header.Get("Authorization") != "Bearer "+f.key:
		w.WriteHeader(http.StatusUnauthorized)
		io.WriteString(w, `{"error":{"message":"no key","type":"invalid_request_error","param":null,"code":"invalid_api_key"}}`)
	case r.URL.Path == f.refuses:
		w.WriteHeader(http.StatusBadRequest)
		io.WriteString(w, `{"error":{"message":"tools param requires --jinja flag","code":400}}`)
	case f.noTools && f.last["tools"] != nil && r.URL.Path == "/v1/chat/completions":
		w.WriteHeader(http.StatusBadRequest)
		io.WriteString(w, `{"object":"error","message":"\"auto\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set","type":"BadRequestError","param":null,"code":400}`)
	case r.URL.Path == "/v1/models":
		io.WriteString(w, `{"object":"list","data":[{"id":"m","object":"model","created":7,"owned_by":"vllm"}]}`)
	case r.URL.Path == "/v1/completions":
		f.stream(w, `{"choices":[{"index":0,"text":%q,"finish_reason":null}]}`, `{"choices":[{"index":0,"text":"","finish_reason":"length"}]}`)
	case r.URL.Path == "/v1/embeddings":
		io.WriteString(w, `{"data":[{"index":1,"embedding":[0.5,3]},{"index":0,"embedding":[1,2]}],"usage":{"prompt_tokens":3}}`)
	case r.URL.Path == "/props" && f.template != "":
		fmt.Fprintf(w, `{"chat_template":%q}`, f.template)
	case r.URL.Path == "/apply-template" && f.template != "":
		fmt.Fprintf(w, `{"prompt":%q}`, f.rendered())
	case r.URL.Path == "/completion" && f.template != "":
		f.stream(w, `{"content":%q,"stop":false}`, `{"content":"","stop":true,"stop_type":"eos","tokens_predicted":4,"tokens_evaluated":3}`)
	case r.URL.Path == "/v1/chat/completions":
		f.stream(w, `{"choices":[{"index":0,"delta":{"content":%q},"finish_reason":null}]}`,
			`{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":4}}`)
	default:
		w.WriteHeader(http.StatusNotFound)
		io.WriteString(w, `{"error":{"message":"File Not Found","code":404}}`)
	}
}

// rendered is a prompt as the template makes it: "{tools}" stands for the names of the tools,
// "<think>" opens reasoning.
func (f *fakeOpenAI) rendered() string {
	if f.renders != nil {
		return f.renders(f.last["messages"])
	}
	var tools []upstream.Tool
	json.Unmarshal(f.last["tools"], &tools)
	names := ""
	for _, t := range tools {
		names += t.Function.Name
	}
	return strings.ReplaceAll(f.template, "{tools}", names)
}

// stream writes the text and the end.
func (f *fakeOpenAI) stream(w http.ResponseWriter, event, end string) {
	w.Header().Set("Content-Type", "text/event-stream")
	for _, e := range f.native {
		fmt.Fprintf(w, "data: %s\n\n", e)
	}
	for _, c := range f.text {
		fmt.Fprintf(w, "data: "+event+"\n\n", string(c))
	}
	fmt.Fprintf(w, "data: %s\n\ndata: [DONE]\n\n", end)
}

// paths are what was asked so far, and forgets it.
func (f *fakeOpenAI) paths() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := strings.Join(f.asked, " ")
	f.asked = nil
	return s
}

// start runs the fake as the upstream box of an Engine whose Ollama is down.
func (f *fakeOpenAI) start(t *testing.T, cfg Config, kind string) *Engine {
	s := httptest.NewServer(f)
	t.Cleanup(s.Close)
	cfg.Ollama = "http://127.0.0.1:1"
	cfg.NamesOnly = f.renders == nil
	cfg.Upstreams = []Upstream{{Name: "box", URL: s.URL, Kind: kind, Key: f.key}}
	return New(cfg)
}

// atBox is a request to the model of the upstream box.
func atBox(text string, tools ...chat.Tool) *chat.Request {
	r := user(text)
	r.Model, r.Tools = "box/m", tools
	return r
}

// TestCompatibleStrategies is which requests each kind of server and request leads to, the first
// time.
func TestCompatibleStrategies(t *testing.T) {
	picture := atBox("hi", weather)
	picture.Messages[0].Images = [][]byte{[]byte("\x89PNG\r\n\x1a\n")}
	rows := []struct {
		name     string
		server   fakeOpenAI
		config   map[string]string
		request  *chat.Request
		strategy string
		asked    string
		offered  bool
	}{
		{"a llama-server", fakeOpenAI{template: "p {tools}"}, nil, atBox("hi", weather), Raw, "props apply-template apply-template completion", false},
		{"no tools offered", fakeOpenAI{template: "p {tools}"}, nil, atBox("hi"), Raw, "props apply-template apply-template completion", false},
		{"any other server", fakeOpenAI{}, nil, atBox("hi", weather), Native, "props v1/models v1/chat/completions", true},
		{"native by configuration", fakeOpenAI{template: "p {tools}"}, map[string]string{"box/*": Native}, atBox("hi", weather), Native, "props apply-template v1/chat/completions", true},
		{"pictures", fakeOpenAI{template: "p {tools}"}, nil, picture, Native, "props apply-template v1/chat/completions", true},
		{"a template without tools", fakeOpenAI{template: "p"}, nil, atBox("hi", weather), Prompt, "props apply-template apply-template completion", false},
		{"prompt by configuration", fakeOpenAI{}, map[string]string{"box/m": Prompt}, atBox("hi", weather), Prompt, "props v1/models v1/chat/completions", false},
		{"a server that takes no tools", fakeOpenAI{noTools: true}, nil, atBox("hi", weather), Prompt, "props v1/models v1/chat/completions v1/chat/completions", false},
		{"a server that does not render tools", fakeOpenAI{template: "p {tools}", refuses: "/apply-template"}, nil, atBox("hi", weather), Prompt, "props apply-template v1/chat/completions", false},
	}
	for i := range rows {
		row := &rows[i]
		t.Run(row.name, func(t *testing.T) {
			row.server.text = "hello"
			e := row.server.start(t, Config{Strategy: row.config, NoProbe: true}, upstream.KindOpenAI)
			text, _, end, err := collect(t, e, row.request)
			if text != "hello" || err != nil || end == nil || end.Text != chat.Stop {
				t.Fatalf("text %q, end %v, error %v", text, end, err)
			}
			if end.Meta.Strategy != row.strategy {
				t.Errorf("strategy %s, want %s", end.Meta.Strategy, row.strategy)
			}
			if got := row.server.paths(); got != row.asked {
				t.Errorf("asked %s, want %s", got, row.asked)
			}
			if offered := row.server.last["tools"] != nil; offered != row.offered {
				t.Errorf("the server was offered tools: %v", offered)
			}
			collect(t, e, row.request)
			if got := row.server.paths(); strings.Contains(got, "props") || strings.Count(got, "chat") > 1 {
				t.Errorf("the second request asked %s", got)
			}
		})
	}
}

func TestCompatibleCalls(t *testing.T) {
	call := `{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"get_weather","arguments":"{\"city\":\"Paris\"}"}}]}}]}`
	for _, row := range []struct {
		name   string
		server *fakeOpenAI
		calls  string
		text   string
	}{
		{"the server's own", &fakeOpenAI{native: []string{call}}, `get_weather {"city":"Paris"}`, ""},
		{"leaked into the text", &fakeOpenAI{text: "<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Rome\"}}\n</tool_call>"}, `get_weather {"city": "Rome"}`, ""},
		{"both", &fakeOpenAI{native: []string{call}, text: "<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Rome\"}}\n</tool_call>"},
			`get_weather {"city":"Paris"} get_weather {"city": "Rome"}`, ""},
		{"raw", &fakeOpenAI{template: "p {tools}", text: "Let me check: <tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Rome\"}}\n</tool_call>"}, `get_weather {"city": "Rome"}`, "Let me check: "},
		{"raw, inside reasoning", &fakeOpenAI{template: "p {tools}<think>\n", text: "hm</think>\n\nhello"}, "", "hello"},
		{"of a tool that was not offered", &fakeOpenAI{native: []string{strings.ReplaceAll(call, "get_weather", "rm"), call}}, `get_weather {"city":"Paris"}`, `<tool_call>{"name": "rm", "arguments": {"city": "Paris"}}</tool_call>`},
	} {
		text, calls, end, err := collect(t, row.server.start(t, Config{}, upstream.KindOpenAI), atBox("hi", weather))
		var got []string
		for _, c := range calls {
			got = append(got, c.Name+" "+string(c.Args))
		}
		if strings.Join(got, " ") != row.calls || text != row.text || end == nil || err != nil {
			t.Errorf("%s: calls %q, text %q, end %v, error %v, want %s and %q", row.name, got, text, end, err, row.calls, row.text)
		}
	}
	r := atBox("hi", weather)
	r.Tools = nil // as tool_choice "none" has it
	if _, calls, end, _ := collect(t, (&fakeOpenAI{native: []string{call}}).start(t, Config{}, upstream.KindOpenAI), r); len(calls) > 0 || !slices.Equal(chat.MetaOf(*end).Repairs, []string{stepText}) {
		t.Errorf("without tools: calls %q, end %v", calls, end)
	}
}

// TestWhatCompatibleServersAreSent looks at the body of a chat and of a continued prompt.
func TestWhatCompatibleServersAreSent(t *testing.T) {
	seed, temperature, think := int64(5), 0.0, false
	r := atBox("hi", weather)
	r.Stop, r.MaxTokens, r.Seed, r.Temperature, r.Think = []string{"END"}, 99, &seed, &temperature, &think
	r.Options = map[string]json.RawMessage{"min_p": json.RawMessage("0.1"), "num_ctx": json.RawMessage("4096")}
	r.Extra = map[string]json.RawMessage{"tool_choice": json.RawMessage(`"required"`), "response_format": json.RawMessage(`{"type":"json_schema","json_schema":{"schema":{"type":"array"}}}`)}
	r.Messages = append([]chat.Message{{Role: chat.System, Content: "be"}}, r.Messages...)
	r.Messages = append(r.Messages, chat.Message{Role: chat.Assistant, Reasoning: "hm", Calls: []chat.Call{{ID: "a", Name: "get_weather", Args: json.RawMessage(`{"city": "Rome"}`)}}},
		chat.Message{Role: chat.ToolRole, CallID: "a", Content: "sun"})
	const history = `messages=[{"role":"system","content":"be"},{"role":"user","content":"hi"},{"role":"assistant","content":"","reasoning_content":"hm","tool_calls":[{"id":"a","type":"function","function":{"name":"get_weather","arguments":"{\"city\": \"Rome\"}"}}]},{"role":"tool","content":"sun","tool_call_id":"a","name":"get_weather"}]`
	other := &fakeOpenAI{text: "x"}
	if _, _, _, err := collect(t, other.start(t, Config{}, upstream.KindOpenAI), r); err != nil {
		t.Fatal(err)
	}
	want := `chat_template_kwargs={"enable_thinking":false} max_tokens=99 ` + history + ` min_p=0.1 model="m" response_format={"type":"json_schema","json_schema":{"schema":{"type":"array"}}} seed=5 stream=true stream_options={"include_usage":true} temperature=0 tool_choice="required" tools=[{"type":"function","function":{"name":"get_weather","description":"Weather for a city","parameters":` + string(weather.Schema) + `}}]`
	if got := options(other.last); got != want {
		t.Errorf("a chat was\n%s\nwant\n%s", got, want)
	}
	llama := &fakeOpenAI{text: "x", template: "p {tools}"}
	if _, _, _, err := collect(t, llama.start(t, Config{Checking: Checking{NoGrammar: true}}, upstream.KindOpenAI), r); err != nil {
		t.Fatal(err)
	}
	delete(llama.last, "preserved_tokens")
	want = `min_p=0.1 model="m" n_predict=99 prompt="p get_weather" response_format={"type":"json_schema","json_schema":{"schema":{"type":"array"}}} seed=5 stream=true temperature=0 tool_choice="required"`
	if got := options(llama.last); got != want {
		t.Errorf("a continuation was\n%s\nwant\n%s", got, want)
	}
}

func TestWishesReachCompatibleServers(t *testing.T) {
	think := true
	for _, row := range []struct {
		name   string
		change func(*chat.Request)
		want   string
	}{
		{"a schema", func(r *chat.Request) { r.Format = json.RawMessage(`{"type":"object"}`) }, `response_format={"type":"json_schema","json_schema":{"name":"reply","schema":{"type":"object"}}}`},
		{"any JSON", func(r *chat.Request) { r.Format = json.RawMessage(`"json"`) }, `response_format={"type":"json_object"}`},
		{"probabilities", func(r *chat.Request) { r.Logprobs, r.TopLogprobs = true, 2 }, `logprobs=true top_logprobs=2`},
		{"effort", func(r *chat.Request) { r.Think, r.Effort = &think, "high" }, `chat_template_kwargs={"enable_thinking":true} reasoning_effort="high"`},
	} {
		f := &fakeOpenAI{native: []string{`{"choices":[{"delta":{"content":"{}"},"logprobs":{"content":[{"token":"x","logprob":-0.5,"bytes":[120],"top_logprobs":[{"token":"y","logprob":-1}]}]}}]}`}}
		e := f.start(t, Config{}, upstream.KindOpenAI)
		r := atBox("hi")
		row.change(r)
		var tokens []chat.Token
		for ev, err := range e.Stream(t.Context(), r) {
			must.OK(t, err)
			if ev.Kind == chat.Text && ev.Meta != nil {
				tokens = ev.Meta.Logprobs
			}
		}
		for _, same := range []string{"messages", "model", "stream", "stream_options"} {
			delete(f.last, same)
		}
		if got := options(f.last); got != row.want {
			t.Errorf("%s: asked %s, want %s", row.name, got, row.want)
		}
		if r.Logprobs && (len(tokens) != 1 || tokens[0].Logprob != -0.5 || len(tokens[0].Top) != 1) {
			t.Errorf("%s: tokens %+v", row.name, tokens)
		}
	}
}

func TestCompatibleServersWriteOnAndEmbed(t *testing.T) {
	f := &fakeOpenAI{text: "<tool_call> b"}
	e := f.start(t, Config{}, "")
	text, _, end, err := collect(t, e, &chat.Request{Model: "box/m", Continue: &chat.Continuation{Prompt: "a", Suffix: "c"}, MaxTokens: 5})
	if text != "<tool_call> b" || err != nil || end == nil || end.Text != chat.Length {
		t.Errorf("text %q, end %v, error %v", text, end, err)
	}
	if got, want := options(f.last), `max_tokens=5 model="m" prompt="a" stream=true stream_options={"include_usage":true} suffix="c"`; got != want {
		t.Errorf("asked %s, want %s", got, want)
	}
	got, err := e.Embed(t.Context(), &chat.EmbedRequest{Model: "box/m", Input: []string{"a", "b"}})
	if want := [][]float32{{1, 2}, {0.5, 3}}; err != nil || !reflect.DeepEqual(got.Vectors, want) || got.Tokens != 3 {
		t.Errorf("vectors %+v, error %v, want %v", got, err, want)
	}
	if _, err := e.Embed(t.Context(), &chat.EmbedRequest{Model: "box/m", Input: []string{"a"}}); err == nil {
		t.Error("two vectors for one text are no error")
	}
}

func TestCompatibleFaults(t *testing.T) {
	list := atBox("hi")
	list.Messages = append(list.Messages, chat.Message{Role: chat.Assistant, Calls: []chat.Call{{Name: "f", Args: json.RawMessage(`[1]`)}}})
	locked := httptest.NewServer(&fakeOpenAI{key: "k"})
	t.Cleanup(locked.Close)
	noKey := New(Config{Upstreams: []Upstream{{Name: "box", URL: locked.URL, Kind: upstream.KindOpenAI}}})
	for _, row := range []struct {
		name    string
		engine  *Engine
		request *chat.Request
		kind    fault.Kind
		says    string
	}{
		{"down", New(Config{Upstreams: []Upstream{{Name: "box", URL: "http://127.0.0.1:1", Kind: upstream.KindOpenAI}}}), atBox("hi"), fault.Unavailable, "cannot be reached"},
		{"down, of no known kind", New(Config{Upstreams: []Upstream{{Name: "box", URL: "http://127.0.0.1:1"}}}), atBox("hi"), fault.Unavailable, "does not say whether it is Ollama"},
		{"no key", noKey, atBox("hi"), fault.Unable, "no key"},
		{"arguments that are a list", (&fakeOpenAI{}).start(t, Config{}, upstream.KindOpenAI), list, fault.Invalid, "messages[1].tool_calls[0].function.arguments"},
		{"a strategy that only Ollama knows", (&fakeOpenAI{}).start(t, Config{Strategy: map[string]string{"*": Tap}}, upstream.KindOpenAI), atBox("hi"), fault.Invalid, "only Ollama"},
		{"refused", (&fakeOpenAI{refuses: "/v1/chat/completions"}).start(t, Config{}, upstream.KindOpenAI), atBox("hi"), fault.Invalid, "requires"},
	} {
		_, _, end, err := collect(t, row.engine, row.request)
		if f := fault.From(err); f.Kind != row.kind || !strings.Contains(f.Message, row.says) || end != nil {
			t.Errorf("%s: %v, want kind %d and %q", row.name, err, row.kind, row.says)
		}
	}
}

// TestServersAndAliases has an Ollama, a server that says nothing of its kind, and names that stand
// for both.
func TestServersAndAliases(t *testing.T) {
	llama, old := &fakeOpenAI{template: "p {tools}", text: "from llama"}, &fakeOllama{prompt: "p", text: "from ollama", digest: "sha:1"}
	servers := map[string]http.Handler{"llama": llama, "old": old}
	cfg := Config{Ollama: "http://127.0.0.1:1", Naming: Naming{Aliases: map[string]string{"gpt-4o": "llama/m", "small": "old/m", "claude-*": "old/m", "claude-opus*": "llama/m", "claude-opus-tiny": "old/m"}, DefaultModel: "small"}}
	for _, name := range []string{"llama", "old"} {
		s := httptest.NewServer(servers[name])
		t.Cleanup(s.Close)
		cfg.Upstreams = append(cfg.Upstreams, Upstream{Name: name, URL: s.URL})
	}
	e := New(cfg)
	for model, want := range map[string]string{"llama/m": "from llama", "old/m": "from ollama", "gpt-4o": "from llama", "small": "from ollama", "": "from ollama",
		"claude-haiku-5": "from ollama", "claude-opus-5-5": "from llama", "claude-opus-tiny": "from ollama"} {
		r := user("hi")
		r.Model = model
		if text, _, _, err := collect(t, e, r); text != want || err != nil {
			t.Errorf("%q answers %q, error %v, want %q", model, text, err, want)
		}
	}
	list, err := e.Models(t.Context())
	var ids []string
	for _, m := range list {
		ids = append(ids, m.ID)
	}
	for _, want := range []string{"llama/m", "old/m:latest", "gpt-4o", "small"} {
		if !slices.Contains(ids, want) {
			t.Errorf("no %s among %q, error %v", want, ids, err)
		}
	}
	if slices.ContainsFunc(ids, func(id string) bool { return strings.Contains(id, "*") }) {
		t.Errorf("a pattern is listed: %q", ids)
	}
}

// An agent that nobody told of a model asks for its maker's.
func TestAModelOfSomebodyElsesIsAdvisedOn(t *testing.T) {
	missing := &fault.Error{Kind: fault.NotFound, Param: "model", Code: "model_not_found", Message: "not there"}
	e := (&fakeOpenAI{}).start(t, Config{Ollama: "http://127.0.0.1:1"}, upstream.KindOpenAI)
	for model, want := range map[string]string{
		"claude-opus-5-5": "not there; to have a model of yours answer for it, set --alias 'claude-*=MODEL'",
		"gpt-5.5-codex":   "not there; to have a model of yours answer for it, set --alias 'gpt-5*=MODEL'",
		"qwen3":           `not there; "ollama pull qwen3" gets it`,
		"box/qwen3":       "not there; box has box/m",
		"demo/qwen3":      "not there; demo has demo/",
	} {
		if got := fault.From(e.advised(t.Context(), missing, model)); !strings.HasPrefix(got.Message, want) || got.Code != missing.Code {
			t.Errorf("%s: %+v", model, got)
		}
	}
}

func TestWrongServersAndAliasesAreNamed(t *testing.T) {
	box := Upstream{Name: "box", URL: "http://box:8000"}
	with := func(change func(*Upstream)) Config { u := box; change(&u); return Config{Upstreams: []Upstream{u}} }
	for _, row := range []struct {
		config Config
		says   string
	}{
		{Config{Upstreams: []Upstream{box}, Naming: Naming{Aliases: map[string]string{"a": "box/m"}}}, ""},
		{Config{Upstreams: []Upstream{box, box}}, `upstream "box" is there twice`},
		{with(func(u *Upstream) { u.Name = "" }), `upstream "": its name`},
		{with(func(u *Upstream) { u.Name = "a/b" }), `upstream "a/b": its name`},
		{with(func(u *Upstream) { u.Name = "demo" }), `upstream "demo": this name`},
		{with(func(u *Upstream) { u.URL = "ftp://x" }), `upstream "box": url: the scheme`},
		{with(func(u *Upstream) { u.Kind = "vllm" }), `upstream "box": kind: "vllm"`},
		{with(func(u *Upstream) { u.Kind, u.Key = "ollama", "k" }), `upstream "box": key`},
		{Config{Naming: Naming{Aliases: map[string]string{"a": "b", "b": "c"}}}, `alias "a"`},
		{Config{Naming: Naming{Aliases: map[string]string{"a": ""}}}, `alias "a"`},
	} {
		if err := row.config.Validate(); (err == nil) != (row.says == "") || err != nil && !strings.Contains(err.Error(), row.says) {
			t.Errorf("Validate(%+v) = %v, want %q", row.config, err, row.says)
		}
	}
}

func TestCompatibleModelsAreProbedAgainInTime(t *testing.T) {
	f := &fakeOpenAI{template: "p {tools}", text: "x"}
	e := f.start(t, Config{}, upstream.KindOpenAI)
	e.servers[2].backend.(*openai.Backend).ProbeAge = 1
	collect(t, e, atBox("hi"))
	f.paths()
	collect(t, e, atBox("hi"))
	if got := f.paths(); got != "props apply-template apply-template completion" {
		t.Errorf("a minute later the request asked %s", got)
	}
}
