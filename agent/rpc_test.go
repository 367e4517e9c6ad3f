package agent

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"toolnorm/chat"
	"toolnorm/internal/fault"
	"toolnorm/internal/test/must"
	"toolnorm/tools"
)

// posted is the status and the body of an answer.
func posted(h http.Handler, body string, headers ...string) (*httptest.ResponseRecorder, string) {
	r := httptest.NewRequest("POST", Path, strings.NewReader(body))
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	text, _ := io.ReadAll(w.Body)
	return w, string(text)
}

// spec is the request of the specification's walk-through.
const spec = `{"jsonrpc":"2.0","method":"generate_content","params":{"model":"gemma3","messages":[{"role":"user","content":"안녕하세요를 음성으로 생성해줘"}],"max_iterations":5},"id":1}`

func TestTheSpecificationsRequestIsAnswered(t *testing.T) {
	d := newDesk(t)
	l := New(Config{Model: &scripted{texts: []string{fenced("tts.generate_speech", `{"text": "안녕하세요"}`), "음성을 생성했습니다."}}, Tools: d.registry, Servers: d})
	w, body := posted(l, spec)
	var got struct {
		Version string `json:"jsonrpc"`
		ID      int    `json:"id"`
		Result  struct {
			Text, Model string
			Iterations  int
			Stop        string `json:"stop_reason"`
			Calls       []Ran  `json:"tool_calls"`
			Usage       struct {
				Total int `json:"total_tokens"`
			}
			Warnings []string
		}
	}
	if err := json.Unmarshal([]byte(body), &got); err != nil {
		t.Fatalf("%v in %s", err, body)
	}
	r := got.Result
	if w.Code != 200 || got.Version != "2.0" || got.ID != 1 || r.Text != "음성을 생성했습니다." || r.Model != "gemma3" || r.Iterations != 2 || r.Stop != "final" ||
		len(r.Calls) != 1 || r.Calls[0].Name != "tts.generate_speech" || string(r.Calls[0].Arguments) != `{"text":"안녕하세요"}` || !r.Calls[0].OK || r.Usage.Total != 30 || r.Warnings == nil {
		t.Errorf("%d %s", w.Code, body)
	}
}

func TestWhatIsWrongWithARequestIsSaidInItsOwnCode(t *testing.T) {
	d := newDesk(t)
	const messages = `"messages":[{"role":"user","content":"x"}]`
	for _, tt := range []struct {
		body   string
		status int
		want   string
	}{
		{`{`, 400, `"code":-32700,"message":"the body is no JSON"},"id":null}`},
		{`[]`, 400, `"code":-32600`},
		{`{"jsonrpc":"1.0","method":"generate_content","id":"a"}`, 400, `"code":-32600,"message":"jsonrpc must be \"2.0\""},"id":"a"}`},
		{`{"id":1.5,"method":"generate_content"}`, 400, `"code":-32600,"message":"id must be`},
		{`{"id":{},"method":"generate_content"}`, 400, `"code":-32600`},
		{`{"id":7}`, 400, `"code":-32600,"message":"method is missing"},"id":7}`},
		{`{"id":7,"method":"chat"}`, 400, `"code":-32601`},
		{`{"id":7,"method":"generate"}`, 400, `"code":-32602,"message":"params are missing"`},
		{`{"method":"generate","params":{"model":"m"}}`, 400, `"code":-32602,"message":"messages must be`},
		{`{"method":"generate","params":{"messages":[{"role":"robot","content":"x"}]}}`, 400, `messages[0]: role must be`},
		{`{"method":"generate","params":{"messages":[{"role":"user","content":7}]}}`, 400, `messages[0]: content must be`},
		{`{"method":"generate","params":{` + messages + `,"temperature":"hot"}}`, 400, `"code":-32602,"message":"temperature: want a number, got string"`},
		{`{"method":"generate","params":{` + messages + `,"max_output_tokens":0}}`, 400, `max_output_tokens`},
		{`{"method":"generate","params":{` + messages + `}}`, 400, `"code":-32602,"message":"model: name one`},
		{`{"method":"generate","params":{"model":"m",` + messages + `,"mcp_servers":["nowhere"]}}`, 400, `there is no server \"nowhere\"; there are calc, clock, files, search, tts, local`},
		{`{"method":"generate","params":{"model":"m",` + messages + `,"force_tool":"x"}}`, 400, `there is no tool \"x\"; there are calc.add`},
		{`{"method":"generate","params":{"model":"m",` + messages + `,"max_iterations":"3"}}`, 400, `"max_iterations: want a whole number, got string"`},
		{`{"method":"generate","params":{"model":"m",` + messages + `,"mcp_servers":[5]}}`, 400, `"mcp_servers: want a text, got number"`},
		{`{"method":"generate","params":{"model":"m","messages":["hi"]}}`, 400, `"messages: want an object, got string"`},
		{`{"method":"generate","params":[]}`, 400, `"params: want an object, got array"`},
		{`{"method":"generate","params":{"model":"m",` + messages + `,"mcp_servers":null,"max_iterations":null},"id":null}`, 200, `"text":"Done."`},
		{`{"method":"generate","params":{"model":"m","messages":[{"role":"model","content":[{"type":"text","text":"x"}]}],"max_iterations":999}}`, 200, `"text":"Done."`},
	} {
		l := New(Config{Model: &scripted{}, Tools: d.registry, Servers: d})
		if w, body := posted(l, tt.body); w.Code != tt.status || !strings.Contains(body, tt.want) {
			t.Errorf("%s: %d %s, want %d %s", tt.body, w.Code, body, tt.status, tt.want)
		}
	}
}

