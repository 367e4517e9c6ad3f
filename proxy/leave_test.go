package proxy

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"toolnorm/engine/wait"
	"toolnorm/internal/test/left"
)

// wrongCall is a call that does not fit the schema of strictTool, as the hermes family writes it,
// in one record.
const (
	wrongCall  = `{"response":"<tool_call>\n{\"name\": \"set_days\", \"arguments\": {\"days\": 9}}\n</tool_call>","done":false}` + "\n" + `{"response":"","done":true,"done_reason":"stop"}` + "\n"
	strictTool = `"tools":[{"type":"function","function":{"name":"set_days","parameters":{"type":"object","required":["days"],"properties":{"days":{"type":"integer","maximum":7}}}}}]`
)

// TestAClientThatLeavesFreesTheServer leaves in each phase of a reply. The fastest of some tries
// counts: how long the machine is busy with other things is not the question.
func TestAClientThatLeavesFreesTheServer(t *testing.T) {
	phases := map[string]func(hang http.HandlerFunc) http.HandlerFunc{
		"before the head": func(hang http.HandlerFunc) http.HandlerFunc { return hang },
		"behind the head": func(hang http.HandlerFunc) http.HandlerFunc { return then(send(ndjson, ""), hang) },
		"in the middle": func(hang http.HandlerFunc) http.HandlerFunc {
			return then(send(ndjson, `{"response":"hi"}`+"\n"), hang)
		},
		"while a call is written once more": func(hang http.HandlerFunc) http.HandlerFunc {
			var first atomic.Bool
			return func(w http.ResponseWriter, r *http.Request) {
				if first.CompareAndSwap(false, true) {
					send(ndjson, wrongCall)(w, r)
					return
				}
				hang(w, r)
			}
		},
	}
	f := newFaulty(t)
	srv := f.before(t, wait.Timeouts{})
	goroutines := runtime.NumGoroutine()
	for phase, handler := range phases {
		for _, stream := range []bool{true, false} {
			best := time.Hour
			for range 5 {
				best = min(best, leaveLate(t, f, srv.URL, handler, stream))
			}
			t.Logf("%s, stream %v: the server is free after %v", phase, stream, best)
			if best > 50*time.Millisecond {
				t.Errorf("%s, stream %v: the server is free after %v", phase, stream, best)
			}
		}
	}
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	left.Settle(t, goroutines+4) // connections that are kept
}

// leaveLate asks, leaves when the server hangs, and says how long it took until the server was
// told.
func leaveLate(t *testing.T, f *faulty, base string, phase func(hang http.HandlerFunc) http.HandlerFunc, stream bool) time.Duration {
	t.Helper()
	hangs, told := make(chan struct{}, 1), make(chan time.Time, 1)
	f.answers(phase(func(_ http.ResponseWriter, r *http.Request) {
		hangs <- struct{}{}
		<-r.Context().Done()
		told <- time.Now()
	}))
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	go func() { // ends with ctx
		body := fmt.Sprintf(`{"model":"m","stream":%v,"messages":[{"role":"user","content":"q"}],%s}`, stream, strictTool)
		req, err := http.NewRequestWithContext(ctx, "POST", base+"/v1/chat/completions", strings.NewReader(body))
		if err != nil {
			return
		}
		if resp, err := http.DefaultClient.Do(req); err == nil {
			io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
		}
	}()
	<-hangs
	time.Sleep(20 * time.Millisecond) // so that what came has been read
	left := time.Now()
	leave()
	select {
	case at := <-told:
		return at.Sub(left)
	case <-time.After(5 * time.Second):
		t.Fatal("the server is never told")
		return 0
	}
}

// TestHeartbeatsGoOnWhileNothingCanLeave counts the signs of life in waits of a quarter of a
// second.
func TestHeartbeatsGoOnWhileNothingCanLeave(t *testing.T) {
	const beat, quiet = 20 * time.Millisecond, 250 * time.Millisecond
	good := send(ndjson, `{"response":"hi","done":true,"done_reason":"stop"}`+"\n")
	slow := func(http.ResponseWriter, *http.Request) { time.Sleep(quiet) }
	object := send(ndjson, `{"response":"{\"name\":\"set_days\",\"arguments\":{\"days\":7}}","done":true,"done_reason":"stop"}`+"\n")
	nth := func(handlers ...http.HandlerFunc) http.HandlerFunc {
		var n atomic.Int32
		return func(w http.ResponseWriter, r *http.Request) { handlers[min(int(n.Add(1)), len(handlers))-1](w, r) }
	}
	for name, row := range map[string]struct {
		render func(*http.Request)
		reply  http.HandlerFunc
	}{
		"loading":                     {func(*http.Request) { time.Sleep(quiet) }, good},
		"before the head":             {nil, then(slow, good)},
		"behind the head":             {nil, then(send(ndjson, ""), then(slow, good))},
		"a call is written once more": {nil, nth(send(ndjson, wrongCall), then(slow, object))},
		"the model is told":           {nil, nth(send(ndjson, wrongCall), send(ndjson, wrongCall), then(slow, good))},
		"a busy server":               {nil, nth(refuse(503, `{"error":"server busy"}`), refuse(503, `{"error":"server busy"}`), good)},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFaulty(t)
			f.render = row.render
			f.answers(row.reply)
			srv := f.before(t, wait.Timeouts{Beat: beat})
			_, body := do(t, "POST", srv.URL+"/v1/chat/completions", `{"model":"m","stream":true,"messages":[{"role":"user","content":"q"}],`+strictTool+`}`)
			if n := strings.Count(body, ": keep-alive"); n < 3 || strings.Count(body, "data: [DONE]") != 1 {
				t.Errorf("%d heartbeats:\n%s", n, body)
			}
		})
	}
}
