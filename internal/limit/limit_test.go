package limit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"toolnorm/chat"
	"toolnorm/internal/auth"
	"toolnorm/internal/test/must"
	"toolnorm/internal/trace"
)

// rules are those of a text for everybody.
func rules(t *testing.T, text string) *Rules {
	t.Helper()
	r, err := Parse(map[string]string{"*": text})
	must.OK(t, err)
	return r
}

// always says that every request asks a model.
func always(*http.Request) bool { return true }

// send sends a request of a path from an address.
func send(h http.Handler, from, path string) *httptest.ResponseRecorder {
	r := httptest.NewRequest("POST", path, strings.NewReader(strings.Repeat("x", 400)))
	r.RemoteAddr = from + ":1"
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// good answers everything, after a while, and has so many tokens counted.
func good(l *Limiter, takes time.Duration, tokens int) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(takes)
		l.End(r.Context(), &trace.Sum{Tokens: chat.Counts{Prompt: tokens}})
	})
}

func TestRulesAreReadOrRefused(t *testing.T) {
	r, err := Parse(map[string]string{"ann": "rpm=60, tpm=100000,at-once=2,context=32768", "*": "rpm=1", "ci*": "none"})
	if err != nil || r.of("ann") != (Limits{60, 100000, 2, 0, 32768}) || r.of("bob") != (Limits{Requests: 1}) || r.of("ci-7") != (Limits{}) {
		t.Errorf("%+v, %v", r, err)
	}
	for _, text := range []string{"", "rpm", "rpm=", "rpm=0", "rpm=-1", "rpm=1.5", "rpm=60;tpm=1", "speed=9", "rpm=60,"} {
		if _, err := Parse(map[string]string{"*": text}); err == nil || !strings.Contains(err.Error(), "rpm=60") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestNoMinuteHasMoreThanTheLimit has requests come at random, and looks at every minute. Who waits
// as long as the answer says is let in.
func TestNoMinuteHasMoreThanTheLimit(t *testing.T) {
	for _, seed := range []uint64{1, 7, 4711} {
		synctest.Test(t, func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 0))
			l := &Limiter{}
			h := l.Wrap(good(l, 0, 10), rules(t, "rpm=20"), always)
			var in []time.Time
			for range 2000 {
				w := send(h, "192.0.2.1", "/v1/chat/completions")
				now := time.Now()
				left, _ := strconv.Atoi(w.Header().Get("x-ratelimit-remaining-requests"))
				if w.Code == http.StatusTooManyRequests {
					after, _ := strconv.Atoi(w.Header().Get("Retry-After"))
					if after < 1 || after > 61 || left != 0 {
						t.Fatalf("Retry-After %d, %d left", after, left)
					}
					if random.IntN(2) == 0 {
						time.Sleep(time.Duration(after) * time.Second)
						if w := send(h, "192.0.2.1", "/"); w.Code != http.StatusOK {
							t.Fatalf("after the wait of %d s it is %d", after, w.Code)
						}
						in = append(in, time.Now())
					}
				} else {
					in = append(in, now)
				}
				for len(in) > 0 && time.Since(in[0]) > time.Minute {
					in = in[1:]
				}
				if len(in) > 20 {
					t.Fatalf("%d requests within a minute", len(in))
				}
				time.Sleep(time.Duration(random.ExpFloat64() * float64(2*time.Second)))
			}
		})
	}
}

func TestTokensAreThoseOfTheServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &Limiter{}
		h := l.Wrap(good(l, time.Second, 5000), rules(t, "tpm=10000"), always)
		spent := 0
		for range 600 { // ten minutes
			if w := send(h, "192.0.2.1", "/v1/messages"); w.Code == http.StatusOK {
				spent += 5000
			} else {
				time.Sleep(time.Second)
			}
		}
		if spent < 9*10000 || spent > 12*10000 { // the request that goes over a limit is let in: nobody knows before
			t.Errorf("%d tokens in ten minutes", spent)
		}
		// Requests that are being answered hold what their bytes are about.
		var all sync.WaitGroup
		var mu sync.Mutex
		in := 0
		for range 500 {
			all.Go(func() {
				if w := send(h, "192.0.2.2", "/"); w.Code == http.StatusOK {
					mu.Lock()
					in++
					mu.Unlock()
				}
			})
		}
		all.Wait()
		if in != 100 {
			t.Errorf("%d requests of 100 tokens were let in at once, want 100", in)
		}
	})
}

