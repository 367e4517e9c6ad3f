package proxy

import (
	"bytes"
	"context"
	"encoding/json"
	"iter"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"toolnorm/adapters"
	"toolnorm/chat"
	"toolnorm/engine"
	demoserver "toolnorm/engine/demo"
	"toolnorm/internal/fault"
	"toolnorm/internal/test/must"
	"toolnorm/internal/trace"
)

// writer is a model that writes one text, as raw text and as the text of its reply, and then what
// it is told to.
type writer struct {
	text string
	then []chat.Event
	err  error
}

func (m writer) Stream(ctx context.Context, _ *chat.Request) iter.Seq2[chat.Event, error] {
	return func(yield func(chat.Event, error) bool) {
		o := chat.ObserverOf(ctx)
		o.OnPlan("hermes", "raw")
		if o.OnGeneration != nil {
			o.OnGeneration("raw")(say(m.text))
		}
		for _, ev := range append([]chat.Event{say(m.text)}, m.then...) {
			if !yield(ev, nil) {
				return
			}
		}
		if m.err != nil {
			yield(chat.Event{}, m.err)
		}
	}
}

// ended is a Finish that says how the reply was read.
func ended(repairs ...string) chat.Event {
	return chat.Event{Kind: chat.Finish, Text: chat.Stop, Meta: &chat.Meta{Format: "hermes", Strategy: "raw", Repairs: repairs}}
}

// traced starts a server that keeps exchanges with one model.
func traced(t *testing.T, m chat.Model, log *trace.Log) *httptest.Server {
	t.Helper()
	srv := httptest.NewServer(New(Config{Model: m, Trace: log, Reasons: adapters.Reasons()}))
	t.Cleanup(srv.Close)
	return srv
}

// get reads an address whose JSON goes into v.
func get(t *testing.T, url string, v any) string {
	t.Helper()
	resp, body := do(t, "GET", url, "")
	if err := json.Unmarshal([]byte(body), v); err != nil || resp.StatusCode != 200 {
		t.Fatalf("%s: %d %s, %v", url, resp.StatusCode, body, err)
	}
	return body
}

func TestExchangesAreListedWithoutWhatWasSaid(t *testing.T) {
	srv := traced(t, writer{text: "SECRET", then: []chat.Event{call(0, "get_weather"), args(0, `{"a":"SECRET"}`), endOf(0), counted(3, 4), ended("quotes")}}, trace.New(2, false))
	for range 3 {
		do(t, "POST", srv.URL+"/v1/chat/completions", `{"model":"m","messages":[{"role":"user","content":"SECRET"}],`+twoTools+`,"stream":true}`, "Authorization", "Bearer SECRET")
	}
	var list trace.List
	body := get(t, srv.URL+"/debug/exchanges", &list)
	if list.Seen != 3 || list.Keeps != 2 || len(list.Exchanges) != 2 || list.Counts["quotes"] != 3 || strings.Contains(body, "SECRET") {
		t.Fatalf("the list is %s", body)
	}
	e := list.Exchanges[0]
	if e.Model != "m" || !e.Stream || e.Tools != 2 || e.Format != "hermes" || e.Strategy != "raw" || e.Status != 200 || e.Finish != "tool_calls" ||
		len(e.Calls) != 1 || e.Calls[0] != (trace.Call{ID: "call_0", Name: "get_weather"}) || e.PromptTokens != 3 || e.CompletionTokens != 4 ||
		e.Path != "/v1/chat/completions" || e.Form != "chat" || e.Tried != nil {
		t.Errorf("the exchange is %s", body)
	}
	var one trace.Exchange
	if body := get(t, srv.URL+"/debug/exchanges?id="+e.ID, &one); one.ID != e.ID || one.Bodies != nil || strings.Contains(body, "SECRET") {
		t.Errorf("one exchange is %s", body)
	}
	_, page := do(t, "GET", srv.URL+"/debug", "")
	if !strings.Contains(page, "get_weather") || !strings.Contains(page, e.ID) || strings.Contains(page, "SECRET") || !strings.Contains(page, "trace-bodies") {
		t.Errorf("the page is %s", page)
	}
}

