package history

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"toolnorm/chat"
	"toolnorm/internal/test/must"
	"toolnorm/internal/test/storetest"
	"toolnorm/internal/trace"
)

var databases storetest.Databases

func TestMain(m *testing.M) { os.Exit(databases.Main(m)) }

// opened opens a history. stop writes what is left and closes it.
func opened(t *testing.T, where string, c Config) (h *History, stop func()) {
	t.Helper()
	h = New(where, c, func(err error) { t.Errorf("warned: %v", err) })
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan bool)
	go func() { h.Run(ctx); close(done) }()
	stop = func() { cancel(); <-done }
	t.Cleanup(stop)
	return h, stop
}

// said is an exchange with the texts PROMPT and REPLY.
func said(id string, at time.Time, status int, repairs ...string) *trace.Exchange {
	l := trace.New(1, true)
	e := l.Begin(id, "chat", "/v1/chat/completions", at)
	e.Asked(&chat.Request{Model: "qwen3:4b", Tools: make([]chat.Tool, 1), Messages: []chat.Message{{Role: chat.User, Content: "PROMPT 100%"}}}, true)
	e.Event(&chat.Event{Kind: chat.Text, Text: "REPLY\x00"})
	e.Event(&chat.Event{Kind: chat.CallStart, Text: "get_weather"})
	e.Event(&chat.Event{Kind: chat.CallEnd})
	e.Event(&chat.Event{Kind: chat.Finish, Text: chat.Stop, Meta: &chat.Meta{Repairs: repairs}})
	var err error
	if status >= 400 {
		err = errors.New("the server is gone")
	}
	e.End(status, err, 0, time.Second)
	l.Add(e)
	return e
}

var wide = Config{Days: 7, Most: 1000, Bytes: 1 << 30, Texts: Failed}