// TestARefusalIsInTheFormOfItsClient has the headers and bodies that libraries read.
func TestARefusalIsInTheFormOfItsClient(t *testing.T) {
	for path, want := range map[string]string{
		"/v1/chat/completions": `{"error":{"message":"your limit is 1 requests a minute: try again in 61 s","type":"rate_limit_error","param":null,"code":"rate_limit_exceeded"}}`,
		"/v1/messages":         `{"type":"error","error":{"type":"rate_limit_error","message":"your limit is 1 requests a minute: try again in 61 s"}}`,
		"/api/chat":            `{"error":"your limit is 1 requests a minute: try again in 61 s"}`,
	} {
		synctest.Test(t, func(t *testing.T) {
			l := &Limiter{}
			over := ""
			l.Over = func(kind string) { over = kind }
			h := l.Wrap(good(l, 0, 100), rules(t, "rpm=1,tpm=1000"), always)
			first := send(h, "192.0.2.1", path).Header()
			w := send(h, "192.0.2.1", path)
			if got := strings.TrimSpace(w.Body.String()); w.Code != 429 || got != want || over != "requests" {
				t.Errorf("%s: %d %s", path, w.Code, got)
			}
			for name, want := range map[string]string{
				"x-ratelimit-limit-requests": "1", "x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "1m1s",
				"anthropic-ratelimit-requests-limit": "1", "anthropic-ratelimit-requests-remaining": "0", "anthropic-ratelimit-tokens-limit": "1000",
				"x-ratelimit-remaining-tokens": "900",
			} {
				if first.Get(name) != want {
					t.Errorf("%s: %s, want %s", name, first.Get(name), want)
				}
			}
			if _, err := time.Parse(time.RFC3339, w.Header().Get("anthropic-ratelimit-requests-reset")); err != nil || w.Header().Get("Retry-After") != "61" {
				t.Errorf("%v", w.Header())
			}
		})
	}
}

func TestCallersAreCountedApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &Limiter{}
		h := l.Wrap(good(l, 0, 0), rules(t, "rpm=1"), always)
		for _, c := range []struct {
			from, forwarded, caller string
			want                    int
		}{
			{"192.0.2.1", "", "", 200}, {"192.0.2.1", "", "", 429}, {"192.0.2.2", "", "", 200},
			{"192.0.2.1", "192.0.2.9", "", 429}, // a stranger's word
			{"127.0.0.1", "192.0.2.9", "", 200}, {"127.0.0.1", "1.1.1.1, 192.0.2.9", "", 429}, {"127.0.0.1", "", "", 200},
			{"[2001:db8::1]", "", "", 200}, {"[2001:db8::2]", "", "", 429}, {"[2001:db8:0:1::2]", "", "", 200},
		} {
			r := httptest.NewRequest("POST", "/v1/chat/completions", nil)
			r.RemoteAddr = c.from + ":5"
			if c.forwarded != "" {
				r.Header.Set("X-Forwarded-For", c.forwarded)
			}
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			if w.Code != c.want {
				t.Errorf("%+v: %d", c, w.Code)
			}
		}
		for i := range 3 * mostCallers {
			send(h, fmt.Sprintf("10.%d.%d.%d", i>>16, i>>8&255, i&255), "/")
		}
		if len(l.callers) > mostCallers+1 {
			t.Errorf("%d callers are remembered", len(l.callers))
		}
		time.Sleep(2 * time.Minute)
		if w := send(h, "10.200.0.1", "/"); w.Code != 200 || len(l.callers) > 2 {
			t.Errorf("%d: %d callers are remembered though nobody came for two minutes", w.Code, len(l.callers))
		}
	})
}

func TestALongPromptIsNoReasonToTryAgain(t *testing.T) {
	l := &Limiter{}
	h := l.Wrap(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := Fits(r.Context(), 100); err != nil {
			t.Error(err)
		}
		if err := Fits(r.Context(), 101); err == nil || !strings.Contains(err.Error(), "101 tokens") {
			t.Error(err)
		}
	}), rules(t, "context=100"), always)
	send(h, "192.0.2.1", "/")
	if err := Fits(context.Background(), 1<<30); err != nil {
		t.Error(err)
	}
}

