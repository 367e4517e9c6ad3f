package proxy

import (
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"toolnorm/internal/trace"
)

// TestARequestIsSeenWhileItRunsAndCanBeStopped has a model that says a word and then nothing: it is
// listed at once, with what has come, and its client is told who ended it, streaming or not.
func TestARequestIsSeenWhileItRunsAndCanBeStopped(t *testing.T) {
	for _, stream := range []string{"true", "false"} {
		m, log := waiter{gone: make(chan error, 1)}, trace.New(5, false)
		srv := httptest.NewServer(New(Config{Model: m, Catalog: m, Trace: log}))
		t.Cleanup(srv.Close)
		answered := make(chan string, 1)
		go func() {
			resp, body := do(t, "POST", srv.URL+"/v1/chat/completions", `{"model":"m","stream":`+stream+`,"messages":[{"role":"user","content":"q"}]}`)
			answered <- resp.Status + " " + body
		}()
		var rows []trace.Row
		for begin := time.Now(); time.Since(begin) < 10*time.Second; time.Sleep(5 * time.Millisecond) {
			if rows = log.After(0).Running; len(rows) == 1 && rows[0].Pieces > 0 {
				break
			}
		}
		if len(rows) != 1 || rows[0].Model != "m" || rows[0].Pieces != 1 || rows[0].Form != "chat" {
			t.Fatalf("running: %+v", rows)
		}
		if log.Stop("other") || !log.Stop(rows[0].ID) {
			t.Error("the request cannot be stopped")
		}
		if got := <-answered; !strings.Contains(got, "an administrator of this server has stopped the request") {
			t.Errorf("stream %s: the client gets %s", stream, got)
		}
		<-m.gone
		for begin := time.Now(); time.Since(begin) < 10*time.Second && len(log.List().Exchanges) == 0; time.Sleep(5 * time.Millisecond) {
		}
		list := log.List()
		if len(list.Running) != 0 || len(list.Exchanges) != 1 || !strings.Contains(list.Exchanges[0].Error, "administrator") {
			t.Errorf("afterwards: %+v", list)
		}
		if later := log.After(list.Seen); len(later.Exchanges) != 0 || later.Seen != list.Seen {
			t.Errorf("nothing is new, and %+v is sent", later)
		}
	}
}
