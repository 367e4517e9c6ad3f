// Package sleep has pauses that end with their context, and groups of background work that can be
// waited for.
package sleep

import (
	"context"
	"time"
)

// For pauses for d and reports whether to go on: true after the pause, false as soon as ctx ends. A
// loop that looks at something from time to time is `for sleep.For(ctx, d) { look() }`. However
// long a look takes, a pause of d follows it, whereas a ticker would begin the next look at once.
func For(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d): // the garbage collector takes a timer that nobody waits for any more
		return true
	}
}
