package retrieval

import (
	"cmp"
	"iter"
	"runtime"
	"sync"
	"sync/atomic"
)

// working is how many goroutines of all searches of the process divide work among them.
var working atomic.Int32

// share divides the numbers from 0 to n-1 among the caller and further goroutines. If the parameter
// worth is false, there is so little to do that the caller gets all of them. Each goroutine calls
// the function work once and gets its numbers one after the other, so that work can have buffers of
// its own. It must not matter which numbers it gets. All searches together use as many goroutines
// as there are processors, but each has at least one, its caller. share returns when all goroutines
// have ended, with an error of work if there was one.
func share(n int, worth bool, work func(numbers iter.Seq[int]) error) error {
	var taken atomic.Int64
	numbers := func(yield func(int) bool) {
		for {
			if i := int(taken.Add(1)) - 1; i >= n || !yield(i) {
				return
			}
		}
	}
	most := 1
	if worth {
		most = runtime.GOMAXPROCS(0)
	}
	errs := make([]error, max(1, min(n, most)))
	var helpers sync.WaitGroup
	working.Add(1)
	for k := 1; k < len(errs); k++ {
		if working.Add(1) > int32(most) {
			working.Add(-1)
			break
		}
		helpers.Go(func() { // ends when no number is left
			errs[k] = work(numbers)
			working.Add(-1)
		})
	}
	errs[0] = work(numbers)
	helpers.Wait()
	working.Add(-1)
	return cmp.Or(errs...)
}
