package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"testing/synctest"

	"toolnorm/chat"
	"toolnorm/engine/wait"
)

// TestAModelIsPreparedOnceForAllThatWait has 64 requests come at once to a model that nobody has
// asked yet. What they cost the server beside their own replies is what one of them costs.
func TestAModelIsPreparedOnceForAllThatWait(t *testing.T) {
	ask := func(n int) map[string]int {
		var mu sync.Mutex
		asked := map[string]int{}
		var begun sync.WaitGroup
		begun.Add(n)
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			begun.Wait()
			body, _ := io.ReadAll(r.Body)
			var q struct{ Messages []struct{ Content string } }
			json.Unmarshal(body, &q)
			mu.Lock()
			asked[r.URL.Path]++
			mu.Unlock()
			switch r.URL.Path {
			case "/api/tags":
				io.WriteString(w, `{"models":[{"name":"stranger:latest","digest":"sha:1"}]}`)
			case "/api/ps":
				io.WriteString(w, `{"models":[]}`)
			case "/api/version":
				io.WriteString(w, `{"version":"0.34.3"}`)
			case "/api/show":
				io.WriteString(w, `{"capabilities":["completion","tools"],"model_info":{"qwen3.context_length":40960}}`)
			case "/api/chat":
				prompt, _ := json.Marshal(q.Messages[len(q.Messages)-1].Content)
				fmt.Fprintf(w, `{"done":true,"_debug_info":{"rendered_template":%s}}`, prompt)
			case "/api/generate":
				io.WriteString(w, `{"response":"Hello.","done":false}`+"\n"+`{"done":true,"done_reason":"stop","prompt_eval_count":9,"eval_count":2}`+"\n")
			}
		}))
		defer s.Close()
		e := New(Config{Ollama: s.URL, Gate: map[string]string{"*": GateNever}})
		var all sync.WaitGroup
		for range n {
			all.Go(func() {
				begun.Done()
				for _, err := range e.Stream(t.Context(), &chat.Request{Model: "stranger", Messages: []chat.Message{{Role: chat.User, Content: "hi"}}, Tools: []chat.Tool{weather}}) {
					if err != nil {
						t.Error(err)
					}
				}
			})
		}
		all.Wait()
		return asked
	}
	one, many := ask(1), ask(64)
	t.Logf("one request asks %v, 64 at once %v", one, many)
	for path, n := range one {
		more := 0
		if path == "/api/chat" || path == "/api/generate" {
			more = 63 // one of its own each
		}
		if most := n + more + map[string]int{"/api/ps": 64}[path]; many[path] > most {
			t.Errorf("%s is asked %d times, want %d: one request asks %d times", path, many[path], most, n)
		}
	}
}

// TestWhoWaitsTakesOverWhenTheFirstLeaves has the first one's client leave, and another one's while
// it waits.
func TestWhoWaitsTakesOverWhenTheFirstLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var f flight[int]
		works := 0
		ask := func(ctx context.Context) (int, error) {
			ctx, p := wait.NewPulse(ctx, nil, wait.Timeouts{})
			defer p.Stop()
			return f.do(ctx, p, wanted{model: "m"}, func() (int, error) {
				works++
				if works == 1 {
					<-ctx.Done()
					return 0, ctx.Err()
				}
				return 7, nil
			})
		}
		first, leave := context.WithCancel(t.Context())
		second, leaveToo := context.WithCancel(t.Context())
		go ask(first)
		synctest.Wait()
		go func() {
			if _, err := ask(second); err == nil {
				t.Error("who has left got an answer")
			}
		}()
		results := make(chan int, 2)
		for range 2 {
			go func() {
				v, err := ask(t.Context())
				if err != nil {
					t.Error(err)
				}
				results <- v
			}()
		}
		synctest.Wait()
		leaveToo()
		synctest.Wait()
		leave()
		if a, b := <-results, <-results; a != 7 || b != 7 || works < 2 || works > 3 {
			t.Errorf("%d, %d after %d tries", a, b, works)
		}
	})
}

// TestAFailureIsThatOfAllWhoWait has the server refuse: each of many would else wait for it by
// itself.
func TestAFailureIsThatOfAllWhoWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var f flight[int]
		works, release := 0, make(chan struct{})
		var all sync.WaitGroup
		for range 5 {
			all.Go(func() {
				ctx, p := wait.NewPulse(t.Context(), nil, wait.Timeouts{})
				defer p.Stop()
				if _, err := f.do(ctx, p, wanted{model: "m"}, func() (int, error) { works++; <-release; return 0, errors.New("no") }); err == nil {
					t.Error("no error")
				}
			})
		}
		synctest.Wait()
		close(release)
		all.Wait()
		if works != 1 {
			t.Errorf("%d tries", works)
		}
	})
}
