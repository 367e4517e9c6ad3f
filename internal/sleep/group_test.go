package sleep

import (
	"context"
	"sync/atomic"
	"testing"
	"time"
)

func TestAGroupIsAwaited(t *testing.T) {
	var g Group
	var ended atomic.Int32
	work := func(ctx context.Context) {
		<-ctx.Done()
		time.Sleep(10 * time.Millisecond)
		ended.Add(1)
	}
	one, cancel := context.WithCancel(t.Context())
	g.Go(one, work)
	g.Go(t.Context(), work)
	cancel()
	g.Close()
	if n := ended.Load(); n != 2 {
		t.Errorf("%d of 2 have ended when Close returns", n)
	}
	g.Go(t.Context(), work)
	if n := ended.Load(); n != 3 {
		t.Errorf("work behind the end is not run to its end: %d", n)
	}
	g.Close()
	new(Group).Close()
}
