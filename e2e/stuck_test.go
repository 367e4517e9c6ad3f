package e2e

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"toolnorm/internal/test/must"
)

// ownOllama is an Ollama of the newest version that no other test asks, with one place.
func (l *lane) ownOllama(t *testing.T, models []setup, settings ...string) *server {
	t.Helper()
	return must.Have(l.startOllama(installed.newest, installed.version["OLLAMA"], 1, models, settings...))(t)
}

// TestABusyOllamaIsWaitedFor asks an Ollama, which may hold one model and one waiting request, for
// two models at once and again and again. It turns most of that away; toolnorm's clients get all of
// their replies.
func TestABusyOllamaIsWaitedFor(t *testing.T) {
	l := open(t)
	s := l.ownOllama(t, []setup{setups[0], setups[len(setups)-1]}, "OLLAMA_MAX_QUEUE=1", "OLLAMA_MAX_LOADED_MODELS=1")
	target := must.Have(url.Parse(s.base))(t)
	var busy atomic.Int32
	front := httptest.NewServer(&httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) },
		ModifyResponse: func(resp *http.Response) error {
			if resp.StatusCode == http.StatusServiceUnavailable {
				busy.Add(1)
			}
			return nil
		},
		FlushInterval: -1, ErrorLog: log.New(io.Discard, "", 0),
	})
	defer front.Close()
	base := l.toolnorm(t, "--ollama", front.URL, "--queue-wait", "3m")
	plain := l.named(t, "plain")
	var all sync.WaitGroup
	for i := range 10 {
		all.Go(func() {
			r := l.ask(s.setups[i%2].name, plain, i%3 > 0)
			resp := post(t, t.Context(), base, r)
			defer resp.Body.Close()
			b, err := io.ReadAll(resp.Body)
			if err != nil || resp.StatusCode != 200 || strings.Contains(string(b), `"error"`) {
				t.Errorf("request %d: %d %s %v", i, resp.StatusCode, clip(string(b)), err)
			}
		})
	}
	all.Wait()
	t.Logf("Ollama said %d times that it is busy", busy.Load())
	if busy.Load() == 0 {
		t.Skip("Ollama was never busy, so nothing was waited for")
	}
}

// TestAWedgedOllamaIsCured makes an Ollama lose its only place, by leaving replies between two
// tokens, until a request waits in vain. Through toolnorm with --unload-stuck the next one is
// answered.
func TestAWedgedOllamaIsCured(t *testing.T) {
	l := open(t)
	s := l.ownOllama(t, setups[:1])
	loop, plain := l.named(t, "loop"), l.named(t, "plain")
	base := l.toolnorm(t, "--ollama", s.base, "--unload-stuck", "--first-byte-timeout", "10s")
	for try := 1; try <= 80; try++ {
		s.leave(t, loop.Model.Selector(), try)
		if s.replies(t, plain.Model.Selector()) {
			continue
		}
		resp := post(t, t.Context(), base, l.ask(setups[0].name, plain, false))
		defer resp.Body.Close()
		b, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode != 200 || resp.Header.Get("Toolnorm-Repairs") != "unwedged" {
			t.Fatalf("wedged after %d replies that were left: %d %s %v", try, resp.StatusCode, clip(string(b)), err)
		}
		t.Logf("wedged after %d replies that were left, and cured", try)
		if !s.replies(t, plain.Model.Selector()) {
			t.Error("the request behind the cure waits in vain")
		}
		return
	}
	t.Skip("80 replies were left, and Ollama did not lose its place")
}

// TestAStuckModelIsUnloadedAndServesAgain has both Ollamas answer what --unload-stuck asks of them.
// What stands in front of them holds the first reply until its client gives up, as a runner does
// that has lost its place, and passes all else on.
func TestAStuckModelIsUnloadedAndServesAgain(t *testing.T) {
	l := open(t)
	plain := l.named(t, "plain")
	for _, version := range []struct{ dir, name string }{{installed.newest, "OLLAMA"}, {installed.former, "OLLAMA_OLD"}} {
		t.Run(version.name, func(t *testing.T) {
			s := must.Have(l.startOllama(version.dir, installed.version[version.name], 1, setups[:1]))(t)
			front := startHolder(t, s)
			base := l.toolnorm(t, "--ollama", front.base, "--unload-stuck", "--first-byte-timeout", "10s")
			resp := post(t, t.Context(), base, l.ask(setups[0].name, plain, false))
			defer resp.Body.Close()
			b, err := io.ReadAll(resp.Body)
			if err != nil || resp.StatusCode != 200 || resp.Header.Get("Toolnorm-Repairs") != "unwedged" || !strings.Contains(string(b), plain.Reply.Text) {
				t.Errorf("%d %q %s %v", resp.StatusCode, resp.Header.Get("Toolnorm-Repairs"), clip(string(b)), err)
			}
			if got := slices.Compact(front.told()); !slices.Equal(got, []string{
				"generate",
				"loaded", `unload {"keep_alive":"0s","model":"hermes:latest","stream":false}: 200 unload`, "gone",
				"generate",
			}) {
				t.Errorf("Ollama was asked, and said:\n%s", strings.Join(got, "\n"))
			}
			if got := l.current.chat(base, l.ask(setups[0].name, plain, true)); got.Error != "" || got.Content != plain.Reply.Text {
				t.Errorf("the next request got %q, error %q", got.Content, got.Error)
			}
		})
	}
}

