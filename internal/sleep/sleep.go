// Package sleep pauses what is done again and again.
package sleep

import (
	"context"
	"time"
)

// For pauses for d and says whether to go on: not when ctx has ended, which ends the pause at once.
// So what is looked at from time to time is `for sleep.For(ctx, d) { look() }`, and however long a
// look takes, there is a pause of d behind it: a ticker would begin the next one at once.
func For(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d): // the garbage collector takes a timer that nobody waits for any more
		return true
	}
}
