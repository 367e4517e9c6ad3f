// Package storetest creates databases for tests: SQLite always, and PostgreSQL if it is installed.
package storetest

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"toolnorm/internal/sleep"
	"toolnorm/internal/store"
	"toolnorm/internal/test/must"
)

// Open opens a database, and closes it when the test ends.
func Open(t testing.TB, where string) *store.DB {
	t.Helper()
	db := must.Have(store.Open(t.Context(), where))(t)
	t.Cleanup(func() { db.Close() })
	return db
}

// server is the PostgreSQL server of a test program.
type server struct {
	once sync.Once
	dir  string
	cmd  *exec.Cmd
	none string // why it does not run; empty: it runs
	n    int    // the number of databases created so far
}

// Databases creates the databases of a test program and runs a PostgreSQL server for them. The zero
// value is ready for use.
type Databases struct {
	mu     sync.Mutex
	server server
}

// Main runs the tests, stops the PostgreSQL server and returns the exit status. Call it in
// TestMain: os.Exit(all.Main(m)).
func (d *Databases) Main(m *testing.M) int {
	defer d.server.stop()
	return m.Run()
}

// Each runs a test with an empty database of each kind. The function run gets the address of the
// database, in the form that store.Open takes. With -short or without PostgreSQL, the part for
// PostgreSQL is skipped.
func (d *Databases) Each(t *testing.T, run func(t *testing.T, where string)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) { run(t, filepath.Join(t.TempDir(), "new", "test.db")) })
	t.Run("postgres", func(t *testing.T) { run(t, d.Postgres(t)) })
}

// Postgres returns the URL of a new PostgreSQL database. With -short or without PostgreSQL it skips
// the test. If TOOLNORM_E2E or TOOLNORM_POSTGRES is "required", missing PostgreSQL is an error
// instead.
func (d *Databases) Postgres(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("-short: no PostgreSQL is started")
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.server.once.Do(d.server.start)
	required := os.Getenv("TOOLNORM_E2E") == "required" ||
		os.Getenv("TOOLNORM_POSTGRES") == "required"
	if d.server.none != "" && required {
		t.Fatalf("PostgreSQL is required: %s", d.server.none)
	}
	if d.server.none != "" {
		t.Skipf("no PostgreSQL: %s", d.server.none)
	}
	d.server.n++
	name := fmt.Sprintf("t%d", d.server.n)
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	conn := must.Have(pgx.Connect(ctx, d.server.url("postgres")))(t)
	defer conn.Close(ctx)
	must.Have(conn.Exec(ctx, "CREATE DATABASE "+name))(t)
	return d.server.url(name)
}

// url returns the URL of a database. The connection uses a Unix socket in the server's folder.
func (s *server) url(name string) string {
	return "postgres://postgres@/" + name + "?host=" + s.dir
}

// start starts a PostgreSQL server in a temporary folder, without a network port. If that fails,
// s.none says why.
func (s *server) start() {
	bin, err := programs()
	if err != nil {
		s.none = err.Error()
		return
	}
	if s.dir, err = os.MkdirTemp("", "toolnorm-pg-"); err != nil {
		s.none = err.Error()
		return
	}
	as, err := giveAway(s.dir)
	if err != nil {
		s.none = err.Error()
		return
	}
	data := filepath.Join(s.dir, "data")
	initdb := exec.Command(filepath.Join(bin, "initdb"), "-D", data, "-U", "postgres", "-A",
		"trust", "-E", "UTF8", "--locale=C", "--no-sync")
	initdb.Dir, initdb.SysProcAttr = s.dir, as
	if out, err := initdb.CombinedOutput(); err != nil {
		s.none = fmt.Sprintf("initdb: %v: %s", err, bytes.TrimSpace(out))
		return
	}
	s.cmd = exec.Command(filepath.Join(bin, "postgres"), "-D", data, "-k", s.dir, "-c",
		"listen_addresses=", "-c", "fsync=off")
	s.cmd.Dir, s.cmd.SysProcAttr = s.dir, as
	if err := s.cmd.Start(); err != nil {
		s.cmd, s.none = nil, err.Error()
		return
	}
	s.none = s.wait()
}

// wait waits until the server answers and returns "". If it does not answer within 30 seconds, wait
// returns the error's text.
func (s *server) wait() string {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	for {
		conn, err := pgx.Connect(ctx, s.url("postgres"))
		if err == nil {
			conn.Close(ctx)
			return ""
		}
		if !sleep.For(ctx, 50*time.Millisecond) {
			return err.Error()
		}
	}
}

// stop ends the server and removes its folder.
func (s *server) stop() {
	if s.cmd != nil {
		_ = s.cmd.Process.Signal(syscall.SIGINT) // closes connections and ends
		_ = s.cmd.Wait()
	}
	if s.dir != "" {
		_ = os.RemoveAll(s.dir)
	}
}

// programs returns the folder that contains PostgreSQL's programs: the one on the PATH, or else
// Debian's folder of the newest version. It fails if there is none.
func programs() (string, error) {
	if path, err := exec.LookPath("initdb"); err == nil {
		return filepath.Dir(path), nil
	}
	all, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if err != nil || len(all) == 0 {
		return "", fmt.Errorf("initdb is not installed")
	}
	return filepath.Dir(all[len(all)-1]), nil
}

// giveAway makes dir the folder of the user postgres if the test runs as root, because PostgreSQL
// refuses to run as root. It returns the attributes for starting programs as that user, or nil if
// the test does not run as root. It fails if there is no such user.
func giveAway(dir string) (*syscall.SysProcAttr, error) {
	if os.Getuid() != 0 {
		return nil, nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		return nil, err
	}
	uid, err := strconv.Atoi(u.Uid)
	if err != nil {
		return nil, err
	}
	gid, err := strconv.Atoi(u.Gid)
	if err != nil {
		return nil, err
	}
	return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid),
		Gid: uint32(gid)}}, os.Chown(dir, uid, gid)
}
