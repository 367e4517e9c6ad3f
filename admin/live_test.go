package admin

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"strings"
	"testing"
	"time"

	"toolnorm/chat"
	"toolnorm/engine"
	"toolnorm/engine/upstream"
	"toolnorm/internal/auth"
	"toolnorm/internal/fault"
	"toolnorm/internal/test/must"
	"toolnorm/internal/trace"
	"toolnorm/tools"
	"toolnorm/tools/remote"
)

// asked is what an administrator of this machine gets.
func asked(t *testing.T, s *Server, method, path, body string) (status int, answer string) {
	t.Helper()
	w := ask(s, &auth.Principal{Subject: "local", Admin: true}, method, path, body)
	return w.Code, w.Body.String()
}

// answers reports an error unless a request of an administrator has a status, and text in its answer.
func answers(t *testing.T, s *Server, method, path, body string, status int, text string) {
	t.Helper()
	if got, answer := asked(t, s, method, path, body); got != status || !strings.Contains(answer, text) {
		t.Errorf("%s %s %.200s: %d %s, want %d with %s", method, path, body, got, answer, status, text)
	}
}

// exchanged is a log with one exchange: a call that is out of its bounds, with a prompt and a
// schema.
func exchanged(bodies bool) *trace.Log {
	log := trace.New(5, bodies)
	e := log.Begin("chatcmpl-1", "chat", "/v1/chat/completions", time.Now())
	e.Asked(&chat.Request{Model: "m", Messages: []chat.Message{{Role: chat.User, Content: "SAID"}}, Tools: []chat.Tool{{Name: "get_weather", Schema: json.RawMessage(`{"type":"object","properties":{"days":{"type":"integer","maximum":7}}}`)}}}, true)
	e.Chosen("hermes", "raw")
	if bodies {
		e.Bodies.Prompted("PROMPT<think>")
		hear := e.Bodies.Heard("raw")
		hear(chat.Event{Kind: chat.Text, Text: `I think.</think><tool_call>{"name": "get_weather", "arguments": {"days": 30}}</tool_call>`})
		hear(chat.Event{Kind: chat.Finish, Text: chat.Stop})
	}
	e.Event(&chat.Event{Kind: chat.Finish, Text: chat.Stop, Meta: &chat.Meta{Repairs: []string{"rewritten"}}})
	e.Told("tool_calls")
	e.End(200, nil, 0, 0)
	log.Add(e)
	return log
}

func TestLiveShowsWhyACallWasRewritten(t *testing.T) {
	s := New(Config{Trace: exchanged(true), Reasons: engine.Reasons()})
	_, body := asked(t, s, "GET", "/admin/api/exchanges", "")
	if !strings.Contains(body, `"keeps":5`) || !strings.Contains(body, `held to the schema`) || strings.Contains(body, "SAID") {
		t.Errorf("the list is %s", body)
	}
	var one struct {
		Exchange trace.Exchange
		Readings []struct {
			Why       []string
			Reasoning string
			Calls     []struct{ Problems []string }
		}
	}
	status, body := asked(t, s, "GET", "/admin/api/exchanges/chatcmpl-1", "")
	if err := json.Unmarshal([]byte(body), &one); status != 200 || err != nil || len(one.Readings) != 1 {
		t.Fatalf("%d %s, %v", status, body, err)
	}
	if r := one.Readings[0]; len(r.Why) != 1 || !strings.Contains(r.Why[0], "want at most 7, got 30") || r.Reasoning != "I think." || len(r.Calls[0].Problems) != 1 {
		t.Errorf("the reading is %+v", r)
	}
	if b := one.Exchange.Bodies; one.Exchange.Finish != "tool_calls" || b.Left.Parts[0].Text != "tool_calls" || b.Wrote[0].Prompt != "PROMPT<think>" || !strings.Contains(string(b.Schemas["get_weather"]), "maximum") {
		t.Errorf("the exchange is %s", body)
	}
	answers(t, s, "GET", "/admin/api/exchanges/none", "", 404, "")
}

func TestLiveWithoutTraceIsEmpty(t *testing.T) {
	for _, c := range []Config{{}, {Trace: exchanged(false)}} {
		answers(t, New(c), "GET", "/admin/api/exchanges", "", 200, `"exchanges":[`)
	}
	answers(t, New(Config{Trace: exchanged(false)}), "GET", "/admin/api/exchanges/chatcmpl-1", "", 200, `"readings":[]`)
}

