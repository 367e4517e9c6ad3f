package ollama

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"toolnorm/engine/wait"
	"toolnorm/internal/fault"
	"toolnorm/internal/test/must"
)

func TestRepliesThatArePassedOnEndToo(t *testing.T) {
	hang := func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		if r.Header.Get("Begin") != "" {
			io.WriteString(w, "some")
			http.NewResponseController(w).Flush()
		}
		<-r.Context().Done()
	}
	slow := func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(150 * time.Millisecond)
		io.WriteString(w, "done")
	}
	limits := wait.Timeouts{Load: 20 * time.Millisecond, FirstByte: 40 * time.Millisecond}
	for name, row := range map[string]struct {
		path, begin string
		handler     http.HandlerFunc
		want        string // the answer, or the code of the fault
	}{
		"before the head": {"/api/generate", "", hang, wait.FirstByteTimeout},
		"in the middle":   {"/api/chat", "yes", hang, `{"error":"the model server sent nothing for 60ms in the middle of its reply (settings load-timeout and first-byte-timeout, since it may hold a call back)"}` + "\n"},
		"no reply":        {"/api/pull", "", slow, "done"},
	} {
		o := fake(t, row.handler)
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, o.base+row.path, strings.NewReader("{}"))
		must.OK(t, err)
		req.Header.Set("Begin", row.begin)
		got := ""
		resp, err := WatchAnswers(o, limits, "m", "m").RoundTrip(req)
		if err == nil {
			var b []byte
			b, err = io.ReadAll(resp.Body)
			got = string(b)
			resp.Body.Close()
		}
		if err != nil {
			got += fault.From(err).OpenAICode()
		}
		if got != row.want {
			t.Errorf("%s: %q, %v, want %q", name, got, err, row.want)
		}
	}
}

// TestAReplyThatIsPassedOnEndsWithTheRequestsCause stops a request in the middle of an answer, as a
// server does that is stopped.
func TestAReplyThatIsPassedOnEndsWithTheRequestsCause(t *testing.T) {
	o := fake(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/x-ndjson")
		_, _ = io.WriteString(w, `{"message":{"content":"a"}}`+"\n")
		flush(w)
		<-r.Context().Done()
	})
	ctx, stop := context.WithCancelCause(t.Context())
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, o.base+"/api/chat", strings.NewReader("{}"))
	must.OK(t, err)
	resp, err := WatchAnswers(o, wait.Timeouts{}, "m", "m").RoundTrip(req)
	must.OK(t, err)
	defer resp.Body.Close()
	lines := bufio.NewReader(resp.Body)
	if _, err := lines.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	stop(fault.New(fault.Unavailable, "stopped; ask again"))
	if rest, err := io.ReadAll(lines); err != nil || string(rest) != `{"error":"stopped; ask again"}`+"\n" {
		t.Errorf("%v; the answer ends with %s", err, rest)
	}
}