func TestWhatIsWrongWithTheModelIsSaidInItsOwnCode(t *testing.T) {
	d := newDesk(t)
	full := NewQueue(QueueConfig{AtOnce: 1, Waiting: 1})
	if _, _, err := full.Enter(t.Context(), "gemma3", false, nil); err != nil {
		t.Fatal(err)
	}
	go full.Enter(t.Context(), "gemma3", false, func(int, time.Duration) {})
	time.Sleep(20 * time.Millisecond)
	for _, tt := range []struct {
		config Config
		status int
		code   string
		retry  bool
	}{
		{Config{Model: failing(fault.New(fault.Unavailable, "x"))}, 502, "-32000", true},
		{Config{Model: &scripted{}, Queue: full}, 503, "-32001", true},
		{Config{Model: model(stuck), Time: 20 * time.Millisecond}, 504, "-32002", false},
	} {
		tt.config.Tools, tt.config.Servers = d.registry, d
		w, body := posted(New(tt.config), spec)
		if w.Code != tt.status || !strings.Contains(body, `"error":{"code":`+tt.code) || !strings.HasSuffix(body, "\"id\":1}\n") || (w.Header().Get("Retry-After") != "") != tt.retry {
			t.Errorf("%d %v %s, want %d with %s", w.Code, w.Header(), body, tt.status, tt.code)
		}
	}
}

func TestAStreamTellsOfEachStep(t *testing.T) {
	d := newDesk(t)
	l := New(Config{Model: &scripted{texts: []string{"Let me add.\n" + callOfAdd, "It is 3."}}, Tools: d.registry, Servers: d, Queue: NewQueue(QueueConfig{})})
	w, body := posted(l, spec, "Accept", "text/event-stream")
	var kinds []string
	lines := bufio.NewScanner(strings.NewReader(body))
	last := ""
	for lines.Scan() {
		if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
			var n struct{ Params Progress }
			must.OK(t, json.Unmarshal([]byte(data), &n))
			if len(kinds) == 0 || kinds[len(kinds)-1] != n.Params.Kind {
				kinds = append(kinds, n.Params.Kind)
			}
			last = data
		}
	}
	if got := strings.Join(kinds, " "); got != "text call result text " || !strings.Contains(last, `"result":{"text":"It is 3."`) || w.Header().Get("Content-Type") != "text/event-stream" {
		t.Errorf("%s\n%s", got, body)
	}
	w, body = posted(New(Config{Model: failing(fault.New(fault.Unavailable, "x")), Tools: d.registry}), spec, "Accept", "text/event-stream")
	if w.Code != 502 || !strings.Contains(body, "-32000") {
		t.Errorf("a model that is not there: %d %s", w.Code, body)
	}
}

func TestAClientThatLeavesEndsTheRun(t *testing.T) {
	d := newDesk(t)
	ended := make(chan struct{})
	d.answer = func(string, json.RawMessage) tools.Result { return tools.TextOf("3") }
	slow := then(&scripted{texts: []string{callOfAdd}}, model(stuck))
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		New(Config{Model: slow, Tools: d.registry, Servers: d}).ServeHTTP(w, r)
		close(ended)
	}))
	defer s.Close()
	resp := must.Open(t, "POST", s.URL+Path, spec, "Accept: text/event-stream")
	if _, err := bufio.NewReader(resp.Body).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	select {
	case <-ended:
	case <-time.After(5 * time.Second):
		t.Error("the run goes on")
	}
}

