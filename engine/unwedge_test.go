package engine

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"toolnorm/chat"
	"toolnorm/engine/wait"
	"toolnorm/internal/fault"
)

// wedge is an Ollama whose only model, m, never begins to write until it is unloaded, as one that
// has lost its place.
type wedge struct {
	mu     sync.Mutex
	loaded bool          // the model is, in the state in which it hangs
	stays  time.Duration // how long it takes to unload
	asked  []string
}

func (s *wedge) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	s.mu.Lock()
	hangs := s.loaded
	unload := strings.Contains(string(body), `"keep_alive":"0s"`)
	switch {
	case unload:
		s.asked = append(s.asked, "unload")
		time.AfterFunc(s.stays, func() { s.mu.Lock(); s.loaded = false; s.mu.Unlock() })
	case r.URL.Path == "/api/generate":
		s.asked = append(s.asked, "generate")
	}
	s.mu.Unlock()
	switch {
	case unload:
		io.WriteString(w, `{"done":true,"done_reason":"unload"}`)
	case r.URL.Path == "/api/tags":
		io.WriteString(w, `{"models":[{"name":"m:latest","digest":"d"}]}`)
	case r.URL.Path == "/api/show":
		io.WriteString(w, `{"capabilities":["tools"]}`)
	case r.URL.Path == "/api/version":
		io.WriteString(w, `{"version":"0.32.0"}`)
	case r.URL.Path == "/api/ps" && hangs:
		io.WriteString(w, `{"models":[{"name":"m:latest"}]}`)
	case r.URL.Path == "/api/ps":
		io.WriteString(w, `{"models":[]}`)
	case r.URL.Path == "/api/chat":
		io.WriteString(w, `{"_debug_info":{"rendered_template":"p"},"done":true}`)
	case hangs:
		<-r.Context().Done()
	default:
		fmt.Fprintln(w, `{"response":"hi","done":true,"done_reason":"stop"}`)
	}
}

// requests are what was asked for.
func (s *wedge) requests() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.asked, " ")
}

func TestAWedgedModelIsUnloadedWhenThatIsWanted(t *testing.T) {
	const timeout = "error the model server sent nothing for 200ms (setting first-byte-timeout): it may be busy with other requests, or hang"
	for name, row := range map[string]struct {
		cfg    Config
		server *wedge
		want   string
		asked  string
	}{
		"not wanted":   {Config{}, &wedge{loaded: true}, timeout, "generate"},
		"wanted":       {Config{Unwedge: true}, &wedge{loaded: true, stays: 300 * time.Millisecond}, "hi stop unwedged", "generate unload generate"},
		"not needed":   {Config{Unwedge: true}, &wedge{}, "hi stop ", "generate"},
		"and to a gap": {Config{Unwedge: true}, &wedge{loaded: true}, "hi stop unwedged", "generate unload generate"},
	} {
		t.Run(name, func(t *testing.T) {
			srv := httptest.NewServer(row.server)
			defer srv.Close()
			cfg := row.cfg
			cfg.Ollama, cfg.Timeouts = srv.URL, wait.Timeouts{FirstByte: 200 * time.Millisecond, Load: time.Second}
			r := user("hi")
			if name == "and to a gap" {
				r = &chat.Request{Model: "m", Continue: &chat.Continuation{Prompt: "a"}}
				cfg.Timeouts.Load = time.Millisecond
			}
			beats := 0
			o := &chat.Observer{Pulse: &chat.Pulse{Beat: func(string) error { beats++; return nil }}}
			cfg.Timeouts.Beat = 20 * time.Millisecond
			if got := told(collectWith(t, New(cfg), r, o)); got != row.want {
				t.Errorf("got  %s\nwant %s", got, row.want)
			}
			if got := row.server.requests(); got != row.asked {
				t.Errorf("asked %s, want %s", got, row.asked)
			}
			if row.server.stays > 0 && beats < 10 {
				t.Errorf("%d heartbeats", beats)
			}
		})
	}
}

// TestAModelThatIsNotLoadedIsNotUnloaded has a server that is silent because it is busy with
// another model.
func TestAModelThatIsNotLoadedIsNotUnloaded(t *testing.T) {
	s := &wedge{loaded: true}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/api/ps" {
			io.WriteString(w, `{"models":[{"name":"other:latest"}]}`)
			return
		}
		s.ServeHTTP(w, r)
	}))
	defer srv.Close()
	e := New(Config{Ollama: srv.URL, Unwedge: true, Timeouts: wait.Timeouts{FirstByte: 50 * time.Millisecond}})
	_, _, _, err := collect(t, e, user("hi"))
	if f := fault.From(err); f.Code != wait.FirstByteTimeout || s.requests() != "generate" {
		t.Errorf("%v, asked %s", err, s.requests())
	}
}
