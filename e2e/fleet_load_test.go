package e2e

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"toolnorm/e2e/gguf"
	"toolnorm/internal/test/must"
)

// longLines is how many lines the long answer of a fleet's model has. Each is a token, so a stream
// lasts while servers are killed.
const longLines = 400

// longScript is that answer.
func longScript() (s gguf.Script, text string) {
	s = gguf.Script{Name: "long"}
	for i := range longLines {
		s.Parts = append(s.Parts, fmt.Sprintf("This is line %d of the long answer.\n", i+1))
	}
	return s, strings.Join(s.Parts, "")
}

// How a stream may end.
const (
	whole   = "whole"   // all of the answer, and its end
	refused = "refused" // one error with a status, in JSON
	told    = "told"    // one error event behind the beginning, then the end
	cut     = "cut"     // no end: what its client sees when a replica is killed
	wrong   = "wrong"   // anything else
)

// manyStreams keeps the connections of all clients of a load. http.DefaultClient keeps two, and
// makes the others anew for each stream.
var manyStreams = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 256}}

// stream asks for an answer, and returns how it ended and what is to be said of that. Want is the
// whole of it.
func stream(ctx context.Context, base, model, prompt, want string) (end, detail string) {
	body, _ := json.Marshal(map[string]any{"model": model, "stream": true, "messages": []message{{Role: "user", Content: prompt}}}) // of strings
	r, err := http.NewRequestWithContext(ctx, "POST", base+"/v1/chat/completions", strings.NewReader(string(body)))
	if err != nil {
		return wrong, err.Error()
	}
	r.Header.Set("Content-Type", "application/json")
	resp, err := manyStreams.Do(r)
	if err != nil {
		return cut, err.Error()
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(resp.Body)
		if said := errorIn(text); said != "" {
			return refused, fmt.Sprintf("%d %s", resp.StatusCode, said)
		}
		return wrong, fmt.Sprintf("%d %s", resp.StatusCode, clip(string(text)))
	}
	return readStream(resp.Body, want)
}

// errorIn returns the message of an error object; empty: there is none.
func errorIn(text []byte) string {
	var e struct{ Error struct{ Message string } }
	_ = json.Unmarshal(text, &e) // what is no JSON has no message
	return e.Error.Message
}

// readStream reads the events of an answer.
func readStream(r io.Reader, want string) (end, detail string) {
	var got strings.Builder
	finish, failed := "", ""
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		switch {
		case !ok:
			continue
		case failed != "" && data != "[DONE]":
			return wrong, "something behind the error: " + clip(data)
		case data == "[DONE]":
			if failed != "" {
				return told, failed
			}
			if finish == "stop" && got.String() == want {
				return whole, ""
			}
			return wrong, fmt.Sprintf("ends with %q after %d of %d bytes", finish, got.Len(), len(want))
		}
		var chunk struct {
			Choices []struct {
				Delta  struct{ Content string }
				Finish string `json:"finish_reason"`
			}
		}
		if failed = errorIn([]byte(data)); failed != "" {
			continue
		}
		if err := json.Unmarshal([]byte(data), &chunk); err != nil {
			return wrong, err.Error() + ": " + clip(data)
		}
		for _, c := range chunk.Choices {
			got.WriteString(c.Delta.Content)
			finish = c.Finish
		}
		if !strings.HasPrefix(want, got.String()) {
			return wrong, "another text: " + clip(got.String())
		}
	}
	if failed != "" {
		return told, failed
	}
	return cut, fmt.Sprintf("after %d bytes: %v", got.Len(), lines.Err())
}

// load is what is asked again and again, and what the streams came to.
type load struct {
	model, prompt, want string
	count               *atomic.Int64 // of streams; nil: nobody counts

	mu      sync.Mutex
	ends    map[string]int
	details map[string][]string
}

// add takes down one end, and reports whether the stream was whole.
func (l *load) add(end, detail string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ends == nil {
		l.ends, l.details = map[string]int{}, map[string][]string{}
	}
	if l.ends[end]++; l.count != nil {
		l.count.Add(1)
	}
	if end != whole && len(l.details[end]) < 8 {
		l.details[end] = append(l.details[end], detail)
	}
	return end == whole
}

// longLoad asks a fleet's model for its long answer.
func longLoad() *load {
	_, want := longScript()
	return &load{model: fleetModel, prompt: gguf.Script{Name: "long"}.Selector() + " please", want: want}
}

// under runs an act while so many clients ask each address again and again, and returns what became
// of their streams. Those that run when the act is done come to their end.
func (f *fleet) under(t *testing.T, clients int, bases []string, l *load, act func() error) *load {
	t.Helper()
	done := make(chan struct{})
	var all sync.WaitGroup
	for i := range clients {
		for j, base := range bases {
			all.Go(func() {
				for n := 0; ; n++ {
					select {
					case <-done:
						return
					default:
					}
					prompt := l.prompt
					if l.model == fleetModel { // a conversation of its own
						prompt = fmt.Sprintf("Conversation %d of client %d at %d begins here: %s", n, i, j, prompt)
					}
					if !l.add(stream(t.Context(), base, l.model, prompt, l.want)) {
						time.Sleep(200 * time.Millisecond) // as clients do
					}
				}
			})
		}
	}
	err := act()
	close(done)
	all.Wait()
	if err != nil {
		t.Error(err)
	}
	return l
}

// only checks that streams ended in none but these ways besides whole, and at most so many of each.
func (l *load) only(t *testing.T, what string, most int, ends ...string) {
	t.Helper()
	t.Logf("%s: %v", what, l.ends)
	if l.ends[whole] == 0 {
		t.Errorf("%s: no stream was whole: %v", what, l.details)
	}
	allowed := map[string]int{whole: l.ends[whole]}
	for _, end := range ends {
		allowed[end] = most
	}
	for end, n := range l.ends {
		if n > allowed[end] {
			t.Errorf("%s: %d streams were %s, at most %d may be: %q", what, n, end, allowed[end], l.details[end])
		}
	}
}

// eventLines yields what the events of a stream hold.
func eventLines(r io.Reader) iter.Seq[string] {
	return func(yield func(string) bool) {
		lines := bufio.NewScanner(r)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok && !yield(data) {
				return
			}
		}
	}
}

// quantiles returns the median of times, and that which 95 of 100 do not exceed.
func quantiles(times []time.Duration) (middle, late time.Duration) {
	slices.Sort(times)
	return times[len(times)/2], times[min(len(times)*95/100, len(times)-1)]
}

// scalePage has the figures.
const scalePage = "../docs/evidence/scale.md"

// writeBlock writes a block of the page between its marks.
func writeBlock(t *testing.T, name, text string) {
	t.Helper()
	page := must.Read(t, scalePage)
	begin, end := "<!-- "+name+" -->\n", "\n<!-- end -->"
	before, rest, found := strings.Cut(string(page), begin)
	_, after, closed := strings.Cut(rest, end)
	if !found || !closed {
		t.Fatalf("%s has no block %s", scalePage, name)
	}
	must.Write(t, scalePage, before+begin+text+end+after)
}
