package wait

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"toolnorm/chat"
	"toolnorm/internal/fault"
)

// slots is a server with so many places that says busy when they are taken.
type slots struct {
	mu   sync.Mutex
	free int
	took []string // who got a place, in order
	asks int
}

// send returns a request of that name.
func (s *slots) send(name string) func() (*http.Response, error) {
	return func() (*http.Response, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.asks++
		if s.free == 0 {
			return nil, fault.New(fault.Busy, "the server is busy")
		}
		s.free--
		s.took = append(s.took, name)
		return &http.Response{}, nil
	}
}

// waits passes a request of a client to a queue, and returns what its heartbeats said.
func waits(ctx context.Context, q *Queue, s *slots, model, client, name string) (said []string, err error) {
	ctx, p := NewPulse(ctx, &chat.Pulse{Client: client, Beat: func(text string) error { said = append(said, text); return nil }}, Timeouts{Queue: time.Hour})
	defer p.Stop()
	p.For(model)
	_, err = q.Pass(ctx, p, s.send(name))
	return said, err
}

// TestAQueueIsFairByClient has one client send eight requests, and then another one two. With a
// place free every ten seconds, the second client gets every second place.
func TestAQueueIsFairByClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, s := new(Queue), new(slots)
		var all sync.WaitGroup
		said := map[string][]string{}
		var mu sync.Mutex
		ask := func(client string, n int) {
			for i := range n {
				name := fmt.Sprint(client, i)
				all.Go(func() {
					got, err := waits(t.Context(), q, s, "m", client, name)
					mu.Lock()
					defer mu.Unlock()
					if said[name] = got; err != nil {
						t.Errorf("%s: %v", name, err)
					}
				})
				synctest.Wait()
			}
		}
		ask("a", 8)
		time.Sleep(time.Second)
		ask("b", 2)
		for range 10 {
			time.Sleep(10 * time.Second)
			s.mu.Lock()
			s.free++
			s.mu.Unlock()
		}
		all.Wait()
		if want := strings.Fields("a0 b0 a1 b1 a2 a3 a4 a5 a6 a7"); !slices.Equal(s.took, want) {
			t.Errorf("got places in the order %v, want %v", s.took, want)
		}
		if first, last := said["a7"][0], said["a7"][len(said["a7"])-1]; first != "the model server is busy: place 10 of 10" || last != "the model server is busy: place 1 of 1, about 10 s" {
			t.Errorf("the last one was told %q", said["a7"])
		}
		if q.Waiting.Load() != 0 || len(q.lines.byModel) != 0 {
			t.Errorf("%d wait, %d lines", q.Waiting.Load(), len(q.lines.byModel))
		}
	})
}

// TestOneOfALineAsks has fifty requests of one model wait: the server hears of one. Those of
// another model do not wait behind them.
func TestOneOfALineAsks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, s, other := new(Queue), new(slots), &slots{free: 1}
		ctx, leave := context.WithCancel(t.Context())
		var all sync.WaitGroup
		for i := range 50 {
			all.Go(func() {
				if _, err := waits(ctx, q, s, "m", fmt.Sprint(i), "x"); err != nil && fault.From(err).Kind != fault.Canceled {
					t.Error(err)
				}
			})
			synctest.Wait()
		}
		if _, err := waits(t.Context(), q, other, "n", "me", "y"); err != nil || !slices.Equal(other.took, []string{"y"}) {
			t.Error(err, other.took)
		}
		time.Sleep(time.Minute)
		s.mu.Lock()
		if s.asks < 60 || s.asks > 120 {
			t.Errorf("asked %d times in a minute, want about 80", s.asks)
		}
		s.free = 1
		s.mu.Unlock()
		time.Sleep(2 * time.Second)
		s.mu.Lock()
		if len(s.took) != 1 || q.Waiting.Load() != 49 {
			t.Errorf("%v, %d wait", s.took, q.Waiting.Load())
		}
		s.mu.Unlock()
		leave()
		all.Wait()
		if len(q.lines.byModel) != 0 {
			t.Error("the line is still there")
		}
	})
}

// TestTheFirstOfALineLeaves has the first request go while others wait: the next one asks.
func TestTheFirstOfALineLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, s := new(Queue), new(slots)
		ctx, leave := context.WithCancel(t.Context())
		var all sync.WaitGroup
		all.Go(func() { _, _ = waits(ctx, q, s, "m", "a", "a") })
		synctest.Wait()
		all.Go(func() {
			if _, err := waits(t.Context(), q, s, "m", "b", "b"); err != nil {
				t.Error(err)
			}
		})
		synctest.Wait()
		leave()
		synctest.Wait()
		s.mu.Lock()
		s.free = 1
		s.mu.Unlock()
		all.Wait()
		if !slices.Equal(s.took, []string{"b"}) {
			t.Error(s.took)
		}
	})
}
