package upstream

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
	"toolnorm/internal/fault"
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
		limits      Timeouts
		want        string        // of the reply's notes
		within      time.Duration // how long it takes at most
		beats       int32
	}{
		"free again":            {20 * time.Second, serverBusy, "", Timeouts{}, "text 0 \"hi\"\nfinish", 23 * time.Second, 2},
		"never free":            {time.Hour, serverBusy, "", Timeouts{}, "error 503 upstream_busy: the model server says: server busy, please try again.  maximum pending requests exceeded; it was waited for", time.Minute, 7},
		"not to be waited for":  {20 * time.Second, serverBusy, "", Timeouts{Queue: -1}, "error 503 upstream_busy: the model server says: server busy", 0, 0},
		"it says when":          {20 * time.Second, serverBusy, "21", Timeouts{}, "text 0 \"hi\"\nfinish", 21 * time.Second, 2},
		"it says much later":    {20 * time.Second, serverBusy, "90", Timeouts{}, "error 503", 0, 0},
		"loading":               {100 * time.Second, loading, "", Timeouts{}, "text 0 \"hi\"\nfinish", 103 * time.Second, 12},
		"loading, for too long": {time.Hour, loading, "", Timeouts{Load: 30 * time.Second}, "error 503 model_loading", 30 * time.Second, 3},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				net := &busyFor{until: time.Now().Add(row.busy), body: row.body, after: row.after}
				o, err := NewOllama("http://x", net)
				if err != nil {
					t.Fatal(err)
				}
				var beats atomic.Int32
				ctx, p := NewPulse(t.Context(), &chat.Pulse{Beat: func() error { beats.Add(1); return nil }}, row.limits)
				defer p.Stop()
				began := time.Now()
				src, err := o.Generate(ctx, p, &GenerateRequest{})
				took, got := time.Since(began), ""
				if err != nil {
					got = note(nil, err)
				} else {
					got = drain(src)
				}
				if !strings.HasPrefix(got, row.want) || took > row.within || beats.Load() != row.beats {
					t.Errorf("after %v and %d heartbeats: %s\nwant within %v and %d: %s", took, beats.Load(), got, row.within, row.beats, row.want)
				}
				if n := net.asked.Load(); n > 100 {
					t.Errorf("the server was asked %d times", n)
				}
				if q := o.queue.waiting.Load(); q != 0 {
					t.Errorf("%d requests wait still", q)
				}
			})
		})
	}
}

func TestOnlySoManyWaitForABusyServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, err := NewOllama("http://x", &busyFor{until: time.Now().Add(10 * time.Second), body: serverBusy})
		if err != nil {
			t.Fatal(err)
		}
		var good, full atomic.Int32
		var all sync.WaitGroup
		for range 9 {
			all.Go(func() {
				ctx, p := NewPulse(t.Context(), nil, Timeouts{Places: 5})
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
		o, err := NewOllama("http://x", &busyFor{until: time.Now().Add(time.Hour), body: serverBusy})
		if err != nil {
			t.Fatal(err)
		}
		parent, leave := context.WithCancel(t.Context())
		time.AfterFunc(3*time.Second, leave)
		ctx, p := NewPulse(parent, nil, Timeouts{})
		defer p.Stop()
		began := time.Now()
		_, err = o.Generate(ctx, p, &GenerateRequest{})
		if f := fault.From(err); f.Kind != fault.Canceled || time.Since(began) != 3*time.Second || o.queue.waiting.Load() != 0 {
			t.Errorf("after %v: %v; %d wait", time.Since(began), err, o.queue.waiting.Load())
		}
	})
}
