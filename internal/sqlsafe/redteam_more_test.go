package sqlsafe

import (
	"database/sql"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"toolnorm/internal/test/must"

	"github.com/jackc/pgx/v5"
)

// TestRealPostgresStopsTheSecondRedTeam runs the statements that were written when the rules had
// been there for long, on objects of the owner's that no rule knew: plain, and where operators of
// extensions keep the owner's schema in the search path. Beside them stand calls of the server's
// functions that are on no list, which nobody wrote.
func TestRealPostgresStopsTheSecondRedTeam(t *testing.T) {
	for name, extensions := range map[string]string{"plain": "CREATE EXTENSION dblink; ", "operators": "CREATE EXTENSION citext; CREATE EXTENSION hstore; CREATE EXTENSION ltree; "} {
		t.Run(name, func(t *testing.T) {
			s := newServer(t)
			s.owned(t, extensions)
			must.Have(s.admin.Exec(t.Context(), string(must.Read(t, "testdata/postgres_owner2.sql"))))(t)
			written, costly := parted(redTeam(t, "postgres_redteam2.txt"))
			before, patient := s.state(t), s.asker(t, patience)
			attackAll(t, "as written", written, patient)
			if name == "plain" { // the others have nothing to do with operators
				attackAll(t, "unlisted functions", s.unlisted(t, 20261128), patient)
				attackAll(t, "costly", costly, s.asker(t, 200*time.Millisecond))
			}
			s.unchanged(t, before)
		})
	}
}

// patience is the time of a statement that is not to be stopped by it: a busy machine must not look
// like a function that sleeps.
const patience = 5 * time.Second

// parted returns the attacks whose time counts apart from the others.
func parted(all []attack) (written, costly []attack) {
	for _, a := range all {
		if a.rule == bounded {
			costly = append(costly, a)
		} else {
			written = append(written, a)
		}
	}
	return written, costly
}

// asker asks as the reader, in so much time. The parser is started first, which may take seconds.
func (s *server) asker(t *testing.T, limit time.Duration) asking {
	t.Helper()
	db := s.open(t, func(c *PostgresConfig) { c.Limits.Time = limit })
	must.Have(db.Ask(t.Context(), Statement{SQL: "SELECT 1", Limits: Limits{Time: time.Minute}}))(t)
	return db.Query
}

// unlisted are calls, in several forms that a seed draws, of the server's own functions that are on
// no list.
func (s *server) unlisted(t *testing.T, seed uint64) (all []attack) {
	t.Helper()
	rows := must.Have(s.admin.Query(t.Context(), "SELECT DISTINCT proname::text FROM pg_proc WHERE pronamespace = 11 ORDER BY 1"))(t)
	names := must.Have(pgx.CollectRows(rows, pgx.RowTo[string]))(t)
	r := rand.New(rand.NewPCG(seed, 36))
	r.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	for _, name := range names {
		if postgresFunctions()[name] {
			continue
		}
		quoted := pgx.Identifier{name}.Sanitize()
		form := []string{"SELECT F()", "SELECT F(NULL)", "SELECT pg_catalog.F(1)", "SELECT * FROM F('x') z", "SELECT 1 FROM users WHERE F(username, 1) IS NULL",
			"SELECT count(*) FILTER (WHERE F(1, 2) IS NULL) FROM users", "VALUES (F('a', 'b', 'c'))", "SELECT (SELECT F(user_id) FROM users LIMIT 1)", "SELECT F(VARIADIC ARRAY[1])"}[r.IntN(9)]
		if all = append(all, attack{"unlisted", refused, strings.ReplaceAll(form, "F", quoted)}); len(all) == 400 {
			return all
		}
	}
	t.Fatalf("%d functions", len(all))
	return nil
}

// TestSQLiteStopsTheSecondRedTeam is the same on SQLite, with all functions, modules and PRAGMAs
// that the library says it has.
func TestSQLiteStopsTheSecondRedTeam(t *testing.T) {
	path := newFile(t)
	own := ownFile(t, path)
	must.Have(own.Exec(string(must.Read(t, "testdata/sqlite_owner2.sql"))))(t)
	all := append(redTeam(t, "sqlite_redteam2.txt"), unlistedSQLite(t, own)...)
	own.Close()
	db := openFile(t, path, func(c *SQLiteConfig) {
		c.Tables = append(c.Tables, "made", "v_users", "v_bomb", "mirror", "od\"d ] ` name")
	})
	before := must.Read(t, path)
	attackAll(t, "as written", all, db.Query)
	if after, err := os.ReadFile(path); err != nil || string(after) != string(before) {
		t.Errorf("the file has changed, %v", err)
	}
}

// unlistedSQLite are calls of what SQLite has and no list does.
func unlistedSQLite(t *testing.T, own *sql.DB) (all []attack) {
	t.Helper()
	for from, forms := range map[string][]string{
		"pragma_function_list": {"SELECT X()", "SELECT X(username) FROM users", "SELECT X(1, 'a', 2) OVER () FROM users", "SELECT 1 FROM users ORDER BY X(1, 2)"},
		"pragma_module_list":   {"SELECT * FROM X", "SELECT count(*) FROM X('secret')"},
		"pragma_pragma_list":   {"PRAGMA X", "PRAGMA X = 1", "SELECT * FROM pragma_X('secret')"},
	} {
		rows := must.Have(own.Query("SELECT DISTINCT name FROM " + from + " ORDER BY name"))(t)
		for rows.Next() {
			var name string
			must.OK(t, rows.Scan(&name))
			if sqliteFunctions()[strings.ToLower(name)] || strings.ContainsAny(name, "->") {
				continue
			}
			for _, form := range forms {
				all = append(all, attack{fmt.Sprint("unlisted, ", from), refused, strings.ReplaceAll(form, "X", name)})
			}
		}
		must.OK(t, rows.Err())
	}
	if len(all) < 300 {
		t.Fatalf("%d calls", len(all))
	}
	return all
}
