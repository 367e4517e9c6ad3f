package sqlsafe

import (
	"context"
	"errors"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"toolnorm/internal/test/must"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// sectionsOf reads the lines of a file of testdata, in sections.
func sectionsOf(t testing.TB, name string) (sections [][]string) {
	t.Helper()
	text := must.Read(t, "testdata/"+name)
	sections = [][]string{nil}
	for line := range strings.Lines(string(text)) {
		line = strings.ReplaceAll(strings.TrimSuffix(line, "\n"), "⏎", "\n")
		switch last := len(sections) - 1; {
		case line == "==":
			sections = append(sections, nil)
		case line != "" && line[0] != '#':
			sections[last] = append(sections[last], line)
		}
	}
	return sections
}

// enterTables are those that the expressions ask.
const enterTables = "users u CROSS JOIN users CROSS JOIN things q CROSS JOIN pairs r CROSS JOIN notes CROSS JOIN notes o CROSS JOIN pairholders h CROSS JOIN (SELECT 1 AS n) n1"

// disguises are ways to write the same statement; ⋯ is the statement, and = is what stands for a
// word.
var disguises = []string{
	"", "", "⋯;", "⋯ -- x", "/* /* x */ */ ⋯", "```sql\n⋯\n```", "(⋯)", "SELECT * FROM (⋯) toolnorm_x", "WITH z AS (⋯) SELECT * FROM z", "SELECT (SELECT count(*) FROM (⋯) z)",
	"SELECT =SELECT/**/", "SELECT =SeLeCt\n\t", " FROM =\nfrom --x\n", " WHERE =/* ' */where/* \" */",
}

// disguised writes a statement in another way.
func disguised(sql string, r *rand.Rand) string {
	way := disguises[r.IntN(len(disguises))]
	old, to, words := strings.Cut(way, "=")
	switch {
	case words:
		return strings.ReplaceAll(sql, old, to)
	case way != "":
		return strings.ReplaceAll(way, "⋯", sql)
	}
	return sql
}

// hostileStatements are as many statements of a seed, and all that are whole.
func hostileStatements(t testing.TB, seed uint64, rounds int) []string {
	entries, places := sectionsOf(t, "postgres_entries.txt"), sectionsOf(t, "postgres_places.txt")[0]
	r, all := rand.New(rand.NewPCG(seed, 8)), slices.Clone(entries[1])
	for range rounds {
		entry, place := entries[0][r.IntN(len(entries[0]))], places[r.IntN(len(places))]
		sql := strings.ReplaceAll(strings.ReplaceAll(place, "⋯", entry), "#", enterTables)
		all = append(all, disguised(sql, r))
	}
	return all
}

// owned makes the owner's objects, and takes the functions that are on no list from everybody.
func (s *server) owned(t *testing.T, first string) {
	t.Helper()
	owner := must.Read(t, "testdata/postgres_owner.sql")
	must.Have(s.admin.Exec(t.Context(), first+string(owner)))(t)
}

// revoke takes the server's functions that are on no list from everybody.
func (s *server) revoke(t *testing.T) {
	t.Helper()
	text := must.Read(t, "testdata/postgres_revoke.sql")
	listed := strings.Join(slices.Sorted(maps.Keys(postgresFunctions())), " ")
	must.Have(s.admin.Exec(t.Context(), strings.ReplaceAll(string(text), "'$1'", "'"+listed+"'")))(t)
}

// entered reports whether an error is that of a function that is on no list.
func entered(err error) bool {
	var said *pgconn.PgError
	return errors.As(err, &said) && (strings.Contains(said.Message, "ENTERED") || strings.HasPrefix(said.Message, "permission denied for function")) || Late(err)
}

// bare is how many of the statements enter a function when the role asks them itself.
func (s *server) bare(t *testing.T, all []string) (n int) {
	c := s.admin.Config().Copy()
	c.User, c.Password = s.config.User, s.config.Password
	conn := must.Have(pgx.ConnectConfig(t.Context(), c))(t)
	defer conn.Close(context.Background())
	for _, sql := range all {
		_, err := conn.Exec(t.Context(), "BEGIN READ ONLY; SET LOCAL statement_timeout = 50; "+PostgreSQL.plain(sql), pgx.QueryExecModeSimpleProtocol)
		if entered(err) {
			n++
		}
		must.Have(conn.Exec(t.Context(), "ROLLBACK"))(t)
	}
	return n
}

// TestRealPostgresEntersNothingThatIsNotListed runs generated statements, four at a time, that try
// to call functions of the owner and of the server that are on no list. The second seed is held
// out.
func TestRealPostgresEntersNothingThatIsNotListed(t *testing.T) {
	for name, extensions := range map[string]string{"plain": "", "extensions": "CREATE EXTENSION citext; CREATE EXTENSION hstore; CREATE EXTENSION dblink; "} {
		t.Run(name, func(t *testing.T) {
			s := newServer(t)
			s.owned(t, extensions)
			told := ""
			db := s.open(t, func(c *PostgresConfig) {
				c.Warn = func(text string) { told += text }
				c.Limits.Time = 10 * time.Second // a busy machine must not look like a function that sleeps
			})
			if name == "plain" { // with extensions the owner's own operators get in the way
				for _, c := range corpus(t, "postgres_legitimate.txt") {
					if _, err := db.Query(t.Context(), c.sql); err != nil && c.says == "" {
						t.Errorf("%q: %v", c.sql, err)
					}
				}
			}
			s.revoke(t)
			before := s.state(t)
			seed := uint64(8)
			if name == "extensions" {
				seed = 20261123
			}
			rounds, seeds := trials(110, seed)
			for _, seed := range seeds {
				all := hostileStatements(t, seed, rounds)
				s.enter(t, db, all)
				t.Logf("seed %d: %d statements", seed, len(all))
				if n := s.bare(t, all[:150]); n < 75 {
					t.Errorf("of 150 statements %d enter a function by themselves: too few to say anything", n)
				}
			}
			s.unchanged(t, before)
			if !strings.Contains(told, "public.audit (SECURITY DEFINER)") {
				t.Errorf("told: %q", told)
			}
		})
	}
}

// TestRealPostgresEntersWhatIsListed holds that functions which the owner listed are called, by any
// name, and by views.
func TestRealPostgresEntersWhatIsListed(t *testing.T) {
	s := newServer(t)
	s.owned(t, "")
	db := s.open(t, func(c *PostgresConfig) {
		c.Functions = []string{" Shown", "Mixed Case", "public.odd", "good", "fits", "public.allowed"}
	})
	for _, sql := range []string{
		"SELECT shown('x')", "SELECT name FROM v_shown", "SELECT user_id FROM v_over", `SELECT "Mixed Case"(u) FROM users u`, "SELECT * FROM v_op",
		"SELECT 'x'::word", "SELECT '(x,1)'::card", "SELECT array_append(ws, 'x') FROM notes", "SELECT * FROM guarded", "SELECT * FROM v_cast",
	} {
		if _, err := db.Query(t.Context(), sql); !entered(err) {
			t.Errorf("%s: %v", sql, err)
		}
	}
	for _, sql := range []string{"SELECT * FROM guarded2", "SELECT * FROM v_plain", "SELECT w, mild, 'y'::mild FROM notes", "SELECT x.count FROM (SELECT 1 AS count) x"} {
		if _, err := db.Query(t.Context(), sql); err != nil {
			t.Errorf("%s: %v", sql, err)
		}
	}
}

// enter runs statements, four at a time, none of which may run.
func (s *server) enter(t *testing.T, db *PostgresDB, statements []string) {
	fourAtOnce(slices.Values(statements), func(sql string) {
		table, err := db.Query(t.Context(), sql)
		var said *pgconn.PgError
		switch {
		case err == nil:
			t.Errorf("%s\n ran: %.200s", sql, table.Records)
		case entered(err):
			t.Errorf("%s\n entered: %v", sql, err)
		case errors.As(err, &said) && said.Code == syntaxError:
			t.Errorf("%s\n is no statement: %v", sql, err)
		}
	})
}
