package limit

import "time"

// span is the number of seconds over which limits are counted. A request counts from the beginning
// of its second, and therefore for 60 to 61 seconds.
const span = 61

// window holds the counts of the last minute, one for each second.
type window struct {
	counts [span]int64
	total  int64
	second int64 // the latest second, at which counts ends
}

// pass moves the window to the given time and removes the counts that are too old.
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

// add adds n to the count of the second in which the given time is.
func (w *window) add(now time.Time, n int64) {
	w.pass(now)
	w.counts[w.second%span] += n
	w.total += n
}

// at returns the count of a second. Before at is called, the method pass must have moved the window
// to the present time.
func (w *window) at(second int64) int64 { return w.counts[(second%span+span)%span] }

// until returns how long it takes until the sum of both windows is no larger than the parameter
// left, if nothing is added. It returns 0 if the sum is small enough already.
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
