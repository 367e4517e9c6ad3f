//go:build unix

package pyexpr

import (
	"syscall"
	"testing"
	"time"
)

// processorTime is what this process has taken of the processors, the collector's work included.
// Unlike the clock it does not grow because other programs run.
func processorTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkBombs reports the slowest of the corpus, and fails when it takes 50 ms.
func BenchmarkBombs(b *testing.B) {
	vars := bombVars()
	all := bombs(b)
	best := map[string]time.Duration{}
	for range b.N {
		for _, one := range all {
			start := processorTime()
			one.explode(vars)
			took := processorTime() - start
			if old, ok := best[one.expr]; !ok || took < old {
				best[one.expr] = took // the best of all rounds is what it takes
			}
		}
	}
	var slowest string
	for expr, took := range best {
		if took > best[slowest] {
			slowest = expr
		}
		if took > 15*time.Millisecond {
			b.Logf("%v %.90s", took, expr)
		}
	}
	b.ReportMetric(float64(best[slowest].Microseconds())/1000, "ms/slowest")
	if best[slowest] > mostTime {
		b.Errorf("%v for %.100s", best[slowest], slowest)
	}
}