// busyModel has places for four at once, and takes 150 ms a reply, in the order in which they come.
type busyModel chan struct{}

func (m busyModel) ServeHTTP(http.ResponseWriter, *http.Request) {
	m <- struct{}{}
	time.Sleep(150 * time.Millisecond)
	<-m
}

// others returns the 99th percentile of what 99 users wait for their replies, each of whom asks
// every five seconds, while one asks so many times as often.
func others(t *testing.T, times float64, rules *Rules) (p99 time.Duration) {
	synctest.Test(t, func(t *testing.T) {
		l := &Limiter{}
		h := l.Wrap(busyModel(make(chan struct{}, 4)), rules, always)
		var mu sync.Mutex
		var took []time.Duration
		var all sync.WaitGroup
		for user := range 100 {
			every := 5 * time.Second
			if user == 0 {
				every = time.Duration(float64(every) / times)
			}
			all.Go(func() {
				random := rand.New(rand.NewPCG(7, uint64(user)))
				wait := func() { time.Sleep(time.Duration(random.ExpFloat64() * float64(every))) }
				wait()
				for end := time.Now().Add(5 * time.Minute); time.Now().Before(end); wait() {
					all.Go(func() {
						began := time.Now()
						r := httptest.NewRequest("POST", "/", nil)
						r = r.WithContext(auth.WithPrincipal(r.Context(), auth.Local()))
						r.RemoteAddr = fmt.Sprintf("192.0.2.%d:1", user)
						w := httptest.NewRecorder()
						h.ServeHTTP(w, r)
						if user > 0 && w.Code == 200 {
							mu.Lock()
							took = append(took, time.Since(began))
							mu.Unlock()
						} else if user > 0 {
							t.Errorf("user %d gets %d", user, w.Code)
						}
					})
				}
			})
		}
		all.Wait()
		slices.Sort(took)
		p99 = took[len(took)*99/100]
	})
	return p99
}

// TestOneUserDoesNotHurtTheOthers has one of 100 users ask at ten and at a hundred times the rate
// of the others.
func TestOneUserDoesNotHurtTheOthers(t *testing.T) {
	limited, free := rules(t, "rpm=40,at-once=8"), &Rules{}
	alike := others(t, 1, limited)
	for _, times := range []float64{10, 100} {
		with, without := others(t, times, limited), others(t, times, free)
		t.Logf("the others' p99: %v if all are alike, %v with one at %v times the load, %v without limits", alike, with, times, without)
		if times == 10 && float64(with) > 1.2*float64(alike) {
			t.Errorf("the others wait %v instead of %v", with, alike)
		}
		if times == 100 && without < 50*with {
			t.Errorf("without limits they wait %v, with them %v", without, with)
		}
	}
}

func BenchmarkLimited(b *testing.B) {
	l := &Limiter{}
	r, _ := Parse(map[string]string{"*": "rpm=1000000000,tpm=1000000000,at-once=9"})
	h := l.Wrap(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}), r, always)
	q := httptest.NewRequest("POST", "/", io.NopCloser(strings.NewReader("")))
	b.ReportAllocs()
	for b.Loop() {
		h.ServeHTTP(httptest.NewRecorder(), q)
	}
}

// board is one in memory that replicas of a test share.
type board struct {
	mu   sync.Mutex
	all  map[string]Note
	when map[string]time.Time
	away bool
}

func (b *board) Put(_, id, _ string, body []byte, _ time.Duration) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.away {
		return errors.New("away")
	}
	b.all[id], b.when[id] = Note{Body: body}, time.Now()
	return nil
}

func (b *board) Others(_, id string, life time.Duration) (all []Note, _ error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for other, n := range b.all {
		if n.Age = time.Since(b.when[other]); other != id && n.Age < life {
			all = append(all, n)
		}
	}
	return all, nil
}