func TestBrowsersAreSentToTheAdminPage(t *testing.T) {
	srv := httptest.NewServer(New(Config{Model: writer{text: "hi"}, Trace: trace.New(1, false), LivePage: "/admin#/live"}))
	defer srv.Close()
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	for path, want := range map[string]string{"/debug": "/admin#/live", "/debug?id=a/b": "/admin#/live/a%2Fb", "/debug/exchanges": "", "/debug?as=json": ""} {
		resp, err := client.Get(srv.URL + path)
		must.OK(t, err)
		resp.Body.Close()
		if got := resp.Header.Get("Location"); got != want || want == "" && resp.StatusCode != 200 {
			t.Errorf("%s: %d, sent to %q, want %q", path, resp.StatusCode, got, want)
		}
	}
}

func TestFailedRequestsAreExchanges(t *testing.T) {
	srv := traced(t, writer{text: "well", err: fault.New(fault.Timeout, "the model server was silent")}, trace.New(5, false))
	post(t, srv, `,"stream":true`)
	do(t, "POST", srv.URL+"/v1/completions", `{"prompt":"x"}`)
	var list trace.List
	get(t, srv.URL+"/debug/exchanges", &list)
	if len(list.Exchanges) != 2 {
		t.Fatalf("the list is %+v", list)
	}
	if e := list.Exchanges[0]; e.Status != 400 || !strings.Contains(e.Error, "must name a model") || e.Form != "completion" {
		t.Errorf("without a model: %+v", e)
	}
	if e := list.Exchanges[1]; e.Status != 504 || e.Error != "the model server was silent" || e.Finish != "" {
		t.Errorf("a stream that broke off: %+v", e)
	}
}

// TestTheRawTextStandsBesideTheEvents runs the whole chain, with a demo model.
func TestTheRawTextStandsBesideTheEvents(t *testing.T) {
	eng := engine.New(engine.Config{Ollama: "http://127.0.0.1:1", Demo: demoserver.Server{Delay: -1}})
	srv := traced(t, eng, trace.New(1, true))
	do(t, "POST", srv.URL+"/v1/chat/completions", `{"model":"demo/hermes","messages":[{"role":"user","content":"Get the weather of \"Oslo\"."}],`+
		`"tools":[{"type":"function","function":{"name":"get_weather","parameters":{"type":"object","required":["city"],"properties":{"city":{"type":"string"}}}}}]}`, "Authorization", "Bearer SECRET")
	var list trace.List
	get(t, srv.URL+"/debug/exchanges", &list)
	var one trace.Exchange
	body := get(t, srv.URL+"/debug/exchanges?id="+list.Exchanges[0].ID, &one)
	b := one.Bodies
	if b == nil || len(b.Wrote) != 1 || b.Wrote[0].Name != "raw" || !strings.Contains(b.Wrote[0].Parts[0].Text, `<tool_call>`) {
		t.Fatalf("the exchange is %s", body)
	}
	if !strings.Contains(b.Wrote[0].Prompt, "Oslo") || !strings.Contains(string(b.Schemas["get_weather"]), `"required":["city"]`) {
		t.Errorf("the prompt is %q, the schemas are %s", b.Wrote[0].Prompt, b.Schemas)
	}
	if end := b.Left.Parts[len(b.Left.Parts)-1]; end.Text != "tool_calls" {
		t.Errorf("the client was told %q", end.Text)
	}
	var kinds []string
	for _, p := range b.Left.Parts {
		kinds = append(kinds, p.Kind)
	}
	if got := strings.Join(kinds, " "); got != "text call args end finish" {
		t.Errorf("what left: %s", got)
	}
	if len(b.Messages) != 1 || !strings.Contains(b.Messages[0].Text, "Oslo") || len(b.Tools) != 1 || strings.Contains(body, "SECRET") {
		t.Errorf("the exchange is %s", body)
	}
	_, page := do(t, "GET", srv.URL+"/debug/exchanges?id="+one.ID, "", "Accept", "text/html,*/*")
	if !strings.Contains(page, "&lt;tool_call&gt;") || !strings.Contains(page, "What left") {
		t.Errorf("the page is %s", page)
	}
}

