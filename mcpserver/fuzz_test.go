package mcpserver

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"toolnorm/internal/test/must"
	"toolnorm/tools"
)

// FuzzMessage sends any bytes by each revision. What comes back has a status, and is nothing, or
// JSON-RPC, or events of it.
func FuzzMessage(f *testing.F) {
	for _, body := range []string{
		``, `{}`, `[]`, `[{}]`, `null`, `{"jsonrpc":"2.0","id":1,"method":"ping"}`, `{"jsonrpc":"2.0","id":"a","result":{}}`,
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"x",` + modernMeta + `}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"a":1},` + modernMeta + `}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"reports","_meta":{"progressToken":"x"}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"x","requestState":"x",` + modernMeta + `}}`,
		`{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{` + modernMeta + `}}`,
		`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"x"}}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`,
		`[{"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{"level":"loud"}},{"jsonrpc":"2.0","id":2,"method":"completion/complete","params":{}}]`,
	} {
		for era := range byte(4) {
			f.Add([]byte(body), era, "tools/call", "echo")
		}
	}
	quick := testTools(f)
	all := slices.DeleteFunc(slices.Clone(quick.Snapshot().Tools), func(t tools.Tool) bool { return t.Name == "waits" })
	must.OK(f, quick.Set("test", all...))
	s := New(Config{Registry: quick, Bounds: Bounds{Rate: -1, RateOfTool: -1, MaxBody: 64 << 10}})
	f.Cleanup(func() { _ = s.Close(context.Background()) })
	f.Fuzz(func(t *testing.T, body []byte, era byte, method, name string) {
		r := httptest.NewRequest(http.MethodPost, "/mcp", strings.NewReader(string(body)))
		ctx, cancel := context.WithCancel(r.Context())
		defer cancel()
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		switch era % 4 {
		case 1:
			r.Header.Set("Mcp-Protocol-Version", "2025-11-25")
		case 2:
			r.Header.Set("Mcp-Protocol-Version", "2026-07-28")
			r.Header.Set("Mcp-Method", method)
			r.Header.Set("Mcp-Name", name)
		case 3:
			r.Header.Set("Mcp-Session-Id", s.engine.seal.mint(&session{said: said{version: "2025-06-18"}}))
		}
		if strings.Contains(string(body), `\u`) || strings.Contains(string(body), "subscriptions") {
			cancel() // a subscription would stay open
		}
		w := httptest.NewRecorder()
		s.streamable(w, r.WithContext(ctx))
		checkReply(t, w)
	})
}

// checkReply says what is wrong with the answer to a POST.
func checkReply(t *testing.T, w *httptest.ResponseRecorder) {
	t.Helper()
	var messages []string
	switch body := w.Body.String(); w.Header().Get("Content-Type") {
	case "application/json":
		messages = append(messages, body)
	case "text/event-stream":
		for line := range strings.Lines(body) {
			if data, ok := strings.CutPrefix(line, "data: "); ok {
				messages = append(messages, data)
			}
		}
	default:
		if body != "" {
			t.Fatalf("%d with %q", w.Code, body)
		}
	}
	for _, m := range messages {
		if !json.Valid([]byte(m)) || !strings.Contains(m, `"jsonrpc":"2.0"`) {
			t.Fatalf("%d with %q", w.Code, m)
		}
	}
}

// FuzzEventID takes up streams by any id.
func FuzzEventID(f *testing.F) {
	r := newRecords()
	one := r.begin(&session{id: "s", said: said{version: "2025-11-25"}}, newOutbox(), "ABC")
	for _, id := range []string{"", "-", one.id, one.id + "-", one.id + "-1", one.id + "--1", one.id + "-99999999999999999999", "x-1"} {
		f.Add(id, nameOf("s"))
	}
	f.Fuzz(func(t *testing.T, event, session string) {
		found, after, ok := r.find(event, session)
		if ok && (found != one || session != nameOf("s") || !strings.HasPrefix(event, one.id+"-")) {
			t.Fatalf("%q of %q finds a stream", event, session)
		}
		if _, ended := one.again(nil, after); ended {
			t.Fatal("the stream has ended")
		}
	})
}

// FuzzLine reads lines of any length; none is longer than allowed, and the end always comes.
func FuzzLine(f *testing.F) {
	f.Add("a\n\nb", 3)
	f.Add(strings.Repeat("x", 100), 10)
	f.Fuzz(func(t *testing.T, text string, longest int) {
		longest = max(1, min(longest, 1000))
		r := bufio.NewReaderSize(strings.NewReader(text), 16)
		for range len(text) + 2 {
			line, err := readLine(r, longest)
			switch {
			case err != nil && err != errLong:
				return
			case err == nil && (len(line) == 0 || len(line) > longest):
				t.Fatalf("a line of %d bytes, at most %d are allowed", len(line), longest)
			}
		}
		t.Fatal("there is no end")
	})
}
