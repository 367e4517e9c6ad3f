package ollama

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"toolnorm/engine/upstream"
	"toolnorm/engine/wait"
	"toolnorm/internal/fault"
	"toolnorm/internal/test/must"
)

// flush sends what has been written.
func flush(w http.ResponseWriter) { _ = http.NewResponseController(w).Flush() }

// What a server that breaks leaves of an answer that is passed on unread: whole records as they
// were, and one that says so.
func TestWhatIsPassedOnHasOneEnd(t *testing.T) {
	const (
		a, b   = `{"response":"a","done":false}` + "\n", `{"response":"b", "done" : false}` + "\n"
		last   = `{"response":"","done":true,"done_reason":"stop"}` + "\n"
		middle = `{"error":"the model server ended its reply in the middle: its log may say why"}` + "\n"
		reset  = `{"error":"the connection to the model server broke in the middle of the reply"}` + "\n"
	)
	for name, row := range map[string]struct {
		path, form, said string
		reset            bool
		want             string
		broken           bool
	}{
		"whole":                       {"/api/generate", "application/x-ndjson", a + b + last, false, a + b + last, false},
		"empty lines":                 {"/api/chat", "application/x-ndjson", a + "\n" + last + "\n", false, a + "\n" + last + "\n", false},
		"no end of line":              {"/api/chat", "application/x-ndjson", a + strings.TrimSpace(last), false, a + strings.TrimSpace(last), false},
		"an error of the server's":    {"/api/chat", "application/x-ndjson", a + `{"error":"x"}` + "\n", false, a + `{"error":"x"}` + "\n", false},
		"no error in every record":    {"/api/chat", "application/x-ndjson", `{"error":null}` + "\n" + last, false, `{"error":null}` + "\n" + last, false},
		"no done":                     {"/api/chat", "application/x-ndjson", a + b, false, a + b + middle, true},
		"no done, no end of line":     {"/api/chat", "application/x-ndjson", a + strings.TrimSpace(b), false, a + b + middle, true},
		"nothing":                     {"/api/generate", "application/x-ndjson", "", false, middle, true},
		"half a record":               {"/api/generate", "application/x-ndjson", a + `{"respo`, false, a + middle, true},
		"half a record, ended":        {"/api/generate", "application/x-ndjson", a + `{"respo` + "\n", false, a + `{"error":"the model server sent a record that is no JSON"}` + "\n", true},
		"cut":                         {"/api/generate", "application/x-ndjson", a + b[:9], true, a + reset, true},
		"cut behind the end":          {"/api/generate", "application/x-ndjson", a + last, true, a + last, false},
		"two ends":                    {"/api/generate", "application/x-ndjson", a + last + last + a, false, a + last, false},
		"a long record":               {"/api/generate", "application/x-ndjson", a + strings.Repeat("x", upstream.MaxRecord+1), false, a + `{"error":"the model server's reply cannot be read: a record is longer than 16 MiB"}` + "\n", true},
		"another form":                {"/api/generate", "", a + b, false, a + b + middle, true},
		"progress":                    {"/api/pull", "application/x-ndjson", `{"status":"success"}` + "\n", false, `{"status":"success"}` + "\n", false},
		"progress, cut":               {"/api/pull", "application/x-ndjson", `{"status":"pulling"}` + "\n" + `{"sta`, true, `{"status":"pulling"}` + "\n" + reset, true},
		"a document":                  {"/api/embed", "application/json", `{"embeddings":[[1]]}`, false, `{"embeddings":[[1]]}`, false},
		"a document, cut":             {"/api/generate", "application/json; charset=utf-8", `{"response":"a`, true, "upstream_error", true},
		"half a document":             {"/api/generate", "application/json", `{"response":"a`, false, "upstream_error", true},
		"events of another API":       {"/api/chat", "text/event-stream", "data: {}\n\n", false, `{"error":"the model server sent a record that is no JSON"}` + "\n", true},
		"a page":                      {"/api/chat", "text/plain", "<html>", false, middle, true},
		"what is no reply and no API": {"/", "text/plain", "Ollama is running", false, "Ollama is running", false},
	} {
		t.Run(name, func(t *testing.T) {
			got, failed := passedOn(t, row.path, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", row.form)
				_, _ = io.WriteString(w, row.said)
				if flush(w); row.reset {
					panic(http.ErrAbortHandler)
				}
			})
			if got != row.want {
				t.Errorf("got %q, want %q", got, row.want)
			}
			if failed != row.broken {
				t.Errorf("broken: %v", failed)
			}
		})
	}
}

// passedOn is what a client gets of an answer, or the code of the fault; and whether something was
// wrong.
func passedOn(t *testing.T, path string, h http.HandlerFunc) (string, bool) {
	t.Helper()
	o := fake(t, h)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, o.base+path, strings.NewReader("{}"))
	must.OK(t, err)
	resp, err := WatchAnswers(o, wait.Timeouts{}, "m", "m").RoundTrip(req)
	if err != nil {
		return fault.From(err).OpenAICode(), true
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatalf("%q, then %v", text, err)
	}
	b, _ := resp.Body.(interface{ Broken() error })
	return string(text), b != nil && b.Broken() != nil
}

