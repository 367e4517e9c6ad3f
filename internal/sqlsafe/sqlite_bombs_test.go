package sqlsafe

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// sqliteBombs are statements that take more than they may: # is a number of values or of bytes.
var sqliteBombs = []string{
	"SELECT ⋯ FROM (SELECT printf('%.*c', #, 'x') x)", "SELECT instr(printf('%.*c', #, 'a'), printf('%.*c', # / 2, 'a') || 'b')", "SELECT replace(printf('%.*c', #, 'a'), printf('%.*c', # / 2, 'a') || 'b', 'c')",
	"SELECT ⋯ FROM (SELECT group_concat(printf('%.*c', 1000, 'y') || a.order_id, '') x FROM orders a, orders b)", "WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000000) SELECT printf('%.*c', #, 'x') || i FROM n EXCEPT SELECT 'y'",
	"WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT group_concat(printf('%.*c', #, 'x')) FROM n", "WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000000) SELECT DISTINCT printf('%.*c', #, 'x') || i FROM n ORDER BY 1",
	"WITH RECURSIVE n(i, t) AS (SELECT 1, 'x' UNION ALL SELECT i + 1, t || t FROM n) SELECT max(length(t)) FROM n", "SELECT count(*) FROM orders a, orders b, orders c, orders d, orders e, orders f WHERE a.order_id + b.order_id > c.order_id",
	"WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000), o(j) AS (SELECT json_group_object('k' || i, i) FROM n) SELECT json_patch(j, j) FROM o", "WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300000) SELECT json_group_array(printf('%.*c', #, 'x')) OVER (PARTITION BY i % 3 ORDER BY i) FROM n",
	"SELECT printf('%.*c', #, 'ab') LIKE printf('%.*c', 100, '%a') || 'b'", "SELECT hex(hex(printf('%.*c', #, 'x')))", "WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000) SELECT max(a.i * b.i) FROM n a, n b, n c GROUP BY a.i + b.i, c.i",
}

// TestSQLiteBombsAreBounded runs generated bombs, four at a time: each ends by its time, this program
// holds nothing of them, and another statement does not wait for them for long. The second seed is held out.
func TestSQLiteBombsAreBounded(t *testing.T) {
	db := openFile(t, newFile(t), func(c *SQLiteConfig) { c.Tables = nil; c.Limits.Time = 300 * time.Millisecond })
	for _, seed := range []uint64{7, 1123} {
		r := rand.New(rand.NewPCG(seed, 7))
		work := make(chan string)
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				for query := range work {
					start := time.Now()
					_, _ = db.Query(t.Context(), query)
					if took := time.Since(start); took > 5*time.Second {
						t.Errorf("seed %d: %.120s took %v", seed, query, took)
					}
				}
			})
		}
		for range 30 {
			query := sqliteBombs[r.IntN(len(sqliteBombs))]
			query = strings.ReplaceAll(query, "⋯", strings.TrimSuffix(strings.Repeat("x, ", 1+r.IntN(2000)), ", "))
			work <- strings.ReplaceAll(query, "#", fmt.Sprint(1+r.IntN(1_000_000)))
		}
		close(work)
		all.Wait()
		if got, err := db.Query(t.Context(), "SELECT count(*) AS n FROM secret"); err != nil || len(got.Records) != 1 {
			t.Errorf("seed %d: the statement after: %v, %v", seed, got, err)
		}
	}
	runtime.GC()
	var m runtime.MemStats
	if runtime.ReadMemStats(&m); m.Sys > 64<<20 {
		t.Errorf("this program has taken %d MB", m.Sys>>20)
	}
}
