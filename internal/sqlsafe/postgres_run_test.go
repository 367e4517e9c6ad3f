package sqlsafe

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"toolnorm/internal/test/must"
	"toolnorm/internal/test/storetest"
)

var databases storetest.Databases

func TestMain(m *testing.M) { os.Exit(databases.Main(m)) }

// server is a real PostgreSQL with the tables of the corpora, and roles of several powers.
type server struct {
	admin  *pgx.Conn
	config PostgresConfig
}

// newServer makes the tables in a new database. Roles belong to all databases of a server, and are
// made once.
func newServer(t *testing.T) *server {
	t.Helper()
	where := databases.Postgres(t)
	admin := must.Have(pgx.Connect(t.Context(), where))(t)
	t.Cleanup(func() { admin.Close(context.Background()) })
	tables := must.Read(t, "testdata/postgres_tables.sql")
	roles := `DO $$ BEGIN IF NOT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = 'reader') THEN
		CREATE ROLE reader LOGIN PASSWORD 'p@ss/w%rd'; CREATE ROLE writer LOGIN; END IF; END $$;
		GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader, writer; REVOKE ALL ON secret FROM reader; GRANT INSERT ON orders TO writer;`
	must.Have(admin.Exec(t.Context(), string(tables)+roles))(t)
	c := admin.Config()
	return &server{admin, PostgresConfig{
		Host: c.Host, Port: int(c.Port), Database: c.Database, User: "reader", Password: "p@ss/w%rd", Limits: Limits{Time: time.Second},
	}}
}

// open opens the database as the configuration says.
func (s *server) open(t *testing.T, change func(*PostgresConfig)) *PostgresDB {
	t.Helper()
	c := s.config
	if change != nil {
		change(&c)
	}
	db := must.Have(OpenPostgres(c))(t)
	t.Cleanup(db.Close)
	return db
}

// state is all that a hostile statement could have changed.
func (s *server) state(t *testing.T) string {
	t.Helper()
	var text string
	err := s.admin.QueryRow(t.Context(), `SELECT json_build_array(
		(SELECT json_agg(json_build_array(oid, relname, reltuples >= -1) ORDER BY oid) FROM pg_class WHERE relnamespace = 'public'::regnamespace),
		(SELECT count(*) FROM users), (SELECT count(*) FROM orders), (SELECT json_agg(word) FROM secret), (SELECT last_value FROM counter),
		(SELECT count(*) FROM pg_largeobject_metadata), (SELECT json_agg(rolname ORDER BY oid) FROM pg_roles), (SELECT count(*) FROM pg_proc),
		(SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'), (SELECT count(*) FROM pg_extension))::text`).Scan(&text)
	must.OK(t, err)
	return text
}

// unchanged reports an error if the state is not what it was.
func (s *server) unchanged(t *testing.T, before string) {
	t.Helper()
	if after := s.state(t); after != before {
		t.Errorf("something changed:\n%s\n%s", before, after)
	}
}

func TestRealPostgresStopsHostileStatements(t *testing.T) {
	s := newServer(t)
	db, before := s.open(t, nil), s.state(t)
	for _, c := range corpus(t, "postgres_hostile.txt") {
		c.stopped(t, db.Query, 8*time.Second)
	}
	s.unchanged(t, before)
}

// TestRealPostgresStopsWhatTheCheckMisses runs the same statements without the check, as if it had
// let all of them pass.
func TestRealPostgresStopsWhatTheCheckMisses(t *testing.T) {
	s := newServer(t)
	db, before := s.open(t, nil), s.state(t)
	passed := 0
	for _, c := range corpus(t, "postgres_hostile.txt") {
		if c.says == "NUL" || c.says == "not valid UTF-8" || strings.HasPrefix(c.says, "one SELECT") {
			continue
		}
		conn := must.Have(db.pool.Acquire(t.Context()))(t)
		c1 := conn.Conn().PgConn()
		if _, err := db.within(t.Context(), c1, &bound{sql: c.sql, text: c.sql}, &checked{}, &values{}, db.config.Limits, fetch); err == nil {
			passed++
		}
		conn.Release()
	}
	s.unchanged(t, before)
	t.Logf("the database alone lets %d statements run, and nothing is left of them", passed)
}

