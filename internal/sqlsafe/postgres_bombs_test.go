package sqlsafe

import (
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"toolnorm/internal/test/must"
)

// macro is a part of a bomb that is written out n times.
var macro = regexp.MustCompile(`⟪(\d+)\|([^|]*)\|([^|]*)\|([^⟫]*)⟫|⟦(\d+)\|((?:[^|\\]|\\\|)*)\|([^⟧]*)⟧`)

// repeated writes the repetitions of a statement out.
func repeated(template string) string {
	return macro.ReplaceAllStringFunc(template, func(text string) string {
		m := macro.FindStringSubmatch(text)
		n, _ := strconv.Atoi(m[1] + m[5])
		if m[1] != "" {
			return strings.Repeat(m[2], n) + m[3] + strings.Repeat(m[4], n)
		}
		all := make([]string, n)
		for i := range all {
			all[i] = strings.NewReplacer(`\|`, "|", "%", strconv.Itoa(i)).Replace(m[6])
		}
		return strings.Join(all, m[7])
	})
}

// bomb writes a statement out.
func bomb(template string, r *rand.Rand) string {
	sql := strings.ReplaceAll(repeated(template), "#", strconv.Itoa(1000+r.IntN(9000)))
	return strings.ReplaceAll(sql, "@", strconv.Itoa(10_000+r.IntN(100_000)))
}

// trials is how many statements of which seeds are run; the last seed is held out.
// TOOLNORM_BOMBS=200,4711 asks for 200 of one seed, and tells of each that was not refused.
func trials(rounds int, seeds ...uint64) (int, []uint64) {
	var one uint64
	if n, _ := fmt.Sscanf(os.Getenv("TOOLNORM_BOMBS"), "%d,%d", &rounds, &one); n == 2 {
		return rounds, []uint64{one}
	}
	return rounds, seeds
}

// What bombs may take beside what was taken before them, and how soon it is given back but for
// slack, which connections and processes keep for their next statement.
const (
	mostOfServer  = 256 << 20
	mostOfProgram = 64 << 20
	backWithin    = 10 * time.Second
	slackOfBombs  = 40 << 20
)

// TestRealPostgresBombsAreBounded runs generated bombs, four at a time, and looks at what the
// server's processes and this program's hold, then and behind them. On systems that do not tell,
// only the end counts.
func TestRealPostgresBombsAreBounded(t *testing.T) {
	s := newServer(t)
	db := s.open(t, func(c *PostgresConfig) { c.Limits.Time = 3 * time.Second })
	rounds, seeds := trials(40, 6, 918273)
	for _, seed := range seeds {
		start, said := time.Now(), map[string]int{}
		before, most, slowest := s.bombs(t, db, seed, rounds, said)
		t.Logf("seed %d: %d bombs in %v, the slowest %v; the server took %d MB more, this program %d, its own processes %d; %v", seed, rounds,
			time.Since(start).Round(time.Millisecond), slowest.Round(time.Millisecond), most.server>>20, most.program>>20, most.workers>>20, said)
		// the race detector's runs, which are short, hold several times as much
		if most.server > mostOfServer || most.program+most.workers > mostOfProgram && !testing.Short() {
			t.Errorf("seed %d: the server took %d MB more, this program %d, its own processes %d", seed, most.server>>20, most.program>>20, most.workers>>20)
		}
		before.back(t)
	}
}

// TestRealPostgresBombsElsewhere runs bombs as on a server of another machine, where nothing tells
// what it holds. There the plan and the time are all that bounds a statement, and those of unknown
// size run alone.
func TestRealPostgresBombsElsewhere(t *testing.T) {
	unseen.Store(true)
	defer unseen.Store(false)
	s := newServer(t)
	db := s.open(t, func(c *PostgresConfig) { c.Limits.Time = 3 * time.Second })
	rounds, seeds := trials(25, 6, 4711, 918273)
	said := map[string]int{}
	_, most, slowest := s.bombs(t, db, seeds[0], rounds, said)
	t.Logf("%d bombs, the slowest %v; the server took %d MB more; %v", rounds, slowest.Round(time.Millisecond), most.server>>20, said)
}

// bombs runs bombs of a seed. It gives what was held before, the most that was held beside it, and
// the longest time, and counts in said how they ended.
func (s *server) bombs(t *testing.T, db *PostgresDB, seed uint64, rounds int, said map[string]int) (before, most memory, slowest time.Duration) {
	r := rand.New(rand.NewPCG(seed, 6))
	if _, err := db.Query(t.Context(), "SELECT count(*) FROM users"); err != nil { // starts the parser, and connects
		t.Fatal(err)
	}
	var warm []*pgxpool.Conn
	for range connections {
		conn := must.Have(db.pool.Acquire(t.Context()))(t)
		warm = append(warm, conn)
	}
	for _, conn := range warm {
		conn.Release()
	}
	before = memoryNow()
	stop := before.watch()
	slowest = burst(t, "postgres_bombs.txt", r, rounds, said, db.Query, 15*time.Second)
	return before, stop(), slowest
}

