package runner

import (
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"toolnorm/internal/test/must"
)

func TestAPendingCallIsGivenOutOnce(t *testing.T) {
	var p Pending
	args := json.RawMessage(`{"a":1}`)
	id, err := p.Keep("f", args)
	if err != nil || !only(id, idLetters) || len(id) < 22 {
		t.Fatalf("Keep = %q, %v", id, err)
	}
	copy(args, "xxxxxxx") // the caller's own
	if name, got, err := p.Take(id); name != "f" || string(got) != `{"a":1}` || err != nil {
		t.Errorf("Take = %s %s, %v", name, got, err)
	}
	for _, id := range []string{id, "", "guess"} {
		if _, _, err := p.Take(id); err == nil {
			t.Errorf("Take(%q) gave something", id)
		}
	}
	if name, got, ok := p.Find(id); name != "f" || string(got) != `{"a":1}` || !ok {
		t.Errorf("Find = %s %s, %t", name, got, ok)
	}
	if _, _, ok := p.Find("guess"); ok {
		t.Error("Find gave something for a guess")
	}
}

func TestPendingCallsGrowOld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p Pending
		old, _ := p.Keep("old", nil)
		time.Sleep(pendingLife - time.Second)
		young, _ := p.Keep("young", nil)
		time.Sleep(time.Second)
		if _, _, err := p.Take(old); err == nil {
			t.Error("a call of an hour ago was given out")
		}
		if _, _, err := p.Take(young); err != nil {
			t.Error(err)
		}
	})
}

func TestPendingCallsAreBounded(t *testing.T) {
	var p Pending
	if _, err := p.Keep("f", make(json.RawMessage, mostArgument+1)); !errors.Is(err, ErrTooLong) {
		t.Errorf("Keep = %v", err)
	}
	first, _ := p.Keep("first", nil)
	for range mostPending {
		must.Have(p.Keep("f", json.RawMessage(`{}`)))(t)
	}
	if _, _, err := p.Take(first); err == nil || len(p.order) != mostPending {
		t.Errorf("%d calls are kept, the oldest among them: %v", len(p.order), err)
	}
	large := json.RawMessage(strings.Repeat("x", mostArgument))
	for range 2 * mostKept / mostArgument {
		must.Have(p.Keep("f", large))(t)
	}
	if p.bytes > mostKept {
		t.Errorf("%d bytes are kept", p.bytes)
	}
}

func TestPendingCallsMayBeTakenByManyAtOnce(t *testing.T) {
	var p Pending
	var all sync.WaitGroup
	var mu sync.Mutex
	taken := 0
	for range 8 {
		id := must.Have(p.Keep("f", nil))(t)
		for range 4 {
			all.Go(func() {
				if _, _, err := p.Take(id); err == nil {
					mu.Lock()
					taken++
					mu.Unlock()
				}
			})
		}
	}
	if all.Wait(); taken != 8 {
		t.Errorf("%d of 8 calls were given out", taken)
	}
}
