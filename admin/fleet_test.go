package admin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"toolnorm/chat"
	"toolnorm/engine"
	"toolnorm/internal/test/mailtest"
	"toolnorm/internal/trace"
)

// replicaIn is a replica with a log of its own.
func replicaIn(t *testing.T, office *mailtest.Office, name string) (*Server, *trace.Log) {
	t.Helper()
	log := trace.New(5, true)
	s := New(Config{Trace: log, Others: office.Join(t, name), Reasons: engine.Reasons()})
	log.Name("replica " + name)
	s.Name("replica " + name)
	t.Cleanup(s.Close)
	return s, log
}

// add adds an exchange of a conversation of its own to a log.
func add(log *trace.Log, id string) {
	e := log.Begin(id, "chat", "/", time.Now())
	e.Asked(&chat.Request{Model: "m", Messages: []chat.Message{{Role: chat.User, Content: "said to " + id}}}, true)
	e.Event(&chat.Event{Kind: chat.Finish, Text: chat.Stop, Meta: &chat.Meta{Repairs: []string{"rewritten"}}})
	e.End(200, nil, 0, 0)
	log.Add(e)
}

// put is what a page has put together of a stream of lists.
type put struct {
	followed
	all     map[string]string // id -> replica
	running map[string]string
}

// until reads a stream of lists until it shows something.
func (s *put) until(t *testing.T, from <-chan string, what string, so func() bool) {
	t.Helper()
	if s.all == nil {
		s.all, s.running = map[string]string{}, map[string]string{}
	}
	for late := time.After(20 * time.Second); !so(); {
		select {
		case got := <-from:
			s.followed = followed{}
			if err := json.Unmarshal([]byte(strings.TrimPrefix(got, "change ")), &s.followed); err != nil {
				t.Fatal(err, got)
			}
			for _, e := range s.Exchanges {
				s.all[e.ID] = e.Replica
			}
			for _, r := range s.Running {
				s.running[r.ID] = r.Replica
			}
			for _, id := range s.Gone {
				delete(s.running, id)
			}
		case <-late:
			t.Fatalf("%s never comes: %+v", what, s)
		}
	}
}

// TestLiveShowsAllReplicas looks by the page of one replica at what others do.
func TestLiveShowsAllReplicas(t *testing.T) {
	var office mailtest.Office
	a, logA := replicaIn(t, &office, "a")
	_, logB := replicaIn(t, &office, "b")
	_, logC := replicaIn(t, &office, "c")
	srv := httptest.NewServer(a)
	t.Cleanup(srv.Close)
	for n := range 7 { // more than are kept
		add(logB, fmt.Sprint("b", n))
	}
	add(logA, "a0")
	run := logB.Begin("runs", "chat", "/", time.Now())
	ended := make(chan bool, 1)
	logB.Show(run, func() { ended <- true })
	if office.Sent() > 0 {
		t.Errorf("%d letters while nobody looks", office.Sent())
	}

	list := listen(t, srv.URL+"/admin/api/exchanges/live")
	var page put
	page.until(t, list, "all of b", func() bool { return len(page.all) == 6 && page.running["runs"] == "replica b" })
	if page.all["a0"] != "replica a" || page.all["b6"] != "replica b" || page.all["b1"] != "" || page.Seen != 8 || page.Keeps != 15 || page.Counts["rewritten"] != 8 {
		t.Errorf("%+v", page)
	}
	add(logC, "c0")
	page.until(t, list, "c0", func() bool { return page.all["c0"] == "replica c" })
	if got := fmt.Sprint(page.Replicas); got != "[{replica a false} {replica b false} {replica c false}]" {
		t.Errorf("the replicas are %s", got)
	}

	status, body := asked(t, a, "GET", "/admin/api/exchanges/b6", "")
	if status != 200 || !strings.Contains(body, `"said to b6"`) || !strings.Contains(body, `"replica":"replica b"`) || !strings.Contains(body, `"means":`) {
		t.Errorf("%d %s", status, body)
	}
	answers(t, a, "GET", "/admin/api/exchanges/none", "", 404, "")

	one := listen(t, srv.URL+"/admin/api/exchanges/runs/live")
	hear := run.Bodies.Heard("raw")
	next(t, one, "change ", `"id":"runs"`)
	for _, word := range []string{"<first>", "second"} {
		hear(chat.Event{Kind: chat.Text, Text: word})
		next(t, one, "change ", strings.Trim(word, "<>"))
	}
	if status, body := asked(t, a, "POST", "/admin/api/exchanges/runs/stop", ""); status != 200 || len(ended) != 1 {
		t.Errorf("%d %s, stopped %d times", status, body, len(ended))
	}
	run.End(499, nil, 0, 0)
	logB.Add(run)
	next(t, one, "end ")
	page.until(t, list, "the end", func() bool { return len(page.running) == 0 && page.all["runs"] == "replica b" })
	answers(t, a, "POST", "/admin/api/exchanges/runs/stop", "", 404, "")
}

