package dynamic

import (
	"fmt"
	"testing"
	"time"

	"toolnorm/internal/store"
)

// TestASaveAmongManyTools compares a save with a thousand tools to one with a few.
func TestASaveAmongManyTools(t *testing.T) {
	took := func(n int) time.Duration {
		s := ownSet(t)
		err := s.config.DB.Alone(t.Context(), func(tx *store.Tx) error {
			for i := range n {
				d := dailyLimit
				if i%2 == 0 {
					d = multiply
				}
				d.Name = fmt.Sprintf("tool_%d", i)
				id, err := insert(t.Context(), tx, &d, "tester")
				if err == nil {
					err = remember(t.Context(), s.config.DB, tx, id, 0, &d, "tester", created)
				}
				if err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		one := draft(typePython, "1")
		tool := save(t, s, one)
		best := time.Hour
		for i := range 10 {
			one.Definition, one.Version = fmt.Sprint(i), i+1
			start := time.Now()
			if _, err := s.Update(t.Context(), "tester", tool.ID, one); err != nil {
				t.Fatal(err)
			}
			best = min(best, time.Since(start))
		}
		return best
	}
	few, many := took(5), took(maxTools-1)
	t.Logf("%v with few tools, %v with %d", few, many, maxTools)
}
