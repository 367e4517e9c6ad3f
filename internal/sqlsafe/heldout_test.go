package sqlsafe

import (
	"context"
	"database/sql"
	"os"
	"strings"
	"testing"
	"time"
)

func TestRealPostgresStopsTheSecondRedTeam(t *testing.T) {
	for name, ext := range map[string]string{"plain": "CREATE EXTENSION dblink; ", "operators": "CREATE EXTENSION citext; CREATE EXTENSION hstore; CREATE EXTENSION ltree; "} {
		t.Run(name, func(t *testing.T) {
			s := newServer(t)
			s.owned(t, ext)
			more, err := os.ReadFile("testdata/postgres_owner2.sql")
			if err != nil {
				t.Fatal(err)
			}
			if _, err := s.admin.Exec(t.Context(), string(more)); err != nil {
				t.Fatal(err)
			}
			db := s.open(t, func(c *PostgresConfig) { c.Limits.Time = 400 * time.Millisecond })
			before := s.state(t)
			all := redTeam(t, "postgres_redteam2.txt")
			if name != "plain" {
				var some []attack
				for _, a := range all {
					if a.rule != bounded {
						some = append(some, a)
					}
				}
				all = some
			}
			attackAll(t, "as written", all, func(ctx context.Context, sql string) (*Table, error) {
				start := time.Now()
				table, err := db.Query(ctx, sql)
				if os.Getenv("RT_V") != "" {
					t.Logf("%6.2fs %.120s => %.200v", time.Since(start).Seconds(), sql, err)
				}
				return table, err
			})
			if after := s.state(t); after != before {
				t.Errorf("something changed:\n%s\n%s", before, after)
			}
		})
	}
}

func TestSQLiteStopsTheSecondRedTeam(t *testing.T) {
	path := newFile(t)
	own, err := sql.Open("sqlite", "file:"+strings.ReplaceAll(strings.ReplaceAll(path, " ", "%20"), "?", "%3f"))
	if err != nil {
		t.Fatal(err)
	}
	more, err := os.ReadFile("testdata/sqlite_owner2.sql")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := own.Exec(string(more)); err != nil {
		t.Fatal(err)
	}
	own.Close()
	db := openFile(t, path, func(c *SQLiteConfig) {
		c.Tables = append(c.Tables, "made", "v_users", "v_bomb", "mirror", "od\"d ] ` name")
	})
	before, _ := os.ReadFile(path)
	attackAll(t, "as written", redTeam(t, "sqlite_redteam2.txt"), func(ctx context.Context, sql string) (*Table, error) {
		start := time.Now()
		table, err := db.Query(ctx, sql)
		if os.Getenv("RT_V") != "" {
			t.Logf("%6.2fs %.120s => %.200v", time.Since(start).Seconds(), sql, err)
		}
		return table, err
	})
	if after, _ := os.ReadFile(path); string(after) != string(before) {
		t.Error("the file has changed")
	}
}
