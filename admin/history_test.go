package admin

import (
	"context"
	"strings"
	"testing"
	"time"

	"toolnorm/chat"
	"toolnorm/internal/history"
	"toolnorm/internal/trace"
)

// TestEarlierRequestsAreFoundAfterARestart has two requests answered, of which one fails, and the
// server started again. Texts of the failed one alone are kept, and those of none can be looked at
// while they come.
func TestEarlierRequestsAreFoundAfterARestart(t *testing.T) {
	where := t.TempDir() + "/history.db"
	start := func() (*Server, *trace.Log, func()) {
		h := history.New(where, history.Config{Days: 7, Most: 10, Bytes: 1 << 20, Texts: history.Failed}, func(err error) { t.Error(err) })
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan bool)
		go func() { h.Run(ctx); close(done) }()
		log := trace.New(5, false)
		log.KeepIn(h)
		return New(Config{Trace: log, History: h}), log, func() { cancel(); <-done }
	}
	s, log, stop := start()
	ask := func(id string, status int) {
		e := log.Begin(id, "chat", "/", time.Now())
		log.Show(e, nil)
		messages := []chat.Message{{Role: chat.User, Content: "SAID"}}
		if id == "bad" {
			messages = append(messages, chat.Message{Role: chat.User, Content: "MORE"})
		}
		e.Asked(&chat.Request{Model: "m", Messages: messages}, true)
		if c, _, _ := log.Watch(id, trace.Seen{}).Next(); c.Row == nil || c.Row.Texts || len(c.Wrote)+len(c.Left) > 0 {
			t.Errorf("%s can be read while it comes: %+v", id, c)
		}
		e.Event(&chat.Event{Kind: chat.Finish, Text: chat.Stop})
		e.End(status, nil, 0, 0)
		log.Add(e)
	}
	ask("good", 200)
	ask("bad", 500)
	if log.Find("good").Bodies != nil || log.Find("bad").Bodies == nil {
		t.Error("the texts in memory are not those of failed requests")
	}
	if _, body := asked(t, s, "GET", "/admin/api/exchanges/bad", ""); strings.Count(body, `"conversation":"good"`) != 3 || !strings.Contains(body, "SAID") {
		t.Errorf("before: %s", body)
	}
	stop()
	s, _, stop = start()
	defer stop()
	for _, row := range []struct {
		path   string
		status int
		has    string
		not    string
	}{
		{"history", 200, `[{"id":"bad"`, "SAID"}, {"history?q=said", 200, `"id":"bad"`, `"id":"good"`}, {"history?only=failed&most=1", 200, `"id":"bad"`, `"id":"good"`},
		{"history?most=1", 200, `"more":true`, `"id":"good"`}, {"history?after=bad", 200, `"id":"good"`, `"id":"bad"`}, {"history?q=nothing", 200, `"exchanges":[]`, "id"},
		{"history?only=x", 400, `"param":"only"`, ""}, {"history?most=501", 400, `"param":"most"`, ""}, {"history?most=x", 400, `"param":"most"`, ""},
		{"exchanges/bad", 200, `"SAID"`, ""}, {"exchanges/good", 200, `"turns":[{"id":"good"`, "SAID"}, {"exchanges/none", 404, "history", ""},
	} {
		status, body := asked(t, s, "GET", "/admin/api/"+row.path, "")
		if status != row.status || !strings.Contains(body, row.has) || row.not != "" && strings.Contains(body, row.not) {
			t.Errorf("%s: %d %s", row.path, status, body)
		}
	}
	answers(t, New(Config{}), "GET", "/admin/api/history", "", 200, `"exchanges":[]`)
}
