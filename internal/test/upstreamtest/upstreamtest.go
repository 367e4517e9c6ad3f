// Package upstreamtest replays recorded answers of model servers in tests of their clients.
package upstreamtest

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"toolnorm/chat"
	"toolnorm/internal/fault"
	"toolnorm/internal/test/must"
)

// Capture is a recorded answer of a model server.
type Capture struct {
	Name   string `json:"-"` // the name of the file without .json
	Path   string `json:"path"`
	Status int    `json:"status"`
	Body   string `json:"body"`
}

// Read returns the recording in a file. It ends the test if the file cannot be read.
func Read(t testing.TB, file string) Capture {
	c := Capture{Name: strings.TrimSuffix(filepath.Base(file), ".json")}
	must.OK(t, json.Unmarshal(must.Read(t, file), &c))
	return c
}

// Pieces writes the body of the answer in pieces, and flushes after each. cuts are the offsets at
// which the body is cut, in order.
func (c Capture) Pieces(w http.ResponseWriter, cuts ...int) {
	from := 0
	for _, to := range append(cuts, len(c.Body)) {
		io.WriteString(w, c.Body[from:to])
		http.NewResponseController(w).Flush()
		from = to
	}
}

// Goldens calls the function replay with each recorded answer NAME.json in a folder: once with the
// whole answer, and five times with random offsets at which it is to be cut. A result that differs
// from the file NAME.events fails the test. With the flag -update, Goldens writes the file instead.
func Goldens(t *testing.T, dir string, replay func(t testing.TB, c Capture, cuts ...int) string) {
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatal("no captures", err)
	}
	for _, file := range files {
		c := Read(t, file)
		t.Run(c.Name, func(t *testing.T) {
			want := replay(t, c)
			must.Match(t, filepath.Join(dir, c.Name+".events"), want)
			seed := uint64(time.Now().UnixNano())
			rnd := rand.New(rand.NewPCG(seed, 0))
			for range 5 {
				cuts := someCuts(rnd, len(c.Body))
				if got := replay(t, c, cuts...); got != want {
					t.Fatalf("seed %d, cut at %v:\n%swant:\n%s", seed, cuts, got, want)
				}
			}
		})
	}
}

// someCuts returns up to eight random offsets below n in ascending order.
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

// Drain reads a source to its end, closes it and returns the events as Note writes them. Adjacent
// pieces of text or reasoning are joined.
func Drain(src chat.Source) string {
	defer src.Close()
	var events []chat.Event
	for {
		ev, err := src.Next()
		if err != nil {
			return Note(events, err)
		}
		last := len(events) - 1
		if (ev.Kind == chat.Text || ev.Kind == chat.Reasoning) && last >= 0 &&
			events[last].Kind == ev.Kind {
			events[last].Text += ev.Text
			continue
		}
		events = append(events, ev)
	}
}

// Note returns one line for each event, and a line for err unless it is io.EOF.
func Note(events []chat.Event, err error) string {
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
			fmt.Fprintf(&b, " {Prompt:%d Completion:%d}", e.Meta.Usage.Prompt,
				e.Meta.Usage.Completion)
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

// Body returns a handler that answers with the given text.
func Body(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, text) }
}
