package limit

import "time"

// span is what limits are counted over, in seconds. What came counts from the beginning of its
// second, so that it counts for 60 to 61 of them.
const span = 61

// window counts what came within the last minute, by seconds.
type window struct {
	counts [span]int64
	total  int64
	second int64 // of the last count; those of counts are the seconds up to it
}

// pass removes the counts that are too old.
func (w *window) pass(now time.Time) {
	at := now.Unix()
	if at-w.second >= span {
		*w = window{second: at}
		return
	}
	for w.second < at {
		w.second++
		w.total -= w.counts[w.second%span]
		w.counts[w.second%span] = 0
	}
}

// add counts n now.
func (w *window) add(now time.Time, n int64) {
	w.pass(now)
	w.counts[w.second%span] += n
	w.total += n
}

// at returns what was counted in a second. w was passed to now.
func (w *window) at(second int64) int64 { return w.counts[(second%span+span)%span] }

// until returns after how long at most so much is left of both, if nothing comes.
func until(now time.Time, left int64, w, others *window) time.Duration {
	w.pass(now)
	others.pass(now)
	total := w.total + others.total
	for age := int64(span - 1); age >= 0 && total > left; age-- {
		second := w.second - age
		if total -= w.at(second) + others.at(second); total <= left {
			return time.Unix(second+span, 0).Sub(now)
		}
	}
	return 0
}