// TestAReplicaThatIsAwayHoldsUpNothing has one of three killed, and one that never answered.
func TestAReplicaThatIsAwayHoldsUpNothing(t *testing.T) {
	var office mailtest.Office
	a, logA := replicaIn(t, &office, "a")
	_, logB := replicaIn(t, &office, "b")
	office.Silent("c")
	srv := httptest.NewServer(a)
	t.Cleanup(srv.Close)
	add(logA, "a0")
	add(logB, "b0")
	logB.Show(logB.Begin("runs", "chat", "/", time.Now()), func() {})
	list := listen(t, srv.URL+"/admin/api/exchanges/live")
	var page put
	began := time.Now()
	page.until(t, list, "a and b", func() bool { return page.all["a0"]+page.all["b0"] == "replica areplica b" })
	if took := time.Since(began); took > answerWait-time.Second {
		t.Errorf("the replica that does not answer held up the page for %v", took)
	}
	page.until(t, list, "that c is away", func() bool { return len(page.Replicas) == 3 && page.Replicas[2].Away })
	office.Kill("b")
	page.until(t, list, "that b is away", func() bool { return page.Replicas[1].Away && len(page.running) == 0 })
	if page.Replicas[0].Away {
		t.Error("this one is said to be away")
	}
	add(logA, "a1")
	page.until(t, list, "a1", func() bool { return page.all["a1"] != "" })
	began = time.Now()
	if status, _ := asked(t, a, "GET", "/admin/api/exchanges/b0", ""); status != 404 || time.Since(began) > time.Second {
		t.Errorf("what a replica had that is known to be away: %d after %v", status, time.Since(began))
	}
}

