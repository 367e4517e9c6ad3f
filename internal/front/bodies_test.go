package front

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// crowd sends bodies at once through a bound, each of which is answered for a while, and gives
// the statuses and the most bytes that were answered at once.
func crowd(b *Bodies, takes time.Duration, sizes ...int) (statuses map[int]int, most int64) {
	var now, highest atomic.Int64
	h := b.Wrap(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		for sum := now.Add(int64(len(text))); ; {
			if old := highest.Load(); sum <= old || highest.CompareAndSwap(old, sum) {
				break
			}
		}
		time.Sleep(takes)
		now.Add(-int64(len(text)))
	}), 1000)
	var all sync.WaitGroup
	var mu sync.Mutex
	statuses = map[int]int{}
	for _, size := range sizes {
		all.Go(func() {
			r := httptest.NewRequest("POST", "/v1/chat/completions", strings.NewReader(strings.Repeat("x", size)))
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			mu.Lock()
			defer mu.Unlock()
			statuses[w.Code]++
		})
	}
	all.Wait()
	return statuses, highest.Load()
}

// many is n times the same.
func many(n, size int) (all []int) {
	for range n {
		all = append(all, size)
	}
	return all
}

func TestTheBytesOfBodiesAreBounded(t *testing.T) {
	const most = 1 << 20
	for name, tt := range map[string]struct {
		takes   time.Duration
		sizes   []int
		good    int
		highest int64
	}{
		"all fit":                 {time.Hour, many(4, most/4), 4, most},
		"some wait":               {time.Second, many(20, most/4), 20, most},
		"some wait in vain":       {time.Minute, many(20, most/4), 4, most},
		"small ones need not":     {time.Minute, append(many(4, most/4), many(4, smallBody)...), 8, most * 5 / 4},
		"one larger than all":     {time.Second, many(2, 2*most), 2, 2 * most},
		"a crowd of small bodies": {time.Minute, many(100, smallBody), 20, most * 5 / 4},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := &Bodies{Most: most}
				defer b.Close()
				got, highest := crowd(b, tt.takes, tt.sizes...)
				if got[200] != tt.good {
					t.Errorf("answered: %v, want %d", got, tt.good)
				}
				if got[200]+got[503] != len(tt.sizes) {
					t.Errorf("statuses %v", got)
				}
				if highest > tt.highest {
					t.Errorf("%d bytes at once, want at most %d", highest, tt.highest)
				}
				if b.used != 0 || b.passed != 0 {
					t.Errorf("%d bytes are held for ever", b.used)
				}
			})
		})
	}
}

func TestABodyOfUnknownLengthShrinksToWhatCame(t *testing.T) {
	b := &Bodies{Most: 2 << 20}
	h := b.Wrap(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if b.used+b.passed != 1<<20 {
			t.Errorf("%d bytes before the body is read, want the largest", b.used+b.passed)
		}
		_, _ = io.ReadAll(r.Body)
		if b.used != 5 {
			t.Errorf("%d bytes behind its end, want 5", b.used)
		}
	}), 1<<20)
	r := httptest.NewRequest("POST", "/", io.MultiReader(strings.NewReader("hello")))
	r.ContentLength = -1
	h.ServeHTTP(httptest.NewRecorder(), r)
	if b.used != 0 {
		t.Errorf("%d bytes are held for ever", b.used)
	}
}

func TestARefusalSaysWhenToTryAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &Bodies{Most: 100 << 10, Uploads: "/api/blobs/"}
		if _, ok := b.take(t.Context(), 100<<10); !ok {
			t.Fatal("an empty bound refuses")
		}
		began := time.Now()
		w := httptest.NewRecorder()
		b.Wrap(http.NotFoundHandler(), 0).ServeHTTP(w, httptest.NewRequest("POST", "/v1/responses", strings.NewReader(strings.Repeat("x", 100<<10))))
		if w.Code != 503 || w.Header().Get("Retry-After") != "5" || !strings.Contains(w.Body.String(), "--max-bodies") {
			t.Errorf("%d %v %s", w.Code, w.Header(), w.Body)
		}
		if waited := time.Since(began); waited != bodyQueue {
			t.Errorf("it waited %v, want %v", waited, bodyQueue)
		}
		w = httptest.NewRecorder()
		b.Wrap(http.NotFoundHandler(), 0).ServeHTTP(w, httptest.NewRequest("POST", "/api/blobs/x", strings.NewReader(strings.Repeat("x", 100))))
		if w.Code != 404 {
			t.Errorf("an upload is counted: %d", w.Code)
		}
	})
}