// FuzzRPC reads whatever may be sent: it is answered in JSON-RPC, with the request's own id or
// null.
func FuzzRPC(f *testing.F) {
	f.Add(spec)
	f.Add(`{"id":"x","method":"generate","params":{"messages":[{"role":"user","content":[{"text":"a"}]}],"mcp_servers":[]}}`)
	f.Add(`{"id":1e3}`)
	d := newDesk(f)
	f.Fuzz(func(t *testing.T, text string) {
		_, body := posted(New(Config{Model: &scripted{}, Tools: d.registry, Servers: d, DefaultModel: "m"}), text)
		var got struct {
			Result, Error, ID json.RawMessage
		}
		if err := json.Unmarshal([]byte(body), &got); err != nil || (got.Result == nil) == (got.Error == nil) || got.ID == nil {
			t.Errorf("%q is answered with %s", text, body)
		}
	})
}

// asked is a chat request for the agent.
func asked(tools ...chat.Tool) *chat.Request {
	r := question("1+2?")
	r.Model, r.Tools = "qwen3"+Suffix, tools
	return &r
}

// replied are the events of a reply, a line each.
func replied(t *testing.T, l *Loop, r *chat.Request) (lines []string) {
	t.Helper()
	for e, err := range l.Stream(t.Context(), r) {
		if err != nil {
			return append(lines, "error "+err.Error())
		}
		line := e.Kind.String() + " " + e.Text
		if e.Kind == chat.Usage {
			line = "usage"
		}
		if e.Kind == chat.Finish && e.Meta != nil && e.Meta.Cause != "" {
			line += " (" + e.Meta.Cause + ")"
		}
		if e.Kind == chat.Reasoning && strings.Contains(line, " ms: ") {
			line = "reasoning result"
		}
		lines = append(lines, line)
	}
	return lines
}

func calling(name, args string) chat.Model {
	return events(chat.Event{Kind: chat.Text, Text: "I look."}, chat.Event{Kind: chat.CallStart, Text: name}, chat.Event{Kind: chat.CallArgs, Text: args}, chat.Event{Kind: chat.CallEnd},
		chat.Event{Kind: chat.Usage, Meta: &chat.Meta{Usage: &chat.Counts{Prompt: 1, Completion: 1}}}, chat.Event{Kind: chat.Finish, Text: chat.Stop})
}

func TestAModelAtAgentRunsOurToolsAndShowsThem(t *testing.T) {
	d := newDesk(t)
	answer := events(chat.Event{Kind: chat.Text, Text: "It is 3."}, chat.Event{Kind: chat.Finish, Text: chat.Stop})
	l := New(Config{Model: then(calling("calc__add", `{"a":1,"b":2}`), answer), Tools: d.registry, Servers: d})
	want := "text I look.\nreasoning \n[calc.add {\"a\":1,\"b\":2}]\n\nreasoning result\ntext \n\nIt is 3.\nusage\nfinish stop"
	if got := strings.Join(replied(t, l, asked()), "\n"); got != want || len(d.ran) != 1 {
		t.Errorf("ran %q, replied\n%s\nwant\n%s", d.ran, got, want)
	}
}

// TestWhatStandsBehindACallIsNoAnswer has a model make up the result of its call.
func TestWhatStandsBehindACallIsNoAnswer(t *testing.T) {
	d := newDesk(t)
	both := events(chat.Event{Kind: chat.CallStart, Text: "calc__add"}, chat.Event{Kind: chat.CallArgs, Text: `{"a":1,"b":2}`}, chat.Event{Kind: chat.CallEnd},
		chat.Event{Kind: chat.Text, Text: "It is 7."}, chat.Event{Kind: chat.Finish, Text: chat.Stop})
	answer := events(chat.Event{Kind: chat.Text, Text: "It is 3."}, chat.Event{Kind: chat.Finish, Text: chat.Stop})
	l := New(Config{Model: then(both, answer), Tools: d.registry, Servers: d})
	want := "reasoning It is 7.\nreasoning \n[calc.add {\"a\":1,\"b\":2}]\n\nreasoning result\ntext It is 3.\nusage\nfinish stop"
	if got := strings.Join(replied(t, l, asked()), "\n"); got != want || len(d.ran) != 1 {
		t.Errorf("ran %q, replied\n%s\nwant\n%s", d.ran, got, want)
	}
}