func TestRealPostgresRunsLegitimateStatements(t *testing.T) {
	s := newServer(t)
	db := s.open(t, func(c *PostgresConfig) { c.Limits.Time = 30 * time.Second }) // on a busy machine, too
	var version int
	must.OK(t, s.admin.QueryRow(t.Context(), "SELECT current_setting('server_version_num')::int / 10000").Scan(&version))
	for _, c := range corpus(t, "postgres_legitimate.txt") {
		if c.says == "16+" && version < 16 || c.says == "17+" && version < 17 {
			continue
		}
		c.runs(t, db.Query)
	}
}

func TestRealPostgresValues(t *testing.T) {
	db := newServer(t).open(t, nil)
	for sql, want := range map[string]string{
		"SELECT NULL, 1::int2, 2, 3::int8, 9007199254740993":                       `{"?column?":null,"int2":1,"?column?_2":2,"int8":3,"?column?_3":"9007199254740993"}`,
		"SELECT 1.50 AS n, 1e400::numeric::text = '1' AS m, 0.1::float8 AS f":      `{"n":"1.50","m":false,"f":0.1}`,
		"SELECT 'NaN'::float8 AS a, '-Infinity'::float4 AS b":                      `{"a":"NaN","b":"-Infinity"}`,
		"SELECT true AS t, false AS f, 'é<&>' AS x":                                `{"t":true,"f":false,"x":"é<&>"}`,
		"SELECT timestamp '2024-01-02 03:04:05.5' AS a, date '2024-01-02' AS b":    `{"a":"2024-01-02T03:04:05.5","b":"2024-01-02"}`,
		"SELECT timestamptz '2024-01-02 03:04:05+00' AT TIME ZONE 'UTC' AS a":      `{"a":"2024-01-02T03:04:05"}`,
		`SELECT '\x00ff'::bytea AS b, '{"a": [1]}'::jsonb AS j`:                    `{"b":"AP8=","j":{"a": [1]}}`,
		`SELECT ARRAY[1,NULL,3] AS a, ARRAY['x','y,"z'] AS b, ARRAY[[1],[2]] AS c`: `{"a":[1,null,3],"b":["x","y,\"z"],"c":[[1],[2]]}`,
		"SELECT '{}'::int[] AS e, '[0:1]={5,6}'::int[] AS z":                       `{"e":[],"z":[5,6]}`,
		"SELECT interval '1 day 02:00' AS i, '10.0.0.1'::inet AS n":                `{"i":"1 day 02:00:00","n":"10.0.0.1"}`,
		"SELECT 1 AS a, 2 AS a, 3 AS a_2":                                          `{"a":1,"a_3":2,"a_2":3}`,
	} {
		table, err := db.Query(t.Context(), sql)
		if err != nil || len(table.Records) != 1 || string(table.Records[0]) != want {
			t.Errorf("%s: %v\n got %s\nwant %s", sql, err, table.Records, want)
		}
	}
}

