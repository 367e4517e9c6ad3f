package sqlsafe

import (
	"math/rand/v2"
	"sync"
	"testing"
	"time"
)

// TestSQLiteBombsAreBounded runs generated bombs, four at a time: each ends by its time, this
// program and its processes hold little of them, and another statement does not wait for them for
// long. The second seed is held out.
func TestSQLiteBombsAreBounded(t *testing.T) {
	db := openFile(t, newFile(t), func(c *SQLiteConfig) { c.Tables = nil; c.Limits.Time = 300 * time.Millisecond })
	var idle sync.WaitGroup // the four processes, which are there afterwards, too
	for range connections {
		idle.Go(func() { _, _ = db.Query(t.Context(), "SELECT count(*) FROM orders a, orders b, orders c") })
	}
	idle.Wait()
	rounds, seeds := trials(60, 7, 1123)
	for _, seed := range seeds {
		s, r, said := time.Now(), rand.New(rand.NewPCG(seed, 7)), map[string]int{}
		before := memoryNow()
		stop := before.watch()
		burst(t, "sqlite_bombs.txt", r, rounds, said, db.Query, 5*time.Second)
		most := stop()
		t.Logf("seed %d: %d bombs in %v; this program took %d MB more, its processes %d; %v", seed, rounds, time.Since(s).Round(time.Millisecond), most.program>>20, most.workers>>20, said)
		if most.program+most.workers > mostOfProgram && !testing.Short() { // the race detector's runs hold several times as much
			t.Errorf("seed %d: this program took %d MB more, its processes %d", seed, most.program>>20, most.workers>>20)
		}
		if got, err := db.Query(t.Context(), "SELECT count(*) AS n FROM secret"); err != nil || len(got.Records) != 1 {
			t.Errorf("seed %d: the statement after: %v, %v", seed, got, err)
		}
		before.back(t)
	}
}