func TestCallsOfTheClientsToolsGoToTheClient(t *testing.T) {
	d := newDesk(t)
	var last *chat.Request
	both := then(calling("calc__add", `{"a":1,"b":2}`), calling("read_file", `{"path":"x"}`))
	watched := model(func(ctx context.Context, r *chat.Request) iter.Seq2[chat.Event, error] {
		last = r
		return both.Stream(ctx, r)
	})
	l := New(Config{Model: watched, Tools: d.registry, Servers: d})
	want := "text I look.\nreasoning \n[calc.add {\"a\":1,\"b\":2}]\n\nreasoning result\ntext \n\nI look.\ncall read_file\nargs {\"path\":\"x\"}\nend \nusage\nfinish stop"
	if got := strings.Join(replied(t, l, asked(chat.Tool{Name: "read_file"})), "\n"); got != want || len(d.ran) != 1 {
		t.Errorf("ran %q, replied\n%s\nwant\n%s", d.ran, got, want)
	}
	if last.Model != "qwen3" || last.Tools[0].Name != "read_file" || len(last.Tools) != 9 || last.Messages[1].Calls[0].Name != "calc__add" || last.Messages[2].Content != "Success: calc.add" {
		t.Errorf("the model was asked %+v", last)
	}
}

func TestWhatIsNotForTheAgentPasses(t *testing.T) {
	d := newDesk(t)
	var last *chat.Request
	m := model(func(ctx context.Context, r *chat.Request) iter.Seq2[chat.Event, error] {
		last = r
		return events(chat.Event{Kind: chat.Finish, Text: chat.Stop})(ctx, r)
	})
	l := New(Config{Model: m, Tools: d.registry, Servers: d, DefaultModel: "usual"})
	for name, r := range map[string]*chat.Request{
		"another model": {Model: "qwen3"}, "a choice of the client's": {Model: "qwen3@agent", Required: true}, "a text to write on": {Model: "@agent", Continue: &chat.Continuation{Prompt: "x"}},
	} {
		replied(t, l, r)
		if len(last.Tools) != 0 || strings.Contains(last.Model, "@") || last.Model == "" {
			t.Errorf("%s: %+v", name, last)
		}
	}
}

func TestAChatGetsAnAnswerAtTheLimit(t *testing.T) {
	d := newDesk(t)
	n := 0
	m := model(func(ctx context.Context, r *chat.Request) iter.Seq2[chat.Event, error] {
		if n++; len(r.Tools) == 0 {
			return events(chat.Event{Kind: chat.Text, Text: "Enough."}, chat.Event{Kind: chat.Finish, Text: chat.Stop})(ctx, r)
		}
		return calling("calc__add", fmt.Sprintf(`{"a":%d,"b":2}`, n)).Stream(ctx, r)
	})
	got := replied(t, New(Config{Model: m, Tools: d.registry, Servers: d}), asked())
	if end := strings.Join(got[len(got)-3:], "|"); end != "text \n\nEnough.|usage|finish stop (agent: max_iterations)" || len(d.ran) != 5 {
		t.Errorf("ran %q, ends %s", d.ran, end)
	}
}

func TestSignsOfLifeComeWhileAToolRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		d.answer = func(string, json.RawMessage) tools.Result { time.Sleep(20 * time.Second); return tools.TextOf("3") }
		answer := events(chat.Event{Kind: chat.Text, Text: "It is 3."}, chat.Event{Kind: chat.Finish, Text: chat.Stop})
		l := New(Config{Model: then(calling("calc__add", `{"a":1,"b":2}`), answer), Tools: d.registry, Servers: d, Beat: 5 * time.Second})
		beats, idles := 0, 0
		ctx := chat.WithObserver(t.Context(), &chat.Observer{Pulse: &chat.Pulse{Idle: func() { idles++ }, Beat: func(string) error { beats++; return nil }}})
		for _, err := range l.Stream(ctx, asked()) {
			must.OK(t, err)
		}
		if beats < 3 || idles == 0 {
			t.Errorf("%d beats, %d flushes", beats, idles)
		}
	})
}

func TestAReaderThatLeavesEndsTheRun(t *testing.T) {
	d := newDesk(t)
	l := New(Config{Model: then(calling("calc__add", `{"a":1,"b":2}`), model(stuck)), Tools: d.registry, Servers: d})
	for e := range l.Stream(t.Context(), asked()) {
		if e.Kind == chat.Reasoning {
			break
		}
	}
}
