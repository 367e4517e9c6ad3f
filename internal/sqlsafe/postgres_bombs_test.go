package sqlsafe

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// postgresBombs are statements that collect in memory; # is a number of bytes, @ of rows.
var postgresBombs = []string{
	"SELECT length(concat(VARIADIC array_agg(repeat('x', #)))) FROM generate_series(1, @)", "SELECT length(string_agg(repeat('x', #), '')) FROM generate_series(1, @)", "SELECT length(format('%900000000s', 'x'))", "SELECT length(format('%*s', @, 'x'))",
	"SELECT array_length(array_cat(array_agg(1), array_agg(2)), 1) FROM generate_series(1, @ * 300)", "SELECT npoints(polygon(20000000, circle '((0,0),1)'))", "SELECT length(json_agg(repeat('x', #))::text) FROM generate_series(1, @)", "SELECT jsonb_object_agg(g, repeat('x', #)) FROM generate_series(1, @) g",
	"WITH a AS (SELECT repeat('x', #) t), b AS (SELECT t||t||t||t||t||t||t||t||t||t AS t FROM a), c AS (SELECT t||t||t||t||t||t||t||t||t||t AS t FROM b), d AS (SELECT t||t||t||t||t||t||t||t AS t FROM c) SELECT length(t||t||t||t||t) FROM d",
	"WITH RECURSIVE r AS (SELECT repeat('x', #) AS t, 1 AS i UNION ALL SELECT t || t, i + 1 FROM r WHERE i < 16) SELECT max(length(t)) FROM r", "WITH RECURSIVE r AS (SELECT ARRAY[1, 2, 3] AS t, 1 AS i UNION ALL SELECT t || t, i + 1 FROM r WHERE i < 26) SELECT max(cardinality(t)) FROM r",
	"SELECT length(replace(repeat('x', #), 'x', repeat('y', #)))", "SELECT length(regexp_replace(repeat('x', #), 'x', repeat('y', #), 'g'))", "SELECT count(*) FROM unnest(string_to_array(repeat('x,', #) || repeat('x,', #), ',')) a, generate_series(1, @) b", "SELECT array_agg(a) FROM generate_series(1, @ * 100) a",
	"SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY a) FROM generate_series(1, @ * 300) a", "SELECT count(DISTINCT repeat('x', #) || a) FROM generate_series(1, @) a", "SELECT a, repeat('x', #) || a AS t FROM generate_series(1, @) a ORDER BY t DESC", "SELECT string_agg(t, '') OVER (ORDER BY a) FROM (SELECT a, repeat('x', #) t FROM generate_series(1, @) a) s",
	"SELECT length(encode(decode(repeat('ab', #), 'hex'), 'base64')) FROM generate_series(1, @)", "SELECT length(translate(repeat('a', #), 'a', 'b') || lpad('x', #) || rpad('y', #)) FROM generate_series(1, @) GROUP BY 1", "SELECT md5(array_agg(repeat('x', #))::text) FROM generate_series(1, @)", "SELECT to_tsvector(string_agg(md5(a::text), ' ')) FROM generate_series(1, @) a", "SELECT xmin FROM (SELECT array_agg(u) AS xmin FROM users u, generate_series(1, @)) s",
}

// TestRealPostgresBombsAreBounded runs generated bombs, four at a time, and looks at what the server's
// processes hold. The second seed is held out. On systems that do not tell, only the end counts.
func TestRealPostgresBombsAreBounded(t *testing.T) {
	s := newServer(t)
	db := s.open(t, func(c *PostgresConfig) { c.Limits.Time = 3 * time.Second })
	for _, seed := range []uint64{6, 231126} {
		r := rand.New(rand.NewPCG(seed, 6))
		before, done, peak := serverMemory(), make(chan bool), make(chan int64)
		go func() {
			most := int64(0)
			for {
				select {
				case <-done:
					peak <- most
					return
				case <-time.After(10 * time.Millisecond):
					most = max(most, serverMemory()-before)
				}
			}
		}()
		work := make(chan string)
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				for query := range work {
					start := time.Now()
					_, _ = db.Query(t.Context(), query)
					if took := time.Since(start); took > 15*time.Second {
						t.Errorf("seed %d: %.120s took %v", seed, query, took)
					}
				}
			})
		}
		for range 40 {
			query := strings.ReplaceAll(postgresBombs[r.IntN(len(postgresBombs))], "#", fmt.Sprint(1000+r.IntN(9000)))
			work <- strings.ReplaceAll(query, "@", fmt.Sprint(10_000+r.IntN(100_000)))
		}
		close(work)
		all.Wait()
		close(done)
		if most := <-peak; most > 256<<20 {
			t.Errorf("seed %d: the server took %d MB more", seed, most>>20)
		} else {
			t.Logf("seed %d: the server took %d MB more", seed, most>>20)
		}
	}
	runtime.GC()
	var m runtime.MemStats
	if runtime.ReadMemStats(&m); m.Sys > 128<<20 {
		t.Errorf("this program has taken %d MB", m.Sys>>20)
	}
}

// serverMemory is what all processes of PostgreSQL hold for themselves on this machine.
func serverMemory() (sum int64) {
	all, _ := filepath.Glob("/proc/[0-9]*/comm")
	for _, path := range all {
		if name, err := os.ReadFile(path); err != nil || !strings.HasPrefix(string(name), "postgres") {
			continue
		}
		text, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "statm"))
		if f := strings.Fields(string(text)); len(f) > 2 {
			held, _ := strconv.ParseInt(f[1], 10, 64)
			shared, _ := strconv.ParseInt(f[2], 10, 64)
			sum += (held - shared) * int64(os.Getpagesize())
		}
	}
	return sum
}