func TestReplayReadsByAnotherFormat(t *testing.T) {
	s := New(Config{})
	const qwen = `<tool_call>\n<function=get_weather>\n<parameter=city>\nOslo\n</parameter>\n</function>\n</tool_call>`
	for _, row := range []struct {
		body   string
		status int
		want   string
	}{
		{`{"text":"` + qwen + `","format":"qwen3-coder","tools":[{"name":"get_weather","schema":{"type":"object"}}]}`, 200, `"calls":[{"name":"get_weather","arguments":"{\"city\":\"Oslo\"}","problems":[]}]`},
		{`{"text":"` + qwen + `","format":"qwen3-coder","tools":[{"name":"other"}]}`, 200, "get_weather is not among the offered tools (other)"},
		{`{"text":"hi","format":"nosuch"}`, 400, `"param":"format"`},
		{`{"text":"hi","formats":"hermes"}`, 400, `"param":"formats"`},
		{`{"text":"` + strings.Repeat("a", 300<<10) + `","format":"hermes"}`, 413, "256 KiB"},
	} {
		answers(t, s, "POST", "/admin/api/replay", row.body, row.status, row.want)
	}
	if _, body := asked(t, s, "GET", "/admin/api/formats", ""); !strings.Contains(body, `"hermes"`) {
		t.Errorf("the formats are %s", body)
	}
}

func TestAFamilyIsProposedForAMarkedCall(t *testing.T) {
	s := New(Config{})
	const text = `{"name":"acme","text":"Héllo.\n<|tool|>get_weather<|args|>{\"city\":\"Rome\"}<|end|>","tools":[{"name":"get_weather"}],`
	for _, row := range []struct {
		body   string
		status int
		want   string
	}{
		{text + `"tool":{"from":16,"to":27},"arguments":{"from":35,"to":50}}`, 200, `call    <|tool|>{name}<|args|>{json}<|end|>`},
		{text + `"tool":{"from":16,"to":27},"arguments":{"from":16,"to":27}}`, 400, "no JSON object"},
		{text + `"tool":{"from":16,"to":27}}`, 400, "must be marked"},
		{strings.Replace(text, "acme", "Ac me", 1) + `"tool":{"from":16,"to":27},"arguments":{"from":35,"to":50}}`, 400, `"param":"name"`},
		{strings.Replace(text, "acme", "hermes", 1) + `"tool":{"from":16,"to":27},"arguments":{"from":35,"to":50}}`, 400, "already"},
		{text + `"model":"x\ny","tool":{"from":16,"to":27},"arguments":{"from":35,"to":50}}`, 400, `"param":"model"`},
		{text + `"model":"acme-7b","tool":{"from":16,"to":27},"arguments":{"from":35,"to":50}}`, 200, `models  acme-7b*`},
		{`{"name":"acme","text":"` + strings.Repeat("a", 300<<10) + `"}`, 413, "256 KiB"},
	} {
		answers(t, s, "POST", "/admin/api/learn", row.body, row.status, row.want)
	}
}

// someModels is an engine with one model.
type someModels struct{}

func (someModels) Real(name string) string { return name }
func (someModels) Models(context.Context) ([]chat.Info, error) {
	return []chat.Info{{ID: "qwen3:4b", Owner: "ollama"}}, nil
}
func (someModels) Plan(string) engine.Plan { return engine.Plan{Server: "ollama", Format: "hermes"} }
func (someModels) Examine(_ context.Context, model string) (engine.Findings, error) {
	return engine.Findings{Facts: upstream.Facts{Tools: model == "qwen3:4b"}, Format: "hermes", Strategy: "raw", Strategies: []string{"raw", "tap"}}, nil
}
func (someModels) Describe(context.Context, string, bool) (json.RawMessage, error) {
	return json.RawMessage(`{"model_info":{"qwen3.context_length":40960,"qwen3.block_count":36},"capabilities":["completion","tools"]}`), nil
}

func TestModelsAreListedAndExamined(t *testing.T) {
	s := New(Config{Models: someModels{}})
	if _, body := asked(t, s, "GET", "/admin/api/models", ""); body != `{"models":[{"id":"qwen3:4b","owner":"ollama","server":"ollama","format":"hermes"}]}`+"\n" {
		t.Errorf("the models are %s", body)
	}
	if _, body := asked(t, s, "POST", "/admin/api/models/examine", `{"model":"qwen3:4b"}`); !strings.Contains(body, `"context":40960,"capabilities":["completion","tools"]`) || !strings.Contains(body, `"tools":true`) {
		t.Errorf("the findings are %s", body)
	}
	for _, path := range []string{"GET /admin/api/models", "POST /admin/api/models/examine"} {
		method, path, _ := strings.Cut(path, " ")
		answers(t, New(Config{}), method, path, `{"model":"m"}`, 400, "")
	}
}

// someServers manages servers in memory.
type someServers struct{ all []remote.State }

