package proxy

import (
	"bytes"
	"context"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"toolnorm/adapters"
	"toolnorm/chat"
	"toolnorm/internal/auth"
	"toolnorm/internal/fault"
	"toolnorm/internal/test/must"
)

// counter is a model server that counts bytes.
type counter struct{}

func (counter) CountTokens(_ context.Context, r *chat.Request) (int, error) {
	return len(r.Messages[0].Content), nil
}

const weatherTool = `,"tools":[{"name":"get_weather","input_schema":{"type":"object"}},{"type":"web_search_20250305","name":"web_search"}]`

func TestMessagesAreAnswered(t *testing.T) {
	var log bytes.Buffer
	srv, m := serve(t, script{say("I look."), call(0, "get_weather"), args(0, `{"city":"Paris"}`), endOf(0), counted(12, 3), finish("stop")}, func(c *Config) { c.Log = zerolog.New(&log) })
	resp, body := do(t, "POST", srv.URL+"/v1/messages?beta=true", ask(weatherTool+`,"stream":true,"max_tokens":9`), "X-Api-Key", "SECRET", "Anthropic-Beta", "claude-code-20250219,whatever-2026-01-01")
	for _, want := range []string{"event: message_start\n", `"id":"msg_`, `{"type":"tool_use","id":"call_0","name":"get_weather","input":{}}`, `"partial_json":"{\"city\":\"Paris\"}"`, `"stop_reason":"tool_use"`, `"input_tokens":12`, "event: message_stop\n", ": left-out=web_search"} {
		if !strings.Contains(body, want) {
			t.Errorf("the stream lacks %s:\n%s", want, body)
		}
	}
	if resp.StatusCode != 200 || resp.Header.Get("Content-Type") != "text/event-stream" || !strings.HasPrefix(resp.Header.Get("Request-Id"), "msg_") || !strings.HasPrefix(resp.Header.Get("Toolnorm-Left-Out"), "web_search") {
		t.Errorf("%d %v", resp.StatusCode, resp.Header)
	}
	if len(m.last.Tools) != 1 || m.last.MaxTokens != 9 || !m.last.TellStop {
		t.Errorf("asked %+v", m.last)
	}
	_, body = do(t, "POST", srv.URL+"/v1/messages", ask(weatherTool))
	if !strings.HasSuffix(body, `"content":[{"type":"text","text":"I look."},{"type":"tool_use","id":"call_0","name":"get_weather","input":{"city":"Paris"}}],"stop_reason":"tool_use","stop_sequence":null,"usage":{"input_tokens":12,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":3}}`+"\n") || m.last.Hold != adapters.HoldCall {
		t.Errorf("whole: %s, hold %d", body, m.last.Hold)
	}
	srv.Close()
	if got := log.String(); !strings.Contains(got, `"message":"messages"`) || !strings.Contains(got, "left-out=web_search") || strings.Contains(got, "SECRET") {
		t.Errorf("log: %s", got)
	}
}

func TestMessagesFailInAnthropicsForm(t *testing.T) {
	for _, tt := range []struct {
		err    error
		body   string
		status int
		say    string
	}{
		{nil, `{"messages":[]}`, 400, `"type":"invalid_request_error"`},
		{nil, `{"messages":[{"role":"user","content":"q"}]}`, 400, `model: must name a model`},
		{fault.New(fault.NotFound, "x"), ask(""), 404, `"type":"not_found_error"`},
		{&fault.Error{Kind: fault.Invalid, Message: "m", Code: "context_length_exceeded", Tokens: 9, Window: 8}, ask(`,"stream":true`), 400, `prompt is too long: 9 tokens > 8 maximum. m`},
		{fault.New(fault.Busy, "x"), ask(`,"stream":true`), 529, `"type":"overloaded_error"`},
		{fault.New(fault.Failed, "x"), ask(`,"stream":true`), 502, `"type":"api_error"`},
	} {
		srv, _ := serve(t, script{tt.err})
		resp, body := do(t, "POST", srv.URL+"/v1/messages", tt.body)
		if resp.StatusCode != tt.status || !strings.HasPrefix(body, `{"type":"error","error":{`) || !strings.Contains(body, tt.say) || !strings.Contains(body, `"request_id":"msg_`) {
			t.Errorf("%v %s: %d %s", tt.err, tt.body, resp.StatusCode, body)
		}
	}
	srv, _ := serve(t, nil)
	if resp, body := do(t, "GET", srv.URL+"/v1/messages", ""); resp.StatusCode != 405 || !strings.HasPrefix(body, `{"type":"error"`) {
		t.Errorf("GET: %d %s", resp.StatusCode, body)
	}
}