func TestRealPostgresLimits(t *testing.T) {
	s := newServer(t)
	db := s.open(t, func(c *PostgresConfig) { c.Limits = Limits{Rows: 10, Bytes: 5000, Cell: 1000} })
	rows := func(sql string) *Table {
		table, err := db.Query(t.Context(), sql)
		if err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
		return table
	}
	if got := rows("SELECT user_id FROM users ORDER BY 1"); len(got.Records) != 10 || !got.Truncated {
		t.Errorf("%d rows, truncated %v", len(got.Records), got.Truncated)
	}
	if got := rows("SELECT user_id FROM users ORDER BY 1 LIMIT 10"); len(got.Records) != 10 || got.Truncated {
		t.Errorf("%d rows, truncated %v", len(got.Records), got.Truncated)
	}
	if got := rows("SELECT repeat('x', 900) FROM users"); len(got.Records) != 5 || !got.Truncated {
		t.Errorf("%d rows, truncated %v", len(got.Records), got.Truncated)
	}
	if got := rows("SELECT repeat('é', 1000) AS x"); !got.Truncated || !strings.HasSuffix(string(got.Records[0]), `é… (2000 bytes)"}`) {
		t.Errorf("%s", got.Records)
	}
	if got := rows("SELECT 1 AS x WHERE false"); got.Records == nil || len(got.Records) != 0 || got.Columns[0] != "x" {
		t.Errorf("%v %v", got.Records, got.Columns)
	}
	// A row that is larger than what is taken at once ends the connection, and is never held.
	big, err := db.Query(t.Context(), "SELECT string_agg(repeat('x', 10000), '') FROM generate_series(1, 900)")
	if err == nil || !strings.Contains(err.Error(), "select less of it") && HitOf(err) != "memory" { // whichever is noticed first
		t.Errorf("%v, %v", big, err)
	}
	var m runtime.MemStats
	if runtime.ReadMemStats(&m); m.HeapAlloc > 200<<20 {
		t.Errorf("%d MB of heap", m.HeapAlloc>>20)
	}
	if got := rows("SELECT 1 AS x"); string(got.Records[0]) != `{"x":1}` { // the pool made another
		t.Errorf("%s", got.Records)
	}
}

func TestRealPostgresErrors(t *testing.T) {
	s := newServer(t)
	db := s.open(t, nil)
	var wrong *pgconn.PgError
	if _, err := db.Query(t.Context(), "SELECT a,\nnope FROM users"); !errors.As(err, &wrong) || wrong.Code != "42703" || wrong.Position != 8 {
		t.Errorf("%v at %d", err, wrong.Position)
	}
	if _, err := db.Query(t.Context(), "SELECT * FROM nosuch"); !errors.As(err, &wrong) || wrong.Code != "42P01" {
		t.Errorf("%v", err)
	}
	if _, err := s.open(t, func(c *PostgresConfig) { c.Host = "/nonexistent" }).Query(t.Context(), "SELECT 1"); err == nil || !strings.Contains(err.Error(), "cannot be reached") || strings.Contains(err.Error(), "p@ss") {
		t.Errorf("%v", err)
	}
	// A cancelled call ends the statement, and the database goes on.
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := db.Query(ctx, "SELECT count(*) FROM generate_series(1, 1000000000000)"); err == nil {
		t.Error("a cancelled statement came to an end")
	}
	must.Have(db.Query(t.Context(), "SELECT 1"))(t)
}

func TestRealPostgresRefusesRolesThatDoMoreThanRead(t *testing.T) {
	s := newServer(t)
	for role, want := range map[string]string{
		"postgres": "the role 'postgres' is a superuser",
		"writer":   "the role 'writer' may change the table public.orders",
	} {
		_, err := s.open(t, func(c *PostgresConfig) { c.User = role }).Query(t.Context(), "SELECT 1")
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", role, err)
		}
		told := ""
		db := s.open(t, func(c *PostgresConfig) { c.User, c.AnyRole, c.Warn = role, true, func(text string) { told += text } })
		if _, err := db.Query(t.Context(), "SELECT 1"); err != nil || !strings.Contains(told, want) {
			t.Errorf("%s: %v; told %q", role, err, told)
		}
	}
}

func FuzzPostgresArray(f *testing.F) {
	for _, s := range []string{`{1,2}`, `{}`, `{{1},{2}}`, `{"a\"b",NULL}`, `{`, `{,}`, `{"`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if list, rest, ok := array(s, 25, 0); ok && (!json.Valid(list) || len(rest) > len(s)) {
			t.Errorf("%q gives %s", s, list)
		}
		if v := postgresValue(1009, []byte(s)); !json.Valid(v) {
			t.Errorf("%q gives %s", s, v)
		}
	})
}
