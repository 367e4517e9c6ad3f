package admin

import (
	"bufio"
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"toolnorm/chat"
	"toolnorm/internal/auth"
	"toolnorm/internal/test/must"
	"toolnorm/internal/trace"
)

// listen returns the events of a stream, each as its name and its data.
func listen(t *testing.T, url string) <-chan string {
	t.Helper()
	r := must.Have(http.NewRequestWithContext(t.Context(), "GET", url, nil))(t)
	r.Header.Set("Accept-Encoding", "gzip") // as a browser asks
	resp := must.Have(http.DefaultTransport.RoundTrip(r))(t)
	if resp.StatusCode != 200 {
		resp.Body.Close()
		t.Fatalf("%s: %s", url, resp.Status)
	}
	all := make(chan string)
	body := io.Reader(resp.Body)
	if resp.Header.Get("Content-Encoding") == "gzip" {
		body = must.Have(gzip.NewReader(resp.Body))(t)
	}
	go func() {
		defer resp.Body.Close()
		defer close(all)
		in, name := bufio.NewScanner(body), ""
		for in.Scan() {
			if rest, ok := strings.CutPrefix(in.Text(), "event: "); ok {
				name = rest
			}
			if rest, ok := strings.CutPrefix(in.Text(), "data: "); ok {
				all <- name + " " + rest
			}
		}
	}()
	return all
}

// next waits for an event of a stream and checks what is in it.
func next(t *testing.T, from <-chan string, want ...string) {
	t.Helper()
	select {
	case got := <-from:
		for _, w := range want {
			if !strings.Contains(got, w) {
				t.Errorf("the event is %s, want %s in it", got, w)
			}
		}
	case <-time.After(10 * time.Second):
		t.Fatalf("no event with %v comes", want)
	}
}

// TestARequestIsFollowedWhileItRuns follows one from this machine and from another, where the
// stream is compressed.
func TestARequestIsFollowedWhileItRuns(t *testing.T) {
	for _, from := range []string{"127.0.0.1:50", "192.0.2.1:50"} {
		t.Run(from, func(t *testing.T) { followRequest(t, from) })
	}
}

func followRequest(t *testing.T, from string) {
	log := trace.New(5, true)
	s := New(Config{Trace: log})
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.RemoteAddr = from
		s.ServeHTTP(w, r)
	}))
	defer srv.Close()
	defer s.Close()
	list := listen(t, srv.URL+"/admin/api/exchanges/live")
	next(t, list, "change ", `"exchanges":[]`, `"running":[]`)
	e := log.Begin("one", "chat", "/v1/chat/completions", time.Now())
	e.Asked(&chat.Request{Model: "m", Messages: []chat.Message{{Role: chat.User, Content: "SAID"}}}, true)
	log.Show(e, func() {})
	next(t, list, `"id":"one"`, `"model":"m"`, `"reasons":null`)
	one := listen(t, srv.URL+"/admin/api/exchanges/one/live")
	next(t, one, "change ", `"wrote":[]`, `"left":[]`, `"texts":true`)
	hear := e.Bodies.Heard("raw")
	hear(chat.Event{Kind: chat.Text, Text: "<tool_"})
	next(t, one, `"generation":0,"name":"raw","number":0,"kind":"text","text":"\u003ctool_"`, `"left":[]`)
	hear(chat.Event{Kind: chat.Text, Text: "call>"})
	next(t, one, `"text":"call\u003e","pieces":2`)
	e.Decided("quotes")
	next(t, one, `"repairs":["quotes"]`, `"wrote":[]`)
	e.Count(time.Second)
	next(t, one, `"pieces":1,"texts":true}`)
	next(t, list, `"pieces":1`)
	e.End(200, nil, 0, 0)
	log.Add(e)
	next(t, one, "end {}")
	next(t, list, `"gone":["one"]`, `"exchanges":[{"id":"one"`)
	if _, more := <-one; more {
		t.Error("the stream of a request goes on behind its end")
	}
	for _, path := range []string{"exchanges/one/live", "exchanges/none/live"} {
		if status, body := asked(t, s, "GET", "/admin/api/"+path, ""); status != 200 || body != "event: end\ndata: {}\n\n" {
			t.Errorf("%s: %d %s", path, status, body)
		}
	}
	none := New(Config{})
	without := httptest.NewServer(none)
	defer without.Close()
	defer none.Close()
	next(t, listen(t, without.URL+"/admin/api/exchanges/live"), `"keeps":0`, `"exchanges":[]`)
}

func TestStreamsAreCompressedForOtherMachines(t *testing.T) {
	s := New(Config{})
	defer s.Close()
	for _, tt := range []struct {
		from, accepts string
		packed        bool
	}{
		{"192.0.2.1:50", "gzip, deflate, br", true},
		{"192.0.2.1:50", "br, GZIP;q=0.5", true},
		{"[2001:db8::1]:50", "gzip;q=1", true},
		{"192.0.2.1:50", "gzip; q=0.0", false},
		{"192.0.2.1:50", "br", false},
		{"192.0.2.1:50", "", false},
		{"127.0.0.1:50", "gzip", false},
		{"[::1]:50", "gzip", false},
	} {
		w := ask(s, auth.Local(), "GET", "/admin/api/exchanges/none/live", "", "From", tt.from, "Accept-Encoding", tt.accepts)
		body := io.Reader(w.Body)
		if packed := w.Header().Get("Content-Encoding") == "gzip"; packed != tt.packed {
			t.Errorf("%+v: %v", tt, w.Header())
		} else if packed {
			body = must.Have(gzip.NewReader(body))(t)
		}
		if text, err := io.ReadAll(body); string(text) != "event: end\ndata: {}\n\n" || err != nil {
			t.Errorf("%+v: %q, %v", tt, text, err)
		}
	}
}