// fourAtOnce runs statements, four at a time.
func fourAtOnce(statements iter.Seq[string], run func(sql string)) {
	work := make(chan string)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for sql := range work {
				run(sql)
			}
		})
	}
	for sql := range statements {
		work <- sql
	}
	close(work)
	all.Wait()
}

// burst runs bombs of a file, four at a time, and reports an error for each that takes longer than
// most. It gives the longest time, and counts in said how they ended.
func burst(t *testing.T, file string, r *rand.Rand, rounds int, said map[string]int, query asking, most time.Duration) (slowest time.Duration) {
	t.Helper()
	templates := sectionsOf(t, file)[0]
	var lock sync.Mutex
	fourAtOnce(func(yield func(string) bool) {
		for range rounds {
			yield(bomb(templates[r.IntN(len(templates))], r))
		}
	}, func(sql string) {
		start := time.Now()
		_, err := query(t.Context(), sql)
		took := time.Since(start)
		if took > most {
			t.Errorf("%.120s took %v", sql, took)
		}
		lock.Lock()
		defer lock.Unlock()
		slowest = max(slowest, took)
		said[ended(err)]++
		if os.Getenv("TOOLNORM_BOMBS") != "" && ended(err) != "refused" {
			t.Logf("%v %s: %.200s: %.200v", took.Round(time.Millisecond), ended(err), sql, err)
		}
	})
	return slowest
}

// ended is how a statement ended, in a word.
func ended(err error) string {
	switch {
	case err == nil:
		return "ran"
	case HitOf(err) != "":
		return HitOf(err)
	case errors.As(err, new(*Refusal)):
		return "refused"
	}
	return "error"
}

// TestRealPostgresTakesWhatGrows runs what people ask of a table of 100,000 rows, whose plans are
// not those of a table of 30.
func TestRealPostgresTakesWhatGrows(t *testing.T) {
	s := newServer(t)
	must.Have(s.admin.Exec(t.Context(), `CREATE TABLE sales AS SELECT g AS id, g % 5000 AS customer, 'item ' || g % 50 AS item,
		repeat('words ', g % 40) AS note, (g % 1000) / 7.0 AS price, timestamp '2024-01-01' + g * interval '5 minutes' AS at
		FROM generate_series(1, 100000) g; ANALYZE sales; GRANT SELECT ON sales TO reader`))(t)
	db := s.open(t, func(c *PostgresConfig) { c.Limits.Time = 20 * time.Second })
	for _, query := range []string{
		"SELECT * FROM sales ORDER BY note DESC, id LIMIT 20",
		"SELECT *, sum(price) OVER (PARTITION BY customer ORDER BY at) FROM sales ORDER BY at",
		"SELECT customer, array_agg(id ORDER BY at), string_agg(DISTINCT item, ', ') FROM sales GROUP BY customer LIMIT 5",
		"SELECT item, json_agg(json_build_object('id', id, 'price', price) ORDER BY price DESC) FILTER (WHERE price > 142) FROM sales GROUP BY item",
		"SELECT json_agg(s) FROM (SELECT customer, count(*) AS n, jsonb_agg(DISTINCT item) AS items FROM sales GROUP BY 1 ORDER BY 2 DESC LIMIT 10) s",
		"SELECT lpad(id::text, 3 + 5, '0') AS code, repeat('*', (price / 10)::int) AS bar FROM sales ORDER BY price LIMIT 3",
		"SELECT item, repeat('#', (count(*) / 100)::int) FROM sales GROUP BY 1 ORDER BY count(*) DESC",
		"SELECT date_trunc('month', at) AS month, percentile_cont(0.5) WITHIN GROUP (ORDER BY price) FROM sales GROUP BY 1 ORDER BY 1",
		"SELECT count(DISTINCT note), count(DISTINCT customer) FROM sales", "SELECT array_agg(DISTINCT item) FROM sales",
		"SELECT a.item, b.item, count(*) FROM sales a JOIN sales b ON a.customer = b.customer AND a.id < b.id WHERE a.customer < 50 GROUP BY 1, 2 ORDER BY 3 DESC LIMIT 5",
		"SELECT array_length(array_agg(id), 1), length(string_agg(item, ',')) FROM sales", "SELECT cardinality(ARRAY(SELECT id FROM sales))",
		"WITH ranked AS (SELECT *, row_number() OVER (PARTITION BY item ORDER BY price DESC) AS r FROM sales) SELECT item, string_agg(id::text, ',') FROM ranked WHERE r < 4 GROUP BY item",
		"SELECT id FROM sales EXCEPT SELECT customer FROM sales ORDER BY 1 LIMIT 1", "SELECT DISTINCT item, upper(note) FROM sales ORDER BY 1, 2 LIMIT 10",
		"SELECT customer, (SELECT string_agg(item, ' ') FROM sales b WHERE b.customer = a.customer) FROM (SELECT DISTINCT customer FROM sales ORDER BY 1 LIMIT 2) a",
	} {
		if _, err := db.Query(t.Context(), query); err != nil {
			t.Errorf("%s: %v", query, err)
		}
	}
}