// hostile is what a model may write to get at the one who reads it.
const hostile = "</style></div><script>alert(1)</script><img src=x onerror=alert(1)>\"'`{{.}}\u202e\x1b[2J"

func TestThePageRunsNothing(t *testing.T) {
	srv := traced(t, writer{text: hostile, then: []chat.Event{call(0, hostile), args(0, `{}`), endOf(0), ended()}}, trace.New(2, true))
	in, _ := json.Marshal(hostile)
	do(t, "POST", srv.URL+"/v1/chat/completions", `{"model":`+string(in)+`,"messages":[{"role":"user","content":`+string(in)+`}],"stream":true,"tools":[{"name":`+string(in)+`}]}`)
	var list trace.List
	get(t, srv.URL+"/debug/exchanges?as=json", &list)
	for _, path := range []string{"/debug", "/debug/exchanges?id=" + list.Exchanges[0].ID} {
		resp, page := do(t, "GET", srv.URL+path, "", "Accept", "text/html")
		if strings.Contains(page, "<script") || strings.Contains(page, "<img") || strings.Contains(page, "\u202e") || strings.Contains(page, "\x1b") {
			t.Errorf("%s: %s", path, page)
		}
		if !strings.Contains(page, "&lt;script&gt;") || strings.Contains(page, "ZgotmplZ") {
			t.Errorf("%s does not show what was written: %s", path, page)
		}
		policy := resp.Header.Get("Content-Security-Policy")
		nonce := regexp.MustCompile(`style-src 'nonce-([A-Z0-9]{20,})'`).FindStringSubmatch(policy)
		if nonce == nil || strings.Count(page, `nonce="`+nonce[1]+`"`) != 1 || !strings.HasPrefix(policy, "default-src 'none';") || strings.Contains(policy, "unsafe") {
			t.Errorf("%s: policy %q", path, policy)
		}
		if strings.Contains(page, "style=") || regexp.MustCompile(`(?i)(src|href)="?(https?:)?//`).MatchString(page) {
			t.Errorf("%s takes something from elsewhere: %s", path, page)
		}
		if resp.Header.Get("Cache-Control") != "no-store" || resp.Header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: header %v", path, resp.Header)
		}
	}
}

func TestWhatIsNotKeptIsNotFound(t *testing.T) {
	srv := traced(t, writer{}, trace.New(1, false))
	off, _ := serve(t, nil)
	for url, says := range map[string]string{
		srv.URL + "/debug/exchanges?id=x": `request \"x\" is not kept`,
		off.URL + "/debug/exchanges":      "--trace sets how many",
		off.URL + "/debug":                "--trace sets how many",
	} {
		if resp, body := do(t, "GET", url, ""); resp.StatusCode != http.StatusNotFound || !strings.Contains(body, says) {
			t.Errorf("%s: %d %s, want 404 and %s", url, resp.StatusCode, body, says)
		}
	}
}

func TestTheLineOfAFailedRequestSaysHowItWasRead(t *testing.T) {
	var log bytes.Buffer
	srv := httptest.NewServer(New(Config{Model: writer{text: "well", err: fault.New(fault.Timeout, "silent")}, Log: zerolog.New(&log)}))
	do(t, "POST", srv.URL+"/v1/chat/completions", `{"model":"m","messages":[{"role":"user","content":"hi"}]}`)
	srv.Close() // waits for the handler, and so for its line
	if line := log.String(); !strings.Contains(line, `"format":"hermes","strategy":"raw"`) || !strings.Contains(line, `"status":504`) {
		t.Errorf("the line is %s", line)
	}
}
