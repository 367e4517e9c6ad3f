package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"toolnorm/internal/test/must"
	"toolnorm/tools"
)

// TestWhatReplicasShare gives two programs one PostgreSQL and no file in common: what a client
// began at one goes on at the other.
func TestWhatReplicasShare(t *testing.T) {
	first, second, _ := replicas(t, "--sample=always")

	t.Run("previous_response_id", func(t *testing.T) {
		_, body := ask(t, "POST", first.URL()+"/v1/responses", `{"model":"demo/hermes","input":"My name is Ann."}`)
		var reply struct{ ID string }
		if json.Unmarshal([]byte(body), &reply); reply.ID == "" {
			t.Fatal(body)
		}
		wants(ask(t, "POST", second.URL()+"/v1/responses", `{"model":"demo/hermes","input":"And?","previous_response_id":"`+reply.ID+`"}`))(t, 200)
		wants(ask(t, "GET", second.URL()+"/v1/responses/"+reply.ID, ""))(t, 200, reply.ID)
		ask(t, "DELETE", second.URL()+"/v1/responses/"+reply.ID, "")
		if status, got := ask(t, "GET", first.URL()+"/v1/responses/"+reply.ID, ""); status != 404 {
			t.Errorf("what the other removed: %d %s", status, got)
		}
	})
	t.Run("toolrun --call", func(t *testing.T) {
		id := must.Have(first.door.pending.Keep("get_employee_info", []byte(`{"employee_id":"EMP002"}`)))(t)
		if name, args, ok := second.door.pending.Find(id); !ok || name != "get_employee_info" || !strings.Contains(string(args), "EMP002") {
			t.Errorf("%q, %s, %v", name, args, ok)
		}
		wants(ask(t, "POST", second.URL()+"/runner/call", `{"id":"`+id+`"}`))(t, 200, `"success":true`)
		if status, got := ask(t, "POST", first.URL()+"/runner/call", `{"id":"`+id+`"}`); status != 404 {
			t.Errorf("a second time: %d %s", status, got)
		}
	})
	t.Run("a request that the other answered", func(t *testing.T) {
		status, body := ask(t, "POST", first.URL()+"/v1/chat/completions", `{"model":"demo/hermes","messages":[{"role":"user","content":"Hi"}]}`)
		var reply struct{ ID string }
		if json.Unmarshal([]byte(body), &reply); reply.ID == "" {
			t.Fatal(status, body)
		}
		for until := time.Now().Add(30 * time.Second); status != 200 || !strings.Contains(body, `"exchange":{"id":"`+reply.ID); time.Sleep(50 * time.Millisecond) { // it is written with the next ones
			if time.Now().After(until) {
				t.Fatalf("%d %s", status, body)
			}
			status, body = ask(t, "GET", second.URL()+"/admin/api/exchanges/"+reply.ID, "")
		}
	})
	t.Run("an MCP session", func(t *testing.T) {
		session := mcpSession(t, first)
		wants(inSession(t, second, "POST", session, `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`))(t, 200, "get_employee_info")
		if status, got := inSession(t, second, "DELETE", session, ""); status >= 300 {
			t.Errorf("%d %s", status, got)
		}
		if status, got := inSession(t, first, "POST", session, `{"jsonrpc":"2.0","id":3,"method":"tools/list"}`); status != 404 {
			t.Errorf("what the other ended: %d %.200s", status, got)
		}
	})
}

// TestAnMCPStreamGoesOnAtAnotherReplica calls a tool at one program, loses the connection, and reads
// the rest at the other: once while the tool works, and once when it has ended.
func TestAnMCPStreamGoesOnAtAnotherReplica(t *testing.T) {
	first, second, _ := replicas(t)
	next := make(chan int)
	must.OK(t, first.toolbox.Registry.Set("test", tools.Tool{Name: "steps", Call: func(ctx context.Context, _ json.RawMessage) (tools.Result, error) {
		for n := range next {
			if n == 0 {
				break
			}
			tools.Progress(ctx, float64(n), 3, "")
		}
		return tools.TextOf("done"), nil
	}}))
	defer close(next)
	session := mcpSession(t, first)
	for _, c := range []struct {
		name           string
		before, behind []int // what the tool does before the client comes back, and then
	}{{"the tool works", []int{2}, []int{3, 0}}, {"the tool has ended", []int{2, 3, 0}, nil}} {
		t.Run(c.name, func(t *testing.T) {
			go func() { next <- 1 }()
			resp, events := opened(t, first, "POST", session, "", `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"steps","_meta":{"progressToken":1}}}`)
			id, data := event(t, events)
			resp.Body.Close()
			if !strings.Contains(data, `"progress":1,`) {
				t.Fatal(data)
			}
			for _, n := range c.before {
				next <- n
			}
			_, events = opened(t, second, "GET", session, id, "")
			for n := range 2 {
				if len(c.behind) > n {
					next <- c.behind[n]
				}
				if _, data = event(t, events); !strings.Contains(data, fmt.Sprintf(`"progress":%d,`, n+2)) {
					t.Fatalf("%s, want progress %d", data, n+2)
				}
			}
			if _, data = event(t, events); !strings.Contains(data, `"id":7,"result"`) {
				t.Errorf("%s, want the answer", data)
			}
		})
	}
}

