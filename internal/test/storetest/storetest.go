// Package storetest gives a test new databases of both kinds: SQLite always, PostgreSQL where its
// programs are installed.
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
)

// Open opens a database, and closes it when the test ends.
func Open(t testing.TB, where string) *store.DB {
	t.Helper()
	db, err := store.Open(t.Context(), where)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// server is the one PostgreSQL of a test program.
type server struct {
	once sync.Once
	dir  string
	cmd  *exec.Cmd
	none string // why there is none
	n    int    // databases made
}

// Databases starts and holds what a test program's databases need. Its zero value is ready.
type Databases struct {
	mu     sync.Mutex
	server server
}

// Main runs the tests, and then stops what they started: os.Exit(all.Main(m)).
func (d *Databases) Main(m *testing.M) int {
	defer d.server.stop()
	return m.Run()
}

// Each runs a test on an empty database of each kind; where is what store.Open takes. Without
// PostgreSQL, and with -short, that part is skipped.
func (d *Databases) Each(t *testing.T, run func(t *testing.T, where string)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) { run(t, filepath.Join(t.TempDir(), "new", "test.db")) })
	t.Run("postgres", func(t *testing.T) { run(t, d.Postgres(t)) })
}

// Postgres returns the URL of an empty PostgreSQL database; without PostgreSQL, and with -short,
// the test is skipped. With TOOLNORM_E2E=required or TOOLNORM_POSTGRES=required a missing
// PostgreSQL is a failure.
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
	conn, err := pgx.Connect(ctx, d.server.url("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	if _, err := conn.Exec(ctx, "CREATE DATABASE "+name); err != nil {
		t.Fatal(err)
	}
	return d.server.url(name)
}

// url returns the address of a database, over a socket in the server's folder.
func (s *server) url(name string) string {
	return "postgres://postgres@/" + name + "?host=" + s.dir
}

// start makes a server in a folder of its own that no network reaches, or says why there is none.
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

// wait returns when the server answers; else it says why not.
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

// programs returns the folder of PostgreSQL's programs: that on the path, or the newest where
// Debian puts them.
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

// giveAway makes dir that of the user whom the server runs as: PostgreSQL refuses to be run by
// root.
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