// TestTextsAreKeptByAllReplicas switches them on at one.
func TestTextsAreKeptByAllReplicas(t *testing.T) {
	var office mailtest.Office
	log := trace.New(5, false)
	New(Config{Trace: log, Others: office.Join(t, "b")})
	a, _ := replicaIn(t, &office, "a")
	if status, body := asked(t, a, "POST", "/admin/api/texts", `{"minutes":3}`); status != 200 {
		t.Fatalf("%d %s", status, body)
	}
	for ctx, n := t.Context(), 0; ; n++ {
		e := log.Begin(fmt.Sprint(n), "chat", "/", time.Now())
		if e.Bodies != nil {
			return
		}
		if ctx.Err() != nil || n > 1000 {
			t.Fatal("the other replica keeps none")
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// TestNobodyIsAskedWhenThePageIsGone looks, leaves, and counts letters.
func TestNobodyIsAskedWhenThePageIsGone(t *testing.T) {
	var office mailtest.Office
	a, _ := replicaIn(t, &office, "a")
	_, logB := replicaIn(t, &office, "b")
	add(logB, "b0")
	ctx, leave := context.WithCancel(t.Context())
	done := make(chan bool)
	go func() {
		defer close(done)
		r := httptest.NewRequestWithContext(ctx, "GET", "/admin/api/exchanges/live", nil)
		a.ServeHTTP(httptest.NewRecorder(), r)
	}()
	for office.Sent() < 4 {
		time.Sleep(5 * time.Millisecond)
	}
	leave()
	<-done
	time.Sleep(100 * time.Millisecond) // the last answers
	before := office.Sent()
	time.Sleep(2 * askEvery)
	if n := office.Sent() - before; n > 0 {
		t.Errorf("%d letters while nobody looks", n)
	}
}

// unsure answers from a log, or not.
type unsure struct {
	live
	fails func() bool
}

func (u *unsure) Replicas() ([]struct{ Name, Label string }, error)       { return nil, nil }
func (u *unsure) TellAll(string, any) error                               { return nil }
func (u *unsure) Hear(string, func(context.Context, json.RawMessage) any) {}
func (u *unsure) Ask(ctx context.Context, _, _ string, question, answer any) error {
	if u.fails() {
		return errors.New("no answer")
	}
	ask, err := json.Marshal(question)
	if err != nil {
		return err
	}
	body, err := json.Marshal(u.answer(ctx, ask))
	return errors.Join(err, json.Unmarshal(body, answer))
}

// TestAMirrorIsTheOthersList has exchanges begin and end, and questions fail, in any order: behind
// each answer the mirror lists what the other replica does, and a page that follows it the same.
func TestAMirrorIsTheOthersList(t *testing.T) {
	for _, seed := range []uint64{1, 2, 3, 38, 20261128} {
		r := rand.New(rand.NewPCG(seed, 0))
		for range 40 {
			log := trace.New(1+r.IntN(6), false)
			failed := false
			other := &unsure{live{trace: log}, func() bool { failed = r.IntN(3) == 0; return failed }}
			m := &mirror{name: "b"}
			page, had := trace.NewFollow(m), []string{}
			running := map[string]*trace.Exchange{}
			rows := map[string]bool{}
			for n := range 60 {
				switch id := fmt.Sprint(n); {
				case r.IntN(3) == 0:
					e := log.Begin(id, "chat", "/", time.Now())
					log.Show(e, func() {})
					running[id] = e
				case r.IntN(2) == 0:
					for id, e := range running {
						e.End(200, nil, 0, 0)
						log.Add(e)
						delete(running, id)
						break
					}
				default:
					m.refresh(other)
					news, _ := page.Next()
					var fresh []string
					for _, e := range news.Exchanges {
						fresh = append(fresh, e.ID)
					}
					had = append(fresh, had...)
					had = had[:min(len(had), max(news.Keeps, 1))]
					for _, row := range news.Running {
						rows[row.ID] = true
					}
					for _, id := range news.Gone {
						delete(rows, id)
					}
					if failed {
						if len(rows) > 0 {
							t.Fatalf("seed %d: nobody knows what runs, and the page has %v", seed, rows)
						}
						continue
					}
					want := []string{}
					for _, e := range log.List().Exchanges {
						want = append(want, e.ID)
					}
					if !slices.Equal(had, want) || len(rows) != len(running) {
						t.Fatalf("seed %d: the page has %v and %v, the other replica %v and %d running", seed, had, rows, want, len(running))
					}
				}
			}
		}
	}
}

// TestAReplicaThatWasStartedAnewIsThere has two processes of one label.
func TestAReplicaThatWasStartedAnewIsThere(t *testing.T) {
	long := time.Now().Add(-time.Hour)
	killed, stopped, fresh := &mirror{label: "b", since: long}, &mirror{label: "c", since: long, gone: long}, &mirror{label: "b"}
	f := &fleet{label: "a"}
	for _, all := range [][]*mirror{{killed, fresh, stopped}, {fresh, killed}} {
		if got := fmt.Sprint(f.states(all)); got != "[{a false} {b false}]" {
			t.Error(got)
		}
	}
	if got := fmt.Sprint(f.states([]*mirror{killed})); got != "[{a false} {b true}]" {
		t.Error(got)
	}
}