// opened sends a request of a session whose answer is a stream.
func opened(t *testing.T, m *Main, method, session, last, body string) (*http.Response, *bufio.Reader) {
	t.Helper()
	resp := must.Open(t, method, m.URL()+"/mcp", body, "Content-Type: application/json",
		"Accept: application/json, text/event-stream", "Mcp-Session-Id: "+session, "Last-Event-ID: "+last)
	return resp, bufio.NewReader(resp.Body)
}

// event reads the next event that has data.
func event(t *testing.T, r *bufio.Reader) (id, data string) {
	t.Helper()
	for {
		name, value, _ := strings.Cut(strings.TrimSpace(must.Have(r.ReadString('\n'))(t)), ": ")
		switch name {
		case "id":
			id = value
		case "data":
			return id, value
		}
	}
}

// TestReplicasShareLimits has a caller use up its minute at one replica, and ask the other.
func TestReplicasShareLimits(t *testing.T) {
	first, second, _ := replicas(t, "--limits", "*=rpm=3")
	const body = `{"model":"demo/hermes","messages":[{"role":"user","content":"hi"}]}`
	for range 3 {
		if status, got := ask(t, "POST", first.URL()+"/v1/chat/completions", body); status != 200 {
			t.Fatalf("%d %s", status, got)
		}
	}
	asked := 0
	eventually(t, "the other replica never hears of them", func() bool {
		status, got := ask(t, "POST", second.URL()+"/v1/chat/completions", body)
		if asked++; asked > 3 || status != 200 && status != 429 {
			t.Fatalf("request %d to the other replica: %d %s", asked, status, got)
		}
		if status == 200 {
			time.Sleep(2 * time.Second) // it hears every second
		}
		return status == 429
	})
}

// mcpSession begins a session and returns its id.
func mcpSession(t *testing.T, m *Main) string {
	t.Helper()
	resp := must.Open(t, "POST", m.URL()+"/mcp", initialize, "Content-Type: application/json", "Accept: application/json, text/event-stream")
	defer resp.Body.Close()
	io.Copy(io.Discard, resp.Body)
	return resp.Header.Get("Mcp-Session-Id")
}

// inSession sends a request of a session.
func inSession(t *testing.T, m *Main, method, session, body string) (int, string) {
	t.Helper()
	resp, text := must.Ask(t, method, m.URL()+"/mcp", body, "Content-Type: application/json", "Accept: application/json, text/event-stream", "Mcp-Session-Id: "+session)
	return resp.StatusCode, text
}

// withoutHost sends a request of HTTP/1.0 without a header, and returns the answer.
func withoutHost(t *testing.T, base, path string) string {
	t.Helper()
	conn := must.Have(net.Dial("tcp", strings.TrimPrefix(base, "http://")))(t)
	defer conn.Close()
	must.Have(io.WriteString(conn, "GET "+path+" HTTP/1.0\r\n\r\n"))(t)
	return string(must.Have(io.ReadAll(conn))(t))
}

// TestAStopIsToldBefore stops a program with a drain: /readyz says no, and requests are still
// answered, also on connections that were idle, as a load balancer keeps them.
func TestAStopIsToldBefore(t *testing.T) {
	m := fresh(t, "--data", t.TempDir(), "--drain", "600ms")
	wants(ask(t, "GET", m.URL()+"/readyz", ""))(t, 200, "ready")
	for path, want := range map[string]string{"/readyz": "HTTP/1.0 200", "/v1/models": "HTTP/1.0 403"} {
		if got := withoutHost(t, m.URL(), path); !strings.HasPrefix(got, want) {
			t.Errorf("%s as HAProxy asks: %s, want %s", path, got, want)
		}
	}
	kept := must.Have(net.Dial("tcp", strings.TrimPrefix(m.URL(), "http://")))(t)
	defer kept.Close()
	answers := bufio.NewReader(kept)
	if got := onConnection(t, kept, answers); got.StatusCode != 200 || got.Close {
		t.Errorf("%s, the last answer: %v", got.Status, got.Close)
	}
	m.server.drain(time.Nanosecond, m.log)
	if got := onConnection(t, kept, answers); got.StatusCode != 503 || !got.Close {
		t.Errorf("%s, the last answer: %v", got.Status, got.Close)
	}
	wants(ask(t, "GET", m.URL()+"/readyz", ""))(t, 503, "stopping")
	wants(ask(t, "POST", m.URL()+"/v1/chat/completions", `{"model":"demo/hermes","messages":[{"role":"user","content":"Hi"}]}`))(t, 200)
	began := time.Now()
	must.OK(t, m.Close())
	if took := time.Since(began); took < 600*time.Millisecond {
		t.Errorf("requests were taken for %v", took)
	}
	if _, err := http.Post(m.URL()+"/v1/models", "", bytes.NewReader(nil)); err == nil {
		t.Error("it still answers")
	}
}

// onConnection asks for /readyz on a connection and returns the answer.
func onConnection(t *testing.T, conn net.Conn, answers *bufio.Reader) *http.Response {
	t.Helper()
	fmt.Fprintf(conn, "GET /readyz HTTP/1.1\r\nHost: %s\r\n\r\n", conn.RemoteAddr())
	resp := must.Have(http.ReadResponse(answers, nil))(t)
	_, err := io.Copy(io.Discard, resp.Body)
	must.OK(t, errors.Join(err, resp.Body.Close()))
	return resp
}
