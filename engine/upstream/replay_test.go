package upstream

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"toolnorm/chat"
	"toolnorm/internal/fault"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// capture is one recorded answer.
type capture struct {
	Path   string `json:"path"`
	Status int    `json:"status"`
	Body   string `json:"body"`
}

// serve answers every request with the capture, cut into pieces at the given places.
func (c capture) serve(t testing.TB, cuts ...int) *Ollama {
	return fake(t, func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(c.Status)
		from := 0
		for _, to := range append(cuts, len(c.Body)) {
			io.WriteString(w, c.Body[from:to])
			http.NewResponseController(w).Flush()
			from = to
		}
	})
}

// fake is a server with that handler and a client of it.
func fake(t testing.TB, h http.HandlerFunc) *Ollama {
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	tr := transport()
	t.Cleanup(tr.CloseIdleConnections)
	o, err := NewOllama(s.URL, tr)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// marksOfTest are the marks of the models that were recorded.
var marksOfTest = Marks{ThinkEnd: "</think>", Openings: []string{"<tool_call>"}}

// ask sends a small request to that path, or "tap", and writes down what comes, neighbouring fragments joined.
func ask(t testing.TB, o *Ollama, path string) string {
	ctx, p := NewPulse(t.Context(), nil, Timeouts{Queue: -1})
	defer p.Stop()
	var src chat.Source
	var err error
	switch path {
	case "/api/generate":
		src, err = o.Generate(ctx, p, &GenerateRequest{Model: "m"})
	case "tap":
		src, err = o.Tap(ctx, p, &ChatRequest{Model: "m"}, marksOfTest)
	default:
		src, err = o.Chat(ctx, p, &ChatRequest{Model: "m"})
	}
	if err != nil {
		return note(nil, err)
	}
	return drain(src)
}

// drain reads a source to its end and closes it.
func drain(src chat.Source) string {
	defer src.Close()
	var events []chat.Event
	for {
		ev, err := src.Next()
		if err != nil {
			return note(events, err)
		}
		last := len(events) - 1
		if (ev.Kind == chat.Text || ev.Kind == chat.Reasoning) && last >= 0 && events[last].Kind == ev.Kind {
			events[last].Text += ev.Text
			continue
		}
		events = append(events, ev)
	}
}

// note writes events and the end, one a line.
func note(events []chat.Event, err error) string {
	var b strings.Builder
	for _, e := range events {
		fmt.Fprintf(&b, "%v %d", e.Kind, e.Index)
		if e.ID != "" {
			fmt.Fprintf(&b, " id=%s", e.ID)
		}
		if e.Text != "" {
			fmt.Fprintf(&b, " %q", e.Text)
		}
		if e.Meta != nil && e.Meta.Usage != nil {
			fmt.Fprintf(&b, " {Prompt:%d Completion:%d}", e.Meta.Usage.Prompt, e.Meta.Usage.Completion)
		} else if e.Meta != nil {
			fmt.Fprintf(&b, " cause=%s", e.Meta.Cause)
		}
		b.WriteByte('\n')
	}
	if err != io.EOF {
		f := fault.From(err)
		fmt.Fprintf(&b, "error %d %s: %s\n", f.Status(), f.OpenAICode(), f.Message)
	}
	return b.String()
}

// TestReplay reads recorded answers whole and cut at random places, and wants the same events each time.
func TestReplay(t *testing.T) {
	files, err := filepath.Glob("testdata/captures/*.json")
	if err != nil || len(files) == 0 {
		t.Fatal("no captures", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".json"), func(t *testing.T) {
			c := readCapture(t, file)
			golden := strings.TrimSuffix(file, ".json") + ".events"
			got := ask(t, c.serve(t), c.Path)
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Fatalf("events:\n%swant:\n%s", got, want)
			}
			seed := uint64(time.Now().UnixNano())
			rnd := rand.New(rand.NewPCG(seed, 0))
			for range 5 {
				cuts := someCuts(rnd, len(c.Body))
				if got := ask(t, c.serve(t, cuts...), c.Path); got != string(want) {
					t.Fatalf("seed %d, cut at %v:\n%swant:\n%s", seed, cuts, got, want)
				}
			}
		})
	}
}

// readCapture reads a file of testdata.
func readCapture(t testing.TB, file string) capture {
	var c capture
	data, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(data, &c)
	}
	if err != nil {
		t.Fatal(err)
	}
	if strings.HasPrefix(filepath.Base(file), "tap-") {
		c.Path = "tap"
	}
	return c
}

// someCuts are up to eight ascending places below n.
func someCuts(rnd *rand.Rand, n int) []int {
	var cuts []int
	for at := 0; len(cuts) < 8 && n > 1; {
		at += 1 + rnd.IntN(1+n/6)
		if at >= n {
			break
		}
		cuts = append(cuts, at)
	}
	return cuts
}
