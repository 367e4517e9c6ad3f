package mcpserver

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestRateAllowsABurstAndThenItsPace(t *testing.T) {
	l, now := newLimiter(10), time.Unix(0, 0)
	allowed := func(key string) (n int) {
		for {
			if _, ok := l.allow(key, now); !ok {
				return n
			}
			n++
		}
	}
	if n := allowed("a"); n != 20 {
		t.Errorf("a burst of %d, want 20", n)
	}
	if wait, ok := l.allow("a", now); ok || wait != 100*time.Millisecond {
		t.Errorf("wait %v, %v", wait, ok)
	}
	if n := allowed("b"); n != 20 {
		t.Errorf("another key: %d", n)
	}
	now = now.Add(time.Second)
	if n := allowed("a"); n != 10 {
		t.Errorf("a second later %d, want 10", n)
	}
	now = now.Add(time.Hour)
	if n := allowed("a"); n != 20 {
		t.Errorf("an hour later %d, want 20", n)
	}
}

func TestRateForgetsWhoRests(t *testing.T) {
	l, now := newLimiter(1), time.Unix(0, 0)
	for i := range 3 * maxBuckets {
		l.allow(fmt.Sprint(i), now)
		if len(l.buckets) > maxBuckets {
			t.Fatalf("%d keys are remembered", len(l.buckets))
		}
		now = now.Add(time.Millisecond)
	}
}

func TestToolThatIsCalledTooOftenSaysSo(t *testing.T) {
	f := serve(t, Config{Bounds: Bounds{RateOfTool: 1}})
	call := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo"}}`
	for range 2 {
		if _, got := f.post(call, nil); strings.Contains(got, "isError") {
			t.Fatalf("within the burst: %s", got)
		}
	}
	want := `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"echo is called too often; try again in 1 s"}],"isError":true}}`
	if status, got := f.post(call, nil); status != 200 || got != want {
		t.Errorf("%d %s, want %s", status, got, want)
	}
	if _, got := f.post(strings.Replace(call, "echo", "fails", 1), nil); !strings.Contains(got, "on fire") {
		t.Errorf("another tool: %s", got)
	}
}
