package sqlsafe

import (
	"errors"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// entries are expressions that try to call what is on no list, where u are users, q products, r pairs
// and n a number. PostgreSQL calls each of them when nothing stops it.
var entries = []string{
	"u.audit", "u.leak", "u.slow", "users.audit", "(u).audit", "(u).leak", "(users).slow", "(u.*).leak", "lower(u)", "lower(u.*)", "u.lower", "(u).lower", "to_char(u, 'x')", "soundex(u)", "u.soundex",
	"audit(u)", "entered()", "public.audit(u)", "app.helper()", "app.lower('x')", "public.lower(u)", "area(1)", "area(n)", "(n).area", "upper(1)", "upper(u.user_id)", "\"left\"('a'::text, 'b'::text)", "left('a'::text, 'b'::text)",
	"similarity('a', 'b')", "1 ==> 2", "n ==> n", "@! 1", "u + 'x'::text", "u ~~ 'x'::text", "u LIKE 'x'::text", "1 OPERATOR(public.==>) 2", "r.m = 'x'::text", "u.user_id ==> ANY (ARRAY[1])",
	"'x'::slowdom", "CAST('x' AS slowdom)", "slowdom 'x'", "'x'::slower", "'x'::public.slowdom", "'{x}'::slowdom[]", "1::app.slowdom", "ARRAY['x']::slowdom[]", "'x'::text::slowdom", "(SELECT x.a FROM json_to_record('{\"a\": \"x\"}') AS x(a slowdom))",
	"(SELECT x.a FROM jsonb_to_recordset('[{\"a\": \"x\"}]') AS x(a slower))", "1::pair", "n::pair", "CAST(1 AS pair)", "ROW(1, 2)::pair::int", "(1::pair).a", "r.p::int", "r.p + 1", "abs(r.p)", "(r.p)::int", "q::text", "length(q)", "q || 'x'", "upper(q)", "(q.*)::text", "concat_ws('x', q::text)",
	"(SELECT sum(u2.username) FROM users u2)", "(SELECT bit_count(u2.user_id) FROM users u2)", "sum('a'::text) OVER ()", "bit_count(1) OVER ()", "(0.5::float8).pg_sleep", "(SELECT x.pg_sleep FROM unnest(ARRAY[0.5::float8]) x)", "('x'::text).pg_read_file", "(SELECT unnest.pg_sleep FROM unnest(ARRAY[0.5::float8]))",
	"(SELECT g FROM generate_series('a'::text) g)", "('select 1'::text).query_to_xml", "(SELECT s.audit FROM users s LIMIT 1)", "(SELECT (s).leak FROM (SELECT * FROM users) s LIMIT 1)", "(SELECT json_populate_record(NULL::pairs, '{\"p\": 1}'))", "step(1, 2)", "odd(1)", "odd('x'::text)", "of_pair(r.p)", "of_pair(ROW(1, 2))", "nullif(r.m, 'x'::text)", "CASE r.m WHEN 'x'::text THEN 1 END", "(r.p, 1) = (1, 1)", "r.p BETWEEN 0 AND 5", "r.p IN (1, 2)", "greatest(r.p::int, 1)",
	"pg_catalog.lower(u)", "set_config('a.b', 'c', false)", "pg_sleep(1)", "lo_creat(1)", "nextval('counter')", "query_to_xml('select 1', true, true, '')", "pg_read_file('/etc/passwd')", "current_setting('data_directory')",
}

// places are where an expression may stand; ⋯ is the expression.
var enterPlaces = []string{
	"SELECT ⋯ FROM #", "SELECT 1 FROM # WHERE (⋯)::text LIKE 'x'", "SELECT 1 FROM # WHERE (⋯) IS NOT NULL", "SELECT count(*) FROM # GROUP BY (⋯)", "SELECT count(*) FROM # GROUP BY u.user_id HAVING min((⋯)::text) > ''",
	"SELECT 1 FROM # ORDER BY ⋯", "SELECT DISTINCT ON (⋯) 1 FROM #", "SELECT DISTINCT ⋯ FROM #", "SELECT row_number() OVER (PARTITION BY ⋯) FROM #", "SELECT count(*) FILTER (WHERE (⋯) IS NULL) FROM #", "SELECT CASE WHEN (⋯) IS NULL THEN 1 ELSE 2 END FROM #",
	"SELECT coalesce(NULL, (⋯)::text) FROM #", "SELECT (SELECT ⋯) FROM #", "SELECT ARRAY[(⋯)] FROM #", "SELECT ROW(⋯) FROM #", "SELECT x.* FROM # CROSS JOIN LATERAL (SELECT ⋯ AS y) x", "WITH w AS (SELECT ⋯ AS y FROM #) SELECT * FROM w",
	"SELECT json_build_object('a', ⋯) FROM #", "SELECT 1 FROM # WHERE EXISTS (SELECT ⋯ WHERE (⋯) IS NOT NULL)", "SELECT count((⋯)) FROM #", "SELECT array_agg((⋯)) FROM #", "SELECT NULL UNION ALL SELECT (⋯)::text FROM #", "SELECT lag((⋯)) OVER () FROM #",
	"SELECT concat(⋯) FROM #", "SELECT string_agg((⋯)::text, ',') FROM #", "SELECT x FROM #, unnest(ARRAY[⋯]) x", "SELECT 1 FROM # JOIN users v ON (⋯) IS NOT NULL", "WITH RECURSIVE w AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM w WHERE i < 2) SELECT ⋯ FROM w, #",
	"/* x */ SELECT\n⋯\nAS y FROM #;", "SELECT greatest((⋯)::text, '') FROM #", "SELECT 1 FROM # LIMIT (SELECT length((SELECT (⋯)::text FROM # LIMIT 1)))", "VALUES ((SELECT (⋯)::text FROM # LIMIT 1))",
}

// enterTables are those that the expressions ask.
const enterTables = "users u CROSS JOIN users CROSS JOIN things q CROSS JOIN pairs r CROSS JOIN (SELECT 1 AS n) n1"

// TestRealPostgresEntersNothingOfTheOwners runs generated statements, four at a time, that try to call
// functions of the owner and of the server that are on no list. The second seed is held out.
func TestRealPostgresEntersNothingOfTheOwners(t *testing.T) {
	s := newServer(t)
	owner, err := os.ReadFile("testdata/postgres_owner.sql")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.admin.Exec(t.Context(), string(owner)+"; REVOKE SELECT ON secret FROM reader"); err != nil {
		t.Fatal(err)
	}
	told := ""
	db := s.open(t, func(c *PostgresConfig) {
		c.Warn = func(text string) { told += text }
		c.Limits.Time = 10 * time.Second // a busy machine must not look like a function that sleeps
	})
	defer func() {
		if !strings.Contains(told, "public.audit (SECURITY DEFINER)") {
			t.Errorf("told: %q", told)
		}
	}()
	t.Run("legitimate", func(t *testing.T) {
		for _, c := range corpus(t, "postgres_legitimate.txt") {
			if _, err := db.Query(t.Context(), c.sql); err != nil && c.says == "" {
				t.Errorf("%q: %v", c.sql, err)
			}
		}
	})
	bare := 0 // that enter when nothing stops them, so that the test says something
	if _, err := s.admin.Exec(t.Context(), "SET statement_timeout = 200"); err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		var said *pgconn.PgError
		if _, err := s.admin.Exec(t.Context(), "SELECT "+entry+" FROM "+enterTables); errors.As(err, &said) && said.Message == "ENTERED" {
			bare++
		}
	}
	t.Logf("%d of %d enter a function of the owner's by themselves", bare, len(entries))
	if bare < len(entries)/2 {
		t.Error("too few to say anything")
	}
	if _, err := s.admin.Exec(t.Context(), "SET statement_timeout = 0"); err != nil {
		t.Fatal(err)
	}
	before := s.state(t)
	for _, seed := range []uint64{8, 20261123} {
		r := rand.New(rand.NewPCG(seed, 8))
		var statements []string
		for _, entry := range entries {
			for range 4 {
				place := enterPlaces[r.IntN(len(enterPlaces))]
				statements = append(statements, strings.ReplaceAll(strings.ReplaceAll(place, "⋯", entry), "#", enterTables))
			}
		}
		work := make(chan string)
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				for sql := range work {
					table, err := db.Query(t.Context(), sql)
					var said *pgconn.PgError
					switch {
					case err == nil:
						t.Errorf("seed %d: %s\n ran: %.200s", seed, sql, table.Records)
					case strings.Contains(err.Error(), "ENTERED"), Late(err):
						t.Errorf("seed %d: %s\n entered: %v", seed, sql, err)
					case errors.As(err, &said) && said.Code == "42601":
						t.Errorf("seed %d: %s\n is no statement: %v", seed, sql, err)
					}
				}
			})
		}
		for _, sql := range statements {
			work <- sql
		}
		close(work)
		all.Wait()
		t.Logf("seed %d: %d statements", seed, len(statements))
	}
	if after := s.state(t); after != before {
		t.Errorf("something changed:\n%s\n%s", before, after)
	}
}