// holder stands between toolnorm and an Ollama. It holds the first reply of the model back, and
// notes what Ollama answers to requests that generate, that unload, and that ask what is loaded.
type holder struct {
	base  string // where it listens
	mu    sync.Mutex
	notes []string
	held  bool // a reply was
}

// startHolder serves one in front of a server until the test ends.
func startHolder(t *testing.T, s *server) *holder {
	t.Helper()
	target := must.Have(url.Parse(s.base))(t)
	h := &holder{}
	front := httptest.NewServer(&httputil.ReverseProxy{
		Rewrite:        func(r *httputil.ProxyRequest) { r.SetURL(target) },
		ModifyResponse: h.answered,
		Transport:      asking{h},
		FlushInterval:  -1, ErrorLog: log.New(io.Discard, "", 0),
	})
	t.Cleanup(front.Close)
	h.base = front.URL
	return h
}

// asking is the network, with each request's body kept for answered.
type asking struct{ *holder }

func (a asking) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Path != "/api/generate" {
		return http.DefaultTransport.RoundTrip(r)
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	unload := !bytes.Contains(body, []byte(`"prompt"`))
	if !unload {
		a.note("generate")
	}
	resp, err := http.DefaultTransport.RoundTrip(r)
	if err != nil || !unload {
		return resp, err
	}
	text, err := io.ReadAll(resp.Body)
	resp.Body = io.NopCloser(bytes.NewReader(text))
	var said struct {
		Reason string `json:"done_reason"`
	}
	err = errors.Join(err, json.Unmarshal(text, &said))
	a.note(fmt.Sprintf("unload %s: %d %s", body, resp.StatusCode, said.Reason))
	return resp, err
}

// answered holds the first reply until its client leaves, and reads which models are loaded.
func (h *holder) answered(resp *http.Response) error {
	switch resp.Request.URL.Path {
	case "/api/generate":
		h.mu.Lock()
		first := !h.held
		h.held = true
		h.mu.Unlock()
		if first {
			<-resp.Request.Context().Done()
		}
	case "/api/ps":
		text, err := io.ReadAll(resp.Body)
		resp.Body = io.NopCloser(bytes.NewReader(text))
		h.mu.Lock()
		defer h.mu.Unlock()
		switch {
		case !h.held: // before the reply that is held: what is loaded then decides nothing
		case !strings.Contains(string(text), `"hermes:latest"`):
			h.notes = append(h.notes, "gone")
		case h.notes[len(h.notes)-1] == "generate": // once it is being unloaded it may still be there for a while
			h.notes = append(h.notes, "loaded")
		}
		return err
	}
	return nil
}

func (h *holder) note(text string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.notes = append(h.notes, text)
}

// told are the notes so far.
func (h *holder) told() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.notes)
}

// leave begins an endless reply and leaves it after some records.
func (s *server) leave(t *testing.T, prompt string, records int) {
	t.Helper()
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	resp := s.begin(t, ctx, prompt, true)
	if resp == nil {
		t.Fatal("the endless reply does not begin")
	}
	defer resp.Body.Close()
	for lines, i := bufio.NewReader(resp.Body), 0; i < 1+records%7; i++ {
		if _, err := lines.ReadString('\n'); err != nil {
			t.Fatalf("the endless reply: %v", err)
		}
	}
}

// replies reports whether a short request is answered within a time that is long for it, on a busy
// machine as well.
func (s *server) replies(t *testing.T, prompt string) bool {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), 12*time.Second)
	defer stop()
	resp := s.begin(t, ctx, prompt, false)
	if resp == nil {
		return false
	}
	defer resp.Body.Close()
	_, err := io.Copy(io.Discard, resp.Body)
	return err == nil
}

// begin asks the server's first model for raw text; nil when that is not answered in time.
func (s *server) begin(t *testing.T, ctx context.Context, prompt string, stream bool) *http.Response {
	t.Helper()
	body := fmt.Sprintf(`{"model":%q,"prompt":%q,"raw":true,"think":false,"stream":%t,"options":{"temperature":1}}`, s.setups[0].name, prompt+" please", stream)
	req := must.Have(http.NewRequestWithContext(ctx, http.MethodPost, s.base+"/api/generate", bytes.NewReader([]byte(body))))(t)
	resp, err := http.DefaultClient.Do(req)
	if err != nil && ctx.Err() == nil {
		t.Fatal(err)
	}
	if err != nil {
		return nil
	}
	return resp
}
