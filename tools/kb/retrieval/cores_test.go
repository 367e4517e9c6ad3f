package retrieval

import (
	"errors"
	"iter"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"toolnorm/internal/auth"
	"toolnorm/tools/kb/kbstore"
)

// onCores is how many processors the process may use until the test ends.
func onCores(t *testing.T, n int) {
	t.Helper()
	before := runtime.GOMAXPROCS(n)
	t.Cleanup(func() { runtime.GOMAXPROCS(before) })
}

// TestWorkIsShared shares numbers among three processors: all three work, and each number is given
// once. While they do, work that is shared besides is done by its caller alone.
func TestWorkIsShared(t *testing.T) {
	onCores(t, 3)
	var began, ended sync.WaitGroup
	began.Add(3)
	ended.Add(3)
	given := make([]int, 100)
	err := share(len(given), true, func(numbers iter.Seq[int]) error {
		began.Done()
		began.Wait() // for ever, if they are not three
		var callers atomic.Int32
		_ = share(9, true, func(numbers iter.Seq[int]) error {
			callers.Add(1)
			for range numbers {
				runtime.Gosched()
			}
			return nil
		})
		if n := callers.Load(); n != 1 {
			t.Errorf("%d goroutines work besides", n)
		}
		ended.Done()
		ended.Wait()
		for i := range numbers {
			given[i]++
		}
		return nil
	})
	if err != nil || slices.Min(given) != 1 || slices.Max(given) != 1 {
		t.Errorf("given are %v: %v", given, err)
	}
	wrong := errors.New("wrong")
	for i := range 5 {
		err := share(5, true, func(numbers iter.Seq[int]) error {
			for k := range numbers {
				if k == i {
					return wrong
				}
			}
			return nil
		})
		if !errors.Is(err, wrong) {
			t.Errorf("number %d fails with %v", i, err)
		}
	}
	if err := share(0, true, func(numbers iter.Seq[int]) error {
		for i := range numbers {
			t.Errorf("of no numbers %d is given", i)
		}
		return nil
	}); err != nil || working.Load() != 0 {
		t.Errorf("%v; %d still work", err, working.Load())
	}
}

// TestAnswersDoNotDependOnProcessors searches a base of many segments with one processor and with
// several.
func TestAnswersDoNotDependOnProcessors(t *testing.T) {
	store, r := openStore(t), rand.New(rand.NewPCG(6, 37))
	w := newWorld(t, store, r, 60)
	store.Words.Sizes = kbstore.Sizes{Fresh: 5, Small: 10, Many: 12, Large: 20}
	for range 5 {
		p := claims(r)
		p.Tenant = w.base.Tenant
		q := Query{Text: scrap(r), Base: w.base.ID, Max: MostResults, Principal: p}
		want := ""
		for _, n := range []int{1, 5} {
			onCores(t, n)
			l := &Local{Store: store}
			got := answerByWords(t, l, q)
			if want == "" {
				want = got
			}
			if got != want {
				t.Fatalf("on %d processors %q gives\n%s\non one\n%s", n, q.Text, got, want)
			}
			if p := l.states.get(w.base.ID); len(p.all) < 5 || !p.large {
				t.Errorf("the base has %d parts, large: %v", len(p.all), p.large)
			}
		}
	}
	onCores(t, 2)
	local := &Local{Store: store}
	var all sync.WaitGroup
	for range 20 {
		q := Query{Text: scrap(r), Base: w.base.ID, Max: MostResults, Principal: auth.Local()}
		want := answerByWords(t, local, q)
		all.Go(func() {
			if got := answerByWords(t, local, q); got != want {
				t.Errorf("among twenty %q gives\n%s\nalone\n%s", q.Text, got, want)
			}
		})
	}
	all.Wait()
}