func TestTokensAreCountedForMessages(t *testing.T) {
	srv, _ := serve(t, nil, func(c *Config) { c.Counter = counter{} })
	if resp, body := do(t, "POST", srv.URL+"/v1/messages/count_tokens?beta=true", `{"model":"m","system":"four","messages":[{"role":"user","content":"q"}]}`); resp.StatusCode != 200 || body != `{"input_tokens":4}`+"\n" {
		t.Errorf("%d %s", resp.StatusCode, body)
	}
	srv, _ = serve(t, nil)
	if resp, body := do(t, "POST", srv.URL+"/v1/messages/count_tokens", ask("")); resp.StatusCode != 404 || !strings.HasPrefix(body, `{"type":"error"`) {
		t.Errorf("without a counter: %d %s", resp.StatusCode, body)
	}
}

func TestAnthropicsClientsGetTheirListOfModels(t *testing.T) {
	srv, _ := serve(t, nil)
	for path, want := range map[string]string{
		"/v1/models?limit=1": `{"data":[{"type":"model","id":"qwen3:latest","display_name":"qwen3:latest","created_at":"1970-01-01T00:00:05Z"},{"type":"model","id":"demo/hermes","display_name":"demo/hermes","created_at":"1970-01-01T00:00:00Z"}],"has_more":false,"first_id":"qwen3:latest","last_id":"demo/hermes"}`,
		"/v1/models/qwen3":   `{"type":"model","id":"qwen3:latest","display_name":"qwen3:latest","created_at":"1970-01-01T00:00:05Z"}`,
		"/v1/models/none":    `{"type":"error","error":{"type":"not_found_error","message":"no model named \"none\"; GET /v1/models lists them"}}`,
	} {
		if _, body := do(t, "GET", srv.URL+path, "", "Anthropic-Version", "2023-06-01"); strings.TrimSpace(body) != want {
			t.Errorf("%s: %s, want %s", path, body, want)
		}
	}
}

// What is not there is told in the form of the API that was asked: the SDKs read no other.
func TestUnknownPathsOfAnthropicsAPIAreToldInItsForm(t *testing.T) {
	srv, _ := serve(t, nil, func(c *Config) { c.Counter = counter{} })
	for _, tt := range []struct {
		method, path string
		header       []string
		status       int
		begin        string
	}{
		{"POST", "/v1/messages/batches", nil, 404, `{"type":"error","error":{"type":"not_found_error","message":"no such path: /v1/messages/batches;`},
		{"GET", "/v1/messages/batches/msgbatch_1/results", nil, 404, `{"type":"error","error":{"type":"not_found_error"`},
		{"GET", "/v1/files", []string{"Anthropic-Version", "2023-06-01"}, 404, `{"type":"error","error":{"type":"not_found_error"`},
		{"POST", "/v1/models", []string{"Anthropic-Version", "2023-06-01"}, 405, `{"type":"error","error":{"type":"invalid_request_error"`},
		{"POST", "/v1/files", nil, 404, `{"error":{"message":"no such path: /v1/files;`},
		{"POST", "/api/no", []string{"Anthropic-Version", "2023-06-01"}, 404, `{"error":"no such path: /api/no; supported paths`},
	} {
		if resp, body := do(t, tt.method, srv.URL+tt.path, "{}", tt.header...); resp.StatusCode != tt.status || !strings.HasPrefix(body, tt.begin) {
			t.Errorf("%s %s %v: %d %s, want %s", tt.method, tt.path, tt.header, resp.StatusCode, body, tt.begin)
		}
	}
	// A form that is refused for a reply is refused for its count, too.
	if resp, body := do(t, "POST", srv.URL+"/v1/messages/count_tokens", `{"model":"m@shell","messages":[{"role":"user","content":"q"}]}`); resp.StatusCode != 400 || !strings.Contains(body, "shell") {
		t.Errorf("a count in the client form shell: %d %s", resp.StatusCode, body)
	}
}

// Claude Code sends its token as a bearer's, the SDKs send a key in a header of its own, and both
// are told in their words.
func TestMessagesTakeBothKindsOfKey(t *testing.T) {
	keys, _, err := auth.ParseKeys([]string{"0123456789abcdef"})
	must.OK(t, err)
	m := &told{script: script{say("a"), finish("stop")}}
	srv := httptest.NewServer((&auth.Guard{Keys: keys}).Wrap(New(Config{Model: m, Catalog: m})))
	defer srv.Close()
	for _, tt := range []struct {
		name, value string
		status      int
	}{
		{"Authorization", "Bearer 0123456789abcdef", 200}, {"X-Api-Key", "0123456789abcdef", 200},
		{"X-Api-Key", "wrong", 401}, {"Accept", "*/*", 401},
	} {
		resp, body := do(t, "POST", srv.URL+"/v1/messages", ask(""), tt.name, tt.value)
		if resp.StatusCode != tt.status || tt.status == 401 && !strings.HasPrefix(body, `{"type":"error","error":{"type":"authentication_error"`) {
			t.Errorf("%s %s: %d %s", tt.name, tt.value, resp.StatusCode, body)
		}
	}
}
