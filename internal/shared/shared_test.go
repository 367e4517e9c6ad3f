package shared

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"toolnorm/internal/test/must"
	"toolnorm/internal/test/storetest"
)

var databases storetest.Databases

func TestMain(m *testing.M) { os.Exit(databases.Main(m)) }

// open returns the stores of two replicas.
func open(t *testing.T) (a, b *Store) {
	t.Helper()
	where := databases.Postgres(t)
	var all [2]*Store
	for i := range all {
		db := storetest.Open(t, where)
		var err error
		if all[i], err = Open(t.Context(), db); err != nil {
			t.Fatal(err)
		}
	}
	return all[0], all[1]
}

func TestWhatOneReplicaKeepsAnotherFinds(t *testing.T) {
	a, b := open(t)
	must.OK(t, a.Put("reply", "1", "ann", []byte("text"), time.Hour))
	if got, ok, err := b.Get("reply", "1", "ann"); string(got) != "text" || !ok || err != nil {
		t.Errorf("%q, %v, %v", got, ok, err)
	}
	for _, other := range [][3]string{{"reply", "1", "bob"}, {"reply", "2", "ann"}, {"call", "1", "ann"}} {
		if _, ok, err := b.Get(other[0], other[1], other[2]); ok || err != nil {
			t.Errorf("%q was found, %v", other, err)
		}
	}
	if ok, err := b.Remove("reply", "1", "bob"); ok || err != nil {
		t.Error("bob removed what is ann's", err)
	}
	if ok, err := b.Remove("reply", "1", "ann"); !ok || err != nil {
		t.Error(ok, err)
	}
	if _, ok, _ := a.Get("reply", "1", "ann"); ok {
		t.Error("it is still there")
	}
	a.Put("reply", "3", "ann", nil, -time.Second)
	if _, ok, _ := b.Get("reply", "3", "ann"); ok {
		t.Error("it outlived its time")
	}
}

func TestACallIsTakenOnce(t *testing.T) {
	a, b := open(t)
	must.OK(t, a.Put("call", "1", "", []byte("x"), time.Hour))
	var taken sync.WaitGroup
	var mu sync.Mutex
	n := 0
	for i := range 8 {
		taken.Go(func() {
			_, ok, err := []*Store{a, b}[i%2].Take("call", "1", "")
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				t.Error(err)
			}
			if ok {
				n++
			}
		})
	}
	taken.Wait()
	if n != 1 {
		t.Errorf("taken %d times", n)
	}
	if _, ok, _ := b.Get("call", "1", ""); !ok {
		t.Error("it is not known any more")
	}
}

func TestASecretIsTheSameInAllReplicas(t *testing.T) {
	a, b := open(t)
	var all [8][]byte
	var asked sync.WaitGroup
	for i := range all {
		asked.Go(func() {
			var err error
			if all[i], err = []*Store{a, b}[i%2].Secret("mcp"); err != nil || len(all[i]) != secretBytes {
				t.Error(len(all[i]), err)
			}
		})
	}
	asked.Wait()
	for _, s := range all {
		if !bytes.Equal(s, all[0]) {
			t.Error("two secrets of one name")
		}
	}
}

func TestNobodyKeepsTooMuch(t *testing.T) {
	a, _ := open(t)
	a.Put("reply", "bobs", "bob", []byte("x"), time.Hour)
	for n := range mostKept + 2*pruneEvery {
		must.OK(t, a.Put("reply", fmt.Sprint(n), "ann", []byte("x"), time.Hour))
	}
	if _, ok, _ := a.Get("reply", "0", "ann"); ok {
		t.Error("the oldest is still there")
	}
	for id, owner := range map[string]string{"bobs": "bob", fmt.Sprint(mostKept + 2*pruneEvery - 1): "ann"} {
		if _, ok, _ := a.Get("reply", id, owner); !ok {
			t.Errorf("%s of %s is gone", id, owner)
		}
	}
}

func TestAFileIsNotShared(t *testing.T) {
	db := storetest.Open(t, t.TempDir()+"/a.db")
	if s, err := Open(t.Context(), db); s != nil || err != nil {
		t.Errorf("%v, %v", s, err)
	}
}