func (s *someServers) Switch(name string, on bool) error {
	if len(s.all) == 0 || s.all[0].Name != name {
		return fault.New(fault.NotFound, "there is no MCP server %q", name)
	}
	if s.all[0].State = "disabled"; on {
		s.all[0].State = "waiting"
	}
	return nil
}

func (s *someServers) List() []remote.State { return s.all }
func (s *someServers) Add(_ context.Context, a remote.Asked) error {
	if a.Name == "" {
		return errors.New("a name is needed")
	}
	s.all = append(s.all, remote.State{Name: a.Name, URL: a.URL, State: "waiting"})
	return nil
}
func (s *someServers) Remove(name string) error {
	if len(s.all) == 0 || s.all[0].Name != name {
		return fault.New(fault.NotFound, "there is no MCP server %q", name)
	}
	s.all = nil
	return nil
}

func (s *someServers) BeginSignIn(_ context.Context, name, back string) (to, state string, err error) {
	if name != "a" {
		return "", "", fault.New(fault.NotFound, "mcp.json has no server %q", name)
	}
	return "https://signs.example/authorize?redirect_uri=" + url.QueryEscape(back), "STATE", nil
}

func (s *someServers) EndSignIn(back url.Values) (string, error) {
	if back.Get("error") != "" {
		return "", fault.New(fault.Unable, "the sign-in was denied: %s", back.Get("error_description"))
	}
	return "Signed in to a. It is connected; tools: 1.", nil
}

func (s *someServers) SignOut(name string) error {
	if name != "a" {
		return fault.New(fault.NotFound, "nobody is signed in to %q", name)
	}
	return nil
}

func TestServersAndToolsAreManaged(t *testing.T) {
	registry := tools.New(tools.Options{})
	must.OK(t, registry.Set("test", tools.Tool{Name: "echo", Description: "Repeats.", Call: func(_ context.Context, args json.RawMessage) (tools.Result, error) {
		return tools.TextOf(string(args)), nil
	}}))
	s := New(Config{Servers: &someServers{}, Registry: registry})
	for _, row := range []struct {
		method, path, body string
		status             int
		want               string
	}{
		{"POST", "servers", `{"name":"a","url":"http://127.0.0.1:1/mcp"}`, 201, `"name":"a"`},
		{"GET", "servers", "", 200, `"state":"waiting"`},
		{"POST", "servers", `{"name":"a","command":"sh"}`, 400, `"param":"command"`},
		{"POST", "servers/a/switch", `{"on":false}`, 204, ""},
		{"GET", "servers", "", 200, `"state":"disabled"`},
		{"POST", "servers/a/switch", `{"on":true}`, 204, ""},
		{"GET", "servers", "", 200, `"state":"waiting"`},
		{"POST", "servers/b/switch", `{"on":true}`, 404, "no MCP server"},
		{"POST", "servers/a/sign-in", "{}", 400, "--public-url"}, // no page says where it is
		{"DELETE", "servers/a/sign-in", "", 204, ""},
		{"DELETE", "servers/b/sign-in", "", 404, "nobody is signed in"},
		{"DELETE", "servers/a", "", 204, ""},
		{"DELETE", "servers/a", "", 404, "no MCP server"},
		{"GET", "registry", "", 200, `{"name":"echo","description":"Repeats.","schema":{"type":"object"}}`},
		{"POST", "registry/call", `{"name":"echo","arguments":"{\"x\":1}"}`, 200, `{"text":"{\"x\":1}","isError":false}`},
		{"POST", "registry/call", `{"name":"none","arguments":"{}"}`, 200, `"isError":true`},
	} {
		answers(t, s, row.method, "/admin/api/"+row.path, row.body, row.status, row.want)
	}
}

// TestTextsAreKeptForATime switches them on while the server runs, and off again.
func TestTextsAreKeptForATime(t *testing.T) {
	log := trace.New(5, false)
	s := New(Config{Trace: log})
	for _, tt := range []struct {
		body   string
		status int
		kept   bool
	}{{`{"minutes":15}`, 200, true}, {`{"minutes":121}`, 400, true}, {`{"minutes":-1}`, 400, true}, {`{"minutes":0}`, 200, false}} {
		status, body := asked(t, s, "POST", "/admin/api/texts", tt.body)
		if kept := log.Begin("a", "chat", "/", time.Now()).Bodies != nil; status != tt.status || kept != tt.kept {
			t.Errorf("%s: %d %s, kept %v", tt.body, status, body, kept)
		}
		if _, list := asked(t, s, "GET", "/admin/api/exchanges", ""); strings.Contains(list, "texts_until") != tt.kept {
			t.Errorf("%s: the list is %s", tt.body, list)
		}
	}
	answers(t, s, "POST", "/admin/api/exchanges/none/stop", "{}", 404, "")
	answers(t, s, "GET", "/admin/api/exchanges?after=x", "", 400, "")
}