func TestTheHistorySurvivesARestart(t *testing.T) {
	databases.Each(t, func(t *testing.T, where string) {
		now := time.Now()
		h, stop := opened(t, where, wide)
		h.Keep(said("fine", now, 200))
		h.Keep(said("fixed", now.Add(time.Second), 200, "quotes"))
		h.Keep(said("bad", now.Add(2*time.Second), 502))
		stop()
		h, _ = opened(t, where, wide)
		for _, row := range []struct {
			q    Query
			want string
		}{
			{Query{}, "bad fixed fine"}, {Query{Most: 2}, "bad fixed +"}, {Query{After: "bad"}, "fixed fine"}, {Query{After: "fixed", Most: 1}, "fine"}, {Query{After: "gone"}, ""},
			{Query{Only: "failed"}, "bad"}, {Query{Only: "repaired"}, "fixed"}, {Query{Only: "calls", After: "bad"}, "fixed fine"}, {Query{Only: "missed"}, ""},
			{Query{Words: "QWEN3 get_weather"}, "bad fixed fine"}, {Query{Words: "get%weather"}, ""}, {Query{Words: "getxweather"}, ""}, {Query{Words: `\`}, ""},
			{Query{Words: "prompt 100%"}, "bad fixed"}, {Query{Words: "reply"}, "bad fixed"}, {Query{Words: "quotes"}, "fixed"}, {Query{Words: "gone"}, "bad"},
		} {
			if row.q.Most == 0 {
				row.q.Most = 10
			}
			all, more, err := h.Search(t.Context(), row.q)
			got := ""
			for _, e := range all {
				if got += " " + e.ID; e.Bodies != nil {
					t.Errorf("%+v: %s has its texts in the list", row.q, e.ID)
				}
			}
			if more {
				got += " +"
			}
			if strings.TrimSpace(got) != row.want || err != nil {
				t.Errorf("%+v: found %s, %v, want %s", row.q, got, err, row.want)
			}
		}
		for id, texts := range map[string]bool{"fine": false, "fixed": true, "bad": true} {
			e, err := h.Find(t.Context(), id)
			if err != nil || e == nil || (e.Bodies != nil) != texts || e.Model != "qwen3:4b" || len(e.Calls) != 1 {
				t.Fatalf("%s is %+v, %v", id, e, err)
			}
			if texts && (e.Bodies.Messages[0].Text != "PROMPT 100%" || e.Bodies.Left.Parts[0].Text != "REPLY\x00") {
				t.Errorf("the texts of %s are %+v", id, e.Bodies)
			}
		}
		if e, err := h.Find(t.Context(), "none"); e != nil || err != nil {
			t.Errorf("none is %v, %v", e, err)
		}
		if turns, err := h.Conversation(t.Context(), "fixed"); len(turns) != 1 || err != nil {
			t.Errorf("the conversation is %+v, %v", turns, err)
		}
	})
}

// TestTextsAreWrittenOnlyIfAllowed looks for what was said in the whole database.
func TestTextsAreWrittenOnlyIfAllowed(t *testing.T) {
	databases.Each(t, func(t *testing.T, where string) {
		for i, texts := range []string{NoTexts, Failed, AllTexts} {
			c := wide
			c.Texts = texts
			h, stop := opened(t, where, c)
			h.Keep(said(fmt.Sprint("fine", i), time.Now(), 200))
			h.Keep(said(fmt.Sprint("bad", i), time.Now(), 502, "quotes"))
			stop()
			h, _ = opened(t, where, c)
			var n int
			db, err := h.db.Open(t.Context(), false)
			must.OK(t, err)
			err = db.QueryRowContext(t.Context(), "SELECT count(*) FROM h_exchange WHERE lower(words || doc || said) LIKE '%reply%' OR lower(words || doc || said) LIKE '%prompt 1%'").Scan(&n)
			if want := []int{0, 1, 3}[i]; n != want || err != nil { // together with those before
				t.Errorf("%s: %d exchanges have texts, %v, want %d", texts, n, err, want)
			}
		}
	})
}

// TestTheHistoryIsBounded writes random exchanges under random bounds: what stays is the newest
// that fit them.
func TestTheHistoryIsBounded(t *testing.T) {
	databases.Each(t, func(t *testing.T, where string) {
		h := New(where, wide, func(err error) { t.Error(err) })
		db, err := h.db.Open(t.Context(), true)
		must.OK(t, err)
		defer h.db.Close()
		r := rand.New(rand.NewPCG(5, 5))
		for round := range 8 {
			if _, err := db.ExecContext(t.Context(), "DELETE FROM h_exchange"); err != nil {
				t.Fatal(err)
			}
			var all []*trace.Exchange // the newest first
			for i := range 30 {
				all = append(all, said(fmt.Sprint(i), time.Now().Add(-time.Duration(i)*10*time.Hour), 200+r.IntN(2)*300))
			}
			must.OK(t, h.write(t.Context(), all))
			h.config = Config{Days: 1 + r.IntN(12), Most: 1 + r.IntN(40), Bytes: int64(1000 + r.IntN(40000)), Texts: Failed}
			must.OK(t, h.clean(t.Context()))
			left, _, err := h.Search(t.Context(), Query{Most: 100})
			var bytes int64
			must.OK(t, errors.Join(err, db.QueryRowContext(t.Context(), "SELECT coalesce(sum(size), 0) FROM h_exchange").Scan(&bytes)))
			days := min((h.config.Days*24+9)/10, 30) // that lie within the days
			if len(left) > h.config.Most || len(left) > days || bytes > h.config.Bytes {
				t.Errorf("round %d: %d exchanges of %d bytes are left under %+v", round, len(left), bytes, h.config)
			}
			if len(left) < min(h.config.Most, days) && bytes+4000 < h.config.Bytes {
				t.Errorf("round %d: %d exchanges of %d bytes are left under %+v, which has room", round, len(left), bytes, h.config)
			}
			for i, e := range left {
				if e.ID != fmt.Sprint(i) {
					t.Errorf("round %d: %s is left at %d", round, e.ID, i)
				}
			}
		}
	})
}

// TestRequestsDoNotWaitForTheHistory fills the queue while nobody writes.
func TestRequestsDoNotWaitForTheHistory(t *testing.T) {
	var warned []error
	where := t.TempDir() + "/history.db"
	h := New(where, wide, func(err error) { warned = append(warned, err) })
	all, _, err := h.Search(t.Context(), Query{Most: 1})
	if _, there := os.Stat(where); err != nil || len(all) > 0 || there == nil {
		t.Errorf("before the first request: %v, %v, file %v", all, err, there)
	}
	for i := range queueSize + 5 {
		h.Keep(said(fmt.Sprint(i), time.Now(), 200))
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	h.Run(ctx)
	if len(warned) != 1 || !strings.Contains(warned[0].Error(), "5 requests were left out") {
		t.Errorf("warned of %v", warned)
	}
}