func TestAnswersThatAreNotPassedOn(t *testing.T) {
	for name, row := range map[string]struct {
		handler http.HandlerFunc
		want    string
	}{
		"elsewhere": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://evil.example/", http.StatusFound)
		}, "upstream_unable"},
		"a long header": {func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("X-A", strings.Repeat("x", 5<<20)) }, "upstream_unable"},
		"many headers": {func(w http.ResponseWriter, _ *http.Request) {
			for i := range 10_000 {
				w.Header().Set(fmt.Sprintf("X-%d", i), strings.Repeat("x", 40))
			}
		}, "upstream_unable"},
		"a page as an error": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			w.WriteHeader(http.StatusBadGateway)
			_, _ = io.WriteString(w, "<html>")
		}, "upstream_error"},
		"an error": {func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusNotFound)
			_, _ = io.WriteString(w, `{"error":"no such model"}`)
		}, `{"error":"no such model"}`},
		"an error of 1 MB": {func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusNotFound)
			_, _ = io.WriteString(w, `{"error":"`+strings.Repeat("x", 1<<20)+`"}`)
		}, "model_not_found"},
		"an error, cut": {func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusNotFound)
			_, _ = io.WriteString(w, `{"error":"no such`)
			flush(w)
			panic(http.ErrAbortHandler)
		}, "upstream_error"},
	} {
		if got, _ := passedOn(t, "/api/chat", row.handler); got != row.want {
			t.Errorf("%s: got %.200q, want %q", name, got, row.want)
		}
	}
}

// A record is passed on when it comes, and nothing that a server says before its answer is.
func TestRecordsArePassedOnAsTheyCome(t *testing.T) {
	seen := make(chan struct{})
	o := fake(t, func(w http.ResponseWriter, _ *http.Request) {
		for range 2000 {
			w.WriteHeader(http.StatusEarlyHints)
		}
		w.Header().Set("Set-Cookie", "a=b")
		w.Header().Set("Content-Type", "application/x-ndjson")
		_, _ = io.WriteString(w, "{}\n")
		flush(w)
		<-seen
		_, _ = io.WriteString(w, `{"done":true}`+"\n")
	})
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, o.base+"/api/chat", strings.NewReader("{}"))
	must.OK(t, err)
	resp, err := WatchAnswers(o, wait.Timeouts{Idle: 20 * time.Second}, "m", "m").RoundTrip(req)
	must.OK(t, err)
	defer resp.Body.Close()
	one := make([]byte, 100)
	if n, err := resp.Body.Read(one); err != nil || string(one[:n]) != "{}\n" || resp.Header.Get("Set-Cookie") != "" {
		t.Errorf("%q, %v, %v", one[:n], err, resp.Header)
	}
	close(seen)
	if rest, err := io.ReadAll(resp.Body); err != nil || string(rest) != `{"done":true}`+"\n" {
		t.Errorf("%q, %v", rest, err)
	}
}

// TestRecordsNameTheModelAsTheClientDoes reads answers in pieces of every length.
func TestRecordsNameTheModelAsTheClientDoes(t *testing.T) {
	const in = `{"model":"m","response":"{\"model\":\"m\"}"}` + "\n\n" + `{"model":"mm","x":1}` + "\n" + `{"models":"m"}` + "\n" + `{"model":"m","done":true}` + "\n"
	const want = `{"model":"box/m","response":"{\"model\":\"m\"}"}` + "\n\n" + `{"model":"mm","x":1}` + "\n" + `{"models":"m"}` + "\n" + `{"model":"box/m","done":true}` + "\n"
	read := func(kind, text string, n int) *http.Response {
		pieces, w := io.Pipe()
		go func() {
			for i := 0; i < len(text); i += n {
				io.WriteString(w, text[i:min(i+n, len(text))])
			}
			w.Close()
		}()
		resp := &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {kind}, "Content-Length": {"9"}}, Body: pieces}
		must.OK(t, passable(resp, true, namesOf("m", "box/m")))
		return resp
	}
	for n := 1; n <= len(in); n++ {
		resp := read("application/x-ndjson", in, n)
		got, err := io.ReadAll(resp.Body)
		if err != nil || string(got) != want || resp.Header.Get("Content-Length") != "" {
			t.Fatalf("pieces of %d: %q, %v\nwant %q", n, got, err, want)
		}
	}
	got, err := io.ReadAll(read("application/json", `{"model":"m","done":true}`, 7).Body)
	if err != nil || string(got) != `{"model":"box/m","done":true}` {
		t.Errorf("a document: %q, %v", got, err)
	}
}