// TestReplicasShareTheirLimits has a caller ask three replicas in turn, as a load balancer does,
// and holds the error that docs/limits.md states: no minute has more than the limit and what the
// caller asks of the others until they hear of it. A caller that asks as fast as it can is held by
// each replica alone for two seconds, and then by all.
func TestReplicasShareTheirLimits(t *testing.T) {
	const limit = 60
	for _, gap := range []time.Duration{100 * time.Millisecond, 250 * time.Millisecond, 900 * time.Millisecond} {
		most := 0
		for _, seed := range []uint64{1, 7, 4711} {
			synctest.Test(t, func(t *testing.T) {
				random := rand.New(rand.NewPCG(seed, 0))
				ctx, stop := context.WithCancel(t.Context())
				b := &board{all: map[string]Note{}, when: map[string]time.Time{}}
				var replicas []http.Handler
				for i := range 3 {
					l := &Limiter{}
					replicas = append(replicas, l.Wrap(good(l, 0, 10), rules(t, "rpm="+strconv.Itoa(limit)), always))
					go l.Share(ctx, fmt.Sprint(i), b)
				}
				var in []time.Time
				total, began := 0, time.Now()
				for i := 0; time.Since(began) < 10*time.Minute; i++ {
					if send(replicas[i%3], "192.0.2.1", "/v1/chat/completions").Code == http.StatusOK {
						in, total = append(in, time.Now()), total+1
					}
					for len(in) > 0 && time.Since(in[0]) > time.Minute {
						in = in[1:]
					}
					most = max(most, len(in))
					time.Sleep(time.Duration(random.ExpFloat64() * float64(gap)))
				}
				stop()
				if total < 8*limit {
					t.Errorf("in ten minutes %d requests are let in", total)
				}
			})
		}
		if unheard := int(2 * time.Second / gap); most > limit+2*unheard+3 {
			t.Errorf("a request every %v: a minute has %d, want %d and what the replicas do not hear of at once (%d)", gap, most, limit, unheard)
		}
		t.Logf("a request every %v at three replicas, %d a minute: at most %d", gap, limit, most)
	}
}

// TestReplicasTellWhatRuns has one replica hold a request while another is asked, and then say
// nothing more.
func TestReplicasTellWhatRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		b := &board{all: map[string]Note{}, when: map[string]time.Time{}}
		first, second := &Limiter{}, &Limiter{}
		alive, die := context.WithCancel(ctx)
		go first.Share(alive, "1", b)
		go second.Share(ctx, "2", b)
		held := first.Wrap(good(first, 20*time.Second, 10), rules(t, "at-once=1"), always)
		asked := second.Wrap(good(second, 0, 10), rules(t, "at-once=1"), always)
		send(asked, "192.0.2.1", "/") // who asks nobody is told nothing
		go send(held, "192.0.2.1", "/")
		time.Sleep(3 * time.Second)
		if w := send(asked, "192.0.2.1", "/"); w.Code != http.StatusTooManyRequests {
			t.Errorf("while it runs elsewhere: %d", w.Code)
		}
		if w := send(asked, "192.0.2.2", "/"); w.Code != http.StatusOK {
			t.Errorf("another caller: %d", w.Code)
		}
		die()
		time.Sleep(7 * time.Second)
		if w := send(asked, "192.0.2.1", "/"); w.Code != http.StatusOK {
			t.Errorf("a replica that is gone holds the place: %d", w.Code)
		}
		b.mu.Lock()
		b.away = true
		b.mu.Unlock()
		time.Sleep(2 * time.Second)
		if w := send(asked, "192.0.2.1", "/"); w.Code != http.StatusOK {
			t.Errorf("without the board: %d", w.Code)
		}
		time.Sleep(20 * time.Second)
	})
}

// TestBytesAtOnceAreBounded has two requests that are too large together.
func TestBytesAtOnceAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &Limiter{}
		h := l.Wrap(good(l, time.Second, 1), rules(t, "bytes=700"), always)
		go send(h, "192.0.2.1", "/") // 400 bytes
		synctest.Wait()
		if w := send(h, "192.0.2.1", "/"); w.Code != http.StatusTooManyRequests || !strings.Contains(w.Body.String(), "400 bytes") {
			t.Errorf("%d %s", w.Code, w.Body)
		}
		if w := send(h, "192.0.2.2", "/"); w.Code != http.StatusOK {
			t.Errorf("another caller: %d", w.Code)
		}
		time.Sleep(2 * time.Second)
		if w := send(l.Wrap(good(l, 0, 1), rules(t, "bytes=100"), always), "192.0.2.1", "/"); w.Code != http.StatusOK {
			t.Errorf("one that is larger than all never gets in: %d", w.Code)
		}
	})
}
