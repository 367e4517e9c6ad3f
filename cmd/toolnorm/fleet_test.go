package main

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"toolnorm/internal/test/must"
	"toolnorm/tools"
)

// TestLiveOfThreeReplicas looks by the page of one program at the requests of two others that share
// its PostgreSQL, one of which is a process that is killed.
func TestLiveOfThreeReplicas(t *testing.T) {
	first, second, where := replicas(t, "--trace-bodies")
	third := startProcess(t, "--store="+where, "--data="+t.TempDir(), "--trace-bodies")
	host := must.Have(os.Hostname())(t)
	label := func(url string) string { return host + url[strings.LastIndex(url, ":"):] }

	ids := map[string]string{} // by the label of the replica
	for _, url := range []string{first.URL(), second.URL(), third.url} {
		_, body := ask(t, "POST", url+"/v1/chat/completions", `{"model":"demo/hermes","messages":[{"role":"user","content":"asked at `+url+`"}]}`)
		var reply struct{ ID string }
		if json.Unmarshal([]byte(body), &reply); reply.ID == "" {
			t.Fatal(body)
		}
		ids[label(url)] = reply.ID
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	r, _ := http.NewRequestWithContext(ctx, "GET", first.URL()+"/admin/api/exchanges/live", nil)
	resp := must.Have(http.DefaultClient.Do(r))(t)
	defer resp.Body.Close()
	events := bufio.NewReader(resp.Body)
	seen, away := map[string]string{}, map[string]bool{}
	until := func(what string, so func() bool) {
		t.Helper()
		for !so() {
			var news struct {
				Exchanges []struct{ ID, Replica string }
				Replicas  []struct {
					Name string
					Away bool
				}
			}
			if _, got := event(t, events); json.Unmarshal([]byte(got), &news) != nil {
				t.Fatalf("%s never comes: %v, away %v", what, seen, away)
			}
			for _, e := range news.Exchanges {
				seen[e.Replica] = e.ID
			}
			clear(away)
			for _, r := range news.Replicas {
				away[r.Name] = r.Away
			}
		}
	}
	until("each replica's request", func() bool { return len(seen) == 3 })
	for name, id := range ids {
		if seen[name] != id || away[name] {
			t.Errorf("%s: %s, want %s, away %v", name, seen[name], id, away[name])
		}
		wants(ask(t, "GET", first.URL()+"/admin/api/exchanges/"+id, ""))(t, 200, "asked at ", `"replica":"`+name)
	}
	_ = third.cmd.Process.Kill()
	until("that the third is away", func() bool { return away[label(third.url)] })
	if away[label(first.URL())] || away[label(second.URL())] {
		t.Errorf("away: %v", away)
	}
	began := time.Now()
	if status, body := ask(t, "GET", first.URL()+"/admin/api/exchanges/"+ids[label(second.URL())], ""); status != 200 || !strings.Contains(body, "asked at ") || time.Since(began) > 2*time.Second {
		t.Errorf("%d after %v: %.300s", status, time.Since(began), body)
	}
	must.OK(t, second.Close())
	until("that the second has stopped", func() bool { _, listed := away[label(second.URL())]; return !listed })
}

// TestACallIsCancelledAtAnotherProgram takes a call back at the program that does not run it.
func TestACallIsCancelledAtAnotherProgram(t *testing.T) {
	first, second, _ := replicas(t)
	began, ended := make(chan bool), make(chan error, 1)
	must.OK(t, first.toolbox.Registry.Set("test", tools.Tool{Name: "waits", Call: func(ctx context.Context, _ json.RawMessage) (tools.Result, error) {
		close(began)
		<-ctx.Done()
		ended <- context.Cause(ctx)
		return tools.Result{}, context.Cause(ctx)
	}}))
	session := mcpSession(t, first)
	answers := make(chan string, 1)
	go func() {
		_, got := inSession(t, first, "POST", session, `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"waits"}}`)
		answers <- got
	}()
	<-began
	wants(inSession(t, second, "POST", session, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`))(t, 202)
	select {
	case err := <-ended:
		if err == nil || !strings.Contains(err.Error(), "cancelled") {
			t.Errorf("the tool ended by %v", err)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("the tool goes on")
	}
	if got := <-answers; strings.Contains(got, `"result"`) {
		t.Errorf("a call that was taken back is answered: %s", got)
	}
}
