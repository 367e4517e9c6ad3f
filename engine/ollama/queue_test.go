package ollama

import (
	"context"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"toolnorm/chat"
	"toolnorm/engine/wait"
	"toolnorm/internal/fault"
	"toolnorm/internal/test/must"
	"toolnorm/internal/test/upstreamtest"
)

// busyFor is a network whose server is busy until some time has passed.
type busyFor struct {
	until time.Time
	body  string // of the refusal
	after string // its Retry-After
	asked atomic.Int32
}

func (b *busyFor) RoundTrip(r *http.Request) (*http.Response, error) {
	b.asked.Add(1)
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	resp := &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(`{"response":"hi"}` + "\n" + `{"done":true}` + "\n")), Request: r}
	if time.Now().Before(b.until) {
		resp.StatusCode, resp.Body = 503, io.NopCloser(strings.NewReader(b.body))
		resp.Header.Set("Retry-After", b.after)
	}
	return resp, nil
}

const (
	serverBusy = `{"error":"server busy, please try again.  maximum pending requests exceeded"}`
	loading    = `{"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}`
)

func TestABusyServerIsWaitedFor(t *testing.T) {
	for name, row := range map[string]struct {
		busy        time.Duration
		body, after string
		limits      wait.Timeouts
		want        string        // of the reply's notes
		within      time.Duration // how long it takes at most
		beats       int32
	}{
		"free again":            {20 * time.Second, serverBusy, "", wait.Timeouts{}, "text 0 \"hi\"\nfinish", 23 * time.Second, 2},
		"never free":            {time.Hour, serverBusy, "", wait.Timeouts{}, "error 503 upstream_busy: the model server says: server busy, please try again.  maximum pending requests exceeded; it was waited for", time.Minute, 7},
		"not to be waited for":  {20 * time.Second, serverBusy, "", wait.Timeouts{Queue: -1}, "error 503 upstream_busy: the model server says: server busy", 0, 0},
		"it says when":          {20 * time.Second, serverBusy, "21", wait.Timeouts{}, "text 0 \"hi\"\nfinish", 21 * time.Second, 2},
		"it says much later":    {20 * time.Second, serverBusy, "90", wait.Timeouts{}, "error 503", 0, 0},
		"loading":               {100 * time.Second, loading, "", wait.Timeouts{}, "text 0 \"hi\"\nfinish", 103 * time.Second, 12},
		"loading, for too long": {time.Hour, loading, "", wait.Timeouts{Load: 30 * time.Second}, "error 503 model_loading", 30 * time.Second, 3},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				net := &busyFor{until: time.Now().Add(row.busy), body: row.body, after: row.after}
				o, err := New("http://x", net)
				must.OK(t, err)
				var beats atomic.Int32
				ctx, p := wait.NewPulse(t.Context(), &chat.Pulse{Beat: func(string) error { beats.Add(1); return nil }}, row.limits)
				defer p.Stop()
				began := time.Now()
				src, err := o.Generate(ctx, p, &GenerateRequest{})
				took, got := time.Since(began), ""
				if err != nil {
					got = upstreamtest.Note(nil, err)
				} else {
					got = upstreamtest.Drain(src)
				}
				if !strings.HasPrefix(got, row.want) || took > row.within || beats.Load() != row.beats {
					t.Errorf("after %v and %d heartbeats: %s\nwant within %v and %d: %s", took, beats.Load(), got, row.within, row.beats, row.want)
				}
				if n := net.asked.Load(); n > 100 {
					t.Errorf("the server was asked %d times", n)
				}
				if q := o.calls.Queue.Waiting.Load(); q != 0 {
					t.Errorf("%d requests wait still", q)
				}
			})
		})
	}
}

func TestOnlySoManyWaitForABusyServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, err := New("http://x", &busyFor{until: time.Now().Add(10 * time.Second), body: serverBusy})
		must.OK(t, err)
		var good, full atomic.Int32
		var all sync.WaitGroup
		for range 9 {
			all.Go(func() {
				ctx, p := wait.NewPulse(t.Context(), nil, wait.Timeouts{Places: 5})
				defer p.Stop()
				src, err := o.Generate(ctx, p, &GenerateRequest{})
				switch f := fault.From(err); {
				case err == nil:
					good.Add(1)
					src.Close()
				case f.Kind == fault.Busy && strings.Contains(f.Message, "(setting queue)"):
					full.Add(1)
				}
			})
		}
		all.Wait()
		if good.Load() != 5 || full.Load() != 4 {
			t.Errorf("%d of 9 were answered and %d turned away, want 5 and 4", good.Load(), full.Load())
		}
	})
}

func TestAClientThatLeavesTheQueueIsForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, err := New("http://x", &busyFor{until: time.Now().Add(time.Hour), body: serverBusy})
		must.OK(t, err)
		parent, leave := context.WithCancel(t.Context())
		time.AfterFunc(3*time.Second, leave)
		ctx, p := wait.NewPulse(parent, nil, wait.Timeouts{})
		defer p.Stop()
		began := time.Now()
		_, err = o.Generate(ctx, p, &GenerateRequest{})
		if f := fault.From(err); f.Kind != fault.Canceled || time.Since(began) != 3*time.Second || o.calls.Queue.Waiting.Load() != 0 {
			t.Errorf("after %v: %v; %d wait", time.Since(began), err, o.calls.Queue.Waiting.Load())
		}
	})
}