func TestNotesOfOthersHaveTheirAge(t *testing.T) {
	a, b := open(t)
	for id, life := range map[string]time.Duration{"1": time.Minute, "2": 50 * time.Second, "gone": -time.Second} {
		must.OK(t, a.Put("limits", id, "", []byte("of "+id), life))
	}
	a.Put("other", "3", "", nil, time.Minute)
	got, err := b.Others("limits", "1", time.Minute)
	if err != nil || len(got) != 1 || string(got[0].Body) != "of 2" || got[0].Age < 10*time.Second || got[0].Age > 40*time.Second {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestMailArrivesOnce sends letters to a replica before it listens and afterwards, and to one that
// is not there.
func TestMailArrivesOnce(t *testing.T) {
	a, b := open(t)
	if a.Name() == b.Name() {
		t.Fatal("both have the name", a.Name())
	}
	must.OK(t, a.Send(b.Name(), []byte("early")))
	must.OK(t, a.Send(newName(), []byte("of nobody")))
	ctx, cancel := context.WithCancel(t.Context())
	got, ended := make(chan string, 200), make(chan struct{})
	go func() {
		defer close(ended)
		b.Receive(ctx, func(body []byte) { got <- string(body) }, func(err error) { t.Error(err) })
	}()
	if first := <-got; first != "early" {
		t.Errorf("%q", first)
	}
	want := map[string]bool{}
	var sending sync.WaitGroup
	for n := range 100 {
		want[fmt.Sprint(n)] = true
		sending.Go(func() {
			if err := a.Send(b.Name(), []byte(fmt.Sprint(n))); err != nil {
				t.Error(err)
			}
		})
	}
	for len(want) > 0 {
		if one := <-got; !want[one] {
			t.Errorf("%q came twice, or was not sent here", one)
		} else {
			delete(want, one)
		}
	}
	sending.Wait()
	cancel()
	<-ended
	for _, name := range []string{"", "ann", strings.Repeat("A", nameLength), b.Name() + "x"} {
		if err := a.Send(name, nil); err == nil {
			t.Errorf("%q is a replica", name)
		}
	}
}

// TestReplicasAskEachOther has two that run, one that was killed and one that has stopped.
func TestReplicasAskEachOther(t *testing.T) {
	a, b := open(t)
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	desks := map[*Store]*Desk{}
	for s, label := range map[*Store]string{a: "A", b: "B"} {
		d := &Desk{Mail: s}
		desks[s] = d
		d.Hear("add", func(_ context.Context, q json.RawMessage) any {
			var of [2]int
			if json.Unmarshal(q, &of) != nil {
				return nil
			}
			return of[0] + of[1]
		})
		d.Hear("say <", func(_ context.Context, q json.RawMessage) any { return q })
		running.Go(func() { s.List(ctx, label) })
		running.Go(func() { d.Run(ctx, func(err error) { t.Error(err) }) })
	}
	killed := &Store{db: a.db, name: newName()}
	body, _ := json.Marshal(Replica{killed.name, "C"})
	must.OK(t, a.Put(replicaKind, killed.name, "", body, time.Minute))
	until := func(want string) {
		t.Helper()
		for got := ""; got != want; time.Sleep(5 * time.Millisecond) {
			all, err := a.Replicas()
			if err != nil || t.Context().Err() != nil {
				t.Fatalf("%q, want %q, %v", got, want, err)
			}
			got = ""
			for _, r := range all {
				got += r.Label
			}
		}
	}
	until("BC")
	var asking sync.WaitGroup
	for n := range 50 {
		asking.Go(func() {
			from, to := a, b
			if n%2 == 0 {
				from, to = b, a
			}
			var got int
			if err := desks[from].Ask(t.Context(), to.Name(), "add", [2]int{n, 1}, &got); err != nil || got != n+1 {
				t.Errorf("%d + 1 = %d, %v", n, got, err)
			}
		})
	}
	asking.Wait()
	var text json.RawMessage
	if err := desks[a].Ask(t.Context(), b.Name(), "say <", json.RawMessage(`"<é>"`), &text); err != nil || string(text) != `"<é>"` {
		t.Errorf("%s %v", text, err)
	}
	for what, to := range map[string]string{"nobody hears of it": b.Name(), "it was killed": killed.name} {
		short, stop := context.WithTimeout(t.Context(), 300*time.Millisecond)
		if err := desks[a].Ask(short, to, what, 1, nil); err == nil || short.Err() == nil {
			t.Errorf("%s: %v", what, err)
		}
		stop()
	}
	cancel()
	running.Wait()
	if all, err := b.Replicas(); err != nil || len(all) != 1 || all[0].Label != "C" {
		t.Errorf("%+v, %v: one that has stopped is listed", all, err)
	}
}
