package mcpserver

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"toolnorm/internal/test/must"
	"toolnorm/tools"
)

func TestResultsAreWrittenForEveryClient(t *testing.T) {
	parts := tools.Result{Content: []tools.Part{
		{Kind: tools.Image, Data: []byte("png"), MIME: "image/png"},
		{Kind: tools.Audio, Data: []byte("wav"), MIME: "audio/wav"},
		{Kind: tools.Resource, URI: "x:1", Text: "<text>", MIME: "text/plain"},
		{Kind: tools.Resource, URI: "x:2", Data: []byte("bin")},
		{Kind: tools.Link, URI: "x:3", Text: "a name"},
	}}
	list := tools.Result{Structured: json.RawMessage(`[1]`)}
	failed := tools.Failure("no such thing")
	s := New(Config{Name: "x", Version: "1", Outcome: func(name string) bool { return name == "promised" }})
	defer s.Close(t.Context())
	const identity = `"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"x","version":"1"}}`
	for _, c := range []struct {
		name   string
		r      tools.Result
		modern bool
		want   string
	}{
		{"any", parts, false, `{"content":[{"type":"text","text":"[image image/png, 3 bytes]\n[audio audio/wav, 3 bytes]\n<text>\n[resource x:2 , 3 bytes]\n[a name](x:3)"},` +
			`{"type":"image","data":"cG5n","mimeType":"image/png"},{"type":"audio","data":"d2F2","mimeType":"audio/wav"},` +
			`{"type":"resource","resource":{"uri":"x:1","mimeType":"text/plain","text":"<text>"}},{"type":"resource","resource":{"uri":"x:2","blob":"Ymlu"}},` +
			`{"type":"resource_link","uri":"x:3","name":"a name"}]}`},
		{"any", list, false, `{"content":[{"type":"text","text":"[1]"}]}`},
		{"any", list, true, `{"resultType":"complete",` + identity + `,"content":[{"type":"text","text":"[1]"}],"structuredContent":[1]}`},
		{"any", failed, true, `{"resultType":"complete",` + identity + `,"content":[{"type":"text","text":"no such thing"}],"isError":true}`},
		{"promised", list, false, `{"content":[{"type":"text","text":"{\"success\":true,\"result\":[1]}"}],"structuredContent":{"success":true,"result":[1]}}`},
		{"promised", failed, false, `{"content":[{"type":"text","text":"{\"success\":false,\"error\":\"no such thing\"}"}],"structuredContent":{"success":false,"error":"no such thing"},"isError":true}`},
		{"any", tools.Result{Structured: json.RawMessage(`{`)}, false, `{"content":[{"type":"text","text":"any gave a structured result that is no JSON"}],"isError":true}`},
		{"any", tools.Result{Raw: json.RawMessage(`{"content":[],"structuredContent":[1]}`)}, false, `{"content":[{"type":"text","text":"[1]"}]}`},
		{"any", tools.Result{Raw: json.RawMessage(`{"content":[{"type":"text","text":"one"}],"structuredContent":[1]}`)}, false, `{"content":[{"type":"text","text":"one"}]}`},
		{"any", tools.Result{Raw: json.RawMessage(`{"content":[],"structuredContent":{"n":1}}`)}, false, `{"content":[],"structuredContent":{"n":1}}`},
		{"any", tools.Result{}, false, `{"content":[{"type":"text","text":""}]}`},
	} {
		if got := string(s.engine.result(&caller{session: &session{}, modern: c.modern}, c.name, c.r)); got != c.want {
			t.Errorf("%s %+v:\n got %s\nwant %s", c.name, c.r, got, c.want)
		}
	}
}

func TestClosingWaitsForCallsAndTakesNoMore(t *testing.T) {
	started, finish := make(chan bool, 2), make(chan bool)
	r := tools.New(tools.Options{})
	must.OK(t, r.Set("test", tools.Tool{Name: "slow", Call: func(context.Context, json.RawMessage) (tools.Result, error) {
		started <- true
		<-finish
		return tools.TextOf("done"), nil
	}}))
	f := serve(t, Config{Registry: r})
	call := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"slow"}}`
	c := f.connect()
	c.send(call, 202)
	answer := make(chan string, 1)
	go func() { _, body := f.post(call, nil); answer <- body }()
	<-started
	<-started
	closed := make(chan error, 1)
	go func() { closed <- f.Close(context.Background()) }()
	soon(t, "a refusal of new work", func() bool {
		status, _ := f.post(call, nil)
		return status == http.StatusServiceUnavailable && f.do(http.MethodGet, "/sse", "", nil).StatusCode == http.StatusServiceUnavailable
	})
	select {
	case err := <-closed:
		t.Fatalf("closed with calls running: %v", err)
	case <-time.After(20 * time.Millisecond):
	}
	close(finish)
	if got := c.message(); !strings.Contains(got, "done") {
		t.Errorf("legacy: %s", got)
	}
	if got := <-answer; !strings.Contains(got, "done") {
		t.Errorf("POST: %s", got)
	}
	if err := <-closed; err != nil {
		t.Error(err)
	}
	if _, more := c.next(); more {
		t.Error("the stream goes on")
	}
}
