package wait

import (
	"context"
	"errors"
	"io"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"toolnorm/chat"
	"toolnorm/internal/fault"
)

// slow is a reader that waits as long as it is told before each Read.
type slow struct {
	ctx   context.Context
	waits []time.Duration
}

func (s *slow) Read(b []byte) (int, error) {
	if len(s.waits) == 0 {
		return 0, io.EOF
	}
	wait := s.waits[0]
	s.waits = s.waits[1:]
	select {
	case <-time.After(wait):
		return copy(b, "x"), nil
	case <-s.ctx.Done():
		return 0, s.ctx.Err()
	}
}

// readAll reads until the end, as a stream would.
func readAll(ctx context.Context, p *Pulse, first, later time.Duration, speak bool, waits ...time.Duration) error {
	r := &Reader{r: &slow{ctx, waits}, pulse: p, first: Limit{first, FirstByteTimeout, "first: %v"}, later: Limit{later, idleTimeout, "later: %v"}}
	for b := make([]byte, 8); ; {
		if _, err := r.Read(b); err != nil {
			return err
		}
		if speak {
			p.Spoke()
		}
	}
}

func TestPulseBeatsOnlyInSilence(t *testing.T) {
	rows := []struct {
		name  string
		speak bool
		waits []time.Duration
		beats int32
	}{
		{"a quick reply", true, []time.Duration{time.Second, time.Second, time.Second}, 0},
		{"one long wait", true, []time.Duration{35 * time.Second}, 3},
		{"short waits with something said", true, []time.Duration{9 * time.Second, 9 * time.Second, 9 * time.Second}, 0},
		{"short waits with nothing said", false, []time.Duration{9 * time.Second, 9 * time.Second, 9 * time.Second}, 2},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var beats, idles atomic.Int32
				client := &chat.Pulse{Idle: func() { idles.Add(1) }, Beat: func(string) error { beats.Add(1); return nil }}
				ctx, p := NewPulse(t.Context(), client, Timeouts{Beat: 10 * time.Second})
				defer p.Stop()
				if err := readAll(ctx, p, time.Hour, time.Hour, row.speak, row.waits...); err != io.EOF {
					t.Errorf("the read ended with %v", err)
				}
				if got := beats.Load(); got != row.beats {
					t.Errorf("%d beats, want %d", got, row.beats)
				}
				if got := int(idles.Load()); got != len(row.waits)+1 {
					t.Errorf("%d flushes, want one before each of %d reads", got, len(row.waits)+1)
				}
			})
		})
	}
}

func TestPulseEndsLongWaits(t *testing.T) {
	rows := []struct {
		name  string
		waits []time.Duration
		after time.Duration
		says  string
	}{
		{"before the first byte", []time.Duration{time.Hour}, 60 * time.Second, "first: 1m0s"},
		{"between two bytes", []time.Duration{50 * time.Second, 10 * time.Second, time.Hour}, 80 * time.Second, "later: 20s"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begin := time.Now()
				ctx, p := NewPulse(t.Context(), nil, Timeouts{Load: -1, FirstByte: time.Minute, Idle: 20 * time.Second})
				defer p.Stop()
				err := AsFault(ctx, "", readAll(ctx, p, time.Minute, 20*time.Second, true, row.waits...))
				if err.Kind != fault.Timeout || err.Message != row.says {
					t.Errorf("ended with %v, want a timeout that says %q", err, row.says)
				}
				if late := time.Since(begin) - row.after; late < 0 || late > time.Second {
					t.Errorf("ended %v off", late)
				}
			})
		})
	}
}

func TestPulseCancelsWhenTheClientIsGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gone := errors.New("broken pipe")
		ctx, p := NewPulse(t.Context(), &chat.Pulse{Beat: func(string) error { return gone }}, Timeouts{Beat: time.Second})
		defer p.Stop()
		err := AsFault(ctx, "", readAll(ctx, p, 0, 0, true, time.Hour))
		if err.Kind != fault.Canceled || !errors.Is(err, gone) {
			t.Errorf("ended with %v, want the client's error", err)
		}
	})
}

// TestPulseBeatsAlone has beats that take long and reads that come back meanwhile: the race
// detector and the flag both see a beat beside anything else of the reply. It runs in real time,
// since a lock does not let synctest's clock go on.
func TestPulseBeatsAlone(t *testing.T) {
	busy, beats := false, 0
	client := &chat.Pulse{Beat: func(string) error {
		if busy {
			t.Error("a beat beside the reply")
		}
		busy = true
		beats++
		time.Sleep(3 * time.Millisecond)
		busy = false
		return nil
	}}
	ctx, p := NewPulse(t.Context(), client, Timeouts{Beat: time.Millisecond})
	defer p.Stop()
	var waits []time.Duration
	for i := range 40 {
		waits = append(waits, time.Duration(i%5)*time.Millisecond)
	}
	r := &Reader{r: &slow{ctx, waits}, pulse: p}
	for b := make([]byte, 8); ; {
		if _, err := r.Read(b); err != nil {
			break
		}
		if busy {
			t.Error("the read came back while a beat was under way")
		}
		busy = true
		time.Sleep(time.Millisecond)
		busy = false
	}
	if beats == 0 {
		t.Error("no beat at all: the test shows nothing")
	}
}
