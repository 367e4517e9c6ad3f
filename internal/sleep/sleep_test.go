package sleep

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

func TestAPauseEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 25*time.Millisecond)
		defer cancel()
		begun, looks := time.Now(), 0
		for For(ctx, 10*time.Millisecond) {
			looks++
		}
		if took := time.Since(begun); looks != 2 || took != 25*time.Millisecond {
			t.Errorf("%d looks in %v, want 2 in 25ms", looks, took)
		}
		if For(ctx, time.Hour) {
			t.Error("a pause behind the end goes on")
		}
	})
}
